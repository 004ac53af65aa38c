"""Records: exact round trip, every malformed line refused with its place, every impossible step found."""

from __future__ import annotations

import contextlib
import json
import random
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baohuang import PRESETS, Due, DueKind, Game, Opening, Record, RecordError, RuleError, RuleSet
from baohuang.bots import make_bot, play_game
from baohuang.codec_json import EVENTS, event_from_json, event_to_json, show
from baohuang.record import command_of, replay
from baohuang.rules.commands import AddNonce, AutoAct, Deal, Start
from baohuang.rules.decide import execute
from baohuang.rules.events import (
    EVENT_TYPES,
    AutoPlayReason,
    ForfeitReason,
    GameStarted,
    HandEnded,
    Played,
    Viewer,
    redact,
)

SALT = bytes(range(32))


def play(game: Game, seed: int, *, moves: int | None = None) -> Game:
    """Plays on at random, with auto-play, taking back and forfeits now and then."""
    chance = random.Random(seed)
    while game.to_act and (moves is None or moves > 0):
        seat = chance.choice(game.to_act)
        try:
            if chance.random() < 0.02:
                game.start_auto_play(seat, chance.choice(list(AutoPlayReason)))
            if chance.random() < 0.02:
                game.stop_auto_play(seat)
            if chance.random() < 0.003:
                game.forfeit(seat, chance.choice(list(ForfeitReason)))
        except RuleError:
            pass  # On auto-play already, not on it, or gone.
        if game.state.public.auto_play[seat]:
            game.auto_act(seat)
        else:
            game.apply(seat, chance.choice(game.legal_actions(seat)))
        moves = None if moves is None else moves - 1
    return game


def with_nonces(rules: RuleSet, seed: int) -> Game:
    """A game with commitment and nonces; one holds line separators, which JSON does not escape."""
    events, state = execute(None, Start(rules, 2, seed=seed, salt=SALT, await_nonces=True))
    for command in (AddNonce(3, "保皇 \u2028\u0085\x1e"), AddNonce(0, '"\\'), Deal()):
        more, state = execute(state, command)
        events += more
    return Game(events, state)


@pytest.fixture(scope="module")
def text() -> str:
    return play(Game.deal(RuleSet.preset("lianzhong-simple", kaopai=True), seed=7), 7).record().dumps()


def change(text: str, line: int, **fields: Any) -> str:
    lines = text.split("\n")
    lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | fields)
    return "\n".join(lines)


def find(text: str, event: str, *, nth: int = 0) -> int:
    """The line of the nth event of that name."""
    found = [n for n, line in enumerate(text.splitlines(), 1) if json.loads(line)["event"] == event]
    return found[nth]


def fault(text: str | bytes) -> RecordError:
    with pytest.raises(RecordError) as caught:
        Record.loads(text)
    return caught.value


def impossible(text: str) -> RecordError:
    with pytest.raises(RecordError) as caught:
        replay(Record.loads(text))
    return caught.value


# Round trip.


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", range(2))
def test_a_record_comes_back_exactly(preset: str, seed: int) -> None:
    game = play(Game.deal(RuleSet.preset(preset), seed=seed, first_drawer=seed), seed)
    text = game.record().dumps()
    assert Record.loads(text) == game.record()
    assert Record.loads(text.encode()) == game.record()
    assert Record.loads(text).dumps() == text
    again = Game.replay(text)
    assert again.events == game.events
    assert again.state == game.state


@pytest.mark.parametrize("preset", PRESETS)
def test_a_running_game_replays_to_its_running_state(preset: str) -> None:
    for moves in range(0, 60, 11):
        game = play(with_nonces(RuleSet.preset(preset), moves), moves, moves=moves)
        again = Game.replay(game.record().dumps())
        assert (again.events, again.state) == (game.events, game.state)


def test_games_with_given_hands_opening_and_dues_come_back() -> None:
    hands = ["6c 6d 7c BJ", "7d 7h 8c", "8d 9c SJ", "9d Tc Td", "Jc Qc Kc"]
    opening = Opening(emperor=1, guard=3, open_guard=True, rebels=(0, 2), counters=(0, 4), recounters=(3,))
    dues = (Due(DueKind.DEBT, 0, 1), Due(DueKind.TRIBUTE, 2, 4), Due(DueKind.TRIBUTE, 3, 4))
    games = [
        Game.from_hands(RuleSet.preset("jiaodong"), hands, opening=opening),
        Game.deal(RuleSet.preset("shandong-folk", tribute_return=True), seed=5, dues=dues),
        Game.deal(RuleSet.preset("shandong-folk", tribute_return=False), seed=6, dues=dues),
    ]
    for game in games:
        play(game, 1)
        again = Game.replay(game.record().dumps())
        assert (again.events, again.state) == (game.events, game.state)


def test_every_event_type_has_a_stored_name_and_all_its_fields() -> None:
    assert {kind for kind, _ in EVENTS.values()} == set(EVENT_TYPES)
    for kind, codecs in EVENTS.values():
        assert tuple(codecs) == tuple(field.name for field in fields(kind))


def test_every_viewer_sees_a_record_that_comes_back() -> None:
    game = play(with_nonces(RuleSet.preset("shandong-folk"), 3), 3)
    for viewer in (None, 0, 4):
        record = Record(tuple(redact(event, viewer) for event in game.events))
        assert Record.loads(record.dumps()) == record


def test_the_first_line_names_format_schema_and_rules(text: str) -> None:
    first = json.loads(text.partition("\n")[0])
    assert (first["format"], first["schema"], first["event"]) == ("baohuang-record", 1, "game_started")
    assert first["rules"] == {"preset": "lianzhong-simple", "options": {"kaopai": True}}


def test_text_outside_ascii_is_written_as_it_is() -> None:
    text = with_nonces(RuleSet.preset("jiaodong"), 1).record().dumps()
    assert "保皇" in text
    assert text.count("\n") == len(Record.loads(text).events)


# What readers put up with.


def test_crlf_empty_lines_at_the_end_and_no_last_line_feed_are_read(text: str) -> None:
    record = Record.loads(text)
    assert Record.loads(text.replace("\n", "\r\n")) == record
    assert Record.loads(text + "\n  \r\n\n") == record
    assert Record.loads(text.rstrip("\n")) == record


def test_fields_may_stand_in_any_order(text: str) -> None:
    turned = [json.dumps(dict(reversed(json.loads(line).items()))) for line in text.splitlines()]
    assert Record.loads("\n".join(turned)) == Record.loads(text)


# Malformed lines.

DEEP = "[" * 60_000


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "empty line"),
        ("{", "not JSON"),
        ("nonsense", "not JSON"),
        ('{"event": "passed", "seat": 1} x', "not JSON: Extra data at column 32"),
        ("\ufeff{}", "byte order mark"),
        (DEEP, "nested too deeply"),
        ('{"event": "passed", "seat": ' + DEEP, "nested too deeply"),
        ("[]", "is no object"),
        ("7", "is no object"),
        ("null", "is no object"),
        ("{}", "the field event, with the name of the event, is missing"),
        ('{"event": 5}', "there is no event 5"),
        ('{"event": ["passed"]}', "there is no event"),
        ('{"event": "Passed", "seat": 1}', "there is no event 'Passed'"),
        ('{"event": "passed"}', "passed: the field seat is missing"),
        ('{"event": "passed", "seat": 1, "cards": ""}', "passed: there is no field 'cards'"),
        ('{"event": "passed", "seat": 1, "seat": 1}', "the field 'seat' stands there twice"),
        ('{"event": "passed", "seat": 5}', "passed: seat: 5 is no seat"),
        ('{"event": "passed", "seat": -1}', "-1 is no seat"),
        ('{"event": "passed", "seat": true}', "True is no seat"),
        ('{"event": "passed", "seat": "1"}', "'1' is no seat"),
        ('{"event": "passed", "seat": null}', "None is no seat"),
        ('{"event": "passed", "seat": 1.0}', "1.0 is no whole number"),
        ('{"event": "passed", "seat": NaN}', "NaN is no whole number"),
        ('{"event": "passed", "seat": -Infinity}', "-Infinity is no whole number"),
        ('{"event": "passed", "seat": ' + "9" * 5000 + "}", "too large a number"),
        ('{"event": "passed", "seat": ' + "9" * 70_000 + "}", "a line of"),
        ('{"event": "played", "seat": 1, "cards": ["7c"]}', "cards: ['7c'] is no text"),
        ('{"event": "played", "seat": 1, "cards": "7c 7x"}', "'7x' is no card"),
        ('{"event": "played", "seat": 1, "cards": "7c  7d"}', "'' is no card"),
        ('{"event": "played", "seat": 1, "cards": "' + "7c " * 300 + '7c"}', "more than the largest deck"),
        ('{"event": "answered", "seat": 1, "step": "claim", "action": "fly"}', "'fly' is no action"),
        ('{"event": "answered", "seat": 1, "step": "claim", "action": " no"}', "is written 'no'"),
        ('{"event": "answered", "seat": 1, "step": "lunch", "action": "no"}', "'lunch' is none of"),
        ('{"event": "answered", "seat": 1, "step": "tribute", "action": "give"}', "give takes one card"),
        ('{"event": "went_out", "seat": 1, "place": 6}', "6 is no place"),
        ('{"event": "nonce_added", "seat": 1, "nonce": "\\ud800"}', "lone surrogate"),
        ('{"event": "dealt", "redeal": 0, "hands": ["7c"], "deck": null}', "hands: a list of 1, not 5"),
        ('{"event": "dealt", "redeal": 0, "hands": {}, "deck": null}', "hands: {} is no list"),
        ('{"event": "dealt", "redeal": -1, "hands": [], "deck": null}', "-1 is no count"),
        (
            '{"event": "dealt", "redeal": 0, "hands": ["", "", 3, "", ""], "deck": null}',
            "hands: 2: 3 is no text",
        ),
        (
            '{"event": "step_closed", "step": "claim", "declared": [{"seat": 1}], "stands": true}',
            "declared: 0: the field declared is missing",
        ),
        (
            '{"event": "step_closed", "step": "claim", "declared": [], "stands": 1}',
            "1 is neither true nor false",
        ),
        (
            '{"event": "hand_ended", "outcome": null, "seed": null, "salt": null}',
            "outcome: None is no object",
        ),
    ],
)
def test_a_malformed_line_is_refused_with_its_number(text: str, line: str, why: str) -> None:
    lines = text.split("\n")
    error = fault("\n".join([*lines[:3], line, *lines[3:]]))
    assert error.line == 4
    assert why in str(error)
    assert str(error).startswith("BAD_RECORD")
    assert len(str(error)) < 400


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"format": "chess"}, "whose format is"),
        ({"format": None}, "whose format is"),
        ({"schema": 2}, "schema 2 is unknown; this library reads 1"),
        ({"schema": True}, "schema True is unknown"),
        ({"event": "passed"}, "begins with game_started"),
        ({"rules": "jiaodong"}, "rules: 'jiaodong' is no object"),
        ({"rules": {"preset": "poker", "options": {}}}, "there is no rule set 'poker'"),
        ({"rules": {"preset": ["jiaodong"], "options": {}}}, "is no text"),
        ({"rules": {"preset": "jiaodong", "options": []}}, "options: [] is no object"),
        ({"rules": {"preset": "jiaodong"}}, "the field options is missing"),
        ({"rules": {"preset": "jiaodong", "options": {"fly": True}}}, "no option 'fly'"),
        ({"rules": {"preset": "jiaodong", "options": {"name": "x"}}}, "no option 'name'"),
        ({"rules": {"preset": "jiaodong", "options": {"kaopai": "yes"}}}, "what differs from the preset"),
        ({"rules": {"preset": "jiaodong", "options": {"kaopai": False}}}, "what differs from the preset"),
        ({"rules": {"preset": "jiaodong", "options": {"kaopai": 1}}}, "kaopai cannot be '1'"),
        ({"rules": {"preset": "jiaodong", "options": {"kaopai": []}}}, "kaopai cannot be '[]'"),
        ({"rules": {"preset": "jiaodong", "options": {"throne": ["x"]}}}, "throne cannot be"),
        ({"rules": {"preset": "jiaodong", "options": {"deck_size": "168"}}}, "what differs from the preset"),
        ({"rules": {"preset": "jiaodong", "options": {"tribute": True}}}, "belongs to shandong-folk"),
        ({"seed": 7}, "seed: 7 is not 64 lower-case hexadecimal digits"),
        ({"seed": "0" * 63}, "is not 64 lower-case hexadecimal digits"),
        ({"seed": "A" * 64}, "is not 64 lower-case hexadecimal digits"),
        ({"salt": "zz" * 32}, "is not 64 lower-case hexadecimal digits"),
        ({"commitment": "ab"}, "is not 64 lower-case hexadecimal digits"),
        ({"dues": [{"kind": "debt", "giver": 0}]}, "dues: 0: the field receiver is missing"),
        ({"dues": [{"kind": "gift", "giver": 0, "receiver": 1}]}, "'gift' is none of debt, tribute"),
        ({"dues": [{"kind": "debt", "giver": 0, "receiver": 1}] * 65}, "more than 64"),
        ({"first_drawer": 9}, "9 is no seat"),
    ],
)
def test_a_malformed_first_line_is_refused(text: str, fields: dict[str, Any], why: str) -> None:
    error = fault(change(text, 1, **fields))
    assert error.line == 1
    assert why in str(error)


@pytest.mark.parametrize("empty", ["", "\n", " \r\n\n", b""])
def test_an_empty_record_is_refused(empty: str | bytes) -> None:
    assert fault(empty).line == 1


def test_a_header_belongs_to_the_first_line_only(text: str) -> None:
    assert fault(text.split("\n", 1)[1]).line == 1
    first = text.split("\n", 1)[0]
    assert fault(f"{first}\n{first}\n").line == 2


def test_bytes_that_are_not_utf8_are_refused_with_their_line(text: str) -> None:
    lines = text.encode().split(b"\n")
    lines[2] = lines[2].replace(b'"', b"\xff", 1)
    error = fault(b"\n".join(lines))
    assert (error.line, "not UTF-8" in str(error)) == (3, True)
    assert fault(text.encode("utf-16")).line == 1


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("7c"),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_whatever_stands_in_a_field_there_is_a_record_error_or_an_event(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(EVENTS)))
    values = {field: data.draw(VALUES) for field in EVENTS[name][1]}
    line = {"format": "baohuang-record", "schema": 1, "event": name, **values}
    record = loaded(json.dumps(line))
    assert record is None or Record.loads(record.dumps()) == record


FOLK = play(with_nonces(RuleSet.preset("shandong-folk"), 11), 11, moves=40).record().dumps()


@given(st.data())
def test_a_record_with_one_changed_character_is_refused_or_still_possible(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(FOLK) - 1))
    other = data.draw(st.sampled_from('0123456789abcdefTJQKASBJ{}[]",: \n-'))
    record = loaded(FOLK[:place] + other + FOLK[place + 1 :])
    if record is not None:
        with contextlib.suppress(RecordError):
            assert replay(record)[0] == record.events


def loaded(text: str) -> Record | None:
    with contextlib.suppress(RecordError):
        return Record.loads(text)
    return None


# Impossible steps.


def test_the_rules_clause_and_line_of_an_impossible_play_are_told(text: str) -> None:
    line = find(text, "passed")
    seat = json.loads(text.split("\n")[line - 1])["seat"]
    lines = text.split("\n")
    lines[line - 1] = json.dumps({"event": "played", "seat": seat, "cards": "6c 7d"})
    error = impossible("\n".join(lines))
    assert error.line == line
    assert error.clause in ("R3.1", "R4.1")


def test_a_play_out_of_turn_is_told(text: str) -> None:
    line = find(text, "played", nth=1)
    seat = json.loads(text.split("\n")[line - 1])["seat"]
    error = impossible(change(text, line, seat=(seat + 1) % 5))
    assert (error.line, error.details["cause"]) == (line, "NOT_YOUR_TURN")


@pytest.mark.parametrize(
    ("event", "fields", "why"),
    [
        ("trick_ended", {"leader": 0, "winner": 0}, "cannot be 0; by the rules it is"),
        ("went_out", {"place": 5}, "went_out: place cannot be 5; by the rules it is 1"),
        ("step_closed", {"stands": True}, "cannot be"),
        ("dealt", {"redeal": 1}, "dealt: redeal cannot be 1; by the rules it is 0"),
        ("hand_ended", {"seed": None}, "hand_ended: seed cannot be None"),
    ],
)
def test_a_consequence_that_does_not_follow_is_told(
    text: str, event: str, fields: dict[str, Any], why: str
) -> None:
    lines = text.splitlines()
    line = next(
        n
        for n, each in enumerate(lines, 1)
        if json.loads(each)["event"] == event and json.loads(each) != json.loads(each) | fields
    )
    error = impossible(change(text, line, **fields))
    assert error.line == line
    assert why in str(error)


def test_the_hands_must_follow_from_the_seed(text: str) -> None:
    hands = json.loads(text.split("\n")[1])["hands"]
    swapped = [hands[1], hands[0], *hands[2:]]
    error = impossible(change(text, 2, hands=swapped))
    assert (error.line, "dealt: hands.0 cannot be" in str(error)) == (2, True)
    assert impossible(change(text, 1, seed="0" * 64)).line == 2


def test_scores_must_follow_from_the_places(text: str) -> None:
    line = find(text, "hand_ended")
    outcome = json.loads(text.split("\n")[line - 1])["outcome"]
    scores = [outcome["scores"][0] + 1, *outcome["scores"][1:]]
    error = impossible(change(text, line, outcome=outcome | {"scores": scores}))
    assert error.line == line
    assert "outcome.scores.0 cannot be" in str(error)


def test_a_line_left_out_or_doubled_is_told() -> None:
    game = Game.deal(RuleSet.preset("jiaodong"), seed=5)
    play_game(game, [make_bot("random", seed=5)] * 5)
    events = game.events
    for done in range(1, len(events), 9):
        with pytest.raises(RecordError) as caught:
            replay(Record((*events[:done], *events[done + 1 :])))
        assert caught.value.line >= done
    for done in range(0, len(events), 9):
        with pytest.raises(RecordError) as caught:
            replay(Record((*events[: done + 1], *events[done:])))
        assert caught.value.line == done + 2


def test_nothing_follows_the_end(text: str) -> None:
    count = len(text.splitlines())
    error = impossible(text + '{"event": "passed", "seat": 0}\n')
    assert (error.line, error.details["cause"]) == (count + 1, "GAME_OVER")
    error = impossible(text + '{"event": "trick_ended", "winner": 0, "leader": 0}\n')
    assert (error.line, "nothing before it leads to it" in str(error)) == (count + 1, True)


def test_a_record_that_stops_in_the_middle_of_a_move_says_so() -> None:
    hands = ["EJ 7c 7d 8c", "GJ 7c 9s", "8c 6c 6d", "9c 9d 2h", "Tc BJ Td"]
    events = play(Game.from_hands(RuleSet.preset("jiaodong"), hands), 2).events
    assert isinstance(events[-1], HandEnded)
    # A record may end before every event that begins a move, and nowhere else but at its end.
    moves = {"dealt", "throne_answered", "call_answered", "answered", "played", "passed"}
    moves |= {"auto_play_started", "auto_play_ended", "seat_forfeited"}
    for done in range(2, len(events)):
        if event_to_json(events[done])["event"] in moves:
            assert replay(Record(events[:done]))[1].version == done
        else:
            with pytest.raises(RecordError, match="stops in the middle of a move") as caught:
                replay(Record(events[:done]))
            assert caught.value.line == done


def test_auto_play_must_do_what_auto_play_does() -> None:
    game = Game.deal(RuleSet.preset("jiaodong"), seed=3)
    (seat,) = game.to_act
    game.start_auto_play(seat)
    game.auto_act(seat)
    text = game.record().dumps()
    line = find(text, "throne_answered")
    error = impossible(change(text, line, answer="yield"))
    assert (error.line, "answer cannot be 'yield'; by the rules it is 'keep'" in str(error)) == (line, True)
    _, state = replay(Record(game.events[: line - 1]))
    assert command_of(state, game.events[line - 1]) == AutoAct(seat)


def test_given_hands_that_cannot_be_are_told_at_their_line() -> None:
    rules = RuleSet.preset("marked-guard")
    text = Game.from_hands(rules, ["EJ GJ", "7c", "8c", "9c", "Tc"]).record().dumps()
    hands = ["EJ EJ", "7c", "8c", "9c", "Tc"]
    error = impossible(change(text, 2, hands=hands, deck=" ".join(sorted(hands))))
    assert (error.line, error.clause) == (2, "R2.7")
    due = {"kind": "debt", "giver": 0, "receiver": 1}
    error = impossible(change(text, 1, dues=[due]))
    assert (error.line, error.clause) == (1, "R10.6")
    assert impossible(change(text, 1, salt="00" * 32)).line == 1
    assert impossible(text.split("\n")[0]).line == 1

    opening = Opening(emperor=0, guard=0)
    text = Game.from_hands(rules, ["EJ GJ", "7c", "8c", "9c", "Tc"], opening=opening).record().dumps()
    given = json.loads(text.split("\n")[2])["opening"]
    error = impossible(change(text, 3, opening=given | {"open_guard": True}))
    assert (error.line, error.clause) == (3, "R5.8")


@pytest.mark.parametrize("viewer", [None, 2])
@pytest.mark.parametrize("salt", [None, SALT], ids=["no salt", "salt"])
def test_a_viewers_record_is_refused_at_its_first_hidden_field(viewer: Viewer, salt: bytes | None) -> None:
    game = Game.start(Start(RuleSet.preset("jiaodong"), seed=7, salt=salt))
    error = impossible(Record(tuple(redact(event, viewer) for event in game.events)).dumps())
    assert (error.line, "seed is hidden" in str(error)) == (1, True)


@pytest.mark.parametrize(
    ("event", "field"),
    [
        ("dealt", "hands.0"),
        ("throne_answered", "laid"),
        ("answered", "action"),
        ("card_given", "card"),
        ("opening_given", "opening.guard"),
    ],
)
def test_each_hidden_field_is_told(event: str, field: str) -> None:
    folk, jiaodong = RuleSet.preset("shandong-folk"), RuleSet.preset("jiaodong")
    hands = ["EJ 7c", "GJ 7c", "8c", "9c 9d", "Tc"]
    games = [
        Game.from_hands(jiaodong, hands, opening=Opening(emperor=0, guard=1)),
        play(Game.from_hands(jiaodong, hands), 1),
        Game.deal(folk, seed=1, dues=[Due(DueKind.TRIBUTE, 0, 1)]),
    ]
    whole = next(game.events for game in games if f'"{event}"' in game.record().dumps())
    kind = EVENTS[event][0]
    line = next(n for n, each in enumerate(whole, 1) if isinstance(each, kind))
    hidden = Record(tuple(redact(each, None) if n == line else each for n, each in enumerate(whole, 1)))
    error = impossible(hidden.dumps())
    assert (error.line, f"{field} is hidden" in str(error)) == (line, True)


def test_a_record_of_objects_is_judged_as_one_of_text() -> None:
    with pytest.raises(RecordError):
        replay(Record(()))
    with pytest.raises(RecordError):
        replay(Record((Played(0, ()),)))
    game = Game.deal(RuleSet.preset("jiaodong"), seed=1)
    with pytest.raises(RecordError):
        replay(Record((*game.events, game.events[0])))
    assert isinstance(game.events[0], GameStarted)


def test_an_error_shows_deep_values_too() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert show(deep) == "a deeply nested value"


def test_an_event_object_is_read_as_it_is_written() -> None:
    event = Played(3, RuleSet.preset("jiaodong").deck[:2])
    assert event_to_json(event) == {"event": "played", "seat": 3, "cards": "6c 6c"}
    assert event_from_json(event_to_json(event)) == event
