"""The shuffle and the commitment to it; docs/verifiable-deals.md has them in words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from baohuang.rules.cards import Hand
from baohuang.rules.errors import Reason, RuleError
from baohuang.rules.roles import SEATS, Seat
from baohuang.rules.ruleset import RuleSet

SEED_BYTES: Final = 32
SALT_BYTES: Final = 32
MOST_NONCE_BYTES: Final = 64
_TAG: Final = b"baohuang-shuffle-1"


def seed_bytes(seed: int) -> bytes:
    """A seed as 32 big-endian bytes; raises `RuleError` (`BAD_SEED`) unless 0 <= seed < 2**256."""
    if type(seed) is not int or not 0 <= seed < 1 << (8 * SEED_BYTES):
        raise RuleError(Reason.BAD_SEED, "a seed is a whole number from 0 to 2**256 - 1")
    return seed.to_bytes(SEED_BYTES, "big")


def commit(seed: int, salt: bytes) -> str:
    """SHA-256(seed ‖ salt) in hex, published before the deal; `salt` is 32 bytes."""
    if len(salt) != SALT_BYTES:
        raise RuleError(Reason.BAD_SEED, f"a salt has {SALT_BYTES} bytes, not {len(salt)}")
    return hashlib.sha256(seed_bytes(seed) + salt).hexdigest()


def shuffled_deck(deck: Hand, seed: int, nonces: Sequence[str | None], redeal: int) -> Hand:
    """`deck` (in deck order) shuffled by seed, the seats' nonces and the number of the redeal.

    Key = SHA-256(tag ‖ seed ‖ redeal as 4 bytes ‖ for each seat the length as 2 bytes and the UTF-8 bytes
    of its nonce, or 0xFFFF for none). Block i = SHA-256(key ‖ i as 4 bytes) gives eight 32-bit numbers. For
    place n−1 down to 1 the card there changes places with that at a uniform index 0 … place, drawn by
    rejection. All numbers are big-endian.
    """
    key = hashlib.sha256(_TAG + seed_bytes(seed) + redeal.to_bytes(4, "big"))
    for nonce in nonces:
        text = nonce.encode() if nonce is not None else b""
        key.update((len(text) if nonce is not None else 0xFFFF).to_bytes(2, "big") + text)
    numbers = _numbers(key.digest())
    cards = list(deck)
    for place in range(len(cards) - 1, 0, -1):
        count = place + 1
        fair = (1 << 32) - (1 << 32) % count
        number = next(numbers)
        while number >= fair:
            number = next(numbers)
        other = number % count
        cards[place], cards[other] = cards[other], cards[place]
    return tuple(cards)


def _numbers(key: bytes) -> Iterator[int]:
    block = 0
    while True:
        digest = hashlib.sha256(key + block.to_bytes(4, "big")).digest()
        for start in range(0, 32, 4):
            yield int.from_bytes(digest[start : start + 4], "big")
        block += 1


def deal(
    rules: RuleSet,
    seed: int,
    *,
    nonces: Sequence[str | None] = (None,) * 5,
    redeal: int = 0,
    first_drawer: Seat = 0,
) -> tuple[Hand, ...]:
    """The five hands, by seat and in deck order: one card at a time from the first drawer on (R2.2)."""
    cards = shuffled_deck(rules.deck, seed, nonces, redeal)
    return tuple(tuple(sorted(cards[(seat - first_drawer) % 5 :: 5])) for seat in SEATS)
