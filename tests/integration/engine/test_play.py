"""A seat's stream: snapshot, every event once, one question for each decision, answers, the end."""

import asyncio
import random
from contextlib import AsyncExitStack

import grpc.aio
import pytest

from baohuang import PRESETS, Game, RuleSet, parse_cards
from baohuang.rpc.codec import decode_action, decode_events, decode_outcome, decode_view
from baohuang.rpc.game.v1 import error_pb2
from baohuang.rules import events as ev
from baohuang.rules.events import Step, redact
from baohuang.rules.roles import SEATS, Opening
from services.engine.metrics import STREAMS
from services.engine.play import Paces
from services.engine.server import serving
from services.eventstore import EventStore, Pool
from services.eventstore.wakeups import WakeupListener, WakeupSender
from services.kit.metrics import REQUESTS
from services.local.valkey import LocalValkey
from tests.integration.engine.client import Client, dealt, play_on, refused
from tests.integration.engine.talk import Talk

PLAIN = RuleSet.preset("marked-guard")
HANDS = [parse_cards(hand) for hand in ("EJ 9s 9h", "GJ 7c 7d", "8h 8d", "6c 6d", "Ts Th Ac")]
AT_PLAY = Opening(0, 1)
SMALL_WINDOW = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536)]

Two = tuple[Client, Client]


async def at_play(client: Client, game_id: str = "g") -> Game:
    await client.create(game_id, PLAIN, hands=HANDS, opening=AT_PLAY)
    return Game.from_hands(PLAIN, HANDS, opening=AT_PLAY)


async def play_by_stream(client: Client, game_id: str, seat: int, chance: random.Random) -> Talk:
    """Answers every question with a legal action, to the end of the hand."""
    async with Talk.joined(client, game_id, seat) as talk:
        beginning = (await talk.next()).snapshot
        assert decode_view(beginning.view).viewer == seat
        talk.events = {beginning.version: ev.Passed(seat)}  # stands for those of the snapshot
        unanswered: set[str] = set()
        number = 0
        while True:
            message = await talk.next()
            match message.WhichOneof("response"):
                case "asked":
                    number += 1
                    unanswered.add(f"{seat}-{number}")
                    action = decode_action(chance.choice(message.asked.actions))
                    await talk.act(f"{seat}-{number}", action, expected_version=message.asked.version)
                case "done":
                    unanswered.remove(message.done.command_id)
                case "ended":
                    assert not unanswered
                    assert await talk.rest() == []
                    assert await talk.call.code() is grpc.StatusCode.OK
                    del talk.events[beginning.version]
                    return talk


@pytest.mark.parametrize("preset", ["jiaodong", "shandong-folk"])
async def test_five_seats_play_a_hand_over_two_engines(preset: str, clients: Two, store: EventStore) -> None:
    game = dealt(PRESETS[preset], 31)
    await clients[0].create("g", PRESETS[preset], seed=31)
    talks = await asyncio.gather(
        *[play_by_stream(clients[seat % 2], "g", seat, random.Random(seat)) for seat in SEATS]
    )
    commits = await store.read_stream("g")
    events = tuple([event for commit in commits for event in decode_events(commit.payload)])
    assert events[: len(game.events)] == game.events
    assert isinstance(events[-1], ev.HandEnded)
    for seat, talk in enumerate(talks):
        first = min(talk.events)
        assert list(talk.events.values()) == [redact(event, seat) for event in events[first - 1 :]]
        assert max(talk.events) == len(events)


async def test_the_snapshot_and_what_is_asked(client: Client) -> None:
    game = await at_play(client)
    for seat in SEATS:
        async with Talk.joined(client, "g", seat) as talk:
            snapshot = await talk.until("snapshot")
            assert decode_view(snapshot.view) == game.view(seat)
            assert snapshot.version == game.version
            if seat in game.to_act:
                asked = await talk.until("asked")
                assert [decode_action(action) for action in asked.actions] == game.legal_actions(seat)
                assert asked.version == game.state.public.version


async def test_a_stream_goes_on_after_any_event(clients: Two) -> None:
    game = await at_play(clients[0])
    await play_on(clients[0], "g", game, random.Random(5), moves=7)
    for after in range(game.version + 1):
        async with Talk.joined(clients[after % 2], "g", 3, after_version=after) as talk:
            later = [redact(event, 3) for event in game.events[after:]]
            while len(talk.events) < len(later):
                await talk.next()
            assert list(talk.events.values()) == later
            assert list(talk.events) == list(range(after + 1, game.version + 1))
    await play_on(clients[0], "g", game, random.Random(5))
    async with Talk.joined(clients[1], "g", 3, after_version=game.version - 1) as talk:
        assert await talk.rest() == ["happened", "ended"]
    async with Talk.joined(clients[1], "g", 3) as talk:
        assert decode_view((await talk.until("snapshot")).view) == game.view(3)
        assert decode_outcome((await talk.until("ended")).outcome) == game.outcome
    async with Talk.joined(clients[1], "g", 3, after_version=game.version + 1) as talk:
        error = await refused(talk.next())
        assert (error.reason, error.violations[0].field) == ("MALFORMED_REQUEST", "join.after_version")


async def test_a_refused_action_does_not_end_the_stream(client: Client, store: EventStore) -> None:
    await at_play(client)
    async with Talk.joined(client, "g", 0) as talk:
        version = (await talk.until("asked")).version
        attempts = {
            "against": (talk.act("against", "pass"), "LEADER_CANNOT_PASS", "R3.2"),
            "old": (talk.act("old", "play 9s", expected_version=version - 1), "VERSION_CONFLICT", ""),
            "none": (talk.send(act={"command_id": "none"}), "MALFORMED_REQUEST", ""),
            "b d": (talk.act("b d", "play 9s"), "MALFORMED_REQUEST", ""),
        }
        for command_id, (sending, reason, clause) in attempts.items():
            await sending
            told = await talk.until("refused")
            assert told.command_id == command_id
            assert error_pb2.ErrorReason.Name(told.reason) == f"ERROR_REASON_{reason}"
            assert (told.clause, told.retryable) == (clause, False)
        await talk.act("a", "play 9s", expected_version=version)
        done = await talk.until("done")
        assert (done.command_id, done.repeated_command) == ("a", False)
        # The same commands as the unary method's.
        assert (
            await client.act("g", 0, "play 9s", command_id="a", expected_version=version)
        ).repeated_command
        await talk.act("a", "play 9s", expected_version=version)
        assert (await talk.until("done")).repeated_command
        await talk.act("a", "play 9h", expected_version=version)
        assert (await talk.until("refused")).reason == error_pb2.ERROR_REASON_COMMAND_REUSED
    assert len(await store.read_stream("g")) == 2


async def test_streams_that_cannot_be(client: Client) -> None:
    await at_play(client)
    for first, reason in (
        ({"act": {"command_id": "a"}}, "MALFORMED_REQUEST"),
        ({}, "MALFORMED_REQUEST"),
        ({"join": {"game_id": "?"}}, "MALFORMED_REQUEST"),
        ({"join": {"game_id": "g", "seat": 5}}, "MALFORMED_REQUEST"),
        ({"join": {"game_id": "none"}}, "GAME_NOT_FOUND"),
    ):
        talk = Talk(client.stub.Play())
        await talk.send(**first)
        assert (await refused(talk.next())).reason == reason
    async with Talk.joined(client, "g", 0) as talk:
        await talk.until("asked")
        await talk.send(join={"game_id": "g"})
        assert (await refused(talk.until("never"))).reason == "MALFORMED_REQUEST"
    counted = REQUESTS.labels("grpc", "Play", "INVALID_ARGUMENT")
    before = counted._value.get()
    talk = Talk(client.stub.Play())
    await talk.call.done_writing()
    assert (await refused(talk.next())).reason == "MALFORMED_REQUEST"
    assert counted._value.get() == before + 1


async def test_who_only_listens_hears_all(client: Client) -> None:
    game = await at_play(client)
    async with Talk.joined(client, "g", 2) as talk:
        await talk.call.done_writing()
        await talk.until("snapshot")
        await play_on(client, "g", game, random.Random(2))
        await talk.until("ended")
        assert max(talk.events) == game.version


async def test_an_open_step_shows_only_who_has_answered(clients: Two) -> None:
    """R5.0: what others answer changes neither what is asked, nor when, nor what a seat is told of it."""
    rules = RuleSet.preset("lianzhong-simple")
    answers = {"g": "no", "h": "rebel"}
    heard = {}
    for game_id, answer in answers.items():
        game = dealt(rules, 4)
        await clients[0].create(game_id, rules, seed=4)
        while game.state.public.step is not Step.DECLARE:
            seat = game.to_act[0]
            action = next(
                (a for a in game.legal_actions(seat) if str(a) == "no"), game.legal_actions(seat)[0]
            )
            game.apply(seat, action)
            await clients[0].act(game_id, seat, action)
        rebels = [seat for seat in SEATS if answer in map(str, game.legal_actions(seat))]
        watcher, first = rebels[0], rebels[1]
        async with Talk.joined(clients[1], game_id, watcher) as talk:
            messages = [await talk.next(), await talk.next()]
            assert [m.WhichOneof("response") for m in messages] == ["snapshot", "asked"]
            await clients[0].act(game_id, first, answer)
            messages.append(await talk.next())
            assert isinstance(talk.events[game.version + 1], ev.Answered)
            # Nothing is asked again: the next message is the answer to an action of his own.
            await talk.act("x", "pass")
            messages.append(await talk.next())
            await talk.act("y", "no", expected_version=messages[1].asked.version)
            while messages[-1].WhichOneof("response") != "done":
                messages.append(await talk.next())
            heard[game_id] = [m.SerializeToString(deterministic=True) for m in messages]
    assert sorted(heard["g"]) == sorted(heard["h"])


async def test_auto_play_is_not_asked(client: Client) -> None:
    await at_play(client)
    async with Talk.joined(client, "g", 0) as talk:
        await talk.until("asked")
        await client.command("StartAutoPlay", game_id="g", seat=0, why="AUTO_PLAY_REASON_REQUEST")
        await client.command("StopAutoPlay", game_id="g", seat=0)
        # He has his control back, and is asked again.
        assert (await talk.until("asked")).actions
        assert [type(event) for event in talk.events.values()] == [ev.AutoPlayStarted, ev.AutoPlayEnded]


async def test_moves_of_another_engine_are_heard_over_valkey(pool: Pool, valkey: LocalValkey) -> None:
    async with WakeupSender(valkey.url) as sender, WakeupListener(valkey.url) as listener:
        store = EventStore(pool, sender)
        async with (
            serving(store) as port,
            serving(store, listener=listener) as other_port,
            grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
            grpc.aio.insecure_channel(f"127.0.0.1:{other_port}") as other_channel,
        ):
            client, other = Client(channel), Client(other_channel)
            game = await at_play(client)
            async with Talk.joined(other, "g", 4) as talk:
                await talk.until("snapshot")
                await play_on(client, "g", game, random.Random(4))
                await talk.until("ended")
                assert max(talk.events) == game.version


async def test_keep_alive(pool: Pool) -> None:
    async with (
        serving(EventStore(pool), paces=Paces(keep_alive_seconds=0.02)) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        await at_play(Client(channel))
        async with Talk.joined(Client(channel), "g", 3) as talk:
            await talk.until("snapshot")
            for _ in range(3):
                assert (await talk.next(keep_alive=True)).WhichOneof("response") == "keep_alive"


async def test_a_slow_reader_is_cut_off_and_goes_on_later(pool: Pool) -> None:
    async with (
        serving(EventStore(pool), paces=Paces(slow_reader_seconds=0.3)) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=SMALL_WINDOW) as channel,
    ):
        client = Client(channel)
        game = await at_play(client)
        async with Talk.joined(client, "g", 0) as talk:
            await talk.until("asked")
            # More answers than the connection holds, to fewer requests than it holds.
            for _ in range(6):
                await talk.act("x" * 40_000, "pass")
            async with asyncio.timeout(20):
                while STREAMS._value.get():
                    await client.view("g")
            # What lay in the connection is all that he finds.
            error = await refused(talk.until("never"))
            assert (error.reason, error.is_retryable) == ("SERVICE_UNAVAILABLE", True)
            assert "after_version" in error.message
        async with Talk.joined(client, "g", 0, after_version=game.version) as talk:
            await talk.until("asked")


async def test_a_stopping_engine_ends_its_streams(pool: Pool) -> None:
    async with AsyncExitStack() as engine:
        port = await engine.enter_async_context(serving(EventStore(pool)))
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            await at_play(Client(channel))
            async with Talk.joined(Client(channel), "g", 0) as talk:
                await talk.until("asked")
                stopping = asyncio.create_task(engine.aclose())
                error = await refused(talk.until("never"))
                assert (error.reason, error.is_retryable) == ("SERVICE_UNAVAILABLE", True)
                await asyncio.wait_for(stopping, 5)
