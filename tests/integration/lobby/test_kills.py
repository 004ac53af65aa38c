"""Whatever is killed in the middle of a hand, the hand ends, and each of its decisions was made once."""

VICTIMS = ("worker", "follower", "engine", "valkey", "lobby")
EVENTS_BETWEEN = 15


def assert_played(table, platform):
    assert table["status"] == "finished"
    for hand in table["hands"]:
        # Checked move by move: a decision that was taken twice would not stand up to the rules.
        assert list(platform.replay(hand["game_id"]).outcome.scores) == hand["outcome"]["scores"]


def test_hand_survives_the_kill_of_every_process_one_after_another(platform):
    table = platform.open_table("lianzhong-classic")
    [hand] = table["hands"]
    for victim in VICTIMS:
        platform.wait_events(hand["game_id"], platform.version(hand["game_id"]) + EVENTS_BETWEEN)
        platform.kill(victim)
        platform.restart(victim)
    assert_played(platform.wait_finished(table["table_id"]), platform)


def test_table_opened_while_the_engine_is_away_begins_by_itself_and_once(platform):
    engine = platform.processes["engine"]
    assert engine.stop() == 0
    table = platform.open_table("marked-guard", hands=2)
    assert (table["status"], table["hands"][0]["status"]) == ("starting", "opening")
    engine.start()
    # Two followers open the hands and carry the table on, as if there were one.
    with platform.another("follower"):
        ended = platform.wait_finished(table["table_id"])
    assert [hand["number"] for hand in ended["hands"]] == [1, 2]
    assert_played(ended, platform)
