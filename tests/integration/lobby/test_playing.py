"""Views, legal actions and actions, and the keys that make them safe to send again."""

import asyncio

import pytest

from baohuang import Action
from baohuang.rules.autoplay import auto_action
from baohuang.rules.events import redact
from services.kit.errors import PlatformError
from services.kit.stored_events import decode_stored
from services.lobby.answers import KEPT_SECONDS


@pytest.fixture
async def players(scene):
    return await scene.players()


@pytest.fixture
async def game_id(scene, players):
    # Its first step asks one seat.
    return (await scene.playing(players, preset="jiaodong")).hands[0].game_id


async def refused(reason, call):
    with pytest.raises(PlatformError) as raised:
        await call
    assert raised.value.reason == reason
    return raised.value


async def test_a_player_sees_his_own_hand_and_others_see_none(scene, players, game_id):
    stranger = await scene.player()
    state = await scene.state(game_id)
    for seat, player in enumerate(players):
        seen = await scene.lobby.play.view(player, game_id, as_spectator=False)
        assert (seen.view.viewer, seen.view.own.hand) == (seat, state.hidden.hands[seat])
        assert (seen.deadline_ms is not None) is (seat in state.to_act)
    spectators = [
        await scene.lobby.play.view(stranger, game_id, as_spectator=False),
        await scene.lobby.play.view(players[0], game_id, as_spectator=True),
    ]
    assert spectators[0] == spectators[1]
    assert (spectators[0].view.own, spectators[0].deadline_ms) == (None, None)


async def test_legal_actions_are_those_of_the_seat(scene, players, game_id):
    [seat] = (await scene.state(game_id)).to_act
    offered = await scene.lobby.play.legal_actions(players[seat], game_id)
    assert offered.actions
    assert offered.deadline_ms is not None
    other = await scene.lobby.play.legal_actions(players[(seat + 1) % 5], game_id)
    assert (other.version, other.actions, other.deadline_ms) == (offered.version, [], None)
    await refused("FORBIDDEN", scene.lobby.play.legal_actions(await scene.player(), game_id))


@pytest.mark.parametrize("game_id", ["nothing", "", "\0", "a" * 500])
async def test_unknown_games_are_not_found(game_id, scene, players):
    await refused("GAME_NOT_FOUND", scene.lobby.play.view(players[0], game_id, as_spectator=True))
    await refused("GAME_NOT_FOUND", scene.lobby.play.act(players[0], game_id, Action.parse("no"), None, None))


async def test_an_action_answers_with_what_the_seat_sees(scene, players, game_id):
    state = await scene.state(game_id)
    [seat] = state.to_act
    applied = await scene.lobby.play.act(
        players[seat], game_id, auto_action(state, seat), state.public.version, None
    )
    commit = (await scene.store.read_stream(game_id, state.version))[0]
    events = decode_stored(commit.payload, commit.schema_version)
    assert applied.events == tuple([redact(event, seat) for event in events])
    assert applied.version == (await scene.state(game_id)).public.version


async def test_the_action_that_ends_the_hand_answers_with_the_outcome(scene, players, game_id):
    while True:
        state = await scene.state(game_id)
        seat = state.to_act[0]
        applied = await scene.lobby.play.act(players[seat], game_id, auto_action(state, seat), None, None)
        if applied.outcome is not None:
            break
    assert applied.outcome == (await scene.state(game_id)).public.outcome


async def test_only_who_sits_acts_and_only_in_his_turn(scene, players, game_id):
    state = await scene.state(game_id)
    [seat] = state.to_act
    action = auto_action(state, seat)
    await refused("FORBIDDEN", scene.lobby.play.act(await scene.player(), game_id, action, None, None))
    operator = await scene.player(scopes=("operator",))
    await refused("FORBIDDEN", scene.lobby.play.act(operator, game_id, action, None, None))
    other = players[(seat + 1) % 5]
    error = await refused("NOT_YOUR_TURN", scene.lobby.play.act(other, game_id, action, None, None))
    assert error.clause == "R5.0"


async def test_a_stale_version_is_a_conflict_that_names_the_current_one(scene, players, game_id):
    state = await scene.state(game_id)
    [seat] = state.to_act
    error = await refused(
        "VERSION_CONFLICT",
        scene.lobby.play.act(
            players[seat], game_id, auto_action(state, seat), state.public.version - 1, None
        ),
    )
    assert error.details == {"version": str(state.public.version)}


async def test_answers_of_others_never_conflict_in_an_open_step(scene, players):
    # R5.0: five who saw the same version answer in any order, and all are done.
    game_id = (await scene.playing(players)).hands[0].game_id
    state = await scene.state(game_id)
    assert len(state.to_act) == 5
    results = await asyncio.gather(
        *(
            scene.lobby.play.act(players[seat], game_id, Action.parse("no"), state.public.version, "key")
            for seat in range(5)
        )
    )
    assert {len(result.events) for result in results} >= {1}
    assert (await scene.state(game_id)).public.opened_version > state.public.opened_version


async def test_the_same_key_gives_the_first_answer(scene, players, game_id):
    state = await scene.state(game_id)
    [seat] = state.to_act
    action = auto_action(state, seat)
    answers = [
        await scene.lobby.play.act(players[seat], game_id, action, state.public.version, "key")
        for _ in range(2)
    ]
    assert [answer.is_repeated for answer in answers] == [False, True]
    assert answers[0][:3] == answers[1][:3]
    await refused("COMMAND_REUSED", scene.lobby.play.act(players[seat], game_id, action, None, "key"))


async def test_the_same_key_gives_the_first_refusal_even_when_it_would_work_now(scene, players, game_id):
    state = await scene.state(game_id)
    [seat] = state.to_act
    early = next(other for other in range(5) if other != seat)
    await refused(
        "NOT_YOUR_TURN", scene.lobby.play.act(players[early], game_id, Action.parse("no"), None, "key")
    )
    while early not in (await scene.state(game_id)).to_act:
        await scene.act_for(game_id, (await scene.state(game_id)).to_act[0])
    await refused(
        "NOT_YOUR_TURN", scene.lobby.play.act(players[early], game_id, Action.parse("no"), None, "key")
    )
    # Another key is another request.
    action = auto_action(await scene.state(game_id), early)
    await scene.lobby.play.act(players[early], game_id, action, None, "another")


async def test_copies_of_a_request_that_are_under_way_at_once_are_done_once(scene, players, game_id):
    state = await scene.state(game_id)
    [seat] = state.to_act
    action = auto_action(state, seat)
    answers = await asyncio.gather(
        *(scene.lobby.play.act(players[seat], game_id, action, None, "key") for _ in range(6))
    )
    assert len({answer[:3] for answer in answers}) == 1
    assert sum(not answer.is_repeated for answer in answers) == 1


async def test_keys_of_players_do_not_meet_each_other_or_those_of_the_server(scene, players):
    game_id = (await scene.playing(players)).hands[0].game_id
    for seat in range(5):
        for key in (f"timeout.{seat}.2.0.0", f"bot.{seat}.2.0", "key"):
            state = await scene.state(game_id)
            if seat in state.to_act:
                applied = await scene.lobby.play.act(
                    players[seat], game_id, auto_action(state, seat), None, key
                )
                assert not applied.is_repeated


async def test_answers_are_forgotten_after_a_day(scene, players, game_id):
    [seat] = (await scene.state(game_id)).to_act
    other = players[(seat + 1) % 5]
    await refused("NOT_YOUR_TURN", scene.lobby.play.act(other, game_id, Action.parse("no"), None, "key"))
    await scene.reaper.reap()
    assert len(await scene.execute("select * from lobby.answers")) == 1
    await scene.execute(
        "update lobby.answers set created_at = created_at - %s * interval '1 second'", [KEPT_SECONDS + 1]
    )
    await scene.reaper.reap()
    assert await scene.execute("select * from lobby.answers") == []
