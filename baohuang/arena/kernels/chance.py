"""Random numbers: xoshiro256++, one stream for each purpose of each game (docs/simulator.md has it in words).

A game's key follows from the seed and the game's number alone, a stream from the key and its lane. So neither
the size of a batch nor the number of threads changes what a game is dealt or plays, and the deals do not
depend on who plays.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.jit import hot, inner

Stream = NDArray[np.uint64]
"""Four words."""

LANE_PLAY: Final = 1 << 16
"""Lanes 0, 1, … shuffle deal 0, 1, … of the game; this one is drawn from by its players."""

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
MIX_2: Final = np.uint64(0x94D049BB133111EB)
ONE: Final = np.uint64(1)
LOW_32: Final = np.uint64(0xFFFFFFFF)
# Shift widths: Numba makes a float of an unsigned and a signed number.
U17, U23, U27, U30, U31, U32, U41, U45 = (np.uint64(width) for width in (17, 23, 27, 30, 31, 32, 41, 45))
U19: Final = np.uint64(19)


@hot
def mix(value: Any) -> Any:
    """SplitMix64's finaliser."""
    value = (value ^ (value >> U30)) * MIX_1
    value = (value ^ (value >> U27)) * MIX_2
    return value ^ (value >> U31)


@inner
def game_key(seed: Any, game: int) -> Any:
    """The key of game number `game` of a run with `seed`."""
    return mix(mix(np.uint64(seed) + GOLDEN) + GOLDEN * np.uint64(game + 1))


@inner
def open_stream(stream: Stream, key: Any, lane: int) -> None:
    """Sets `stream` to the beginning of a lane of `key`."""
    word = mix(key ^ mix(np.uint64(lane + 1) * GOLDEN))
    for number in range(4):
        word += GOLDEN
        stream[number] = mix(word)


@hot
def draw_word(stream: Stream) -> Any:
    """64 random bits."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    total = s0 + s3
    word = ((total << U23) | (total >> U41)) + s0
    shifted = s1 << U17
    s2 ^= s0
    s3 ^= s1
    stream[1] = s1 ^ s2
    stream[0] = s0 ^ s3
    stream[2] = s2 ^ shifted
    stream[3] = (s3 << U45) | (s3 >> U19)
    return word


@hot
def draw_below(stream: Stream, count: int) -> int:
    """A uniform whole number from 0 to `count` − 1, without bias; `count` is below 2**32."""
    bound = np.uint64(count)
    product = (draw_word(stream) >> U32) * bound
    if (product & LOW_32) < bound:
        least = ((LOW_32 - bound) + ONE) % bound
        while (product & LOW_32) < least:
            product = (draw_word(stream) >> U32) * bound
    return np.int64(product >> U32)  # type: ignore[return-value]  # an unsigned one would make floats of sums


@hot
def draw_three(stream: Stream, count: int) -> tuple[int, int, int]:
    """Uniform whole numbers below `count`, `count` − 1 and `count` − 2 out of one draw, without bias.

    `count` is 1 … 1,000; of numbers that would be below 0 or less nothing is meant. What a product leaves
    below 2**32 is the fraction of which the next number is made.
    """
    first, second, third = np.uint64(count), np.uint64(max(count - 1, 1)), np.uint64(max(count - 2, 1))
    bound = first * second * third
    while True:
        one = (draw_word(stream) >> U32) * first
        two = (one & LOW_32) * second
        three = (two & LOW_32) * third
        left = three & LOW_32
        if left >= bound or left >= (LOW_32 + ONE) % bound:
            return np.int64(one >> U32), np.int64(two >> U32), np.int64(three >> U32)  # type: ignore[return-value]
