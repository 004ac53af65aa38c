"""Values to messages and back: exact for every event, view and rule set; a typed error for anything else."""

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from baohuang import PRESETS, BaohuangError, Game, RuleSet, RuleSetError
from baohuang.rpc import codec
from baohuang.rpc.codec import CodecError
from baohuang.rpc.codec.values import EnumCodec, due_kind
from baohuang.rpc.game.v1 import action_pb2, error_pb2, event_pb2, rules_pb2, view_pb2
from baohuang.rules import events as ev
from baohuang.rules.actions import Action, ActionKind
from baohuang.rules.cards import CARDS
from baohuang.rules.commands import AddNonce, Deal, Start
from baohuang.rules.decide import execute
from baohuang.rules.errors import Reason
from baohuang.rules.events import EVENT_TYPES, AutoPlayReason, Event, ForfeitReason, Step, redact
from baohuang.rules.evolve import fold
from baohuang.rules.outcome import Due, DueKind
from baohuang.rules.roles import SEATS, Opening
from baohuang.rules.state import PublicState, View

VIEWERS = (None, *SEATS)
EVENT_FIELDS = {field.name: field for field in event_pb2.Event.DESCRIPTOR.oneofs_by_name["event"].fields}


def started(rules: RuleSet, chance: random.Random) -> Game:
    """A game that has begun in one of the ways in which games begin."""
    dues = (Due(DueKind.DEBT, 1, 3), Due(DueKind.TRIBUTE, 0, 2), Due(DueKind.TRIBUTE, 4, 2))
    seed, salt = chance.getrandbits(256), chance.randbytes(32)
    first_drawer = chance.randrange(5)
    if chance.random() < 0.3:
        return Game.deal(rules, seed=seed, first_drawer=first_drawer, dues=dues if rules.tribute else ())
    start = Start(rules, first_drawer, dues if rules.tribute else (), seed=seed, salt=salt, await_nonces=True)
    events, state = execute(None, start)
    for seat in chance.sample(SEATS, chance.randrange(6)):
        more, state = execute(state, AddNonce(seat, chance.choice(["luck", "好运", "\u2028 x"])))
        events += more
    more, state = execute(state, Deal())
    return Game(events + more, state)


def at_play(game: Game) -> Game:
    """A game with given hands that begins where this one stands, which is at play."""
    public, hidden = game.state.public, game.state.hidden
    assert public.emperor is not None
    opening = Opening(
        public.emperor, hidden.guard, open_solo=public.open_solo, called=public.called, rebels=public.rebels
    )
    return Game.from_hands(game.rules, hidden.hands, opening=opening)


def moments(rules: RuleSet, chance: random.Random) -> Iterator[Game]:
    """Some moments of a random game, the end the last; seats go on and off auto-play and leave."""
    game = started(rules, chance)
    is_rebased = False
    while game.to_act:
        if chance.random() < 0.005:
            yield game
        seat = chance.choice(game.to_act)
        if game.state.public.auto_play[seat]:
            if game.state.public.auto_play_starts[seat] < 3 and chance.random() < 0.3:
                game.stop_auto_play(seat)
            else:
                game.auto_act(seat)
            continue
        if chance.random() < 0.02 and not game.state.public.forfeited[seat]:
            if chance.random() < 0.7:
                game.start_auto_play(seat, chance.choice(list(AutoPlayReason)))
            else:
                game.forfeit(seat, chance.choice(list(ForfeitReason)))
            continue
        game.apply(seat, chance.choice(game.legal_actions(seat)))
        if not is_rebased and game.state.public.step is Step.PLAY and chance.random() < 0.005:
            yield game
            if not game.state.public.trick and not game.state.public.tricks:
                game, is_rebased = at_play(game), True
    yield game


def check_events(events: tuple[Event, ...]) -> None:
    stored = codec.encode_events(events)
    assert codec.decode_events(stored) == events
    assert codec.encode_events(codec.decode_events(stored)) == stored
    for viewer in VIEWERS:
        seen = tuple([redact(event, viewer) for event in events])
        assert codec.decode_events(codec.encode_events(seen)) == seen


def check_views(game: Game) -> None:
    for viewer in VIEWERS:
        view = game.view(viewer)
        assert codec.decode_view(codec.encode_view(view)) == view


# Whole games are long, so there are fewer of them.
@settings(max_examples=settings.default.max_examples // 4)
@given(preset=st.sampled_from(list(PRESETS)), seed=st.integers(0, 2**32 - 1))
def test_events_redactions_and_views_come_back_as_they_were(preset: str, seed: int) -> None:
    for game in moments(PRESETS[preset], random.Random(seed)):
        check_views(game)
    check_events(game.events)


@pytest.mark.parametrize("preset", PRESETS)
def test_folding_what_was_stored_gives_the_same_state(preset: str) -> None:
    *_, game = moments(PRESETS[preset], random.Random(preset))
    stored = [codec.encode_events([event]) for event in game.events]
    assert fold(event for message in stored for event in codec.decode_events(message)) == game.state


def test_a_game_that_begins_at_play_comes_back() -> None:
    game = Game.from_hands(
        RuleSet.preset("lianzhong-simple"),
        ["EJ 9s", "GJ 7c 7d", "8h", "6c", "6d"],
        opening=Opening(0, 1, open_guard=True),
    )
    assert isinstance(game.events[2], ev.OpeningGiven)
    check_events(game.events)
    check_views(game)


OTHER_EVENTS = (
    ev.Cleared(seat=3, place=4, by=2),
    ev.CardGiven(giver=1, receiver=0, kind=DueKind.TRIBUTE, returned=True, card=CARDS[0]),
    ev.ThroneAnswered(0, ActionKind.YIELD, 4, laid=(CARDS[12],), laid_count=1, carried=(), carried_count=0),
    ev.ThroneAnswered(0, ActionKind.KEEP, None, laid=None, laid_count=0, carried=None, carried_count=0),
    ev.CallAnswered(2, CARDS[51]),
    ev.CallAnswered(2, None),
    ev.Answered(4, Step.TRIBUTE, Action(ActionKind.GIVE, (CARDS[55],))),
    ev.Answered(4, Step.CLAIM, None),
    ev.StepClosed(Step.DECLARE, ((0, ActionKind.GUARD), (4, ActionKind.REBEL)), stands=True),
    ev.Enthroned(0),
    ev.GuardRevealed(0, 0),
    ev.GameStarted(RuleSet.preset("jiaodong", all_refuse="must_play"), 4, (), None, 2**256 - 1, None),
    ev.GameStarted(RuleSet.preset("shandong-folk"), 0, (Due(DueKind.DEBT, 0, 1),), "ab", 0, bytes(32)),
    ev.Dealt(2, ((CARDS[3],), None, (), None, None), deck=None),
)


@pytest.mark.parametrize("event", OTHER_EVENTS, ids=repr)
def test_rare_events_come_back(event: Event) -> None:
    assert codec.decode_events(codec.encode_events([event])) == (event,)


@given(
    preset=st.sampled_from(list(PRESETS)),
    kaopai=st.booleans(),
    three_twos=st.booleans(),
    counts=st.sampled_from(["always", "at_most_10", "never"]),
)
def test_rule_sets_come_back(preset: str, kaopai: bool, three_twos: bool, counts: str) -> None:
    options = {"kaopai": kaopai, "show_counts": counts}
    if preset != "shandong-folk":
        options["three_twos_beat_big_joker"] = three_twos
    rules = RuleSet.preset(preset, **options)
    assert codec.decode_rules(codec.encode_rules(rules)) == rules


# What the contracts and the library must have in common.


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def test_each_event_type_has_its_field_of_the_same_name() -> None:
    assert {snake(kind.__name__) for kind in EVENT_TYPES} == set(EVENT_FIELDS)


@pytest.mark.parametrize("kind", EVENT_TYPES, ids=lambda kind: kind.__name__)
def test_each_event_message_has_the_fields_of_its_type(kind: type[Event]) -> None:
    message = EVENT_FIELDS[snake(kind.__name__)].message_type
    assert {field.name for field in message.fields} == {field.name for field in fields(kind)}


def test_the_public_state_has_the_same_fields() -> None:
    assert {field.name for field in view_pb2.PublicState.DESCRIPTOR.fields} == {
        field.name for field in fields(PublicState)
    }
    assert {field.name for field in view_pb2.View.DESCRIPTOR.fields} == {field.name for field in fields(View)}


def test_each_reason_is_in_the_contracts() -> None:
    names = {name.removeprefix("ERROR_REASON_") for name in error_pb2.ErrorReason.keys()}  # noqa: SIM118
    assert {reason.value for reason in Reason} <= names


# What is no value.

BAD_EVENTS = {
    "played.seat": event_pb2.Event(played=event_pb2.Played(seat=5, cards=[1])),
    "played.cards[1]": event_pb2.Event(played=event_pb2.Played(seat=0, cards=[1, 0])),
    "played.cards": event_pb2.Event(played=event_pb2.Played(seat=0, cards=[1] * 217)),
    "card_given.kind": event_pb2.Event(card_given=event_pb2.CardGiven(giver=0, receiver=1)),
    "card_given.card": event_pb2.Event(
        card_given=event_pb2.CardGiven(giver=0, receiver=1, kind=due_kind.encode(DueKind.DEBT), card=0)
    ),
    "answered.step": event_pb2.Event(answered=event_pb2.Answered(seat=0)),
    "answered.action.kind": event_pb2.Event(answered=event_pb2.Answered(action=action_pb2.Action())),
    "dealt.hands": event_pb2.Event(dealt=event_pb2.Dealt(hands=[event_pb2.Dealt.SeatHand()] * 4)),
    "game_started.seed": event_pb2.Event(
        game_started=event_pb2.GameStarted(rules=rules_pb2.RuleSet(preset="jiaodong"), seed=b"x")
    ),
    "hand_ended.outcome.scores": event_pb2.Event(hand_ended=event_pb2.HandEnded()),
    "opening_given.opening.guard": event_pb2.Event(
        opening_given=event_pb2.OpeningGiven(opening=rules_pb2.Opening(guard=9))
    ),
    "step_closed.declared[0].kind": event_pb2.Event(
        step_closed=event_pb2.StepClosed(step=5, declared=[event_pb2.StepClosed.Declared(seat=0)])
    ),
    "": event_pb2.Event(),
}


@pytest.mark.parametrize("field", BAD_EVENTS)
def test_the_error_names_the_field(field: str) -> None:
    good = event_pb2.Event(passed=event_pb2.Passed(seat=1))
    payload = event_pb2.EventBatch(events=[good, BAD_EVENTS[field]]).SerializeToString()
    with pytest.raises(CodecError) as caught:
        codec.decode_events(payload)
    assert caught.value.field == f"events[1].{field}".rstrip(".")
    assert str(caught.value.field) in caught.value.message


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (rules_pb2.RuleSet(), Reason.UNKNOWN_PRESET),
        (rules_pb2.RuleSet(preset="jiaodong", options={"name": "x"}), Reason.UNKNOWN_OPTION),
        (rules_pb2.RuleSet(preset="jiaodong", options={"kaopai": "maybe"}), Reason.BAD_OPTION_VALUE),
        (rules_pb2.RuleSet(preset="jiaodong", options={"deck_size": "9" * 9999}), Reason.BAD_OPTION_VALUE),
        (rules_pb2.RuleSet(preset="jiaodong", options={"tribute": "true"}), Reason.OPTIONS_CONFLICT),
    ],
)
def test_rule_sets_that_cannot_be_have_their_own_error(rules: rules_pb2.RuleSet, reason: Reason) -> None:
    with pytest.raises(RuleSetError) as caught:
        codec.decode_rules(rules)
    assert caught.value.reason is reason


@pytest.mark.parametrize("kind", ActionKind)
def test_actions_with_the_wrong_number_of_cards_are_refused(kind: ActionKind) -> None:
    few, many = {ActionKind.CALL: (0, 2), ActionKind.GIVE: (0, 2), ActionKind.PLAY: (0, 217)}.get(
        kind, (1, 2)
    )
    for number in (few, many):
        message = action_pb2.Action(kind=codec.encode_action(Action(kind)).kind, cards=[3] * number)
        with pytest.raises(CodecError) as caught:
            codec.decode_action(message)
        assert caught.value.field == "cards"


def test_the_cards_of_an_action_are_brought_into_deck_order() -> None:
    message = action_pb2.Action(kind=codec.encode_action(Action(ActionKind.PLAY)).kind, cards=[55, 17])
    assert codec.decode_action(message) == Action.parse("play 7c BJ")


@given(payload=st.binary(max_size=80))
def test_any_bytes_give_events_or_a_typed_error(payload: bytes) -> None:
    with suppress(BaohuangError):
        codec.decode_events(payload)


@settings(max_examples=settings.default.max_examples // 4)
@given(seed=st.integers(0, 2**32 - 1))
def test_damaged_events_and_views_give_values_or_a_typed_error(seed: int) -> None:
    chance = random.Random(seed)
    *_, game = moments(PRESETS[chance.choice(list(PRESETS))], chance)
    events = codec.encode_events(game.events)
    view = codec.encode_view(game.view(chance.choice(VIEWERS))).SerializeToString()
    for _ in range(5):
        with suppress(BaohuangError):
            codec.decode_events(damaged(events, chance))
        with suppress(BaohuangError, DecodeError):
            codec.decode_view(view_pb2.View.FromString(damaged(view, chance)))


def damaged(message: bytes, chance: random.Random) -> bytes:
    broken = bytearray(message)
    for _ in range(chance.randrange(1, 4)):
        broken[chance.randrange(len(broken))] = chance.randrange(256)
    return bytes(broken)


def test_an_enum_without_its_message_is_noticed_at_import() -> None:
    with pytest.raises(ValueError, match="CARD"):
        EnumCodec(Step, event_pb2.Step, "CARD")
