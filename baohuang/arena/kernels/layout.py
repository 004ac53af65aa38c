"""Where everything stands: the row of a game (int16), the header of a rule set's tables (int32), action ids.

A row holds the whole state of one hand. Offsets name its fields; a field of five numbers is by seat. `NONE`
stands for "no such thing". Sets of seats are bit masks. The numbers of cards are those of
`baohuang.rules.cards` (R2.6).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from baohuang.rules import cards, cover

Row = NDArray[np.int16]
Tables = NDArray[np.int32]
Ids = NDArray[np.int32]

NONE: Final = -1
SEATS: Final = 5
EVERYBODY: Final = 0b11111
KINDS: Final = 56
SUITED: Final = 52
"""Kinds below are no jokers."""
RANKS_STRIDE: Final = 16

TWO: Final = int(cards.TWO)
THREE: Final = int(cards.THREE)
SMALL: Final = int(cards.SMALL)
BIG: Final = int(cards.BIG)
TOP: Final = int(cover.TOP)
NO_PLAIN: Final = int(cover.NO_PLAIN)
GUARD_JOKER: Final = int(cards.GUARD_JOKER)
EMPEROR_JOKER: Final = int(cards.EMPEROR_JOKER)

# ------------------------------------------------------------------------------------------------------- the
# row
HANDS: Final = 0
"""5 × 56: how many of each kind a seat holds."""
RANKS: Final = HANDS + SEATS * KINDS
"""5 × 16: how many of each rank."""
LEVELS: Final = RANKS + SEATS * RANKS_STRIDE
"""5 × 16: for 1 … 16 cards the set of plain ranks, a bit each, of which a seat holds at least so many."""
SIZES: Final = LEVELS + SEATS * RANKS_STRIDE
"""5: how many cards."""
DECK: Final = SIZES + SEATS
"""56: the cards in play."""
CARRIED: Final = DECK + KINDS
"""56: added or bottom cards that travel with the throne; as in the readable state they stay on record."""
KEY: Final = CARRIED + KINDS
"""4: the key of the game's stream of deals, 16 bits each."""
DEALS: Final = KEY + 4
"""One of `DEALS_…`: where redeals come from."""
FIRST_DRAWER: Final = DEALS + 1
DUE_COUNT: Final = FIRST_DRAWER + 1
DUES: Final = DUE_COUNT + 1
"""8 × (kind, giver, receiver): what the hand starts with (R10.6)."""
MOST_DUES: Final = 8
REDEAL: Final = DUES + 3 * MOST_DUES
# From here on a deal starts afresh.
STEP: Final = REDEAL + 1
SEAT: Final = STEP + 1
"""Whose action is awaited; the lowest of several."""
PENDING: Final = SEAT + 1
"""Set of those who have still to answer, in steps that several answer."""
DECLARED: Final = PENDING + 1
"""Set of those who answered anything but `no` in the open step."""
FIRST_HOLDER: Final = DECLARED + 1
HOLDER: Final = FIRST_HOLDER + 1
YIELDS: Final = HOLDER + 1
EMPEROR: Final = YIELDS + 1
GUARD: Final = EMPEROR + 1
"""The guard once roles are fixed, known to all or not; the emperor in a solo."""
SHOWN: Final = GUARD + 1
"""1 once the guard is public (R11.2)."""
CALLED: Final = SHOWN + 1
OPEN_SOLO: Final = CALLED + 1
OPEN_GUARD: Final = OPEN_SOLO + 1
REBELS: Final = OPEN_GUARD + 1
REBELLION: Final = REBELS + 1
COUNTERS: Final = REBELLION + 1
COUNTER: Final = COUNTERS + 1
RECOUNTERS: Final = COUNTER + 1
RECOUNTER: Final = RECOUNTERS + 1
OWNER: Final = RECOUNTER + 1
"""Who made the play to beat."""
STRENGTH: Final = OWNER + 1
PLAIN: Final = STRENGTH + 1
SMALLS: Final = PLAIN + 1
BIGS: Final = SMALLS + 1
"""The shape of the play to beat (R4.1)."""
SHAPE: Final = BIGS + 1
"""The same as a row of the cover tables; `NONE` if nothing beats it, or there is none."""
PASSES: Final = SHAPE + 1
CLEARED_COUNT: Final = PASSES + 1
CLEARED: Final = CLEARED_COUNT + 1
"""5 × (giver, receiver) in order of clearing (R10.4)."""
GIFT_COUNT: Final = CLEARED + 2 * SEATS
GIFTS: Final = GIFT_COUNT + 1
"""8 × (giver, receiver): cards given that will be answered by another (R10.6)."""
RETURN_COUNTS: Final = GIFTS + 2 * MOST_DUES
RETURNS: Final = RETURN_COUNTS + SEATS
"""5 × 8: the cards that a seat has chosen to give back, in order."""
PLACES: Final = RETURNS + SEATS * MOST_DUES
"""5: 1 … 5, 0 while none is taken."""
PLAYING: Final = PLACES + SEATS
"""Set of those who have no place yet."""
SCORES: Final = PLAYING + 1
ROLES: Final = SCORES + SEATS
"""5: `ROLE_…` once the hand was played, else `NONE`."""
TERMINATION: Final = ROLES + SEATS
SOLO: Final = TERMINATION + 1
MULTIPLIER: Final = SOLO + 1
NEXT_FIRST: Final = MULTIPLIER + 1
OWED_COUNT: Final = NEXT_FIRST + 1
OWED: Final = OWED_COUNT + 1
"""8 × (kind, giver, receiver): what the next hand starts with."""
ROW: Final = OWED + 3 * MOST_DUES
"""Length of a row."""

RESULT: Final = PLACES
"""From here on stands what remains of a finished hand."""

DEALS_FROM_KEY: Final = 0
DEALS_GIVEN: Final = 1
"""The hands were given and cannot be dealt again."""
DEALS_FROM_CALLER: Final = 2
"""The row stops at `STEP_DEAL` and waits for hands."""

STEP_DEAL: Final = 0
STEP_TRIBUTE: Final = 1
STEP_THRONE: Final = 2
STEP_CALL: Final = 3
STEP_CLAIM: Final = 4
STEP_DECLARE: Final = 5
STEP_COUNTER: Final = 6
STEP_RECOUNTER: Final = 7
STEP_PLAY: Final = 8
STEP_OVER: Final = 9

TERMINATION_PLAYED: Final = 0
TERMINATION_REFUSED: Final = 1
TERMINATION_VOID: Final = 2

SOLO_NONE: Final = 0
SOLO_HIDDEN: Final = 1
SOLO_OPEN: Final = 2

ROLE_EMPEROR: Final = 0
ROLE_GUARD: Final = 1
ROLE_REBEL: Final = 2

DUE_DEBT: Final = 0
DUE_TRIBUTE: Final = 1

# ---------------------------------------------------------------------------------------------------- action
# ids
PASS: Final = 0
KEEP: Final = 1
TAKE: Final = 2
YIELD: Final = 3
DECLINE: Final = 4
CLAIM_SOLO: Final = 5
SHOW_GUARD: Final = 6
REBEL: Final = 7
COUNTER_IT: Final = 8
NO: Final = 9
CALL: Final = 10
"""+ the card, 0 … 51."""
GIVE: Final = CALL + SUITED
"""+ the card, 0 … 55."""
PLAY: Final = GIVE + KINDS
"""From here on plays: `baohuang.arena.encoding`."""

MOST_OF_RANK: Final = 16
JOKER_CHOICES: Final = 25
"""0 … 4 small × 0 … 4 big jokers."""

# The parts of a play in one number.
CODE_KEPT: Final = 4
CODE_FILLERS: Final = 9
CODE_SMALL: Final = 14
CODE_BIG: Final = 17
CODE_MARKED: Final = 20
NO_RANK: Final = 15

# ----------------------------------------------------------------------------------------- header of the
# tables
T_LOW: Final = 0
"""Lowest rank in the deck."""
T_DECK_SIZE: Final = 1
T_THRONE: Final = 2
T_CALLS: Final = 3
T_ADDS: Final = 4
T_ASKS_CLAIMS: Final = 5
T_GRAB: Final = 6
T_OPEN_GUARD: Final = 7
T_REBELLION: Final = 8
T_COUNTERS: Final = 9
T_FILL: Final = 10
T_THREE_TWOS: Final = 11
T_TOP: Final = 12
T_HELD: Final = 13
T_LAST_JOKERS: Final = 14
T_HOLD_THREES: Final = 15
T_REFUSE: Final = 16
T_TRIBUTE: Final = 17
T_RETURN: Final = 18
T_MOST_REDEALS: Final = 19
T_MOST_YIELDS: Final = 20
T_ROUND: Final = 21
T_MARKS: Final = 22
"""1 + the most revealing cards in a play: the stride of the joker choices in play ids."""
T_FILLER_STRIDE: Final = 23
T_KEPT_STRIDE: Final = 24
T_RANK_STRIDE: Final = 25
T_JOKER_PLAYS: Final = 26
"""Id of a play of no plain card with no joker: the base of the plays of jokers alone."""
T_REFUSED_GIVER: Final = 27
T_REFUSED_OTHER: Final = 28
T_COUNTS_SHOWN: Final = 29
"""Up to how many cards a player's number of them is seen by others (`show_counts`)."""
T_SECTIONS: Final = 32
"""From here the offsets of the sections below, in this order."""
(
    S_DECK,
    S_RANK_OF,
    S_CALLABLE,
    S_HIGHEST,
    S_ADDED,
    S_BOTTOM_FIRST,
    S_BOTTOM_OTHER,
    S_OFFERED,
    S_REBELLION_STANDS,
    S_COUNTER_SIDE,
    S_COUNTER_NEEDS,
    S_MULTIPLIER,
    S_PAIR,
    S_SOLO,
    S_TRIBUTE,
    S_COVER,
    S_LEAST,
    S_COUNTS,
    S_CODES,
) = range(T_SECTIONS, T_SECTIONS + 19)
HEADER: Final = 64

ORDER: Final = 64
"""Length of a section with an order of cards; it ends with `NONE`."""
MOST_PLAIN: Final = 30
"""More plain cards than this cannot be beaten, as no two hands hold so many twos; numbers up to it fit in a
bit mask.
"""
NEVER: Final = MOST_PLAIN + 1
COVER_SHAPES: Final = (MOST_PLAIN + 1) * JOKER_CHOICES
"""Shapes of a table that can be beaten: 0 … 30 plain cards, and jokers."""

THRONE_FIXED: Final = 0
THRONE_OFFER: Final = 1
THRONE_UPSTREAM: Final = 2
THRONE_BOTTOM_CARDS: Final = 3

REFUSE_LOSE: Final = 0
REFUSE_VOID: Final = 1
REFUSE_MUST_PLAY: Final = 2

DECLARES_NONE: Final = 0
DECLARES_SHOWS: Final = 1
DECLARES_DOUBLES: Final = 2
