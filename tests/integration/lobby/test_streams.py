"""Streams of games: a snapshot, then every event once, wherever they break off."""

import asyncio
import contextlib

import pytest

from baohuang.rules.events import redact
from baohuang.rules.evolve import evolve
from baohuang.rules.views import view
from services.kit.errors import PlatformError
from services.kit.stored_events import decode_stored
from services.lobby import feeds
from services.lobby.messages.players import NewToken
from services.lobby.streams import Asked, Ended, Happened, KeepAlive, Snapshot


@pytest.fixture
async def players(scene):
    return await scene.players()


@pytest.fixture
async def game_id(scene, players):
    return (await scene.playing(players)).hands[0].game_id


class Reader:
    """Collects what a stream says, in a task of its own."""

    def __init__(self, scene, caller, game_id, after=None, *, as_spectator=False):
        self.said = []
        self.task = asyncio.create_task(self._read(scene, caller, game_id, after, as_spectator))
        self._news = asyncio.Event()

    async def _read(self, scene, caller, game_id, after, as_spectator):
        stream = await scene.lobby.streams.watch(caller, game_id, after, as_spectator, scene.secret(caller))
        async with contextlib.aclosing(stream.messages()) as messages:
            async for message in messages:
                self.said.append(message)
                self._news.set()

    async def until(self, is_there):
        """Wait until something was said."""
        async with asyncio.timeout(60):
            while not any(is_there(message) for message in self.said):
                await self._news.wait()
                self._news.clear()

    async def stop(self):
        self.task.cancel()
        await asyncio.wait({self.task})

    def of(self, kind):
        return [message for message in self.said if isinstance(message, kind)]

    @property
    def events(self):
        return [told for message in self.of(Happened) for told in message.told]


async def log_of(scene, game_id):
    commits = await scene.store.read_stream(game_id)
    return [event for commit in commits for event in decode_stored(commit.payload, commit.schema_version)]


async def some_actions(scene, game_id, count):
    for _ in range(count):
        state = await scene.state(game_id)
        await scene.act_for(game_id, state.to_act[0])


@pytest.mark.parametrize("viewer", [0, 3, None])
async def test_a_snapshot_and_then_every_event_as_the_viewer_may_see_it(viewer, scene, players, game_id):
    caller = await scene.player() if viewer is None else players[viewer]
    await some_actions(scene, game_id, 3)
    reader = Reader(scene, caller, game_id)
    await reader.until(lambda message: isinstance(message, Snapshot))
    await scene.play_to_the_end(game_id)
    await reader.task
    log = await log_of(scene, game_id)
    snapshot, ended = reader.said[0], reader.said[-1]
    state = None
    for event in log[: snapshot.version]:
        state = evolve(state, event)
    assert snapshot.view == view(state, viewer)
    assert [told.version for told in reader.events] == list(range(snapshot.version + 1, len(log) + 1))
    shown = [redact(event, viewer) for event in log[snapshot.version :]]
    assert [told.encoded(viewer, lambda _, __, event: event, game_id) for told in reader.events] == shown
    assert isinstance(ended, Ended)
    assert ended.outcome == (await scene.state(game_id)).public.outcome


async def test_a_stream_that_breaks_off_anywhere_goes_on_without_gap_or_repetition(
    scene, players, game_id, monkeypatch
):
    monkeypatch.setattr(feeds, "POLL_SECONDS", 0.01)
    reader = Reader(scene, players[1], game_id)
    await reader.until(lambda message: isinstance(message, Snapshot))
    first = after = reader.said[0].version
    seen = []
    while (await scene.state(game_id)).public.outcome is None:
        await reader.stop()
        reader = Reader(scene, players[1], game_id, after)
        await some_actions(scene, game_id, 1)
        await reader.until(lambda message: isinstance(message, Happened))
        seen += reader.events
        after = seen[-1].version
    await reader.stop()
    reader = Reader(scene, players[1], game_id, after)
    await reader.task
    assert isinstance(reader.said[-1], Ended)
    seen += reader.events
    log = await log_of(scene, game_id)
    assert [told.version for told in seen] == list(range(first + 1, len(log) + 1))


async def test_what_is_no_longer_kept_is_read_from_the_log(scene, players, game_id, monkeypatch):
    await scene.play_to_the_end(game_id)
    monkeypatch.setattr(feeds, "MOST_EVENTS", 5)
    reader = Reader(scene, players[1], game_id, 2)
    await reader.task
    assert [told.version for told in reader.events] == list(range(3, len(await log_of(scene, game_id)) + 1))


async def test_a_reader_who_falls_behind_is_cut_off_and_can_resume(scene, players, game_id, monkeypatch):
    monkeypatch.setattr(feeds, "MOST_EVENTS", 5)
    stream = await scene.lobby.streams.watch(players[0], game_id, None, False, scene.secret(players[0]))
    messages = stream.messages()
    snapshot = await anext(messages)
    await scene.play_to_the_end(game_id)
    with pytest.raises(PlatformError) as cut:
        async for _ in messages:
            # What was read before the cut is whole.
            pass
    assert (cut.value.reason, cut.value.is_retryable) == ("READER_TOO_SLOW", True)
    reader = Reader(scene, players[0], game_id, snapshot.version)
    await reader.task
    assert [told.version for told in reader.events] == list(
        range(snapshot.version + 1, len(await log_of(scene, game_id)) + 1)
    )


async def test_a_seat_is_asked_once_for_each_decision_with_its_actions_and_time(scene, players, game_id):
    reader = Reader(scene, players[2], game_id)
    await reader.until(lambda message: isinstance(message, Asked))
    # R5.0: other seats' answers in the open step bring up nothing.
    for seat in (0, 1, 3):
        await scene.act_for(game_id, seat)
    await reader.until(lambda message: isinstance(message, Happened) and message.told[-1].event.seat == 3)
    [asked] = reader.of(Asked)
    offered = await scene.lobby.play.legal_actions(players[2], game_id)
    assert (asked.version, list(asked.actions), asked.deadline_ms) == offered
    resumed = Reader(scene, players[2], game_id, (await scene.state(game_id)).version)
    await resumed.until(lambda message: isinstance(message, Asked))
    assert resumed.said == [asked]
    await scene.play_to_the_end(game_id)
    await reader.task
    await resumed.task
    versions = [asked.version for asked in reader.of(Asked)]
    assert versions == sorted(set(versions))


async def test_spectators_are_as_far_behind_as_the_table_wants(scene, players):
    table = await scene.playing(players, spectator_delay=3)
    game_id = table.hands[0].game_id
    while (await scene.state(game_id)).public.step != "play":
        await scene.act_for(game_id, (await scene.state(game_id)).to_act[0])
    before = await scene.state(game_id)
    spectator = await scene.player()
    await some_actions(scene, game_id, 2)
    for caller, is_player in ((spectator, False), (players[0], True)):
        # A player who also spectates learns nothing more.
        seen = await scene.lobby.play.view(caller, game_id, as_spectator=is_player)
        assert seen.view == view(before, None)
    reader = Reader(scene, spectator, game_id)
    await reader.until(lambda message: isinstance(message, Snapshot))
    assert reader.said[0].view == view(before, None)
    await some_actions(scene, game_id, 2)
    await reader.until(lambda message: isinstance(message, Happened))
    assert reader.events[-1].version < (await scene.state(game_id)).version
    await scene.play_to_the_end(game_id)
    await reader.task
    assert reader.events[-1].version == len(await log_of(scene, game_id))
    assert isinstance(reader.said[-1], Ended)


async def test_keep_alives_are_sent_while_nothing_happens(scene, players, game_id):
    scene.lobby.streams.keep_alive_seconds = 0.05
    reader = Reader(scene, await scene.player(), game_id)
    await reader.until(lambda message: isinstance(message, KeepAlive))
    await reader.stop()


async def test_a_stream_ends_with_its_token(scene, players, game_id, monkeypatch):
    scene.lobby.streams.keep_alive_seconds = 0.05
    added = await scene.lobby.players.add_token(players[0], NewToken())
    caller = await scene.lobby.callers.caller(added.secret)
    scene.secrets[caller.player_id] = added.secret
    reader = Reader(scene, caller, game_id)
    await reader.until(lambda message: isinstance(message, KeepAlive))
    await scene.lobby.players.revoke_token(caller, added.token.token_id)
    await asyncio.wait({reader.task})
    assert reader.task.exception().reason == "UNAUTHENTICATED"


async def test_streams_end_with_their_server_and_can_be_resumed(scene, players, game_id):
    reader = Reader(scene, players[0], game_id)
    await reader.until(lambda message: isinstance(message, Asked))
    scene.lobby.registry.stop()
    await asyncio.wait({reader.task})
    assert (reader.task.exception().reason, reader.task.exception().is_retryable) == (
        "SERVICE_UNAVAILABLE",
        True,
    )


async def test_events_that_a_game_has_not_had_cannot_be_resumed_from(scene, players, game_id):
    with pytest.raises(PlatformError, match="MALFORMED_REQUEST"):
        await scene.lobby.streams.watch(players[0], game_id, 10_000, False, "")


async def test_a_feed_goes_with_its_last_reader(scene, players, game_id):
    readers = [Reader(scene, player, game_id) for player in players]
    for reader in readers:
        await reader.until(lambda message: isinstance(message, Asked))
    assert len(scene.lobby.streams.feeds._feeds) == 1
    for reader in readers:
        await reader.stop()
    assert scene.lobby.streams.feeds._feeds == {}
    assert scene.lobby.streams.feeds._in_bucket == {}


async def test_an_event_that_all_see_alike_is_encoded_once(scene, players, game_id):
    reader = Reader(scene, await scene.player(), game_id, 0)
    await reader.until(lambda message: isinstance(message, Happened))
    calls = []

    def encode(*arguments):
        calls.append(arguments)
        return len(calls)

    for told in reader.events:
        for viewer in (0, 1, 2, 3, 4, None) * 3:
            told.encoded(viewer, encode, game_id)
    everyone = sum(told.event.audience == "everyone" for told in reader.events)
    assert len(calls) == everyone + 6 * (len(reader.events) - everyone)
    await reader.stop()
