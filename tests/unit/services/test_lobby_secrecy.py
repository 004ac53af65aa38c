"""What goes over the lobby's wires depends on nothing that its reader may not know (R11.3).

Two hands differ only in cards that the viewer may not know; ids and times are the same. At each step all that
the edges would send him is compared to the byte: REST bodies, server-sent events, gRPC messages, problems,
status details, what his streams ask him, and until when.
"""

from __future__ import annotations

import msgspec
import pytest

from baohuang import PRESETS, Action, Game, RuleError, RuleSet
from baohuang.rpc.codec import encode_view
from baohuang.rules.events import Event, Viewer, redact
from services.kit.errors import to_platform_error
from services.kit.rest import problem_of
from services.kit.rpc import status_of
from services.lobby.callers import Caller
from services.lobby.clocks import HandSeats, Position, advance
from services.lobby.engine import Applied
from services.lobby.feeds import numbered
from services.lobby.grpc import games as grpc_edge
from services.lobby.known import Hand
from services.lobby.messages import games as messages
from services.lobby.my_games import Item, news_of
from services.lobby.play import Offered
from services.lobby.rest.games import _shown
from services.lobby.rest.sse import happened, my_games_chunk, sse
from services.lobby.shown import show_view
from services.lobby.streams import Asked, Happened, Snapshot, Stream
from tests.property.twins import Twins

SEATS = HandSeats((None, "greedy", None, None, None), 30, 20)
HAND = Hand("game", "table", SEATS, ("p0", None, "p2", "p3", "p4"), 0)
NOBODY = Caller("nobody", "nobody", False, "token", frozenset({"play"}))


class Wires:
    """All that the edges would send a viewer of one game."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.position: Position | None = None
        self.stream = Stream(None, NOBODY, HAND, viewer, None, "")  # type: ignore[arg-type]

    def commit(self, game: Game, events: tuple[Event, ...], now_ms: int) -> list[bytes]:
        """What is sent because of a commit, and what he could ask for after it."""
        before = self.position
        self.position = advance(before, events, now_ms, SEATS)
        version = 0 if before is None else before.state.version
        told = numbered(version, events)
        viewer = self.viewer
        view = game.view(viewer)
        awaited = None if viewer is None else self.position.awaited_from(viewer)
        deadline_ms = None if awaited is None else awaited.deadline_ms
        sent: list[object] = [
            messages.GameView(game_id="game", view=show_view(view), deadline_ms=deadline_ms),
            sse(
                "snapshot",
                {"game_id": "game", "version": self.position.state.version, "view": show_view(view)},
            ),
            grpc_edge._game_message("game", Snapshot(self.position.state.version, view)),
            encode_view(view),
            *[each.encoded(viewer, happened, "game") for each in Happened(told).told],
            *[each.encoded(viewer, grpc_edge._happened, "game") for each in told],
        ]
        if viewer is not None:
            offered = Offered(view.public.version, game.legal_actions(viewer), deadline_ms)
            sent.append(repr(offered).encode())
            asked = self.stream.ask(self.position)
            sent.append(repr(asked).encode())
            if isinstance(asked, Asked):
                sent.append(grpc_edge._game_message("game", asked))
            news = news_of(HAND, viewer, before, self.position)
            sent.append(repr(news).encode())
            if news is not None:
                item = Item(None, news)
                sent += [my_games_chunk(item), grpc_edge._my_games_message(item)]
        return [_bytes(each) for each in sent]

    def refusal(self, game: Game, action: Action) -> list[bytes]:
        """What answers an action that the viewer's seat may try."""
        assert self.viewer is not None
        try:
            events = Game(game.events, game.state).apply(self.viewer, action)
        except RuleError as error:
            refused = to_platform_error(error)
            return [_bytes(problem_of(refused)), status_of(refused).SerializeToString(deterministic=True)]
        seen = tuple([redact(event, self.viewer) for event in events])
        return [_bytes(_shown("game", Applied(0, seen, None, False)))]


def _bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    serialize = getattr(value, "SerializeToString", None)
    if serialize is not None:
        return bytes(serialize(deterministic=True))
    return msgspec.json.encode(value)


class WireTwins(Twins):
    """Twins whose every wire is compared."""

    def __init__(self, rules: RuleSet, seed: int) -> None:
        super().__init__(rules, seed)
        self.wires = [Wires(self.viewer) for _ in self.games]
        self.comparisons = 0

    def compare(self, new: list[tuple[Event, ...]]) -> None:
        super().compare(new)
        now_ms = 1000 * self.steps
        sent = [
            wires.commit(game, events, now_ms)
            for wires, game, events in zip(self.wires, self.games, new, strict=True)
        ]
        for action in () if self.viewer is None else self.attempts(self.viewer):
            answers = [
                wires.refusal(game, action) for wires, game in zip(self.wires, self.games, strict=True)
            ]
            if all(len(answer) == 2 for answer in answers):
                sent = [[*all_sent, *answer] for all_sent, answer in zip(sent, answers, strict=True)]
        assert len(sent[0]) == len(sent[1]), "not as much is sent"
        for one, other in zip(*sent, strict=True):
            self.comparisons += 1
            assert one == other


def compare_pairs(rules: RuleSet, first_seed: int, pairs: int) -> int:
    """Compares pairs of hands; gives how many times bytes were compared."""
    comparisons = 0
    for seed in range(first_seed, first_seed + pairs):
        twins = WireTwins(rules, seed)
        try:
            twins.run()
        except AssertionError as error:
            raise AssertionError(f"{rules}, twins of seed {seed}, step {twins.steps}: {error}") from error
        comparisons += twins.comparisons
    return comparisons


@pytest.mark.parametrize("rules", PRESETS.values(), ids=str)
def test_wires_tell_nothing_of_cards_that_the_viewer_may_not_know(rules: RuleSet) -> None:
    # Five presets: more than 10,000 comparisons in all.
    assert compare_pairs(rules, 0, 3) > 2_500


def test_the_comparison_finds_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if a stream forgot to leave out what its viewer may not see.
    monkeypatch.setattr("services.lobby.feeds.redact", lambda event, viewer: event)
    with pytest.raises(AssertionError, match="twins of seed"):
        compare_pairs(RuleSet.preset("jiaodong"), 0, 3)


@pytest.mark.prove
@pytest.mark.parametrize("rules", PRESETS.values(), ids=str)
def test_nor_do_they_in_many_more_hands(rules: RuleSet, capsys: pytest.CaptureFixture[str]) -> None:
    comparisons = compare_pairs(rules, 5_000, 60)
    assert comparisons > 100_000
    with capsys.disabled():
        print(f"\n{rules}: {comparisons:,} comparisons, none differs")
