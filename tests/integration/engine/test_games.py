"""Whole games over gRPC are the library's games, and tell each seat its part only."""

import random

import pytest

from baohuang import PRESETS, Game, RuleSet, parse_cards
from baohuang.rpc.codec import decode_events
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rules import events as ev
from baohuang.rules.events import AutoPlayReason, Step
from baohuang.rules.outcome import Due, DueKind
from baohuang.rules.roles import SEATS, Opening
from services.eventstore import EventStore
from tests.integration.engine.client import (
    Client,
    check_applied,
    check_views,
    dealt,
    events_of,
    play_on,
    refused,
)
from tests.integration.engine.talk import Talk

PLAIN = RuleSet.preset("marked-guard")
HANDS = [parse_cards(hand) for hand in ("EJ 9s 9h", "GJ 7c 7d", "8h 8d", "6c 6d", "Ts Th Ac")]


async def stored(store: EventStore, game_id: str) -> tuple[ev.Event, ...]:
    return tuple(
        [event for commit in await store.read_stream(game_id) for event in decode_events(commit.payload)]
    )


@pytest.mark.parametrize("preset", PRESETS)
async def test_a_random_game_is_the_librarys(preset: str, client: Client, store: EventStore) -> None:
    rules, chance = PRESETS[preset], random.Random(preset)
    dues = (Due(DueKind.DEBT, 1, 3), Due(DueKind.TRIBUTE, 0, 2)) if rules.tribute else ()
    game = dealt(rules, 77, first_drawer=2, dues=dues)
    applied = await client.create("g", rules, seed=77, first_drawer=2, dues=dues)
    check_applied(applied, game, game.events, None)
    while game.to_act:
        await check_views(client, "g", game)
        await play_on(client, "g", game, chance, moves=40)
    await check_views(client, "g", game)
    assert await stored(store, "g") == game.events
    assert Game.replay(game.record().dumps()).state == game.state


async def test_a_game_with_nonces(client: Client) -> None:
    rules = RuleSet.preset("jiaodong")
    await client.create("g", rules, seed=5, await_nonces=True)
    view = await client.view("g", 0)
    assert (view.public.step, view.public.to_act) == (Step.NONCES, ())
    assert view.own is not None
    assert view.own.hand == ()
    added = await client.command("AddNonce", game_id="g", seat=3, nonce="好运")
    assert events_of(added) == [ev.NonceAdded(3, "好运")]
    again = await refused(client.command("AddNonce", game_id="g", seat=3, nonce="x"))
    assert again.reason == "NONCE_REFUSED"
    early = await refused(client.act("g", 0, "keep"))
    assert early.reason == "NOT_STARTED"
    await client.command("Deal", game_id="g")
    assert (await refused(client.command("Deal", game_id="g"))).reason == "ALREADY_DEALT"
    nonces = (None, None, None, "好运", None)
    assert (await client.view("g")).public.nonces == nonces
    # Other nonces, other hands.
    await client.create("h", rules, seed=5)
    assert (await client.view("h", 0)).own != (await client.view("g", 0)).own


async def test_seed_and_salt_are_drawn_and_committed_to(client: Client) -> None:
    commitments = set()
    for game_id in ("g", "h"):
        started = events_of(await client.create(game_id, PLAIN))[0]
        assert isinstance(started, ev.GameStarted)
        assert started.seed is None
        assert started.salt is None
        commitments.add(started.commitment)
    assert len(commitments) == 2
    assert None not in commitments


async def test_given_hands_start_at_play(client: Client) -> None:
    opening = Opening(0, 1, open_guard=True)
    game = Game.from_hands(PLAIN, HANDS, opening=opening)
    applied = await client.create("g", PLAIN, hands=HANDS, opening=opening)
    check_applied(applied, game, game.events, None)
    await play_on(client, "g", game, random.Random(1))
    assert game.outcome is not None


async def test_auto_play(client: Client) -> None:
    opening = Opening(0, 1)
    game = Game.from_hands(PLAIN, HANDS, opening=opening)
    await client.create("g", PLAIN, hands=HANDS, opening=opening)
    version = game.state.public.version

    async def start(seat: int, why: str, **fields: object) -> pb.Applied:
        return await client.command(
            "StartAutoPlay", game_id="g", seat=seat, why=f"AUTO_PLAY_REASON_{why}", **fields
        )

    not_on = await refused(client.command("AutoAct", game_id="g", seat=0))
    assert (not_on.reason, not_on.clause) == ("NOT_ON_AUTO_PLAY", "R9.1")
    # Seat 1 is not awaited, so its time cannot run out; and the turn of an older version has gone by.
    late = await refused(start(1, "TIMEOUT", expected_version=version))
    assert (late.reason, late.clause) == ("NOT_YOUR_TURN", "R9.1")
    assert (await refused(start(0, "TIMEOUT", expected_version=version - 1))).reason == "VERSION_CONFLICT"

    applied = await start(0, "TIMEOUT", expected_version=version)
    check_applied(applied, game, game.start_auto_play(0, AutoPlayReason.TIMEOUT), 0)
    assert (await refused(client.act("g", 0, "play 9s"))).reason == "ON_AUTO_PLAY"
    # What was asked at the older version is asked still.
    applied = await client.command("AutoAct", game_id="g", seat=0, expected_version=version)
    check_applied(applied, game, game.auto_act(0), 0)
    check_applied(await client.command("StopAutoPlay", game_id="g", seat=0), game, game.stop_auto_play(0), 0)
    gone = await client.command("Forfeit", game_id="g", seat=4, why="FORFEIT_REASON_FORCED_EXIT")
    check_applied(gone, game, game.forfeit(4), 4)
    again = await refused(client.command("Forfeit", game_id="g", seat=4, why="FORFEIT_REASON_FORCED_EXIT"))
    assert again.reason == "ALREADY_FORFEITED"
    await play_on(client, "g", game, random.Random(2))
    assert game.outcome is not None
    assert game.outcome.penalties == (0, 0, 0, 0, -40)
    assert (await refused(client.act("g", 0, "pass"))).reason == "GAME_OVER"
    assert await client.legal_actions("g", 0) == []


@pytest.mark.parametrize("at_play", [False, True])
async def test_viewers_cannot_tell_hands_apart_that_they_may_not_know(at_play: bool, client: Client) -> None:
    # Seats 2 and 3 have changed a card; seats 0, 1 and 4 and spectators may not notice.
    swapped = [*HANDS[:2], parse_cards("6c 8h"), parse_cards("6d 8d"), HANDS[4]]
    opening = Opening(0, 1) if at_play else None
    seen = []
    for game_id, hands in (("g", HANDS), ("h", swapped)):
        heard = [await client.create(game_id, PLAIN, hands=hands, opening=opening)]
        if at_play:
            heard.append(await client.act(game_id, 0, "play 9s"))
            heard.append(await client.act(game_id, 1, "play GJ"))
            attempts = [(0, "play EJ"), (1, "pass"), (4, "play Ts"), (4, "play Ac 9h")]
        else:
            heard += [await client.act(game_id, seat, "no") for seat in (0, 1)]
            attempts = [(0, "no"), (4, "rebel"), (1, "play 7c")]
        errors = []
        for seat, action in attempts:
            error = await refused(client.act(game_id, seat, action))
            errors.append((error.reason, str(error), dict(error.details), error.violations))
        streams = [await beginning(client, game_id, seat) for seat in (0, 1, 4)]
        views = [
            await client.call("GetView", pb.GetViewRequest(game_id=game_id, viewer=viewer))
            for viewer in (None, 0, 1, 4)
        ]
        legal = [
            await client.call("GetLegalActions", pb.GetLegalActionsRequest(game_id=game_id, seat=seat))
            for seat in (0, 1, 4)
        ]
        seen.append(
            (
                [
                    message.SerializeToString(deterministic=True)
                    for message in heard + views + legal + streams
                ],
                errors,
            )
        )
    assert seen[0] == seen[1]


async def beginning(client: Client, game_id: str, seat: int) -> pb.PlayResponse:
    """What a seat's stream tells at first."""
    async with Talk.joined(client, game_id, seat) as talk:
        return await talk.next()


async def test_an_answer_shows_only_its_seats_part(client: Client) -> None:
    rules = RuleSet.preset("lianzhong-simple")
    chance, game = random.Random(3), dealt(rules, 9)
    await client.create("g", rules, seed=9)
    hidden = 0
    while game.state.public.step is not Step.PLAY:
        seat = chance.choice(game.to_act)
        action = chance.choice(game.legal_actions(seat))
        game.apply(seat, action)
        for event in events_of(await client.act("g", seat, action)):
            if isinstance(event, ev.Answered):
                assert (event.seat, event.action) == (seat, action)
                hidden += 1
            assert not isinstance(event, ev.Dealt)
    assert hidden >= len(SEATS)
