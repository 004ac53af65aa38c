"""Playing and passing, and what follows: going out, clearing, wind, the end (R3, R6, R10.4)."""

from __future__ import annotations

from baohuang.arena.jit import hot, inner
from baohuang.arena.kernels.ending import end_played, first_free, last_free, solo_of
from baohuang.arena.kernels.hands import (
    add_to_rank,
    holds,
    next_in_play,
    royal_side,
    size_of,
    take_place,
)
from baohuang.arena.kernels.layout import (
    BIG,
    BIGS,
    CALLED,
    CLEARED,
    CLEARED_COUNT,
    CODE_BIG,
    CODE_FILLERS,
    CODE_KEPT,
    CODE_MARKED,
    CODE_SMALL,
    EMPEROR,
    GUARD,
    GUARD_JOKER,
    HANDS,
    JOKER_CHOICES,
    KINDS,
    MOST_PLAIN,
    NO_PLAIN,
    NO_RANK,
    NONE,
    OWNER,
    PASSES,
    PLAIN,
    PLAY,
    PLAYING,
    RANKS,
    RANKS_STRIDE,
    S_CODES,
    SEAT,
    SEATS,
    SHAPE,
    SHOWN,
    SIZES,
    SMALL,
    SMALLS,
    SOLO_NONE,
    SOLO_OPEN,
    STRENGTH,
    SUITED,
    T_CALLS,
    T_HOLD_THREES,
    T_TOP,
    THREE,
    TOP,
    TWO,
    Row,
    Tables,
)


@hot
def mark_of(s: Row, t: Tables, seat: int) -> int:
    """The kind of card whose number in a play of `seat` makes a difference (R11.4), or `NONE`.

    The called card where it may be top; else what can reveal the guard, until he is public.
    """
    mark = NONE
    if t[T_CALLS]:
        if not s[SHOWN] or t[T_TOP]:
            mark = int(s[CALLED])
    elif not s[SHOWN]:
        mark = GUARD_JOKER
    if mark != NONE and not holds(s, seat, mark):
        mark = NONE
    return mark


@hot
def play_cards(s: Row, t: Tables, seat: int, action: int) -> None:
    """A legal play of the seat whose turn it is."""
    code = int(t[t[S_CODES] + action - PLAY])
    rank = code & 15
    kept = code >> CODE_KEPT & 31
    fillers = code >> CODE_FILLERS & 31
    small = code >> CODE_SMALL & 7
    big = code >> CODE_BIG & 7
    marked = code >> CODE_MARKED & 7
    mark = NONE
    if marked or small or t[T_CALLS]:  # nothing else of a play depends on it
        mark = mark_of(s, t, seat)
    if kept:
        _take(s, seat, 4 * rank, 4, kept, mark, marked)
        add_to_rank(s, seat, rank, -kept)
    if fillers:
        _take(s, seat, 4 * TWO, 4, fillers, mark, marked)
        add_to_rank(s, seat, TWO, -fillers)
    if small:
        _take(s, seat, SUITED, 2, small, mark, marked)
        add_to_rank(s, seat, SMALL, -small)
    if big:
        _take(s, seat, SUITED + 2, 2, big, mark, marked)
        add_to_rank(s, seat, BIG, -big)
    s[SIZES + seat] -= kept + fillers + small + big
    beaten = int(s[OWNER])
    s[OWNER] = seat
    put_table(s, _strength(t, rank, kept, fillers, small + big, marked), kept + fillers, small, big)
    s[PASSES] = 0
    if marked and not s[SHOWN]:
        _reveal(s, t, seat)
    if s[SIZES + seat] == 0 or (t[T_HOLD_THREES] and beaten != NONE):
        _after_play(s, t, seat, beaten)
    else:
        s[SEAT] = next_in_play(s, seat)


@hot
def put_table(s: Row, strength: int, plain: int, small: int, big: int) -> None:
    """Writes the shape of the play to beat."""
    s[STRENGTH] = strength
    s[PLAIN] = plain
    s[SMALLS] = small
    s[BIGS] = big
    s[SHAPE] = JOKER_CHOICES * plain + 5 * small + big if strength != TOP and plain <= MOST_PLAIN else NONE


@hot
def _take(s: Row, seat: int, first: int, kinds: int, number: int, mark: int, marked: int) -> None:
    """Takes `number` of some kinds from a hand: `marked` of the marked one if it is among them, and the
    first others in deck order.
    """
    hand = HANDS + seat * KINDS
    if first <= mark < first + kinds:
        s[hand + mark] -= marked
        number -= marked
    for kind in range(first, first + kinds):
        held = int(s[hand + kind])
        taken = min(held, number) if kind != mark else 0
        s[hand + kind] = held - taken
        number -= taken


@hot
def _strength(t: Tables, rank: int, kept: int, fillers: int, jokers: int, marked: int) -> int:
    """The strength of a play's shape: copies of the called card alone may be top (R5.5)."""
    if rank == NO_RANK:
        return NO_PLAIN
    if t[T_TOP] and marked == kept and fillers == 0 and jokers == 0:
        return TOP
    return rank


@inner
def _reveal(s: Row, t: Tables, seat: int) -> None:
    """The guard joker, a called card, or a solo emperor's last copy of it shows who is guard (R11.2)."""
    shows_by_call = seat == s[GUARD] and (seat != s[EMPEROR] or not holds(s, seat, s[CALLED]))
    if not t[T_CALLS] or shows_by_call:
        s[SHOWN] = 1


@inner
def _after_play(s: Row, t: Tables, seat: int, beaten: int) -> None:
    """What a play that empties a hand, or beats one of held-back threes, may lead to."""
    ended = False
    if s[SIZES + seat] == 0:
        take_place(s, seat, first_free(s))
        ended = True
    if t[T_HOLD_THREES] and beaten != NONE and s[PLAYING] >> beaten & 1:
        threes = s[RANKS + beaten * RANKS_STRIDE + THREE]
        if threes == s[SIZES + beaten]:
            take_place(s, beaten, last_free(s))
            field = CLEARED + 2 * s[CLEARED_COUNT]
            s[field] = beaten
            s[field + 1] = seat
            s[CLEARED_COUNT] += 1
            ended = True
    if ended and _is_decided(s):
        end_played(s, t, seat)
    else:
        s[SEAT] = next_in_play(s, seat)


@inner
def _is_decided(s: Row) -> bool:
    """Whether the hand is over (R6.3, R6.4, R10.4)."""
    playing = int(s[PLAYING])
    royals = royal_side(int(s[EMPEROR]), int(s[GUARD]))
    if not playing & royals or not playing & ~royals:
        return True
    solo = solo_of(s)
    if solo == SOLO_NONE:
        return False
    # The emperor plays still. Cleared rebels do not count as out.
    out = SEATS - size_of(playing) - s[CLEARED_COUNT]
    return bool(out >= (1 if solo == SOLO_OPEN else 2))


@hot
def pass_turn(s: Row, seat: int) -> None:
    """A pass; after the last one the trick's owner leads, or by wind who follows him (R3.4, R6.2)."""
    s[PASSES] += 1
    owner, playing = int(s[OWNER]), int(s[PLAYING])
    if s[PASSES] < size_of(playing & ~(1 << owner)):
        s[SEAT] = next_in_play(s, seat)
        return
    s[SEAT] = owner if playing >> owner & 1 else next_in_play(s, owner)
    s[OWNER] = s[STRENGTH] = s[SHAPE] = NONE
    s[PLAIN] = s[SMALLS] = s[BIGS] = s[PASSES] = 0
