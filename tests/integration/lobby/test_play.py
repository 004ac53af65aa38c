"""Tables of built-in bots play their hands to the end, and carry on what one hand hands to the next."""

import pytest

from baohuang import PRESETS
from baohuang.rules.table import Table

HANDS = 3


@pytest.fixture(scope="module")
def tables(platform):
    """A table for each preset, and one of several hands where tribute is paid; all are played at once."""
    opened = {preset: platform.open_table(preset) for preset in PRESETS}
    opened["several"] = platform.open_table("shandong-folk", hands=HANDS)
    return {name: platform.wait_finished(table["table_id"]) for name, table in opened.items()}


@pytest.mark.parametrize("preset", PRESETS)
def test_five_bots_play_a_hand_to_its_end(preset, tables, platform):
    table = tables[preset]
    assert table["status"] == "finished"
    [hand] = table["hands"]
    game = platform.replay(hand["game_id"])
    assert game.rules.name == preset
    assert hand["outcome"]["termination"] == game.outcome.termination
    assert hand["outcome"]["scores"] == list(game.outcome.scores) == table["totals"]["scores"]
    assert hand["ended_at_ms"] >= hand["created_at_ms"]


def test_totals_first_drawer_and_dues_pass_from_hand_to_hand(tables, platform):
    table = tables["several"]
    assert [hand["number"] for hand in table["hands"]] == [1, 2, 3]
    carried = Table()
    for hand in table["hands"]:
        game = platform.replay(hand["game_id"])
        # R2.2, R10.6: what the hand before handed on is what this one and its game began with.
        assert game.state.public.first_drawer == hand["first_drawer"] == carried.first_drawer
        assert game.state.public.dues == carried.dues
        assert [due["giver"] for due in hand["dues"]] == [due.giver for due in carried.dues]
        carried = carried.after(game.outcome)
    assert table["totals"] == {
        "hands": HANDS,
        "counted": carried.counted,
        "scores": list(carried.scores),
        "penalties": list(carried.penalties),
    }
    assert table["next_hand"]["first_drawer"] == carried.first_drawer
    assert any(hand["dues"] for hand in table["hands"]), (
        "no card was owed in three hands of a game with tribute"
    )


def test_every_decision_was_made_by_a_bot_and_once(tables, platform):
    for table in tables.values():
        for hand in table["hands"]:
            commands = [
                row["command_id"]
                for row in platform.query(
                    "select command_id from eventstore.log where stream = %s order by version",
                    hand["game_id"],
                )
            ]
            assert commands[0] == f"{table['table_id']}.{hand['number']}"
            assert all(command.startswith("bot.") for command in commands[1:])
            assert len(set(commands)) == len(commands)


def test_nothing_is_left_to_do_when_all_tables_are_finished(tables, platform):
    games = [hand["game_id"] for table in tables.values() for hand in table["hands"]]
    assert platform.query("select * from lobby.turns where game_id = any(%s)", games) == []
    assert platform.query("select * from eventstore.parked_commits") == []
