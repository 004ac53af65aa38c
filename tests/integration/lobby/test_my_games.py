"""All games of a player as one stream."""

import asyncio
import contextlib

import pytest

from services.eventstore import Cursor
from services.kit.errors import PlatformError
from services.lobby.my_games import AllGames, AskedIn, Began, EndedIn
from services.lobby.streams import KeepAlive


class Reader:
    """Collects what the stream says, in a task of its own."""

    def __init__(self, scene, caller, after=None):
        self.items = []
        self._news = asyncio.Event()
        self.task = asyncio.create_task(self._read(scene, caller, after))

    async def _read(self, scene, caller, after):
        async with contextlib.aclosing(
            scene.lobby.my_games.watch(caller, after, scene.secret(caller))
        ) as items:
            async for item in items:
                self.items.append(item)
                self._news.set()

    async def until(self, is_there):
        async with asyncio.timeout(60):
            while not any(is_there(item.message) for item in self.items):
                await self._news.wait()
                self._news.clear()

    async def stop(self):
        self.task.cancel()
        await asyncio.wait({self.task})

    @property
    def messages(self):
        return [item.message for item in self.items if not isinstance(item.message, KeepAlive)]


def ended(game_id):
    return lambda message: isinstance(message, EndedIn) and message.game.game_id == game_id


@pytest.fixture
async def players(scene):
    return await scene.players()


async def test_the_stream_begins_with_all_live_games(scene, players):
    empty = Reader(scene, players[0])
    await empty.until(lambda message: isinstance(message, AllGames))
    assert empty.messages == [AllGames([])]
    await empty.stop()
    tables = [await scene.playing(players), await scene.playing(players, preset="jiaodong")]
    reader = Reader(scene, players[0])
    await reader.until(lambda message: isinstance(message, AllGames))
    [message] = reader.messages
    games = {game.game_id: game for game in message.games}
    assert set(games) == {table.hands[0].game_id for table in tables}
    for game in games.values():
        assert game.to_act is (0 in (await scene.state(game.game_id)).to_act)
        assert game.seat == 0
    await reader.stop()
    listed, _ = await scene.lobby.my_games.listed(players[0])
    assert sorted(listed) == sorted(message.games)


async def test_games_begin_ask_and_end(scene, players):
    reader = Reader(scene, players[0])
    await reader.until(lambda message: isinstance(message, AllGames))
    table = await scene.playing(players)
    game_id = table.hands[0].game_id
    await reader.until(lambda message: isinstance(message, Began))
    # R5.0: the answers of others in the same step bring up nothing.
    for seat in (1, 2, 3, 4):
        await scene.act_for(game_id, seat)
    await scene.play_to_the_end(game_id)
    await reader.until(ended(game_id))
    _, began, *asked, last = reader.messages
    assert (began.game.game_id, began.game.table_id, began.game.to_act) == (game_id, table.table_id, True)
    assert {type(message) for message in asked} == {AskedIn}
    versions = [message.game.version for message in asked]
    assert versions == sorted(set(versions))
    assert last.outcome == (await scene.state(game_id)).public.outcome
    cursors = [item.cursor for item in reader.items if item.cursor is not None]
    assert cursors == sorted(set(cursors))
    await reader.stop()


async def test_a_stream_that_breaks_off_anywhere_goes_on_without_gap_or_repetition(scene, players):
    whole = Reader(scene, players[0])
    await whole.until(lambda message: isinstance(message, AllGames))
    tables = [await scene.playing(players) for _ in range(3)]
    for table in tables:
        await scene.play_to_the_end(table.hands[0].game_id)
        await whole.until(ended(table.hands[0].game_id))
    items = [item for item in whole.items if item.cursor is not None]
    for number in range(0, len(items), max(1, len(items) // 12)):
        resumed = Reader(scene, players[0], items[number].cursor)
        if items[number + 1 :]:
            await resumed.until(lambda message: message == items[-1].message)
        assert [item for item in resumed.items if item.cursor is not None] == items[number + 1 :]
        await resumed.stop()
    await whole.stop()


async def test_games_of_others_are_not_told(scene, players):
    others = await scene.players()
    reader = Reader(scene, players[0])
    await reader.until(lambda message: isinstance(message, AllGames))
    await scene.playing(others)
    mine = await scene.playing(players)
    await reader.until(lambda message: isinstance(message, Began))
    assert {message.game.game_id for message in reader.messages[1:]} == {mine.hands[0].game_id}
    await reader.stop()


async def test_a_reader_who_falls_behind_is_cut_off(scene, players):
    items = scene.lobby.my_games.watch(players[0], None, scene.secret(players[0]))
    await anext(items)
    [watcher] = scene.lobby.my_games._watchers[players[0].player_id]
    watcher.is_behind = True
    with pytest.raises(PlatformError, match="READER_TOO_SLOW"):
        await anext(items)


@pytest.mark.parametrize("text", ["", "nonsense", "1", "-", "zz-1", Cursor(1 << 60, 1).format()])
async def test_what_is_no_cursor_of_this_log_is_refused(text, scene):
    with pytest.raises(PlatformError, match="MALFORMED_REQUEST"):
        await scene.lobby.my_games.check_cursor(text)
