"""The plays of a hand as action ids, equal ones once (R3, R4, R7, R10.2, R10.4, R11.4).

The plays that lead a trick are a product: a choice of one rank's cards, of fillers, of small and of big
jokers. They can be counted, and one of them drawn, without listing them. Where the marked card is among the
cards to choose from, a choice is a number of marked and a number of other cards: there are `marks + 1` times
`others + 1`, the empty one first.
"""

from __future__ import annotations

from baohuang.arena.jit import hot, inner
from baohuang.arena.kernels.chance import Stream, draw_below
from baohuang.arena.kernels.layout import (
    BIG,
    BIGS,
    COVER_SHAPES,
    GUARD_JOKER,
    HANDS,
    JOKER_CHOICES,
    KINDS,
    LEVELS,
    MOST_OF_RANK,
    MOST_PLAIN,
    NONE,
    OWNER,
    PLAIN,
    PLAY,
    RANKS,
    RANKS_STRIDE,
    S_COVER,
    SIZES,
    SMALL,
    SMALLS,
    STRENGTH,
    T_FILL,
    T_FILLER_STRIDE,
    T_HELD,
    T_JOKER_PLAYS,
    T_KEPT_STRIDE,
    T_LAST_JOKERS,
    T_LOW,
    T_MARKS,
    T_RANK_STRIDE,
    T_THREE_TWOS,
    T_TOP,
    THREE,
    TOP,
    TWO,
    Ids,
    Row,
    Tables,
)
from baohuang.arena.kernels.play import mark_of


@hot
def play_id(t: Tables, rank: int, kept: int, fillers: int, jokers: int, marked: int) -> int:
    """The id of a play with plain cards; `jokers` is 5 × small + big."""
    first = PLAY + (rank - t[T_LOW]) * t[T_RANK_STRIDE] + (kept - 1) * t[T_KEPT_STRIDE]
    return int(first + fillers * t[T_FILLER_STRIDE] + jokers * t[T_MARKS] + marked)


@hot
def _marks_of(s: Row, seat: int, mark: int, rank: int) -> int:
    """How many marked cards a seat holds among those of a plain rank."""
    return int(s[HANDS + seat * KINDS + mark]) if mark >> 2 == rank else 0


@hot
def _choices(held: int, marks: int) -> int:
    """In how many ways some, or none, of `held` cards can be chosen."""
    return (marks + 1) * (held - marks + 1)


# -------------------------------------------------------------------------------------------------------
# leading
@inner
def draw_lead(s: Row, t: Tables, seat: int, stream: Stream, out: Ids) -> int:
    """One of the plays of `list_leads`, each as likely as any other, without listing them. `out` is scratch
    space.

    First what kind of play, each as likely as there are plays of it, then each part of it by itself.
    """
    mark = mark_of(s, t, seat)
    ranks = RANKS + seat * RANKS_STRIDE
    low, held_back = t[T_LOW], t[T_HELD]
    small_marks = 1 if mark == GUARD_JOKER else 0
    small, big = s[ranks + SMALL], s[ranks + BIG]
    jokers = _choices(small, small_marks) * (big + 1)
    twos = s[ranks + TWO] if t[T_FILL] else 0
    twos_marks = _marks_of(s, seat, mark, TWO)
    fillings = _choices(twos, twos_marks) if twos > 0 else 1
    count = 0
    for rank in range(low, TWO):
        held = s[ranks + rank]
        if held > 0 and rank != held_back:
            count += (_choices(held, _marks_of(s, seat, mark, rank)) - 1) * fillings * jokers
        out[rank] = count
    count += (_choices(s[ranks + TWO], twos_marks) - 1) * jokers
    out[TWO] = count
    count += jokers - 1
    number = draw_below(stream, count + _may_play_last_set(s, t, seat, mark))
    if number >= count:
        return _last_set(s, t, seat, mark)
    if number >= out[TWO]:
        return _draw_jokers(s, t, seat, stream, small_marks, 1)
    rank = low
    while number >= out[rank]:
        rank += 1
    marks = _marks_of(s, seat, mark, rank)
    kept, marked = _draw_choice(stream, s[ranks + rank], marks, 1)
    fillers = 0
    if twos > 0 and rank != TWO:
        fillers, also = _draw_choice(stream, twos, twos_marks, 0)
        marked += also
    drawn = play_id(t, rank, kept, fillers, 0, marked)
    return int(drawn + _draw_jokers(s, t, seat, stream, small_marks, 0) - t[T_JOKER_PLAYS])


@hot
def _draw_choice(stream: Stream, held: int, marks: int, least: int) -> tuple[int, int]:
    """How many of `held` cards, at least `least` (0 or 1), and how many marked ones of them: one of all
    choices.
    """
    if marks == 0:
        return least + draw_below(stream, held + 1 - least), 0
    while True:
        marked = draw_below(stream, marks + 1)
        chosen = marked + draw_below(stream, held - marks + 1)
        if chosen >= least:
            return chosen, marked


@hot
def _draw_jokers(s: Row, t: Tables, seat: int, stream: Stream, small_marks: int, least: int) -> int:
    """The id of one of the plays of at least `least` (0 or 1) jokers alone."""
    small, big = s[RANKS + seat * RANKS_STRIDE + SMALL], s[RANKS + seat * RANKS_STRIDE + BIG]
    if small + big == 0:
        return int(t[T_JOKER_PLAYS])
    while True:
        smalls, marked = _draw_choice(stream, small, small_marks, 0)
        bigs = draw_below(stream, big + 1)
        if smalls + bigs >= least:
            return int(t[T_JOKER_PLAYS] + (5 * smalls + bigs) * t[T_MARKS] + marked)


@inner
def _split(choice: int, marks: int) -> tuple[int, int]:
    """A choice as the number of marked cards and of all cards."""
    marked = choice % (marks + 1)
    return marked, choice // (marks + 1) + marked


@inner
def _joker_part(t: Tables, choice: int, bigs: int, small_marks: int) -> int:
    """What a choice of jokers adds to the id of a play."""
    marked, small = _split(choice // bigs, small_marks)
    return int((5 * small + choice % bigs) * t[T_MARKS] + marked)


@inner
def list_leads(s: Row, t: Tables, seat: int, out: Ids) -> int:
    """Writes every play that leads a trick and gives back how many there are."""
    mark = mark_of(s, t, seat)
    ranks = RANKS + seat * RANKS_STRIDE
    small_marks = 1 if mark == GUARD_JOKER else 0
    bigs = s[ranks + BIG] + 1
    jokers = _choices(s[ranks + SMALL], small_marks) * bigs
    filler_marks = _marks_of(s, seat, mark, TWO)
    count = 0
    for rank in range(t[T_LOW], TWO + 1):
        held = s[ranks + rank]
        if held == 0 or rank == t[T_HELD]:
            continue
        marks = _marks_of(s, seat, mark, rank)
        fillings = _choices(s[ranks + TWO], filler_marks) if t[T_FILL] and rank != TWO else 1
        for choice in range(1, _choices(held, marks)):
            marked, kept = _split(choice, marks)
            for filling in range(fillings):
                also, fillers = _split(filling, filler_marks)
                base = play_id(t, rank, kept, fillers, 0, marked + also)
                for joker_choice in range(jokers):
                    out[count] = base + _joker_part(t, joker_choice, bigs, small_marks)
                    count += 1
    for joker_choice in range(1, jokers):
        out[count] = int(t[T_JOKER_PLAYS]) + _joker_part(t, joker_choice, bigs, small_marks)
        count += 1
    if _may_play_last_set(s, t, seat, mark):
        out[count] = _last_set(s, t, seat, mark)
        count += 1
    return count


# ------------------------------------------------------------------------------------------------------
# following
@hot
def _cover_row(s: Row, t: Tables, rank: int) -> int:
    """Where the tables say which plays with plain cards of `rank` beat the one on the table, by jokers."""
    variant = 1 if s[PLAIN] > 0 and rank > s[STRENGTH] else 0
    if rank == TWO and t[T_THREE_TWOS]:
        variant += 2
    shape = s[PLAIN] * JOKER_CHOICES + 5 * s[SMALLS] + s[BIGS]
    return int(t[S_COVER] + (variant * COVER_SHAPES + shape) * JOKER_CHOICES)


@inner
def list_answers(s: Row, t: Tables, seat: int, out: Ids, count: int) -> int:
    """Writes every play that beats the one on the table after the first `count` entries; the new length."""
    mark = mark_of(s, t, seat)
    size = s[PLAIN] + s[SMALLS] + s[BIGS]
    if s[SIZES + seat] >= size and s[STRENGTH] != TOP and s[PLAIN] <= MOST_PLAIN:
        # Plain cards of no higher rank beat nothing, but for the twos of an option.
        lowest = min(s[STRENGTH] + 1, TWO) if s[PLAIN] > 0 else TWO
        higher = (2 << TWO) - (1 << lowest)
        if t[T_HELD] != NONE:
            higher &= ~(1 << t[T_HELD])
        twos = s[RANKS + seat * RANKS_STRIDE + TWO] if t[T_FILL] else 0
        row = _cover_row(s, t, lowest)
        for small in range(s[RANKS + seat * RANKS_STRIDE + SMALL] + 1):
            for big in range(s[RANKS + seat * RANKS_STRIDE + BIG] + 1):
                numbers = t[row + 5 * small + big]
                if numbers & 1:
                    count = _add_joker_answers(s, t, seat, out, count, mark, small, big)
                for variant in range(2 if t[T_THREE_TWOS] else 1):
                    among = higher
                    if t[T_THREE_TWOS]:
                        among &= 1 << TWO if variant else ~(1 << TWO)
                        if variant:
                            numbers = t[_cover_row(s, t, TWO) + 5 * small + big]
                    plain = 1
                    while numbers >> plain:
                        held = 0
                        if numbers >> plain & 1:
                            held = _ranks_with(s, seat, plain, twos) & among
                        rank = lowest
                        while held >> rank:
                            if held >> rank & 1:
                                count = _add_answers(
                                    s, t, seat, out, count, mark, rank, twos, plain, small, big
                                )
                            rank += 1
                        plain += 1
        if t[T_TOP] and mark != NONE:
            rank = mark >> 2
            if s[HANDS + seat * KINDS + mark] >= size and rank != t[T_HELD]:
                out[count] = play_id(t, rank, size, 0, 0, size)
                count += 1
    if t[T_HELD] != NONE and _may_play_last_set(s, t, seat, mark):
        out[count] = _last_set(s, t, seat, mark)
        count += 1
    return count


@hot
def _ranks_with(s: Row, seat: int, plain: int, twos: int) -> int:
    """The set of ranks of which a seat can play `plain` cards, `twos` fillers at most."""
    levels = LEVELS + seat * RANKS_STRIDE - 1
    needed = max(1, plain - twos)
    if needed > MOST_OF_RANK:
        return 0
    held = s[levels + needed]
    if 0 < twos < plain:
        held &= ~(1 << TWO)  # they do not fill themselves
    return int(held)


@hot
def _least_marked(chosen: int, held: int, marks: int) -> int:
    """The least number of marked cards among `chosen` of `held` cards."""
    return max(0, chosen - (held - marks))


@inner
def _add_joker_answers(
    s: Row, t: Tables, seat: int, out: Ids, count: int, mark: int, small: int, big: int
) -> int:
    """Every play of these numbers of jokers alone."""
    base = t[T_JOKER_PLAYS] + (5 * small + big) * t[T_MARKS]
    least = most = 0
    if mark == GUARD_JOKER:
        least, most = _least_marked(small, s[RANKS + seat * RANKS_STRIDE + SMALL], 1), min(1, small)
    for marked in range(least, most + 1):
        out[count] = base + marked
        count += 1
    return count


@inner
def _add_answers(  # noqa: PLR0913, PLR0917 - a kernel has no other way to hand over its parts
    s: Row,
    t: Tables,
    seat: int,
    out: Ids,
    count: int,
    mark: int,
    rank: int,
    twos: int,
    plain: int,
    small: int,
    big: int,
) -> int:
    """Every play of these counts with at least one card of `rank`."""
    held = s[RANKS + seat * RANKS_STRIDE + rank]
    if rank == TWO:
        twos = 0
    jokers = 5 * small + big
    for kept in range(max(1, plain - twos), min(plain, held) + 1):
        fillers = plain - kept
        base = play_id(t, rank, kept, fillers, jokers, 0)
        if mark == NONE:
            out[count] = base
            count += 1
            continue
        least = most = 0
        marks = s[HANDS + seat * KINDS + mark]
        if mark == GUARD_JOKER:
            least, most = _least_marked(small, s[RANKS + seat * RANKS_STRIDE + SMALL], 1), min(1, small)
        elif mark >> 2 == rank:
            least, most = _least_marked(kept, held, marks), min(marks, kept)
        elif mark >> 2 == TWO and twos > 0:
            least, most = _least_marked(fillers, twos, marks), min(marks, fillers)
        for marked in range(least, most + 1):
            # Copies of the called card alone may be of another strength.
            if not (t[T_TOP] and jokers == 0 and fillers == 0 and marked == kept):
                out[count] = base + marked
                count += 1
    return count


# ------------------------------------------------------------------------------------------------------- last
# set
@inner
def _may_play_last_set(s: Row, t: Tables, seat: int, mark: int) -> bool:
    """Whether the whole hand holds held-back cards and is a legal play (R7, R10.4)."""
    rank = t[T_HELD]
    if rank == NONE:
        return False
    ranks = RANKS + seat * RANKS_STRIDE
    kept = s[ranks + rank]
    fillers = s[ranks + TWO] if t[T_FILL] else 0
    small, big = s[ranks + SMALL], s[ranks + BIG]
    if kept == 0 or kept + fillers + small + big != s[SIZES + seat]:
        return False
    if rank == THREE and fillers + small + big > 0:
        return False
    if small + big > 0 and not t[T_LAST_JOKERS]:
        return False
    if s[OWNER] == NONE:
        return True
    if s[STRENGTH] == TOP:
        return False
    if (
        t[T_TOP]
        and fillers + small + big == 0
        and mark >> 2 == rank
        and s[HANDS + seat * KINDS + mark] == kept
    ):
        return bool(kept == s[PLAIN] + s[SMALLS] + s[BIGS])
    if s[PLAIN] > MOST_PLAIN:
        return False
    return bool(t[_cover_row(s, t, rank) + 5 * small + big] >> (kept + fillers) & 1)


@inner
def _last_set(s: Row, t: Tables, seat: int, mark: int) -> int:
    """The id of the play that is the whole hand."""
    rank = t[T_HELD]
    ranks = RANKS + seat * RANKS_STRIDE
    fillers = s[ranks + TWO] if t[T_FILL] else 0
    marked = 0
    if mark != NONE:
        marked = s[HANDS + seat * KINDS + mark]
    return play_id(t, rank, s[ranks + rank], fillers, 5 * s[ranks + SMALL] + s[ranks + BIG], marked)
