"""The plays of a hand as action ids, equal ones once (R3, R4, R7, R10.2, R10.4, R11.4).

The plays that lead a trick are a product: a choice of one rank's cards, of fillers, of small and of big
jokers. They can be counted, and one of them drawn, without listing them. Where the marked card is among the
cards to choose from, a choice is a number of marked and a number of other cards: there are `marks + 1` times
`others + 1`, the empty one first.
"""

from __future__ import annotations

from baohuang.arena.jit import hot, inner
from baohuang.arena.kernels.bits import below, lowest_bit
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
    NONE,
    OWNER,
    PLAIN,
    PLAY,
    RANKS,
    RANKS_STRIDE,
    S_COVER,
    S_LEAST,
    SHAPE,
    SIZES,
    SMALL,
    SMALLS,
    STRENGTH,
    SUITED,
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
@hot
def draw_lead(s: Row, t: Tables, seat: int, stream: Stream, out: Ids) -> int:  # noqa: ARG001 - as all choices
    """One of the plays of `list_leads`, each as likely as any other, without listing them.

    A single number below their count says which: it is taken apart into the choices that make the play.
    """
    mark = mark_of(s, t, seat)
    ranks = RANKS + seat * RANKS_STRIDE
    held_back = int(t[T_HELD])
    small, bigs = int(s[ranks + SMALL]), int(s[ranks + BIG]) + 1
    small_marks = 1 if mark == GUARD_JOKER else 0
    jokers = _choices(small, small_marks) * bigs
    # A choice of some of a rank's cards for each card that is held, if none of them is marked.
    plain = int(s[SIZES + seat]) - small - (bigs - 1)
    if held_back != NONE:
        plain -= int(s[ranks + held_back])
    twos, twos_marks, fillings, own_twos = 0, 0, 1, 0
    if t[T_FILL]:
        twos = int(s[ranks + TWO])
        twos_marks = _marks_of(s, seat, mark, TWO)
        fillings = _choices(twos, twos_marks)
        own_twos = fillings - 1
        plain -= twos
    marked_rank, marks, marked_choices = NONE, 0, 0
    if 0 <= mark < SUITED and mark >> 2 != held_back and not (t[T_FILL] and mark >> 2 == TWO):
        marked_rank = mark >> 2
        held = int(s[ranks + marked_rank])
        marks = _marks_of(s, seat, mark, marked_rank)
        marked_choices = _choices(held, marks) - 1
        plain += marked_choices - held
    sets = plain * fillings + own_twos
    count = (sets + 1) * jokers - 1
    last = 1 if held_back != NONE and _may_play_last_set(s, t, seat, mark) else 0
    number = draw_below(stream, count + last)
    if number >= count:
        return _last_set(s, t, seat, mark)
    hung = 0
    if jokers > 1:
        joker_choice = number % jokers
        number = number // jokers
        if (
            number == sets
        ):  # of no plain card; the choice of nothing at all is the last one, which was not drawn
            return int(t[T_JOKER_PLAYS]) + _joker_part(t, joker_choice + 1, bigs, small_marks)
        hung = _joker_part(t, joker_choice, bigs, small_marks)
    kept, fillers, marked = 0, 0, 0
    if number >= plain * fillings:
        marked, kept = _split(number - plain * fillings + 1, twos_marks)
        return play_id(t, TWO, kept, 0, 0, marked) + hung
    if fillings > 1:
        marked, fillers = _split(number % fillings, twos_marks)
        number = number // fillings
    if number < marked_choices:
        also, kept = _split(number + 1, marks)
        return play_id(t, marked_rank, kept, fillers, 0, marked + also) + hung
    number -= marked_choices
    rank = below(t[T_LOW], TWO + 1)
    while True:
        is_other = rank != held_back and rank != marked_rank  # noqa: PLR1714 - Numba finds in no mixed tuple
        held = int(s[ranks + rank]) if is_other else 0
        if number < held:
            return play_id(t, rank, number + 1, fillers, 0, marked) + hung
        number -= held
        rank = below(rank + 1, TWO + 1)


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
    bigs = int(s[ranks + BIG]) + 1
    jokers = _choices(int(s[ranks + SMALL]), small_marks) * bigs
    filler_marks = _marks_of(s, seat, mark, TWO)
    count = 0
    for rank in range(int(t[T_LOW]), TWO + 1):
        held = int(s[ranks + rank])
        if held == 0 or rank == t[T_HELD]:
            continue
        marks = _marks_of(s, seat, mark, rank)
        fillings = _choices(int(s[ranks + TWO]), filler_marks) if t[T_FILL] and rank != TWO else 1
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
def may_answer(s: Row, t: Tables, seat: int) -> bool:
    """False if a seat has no answer to the play on the table, which is so more often than not. True promises
    nothing.
    """
    if s[SHAPE] == NONE:
        return False
    if t[T_TOP]:
        return True
    ranks, levels = RANKS + seat * RANKS_STRIDE, LEVELS + seat * RANKS_STRIDE
    jokers = 5 * int(s[ranks + SMALL]) + int(s[ranks + BIG])
    needed = int(t[t[S_LEAST] + JOKER_CHOICES * int(s[SHAPE]) + jokers])
    alone = needed == 0
    if t[T_FILL]:
        needed -= int(s[ranks + TWO])
    # One answer out of both conditions: which of the two holds cannot be foreseen.
    level = below(min(max(needed, 1), MOST_OF_RANK) - 1, MOST_OF_RANK)
    sets = (needed <= MOST_OF_RANK) & ((s[levels + level] & _candidates(s, t)) != 0)
    return bool(alone | sets) or _holds_last_set(s, t, seat)


@hot
def _candidates(s: Row, t: Tables) -> int:
    """The set of ranks of which plain cards may beat something of the play on the table: the higher ones, and
    twos where three of them beat a joker.
    """
    ranks = (2 << TWO) - (1 << (int(s[STRENGTH]) + 1))
    return ranks | 1 << TWO if t[T_THREE_TWOS] else ranks


@hot
def _cover_row(s: Row, t: Tables, rank: int) -> int:
    """Where the tables say which plays with plain cards of `rank` beat the one on the table, by jokers."""
    variant = 1 if s[PLAIN] > 0 and rank > s[STRENGTH] else 0
    if rank == TWO and t[T_THREE_TWOS]:
        variant += 2
    return int(t[S_COVER] + (variant * COVER_SHAPES + int(s[SHAPE])) * JOKER_CHOICES)


@inner
def list_answers(s: Row, t: Tables, seat: int, out: Ids, count: int) -> int:
    """Writes every play that beats the one on the table after the first `count` entries; the new length."""
    if s[SHAPE] == NONE:
        return count
    mark = mark_of(s, t, seat)
    held_back = int(t[T_HELD])
    candidates = _candidates(s, t)
    if held_back != NONE:
        candidates &= ~(1 << held_back)
    count = _list_sets(s, t, seat, out, count, mark, candidates)
    if t[T_TOP] and mark != NONE:
        size = int(s[PLAIN] + s[SMALLS] + s[BIGS])
        rank = mark >> 2
        if s[HANDS + seat * KINDS + mark] >= size and rank != held_back:
            out[count] = play_id(t, rank, size, 0, 0, size)
            count += 1
    if held_back != NONE and _may_play_last_set(s, t, seat, mark):
        out[count] = _last_set(s, t, seat, mark)
        count += 1
    return count


@hot
def _list_sets(s: Row, t: Tables, seat: int, out: Ids, count: int, mark: int, candidates: int) -> int:
    """Writes the answers with plain cards of the ranks of a set, and those of jokers alone."""
    ranks = RANKS + seat * RANKS_STRIDE
    twos = int(s[ranks + TWO]) if t[T_FILL] else 0
    row = _cover_row(s, t, int(s[STRENGTH]) + 1)
    for small in range(int(s[ranks + SMALL]) + 1):
        for big in range(int(s[ranks + BIG]) + 1):
            numbers = int(t[row + 5 * small + big])
            if numbers & 1:
                count = _add_joker_answers(s, t, seat, out, count, mark, small, big)
            for twos_alone in range(2 if t[T_THREE_TWOS] else 1):
                among = candidates
                if t[T_THREE_TWOS]:  # what three twos beat is beaten by nothing else
                    among &= 1 << TWO if twos_alone else ~(1 << TWO)
                    if twos_alone:
                        numbers = int(t[_cover_row(s, t, TWO) + 5 * small + big])
                numbers &= ~1
                while numbers:
                    plain = lowest_bit(numbers)
                    numbers &= numbers - 1
                    held = _ranks_with(s, seat, plain, twos) & among
                    while held:
                        rank = lowest_bit(held)
                        held &= held - 1
                        if mark == NONE and twos == 0:
                            out[count] = play_id(t, rank, plain, 0, 5 * small + big, 0)
                            count += 1
                        else:
                            count = _add_answers(s, t, seat, out, count, mark, rank, twos, plain, small, big)
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
        least, most = _least_marked(small, int(s[RANKS + seat * RANKS_STRIDE + SMALL]), 1), min(1, small)
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
    held = int(s[RANKS + seat * RANKS_STRIDE + rank])
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
        marks = int(s[HANDS + seat * KINDS + mark])
        if mark == GUARD_JOKER:
            least, most = _least_marked(small, int(s[RANKS + seat * RANKS_STRIDE + SMALL]), 1), min(1, small)
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
@hot
def _holds_last_set(s: Row, t: Tables, seat: int) -> bool:
    """Whether a hand is nothing but held-back cards, and some that may be played with them."""
    rank = int(t[T_HELD])
    if rank == NONE:
        return False
    ranks = RANKS + seat * RANKS_STRIDE
    kept, size = int(s[ranks + rank]), int(s[SIZES + seat])
    if kept == size:
        return True
    if rank == THREE or kept == 0:
        return False
    jokers = int(s[ranks + SMALL]) + int(s[ranks + BIG])
    fillers = int(s[ranks + TWO]) if t[T_FILL] else 0
    return kept + fillers + jokers == size and (jokers == 0 or t[T_LAST_JOKERS] != 0)


@hot
def _may_play_last_set(s: Row, t: Tables, seat: int, mark: int) -> bool:
    """Whether the whole hand holds held-back cards and is a legal play (R7, R10.4)."""
    return _holds_last_set(s, t, seat) and (s[OWNER] == NONE or _last_set_beats(s, t, seat, mark))


@inner
def _last_set_beats(s: Row, t: Tables, seat: int, mark: int) -> bool:
    rank = int(t[T_HELD])
    ranks = RANKS + seat * RANKS_STRIDE
    kept, small, big = int(s[ranks + rank]), int(s[ranks + SMALL]), int(s[ranks + BIG])
    fillers = int(s[SIZES + seat]) - kept - small - big
    if s[SHAPE] == NONE:
        return False
    if (
        t[T_TOP]
        and fillers + small + big == 0
        and mark >> 2 == rank
        and s[HANDS + seat * KINDS + mark] == kept
    ):
        return bool(kept == s[PLAIN] + s[SMALLS] + s[BIGS])
    return bool(t[_cover_row(s, t, rank) + 5 * small + big] >> (kept + fillers) & 1)


@inner
def _last_set(s: Row, t: Tables, seat: int, mark: int) -> int:
    """The id of the play that is the whole hand."""
    rank = int(t[T_HELD])
    ranks = RANKS + seat * RANKS_STRIDE
    fillers = int(s[ranks + TWO]) if t[T_FILL] else 0
    marked = int(s[HANDS + seat * KINDS + mark]) if mark != NONE else 0
    jokers = 5 * int(s[ranks + SMALL]) + int(s[ranks + BIG])
    return play_id(t, rank, int(s[ranks + rank]), fillers, jokers, marked)
