"""The shuffle, the vectors, and a second implementation written from docs/verifiable-deals.md alone."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baohuang import PRESETS, RuleError, RuleSet, format_cards
from baohuang.rules.cards import DECKS
from baohuang.rules.shuffle import commit, deal, seed_bytes, shuffled_deck

VECTORS = json.loads((Path(__file__).resolve().parents[1] / "data/shuffle-vectors.json").read_text("utf-8"))
PRESET_OF = {165: "jiaodong", 168: "marked-guard", 216: "shandong-folk"}


def documented_deck(size: int) -> list[str]:
    ranks = "3 4 5 6 7 8 9 T J Q K A 2".split()
    if size < 216:
        ranks = ranks[3:]
    deck = [rank + suit for rank in ranks for suit in "cdhs" for _ in range(4)]
    if size == 165:
        for six in ("6c", "6d", "6h"):
            deck.remove(six)
    small, big = ("SJ SJ SJ GJ", "BJ BJ BJ EJ") if size < 216 else ("SJ SJ SJ SJ", "BJ BJ BJ BJ")
    return deck + small.split() + big.split()


def documented_deal(
    size: int, seed: bytes, nonces: list[str | None], redeal: int, first_drawer: int
) -> list[list[str]]:
    text = b"baohuang-shuffle-1" + seed + redeal.to_bytes(4, "big")
    for nonce in nonces:
        if nonce is None:
            text += b"\xff\xff"
        else:
            text += len(nonce.encode("utf-8")).to_bytes(2, "big") + nonce.encode("utf-8")
    key = hashlib.sha256(text).digest()

    stream = b""
    block = 0
    deck = documented_deck(size)
    for p in range(len(deck) - 1, 0, -1):
        c = p + 1
        f = 2**32 // c * c
        while True:
            if not stream:
                stream = hashlib.sha256(key + block.to_bytes(4, "big")).digest()
                block += 1
            number, stream = int.from_bytes(stream[:4], "big"), stream[4:]
            if number < f:
                break
        q = number % c
        deck[p], deck[q] = deck[q], deck[p]

    hands: list[list[str]] = [[], [], [], [], []]
    seat = first_drawer
    for card in deck:
        hands[seat].append(card)
        seat = 0 if seat == 4 else seat + 1
    order = {card: place for place, card in enumerate(documented_deck(size))}
    return [sorted(hand, key=order.__getitem__) for hand in hands]


@pytest.mark.parametrize("vector", VECTORS["deals"], ids=lambda vector: vector["name"])
def test_both_implementations_give_the_vectors(vector: dict) -> None:
    seed = bytes.fromhex(vector["seed"])
    documented = documented_deal(
        vector["deck"], seed, vector["nonces"], vector["redeal"], vector["first_drawer"]
    )
    assert [" ".join(hand) for hand in documented] == vector["hands"]
    hands = deal(
        RuleSet.preset(PRESET_OF[vector["deck"]]),
        int.from_bytes(seed, "big"),
        nonces=vector["nonces"],
        redeal=vector["redeal"],
        first_drawer=vector["first_drawer"],
    )
    assert [format_cards(hand) for hand in hands] == vector["hands"]


@pytest.mark.parametrize("vector", VECTORS["commitments"], ids=lambda vector: vector["name"])
def test_commitments_give_the_vectors(vector: dict) -> None:
    seed, salt = bytes.fromhex(vector["seed"]), bytes.fromhex(vector["salt"])
    assert hashlib.sha256(seed + salt).hexdigest() == vector["commitment"]
    assert commit(int.from_bytes(seed, "big"), salt) == vector["commitment"]


@given(
    st.sampled_from(sorted(DECKS)),
    st.integers(0, 2**256 - 1),
    st.lists(st.none() | st.text(min_size=1, max_size=16), min_size=5, max_size=5),
    st.integers(0, 3),
    st.integers(0, 4),
)
def test_both_implementations_agree(
    size: int, seed: int, nonces: list[str | None], redeal: int, first_drawer: int
) -> None:
    rules = RuleSet.preset(PRESET_OF[size])
    hands = deal(rules, seed, nonces=nonces, redeal=redeal, first_drawer=first_drawer)
    documented = documented_deal(size, seed.to_bytes(32, "big"), nonces, redeal, first_drawer)
    assert [format_cards(hand).split() for hand in hands] == documented


@pytest.mark.parametrize("size", sorted(DECKS))
def test_the_documented_deck_is_the_deck(size: int) -> None:
    assert format_cards(DECKS[size]).split() == documented_deck(size)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_shuffle_keeps_every_card(preset: str) -> None:
    deck = RuleSet.preset(preset).deck
    assert sorted(shuffled_deck(deck, 1, (None,) * 5, 0)) == list(deck)


def test_seed_nonces_and_redeal_each_change_the_deal() -> None:
    deck = DECKS[168]
    plain = shuffled_deck(deck, 1, (None,) * 5, 0)
    others = [
        shuffled_deck(deck, 2, (None,) * 5, 0),
        shuffled_deck(deck, 1, (None,) * 5, 1),
        shuffled_deck(deck, 1, ("a", None, None, None, None), 0),
        shuffled_deck(deck, 1, (None, "a", None, None, None), 0),
        shuffled_deck(deck, 1, ("a", "b", None, None, None), 0),
        shuffled_deck(deck, 1, ("ab", None, None, None, None), 0),
    ]
    assert len({plain, *others}) == 7


def test_every_card_comes_to_every_place() -> None:
    deck = DECKS[216][:32:4]  # eight different cards
    seen = {
        (place, card)
        for seed in range(200)
        for place, card in enumerate(shuffled_deck(deck, seed, (None,) * 5, 0))
    }
    assert len(seen) == 64


@pytest.mark.parametrize("seed", [-1, 2**256])
def test_a_seed_has_256_bits(seed: int) -> None:
    with pytest.raises(RuleError, match="BAD_SEED"):
        seed_bytes(seed)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_salt_has_32_bytes(size: int) -> None:
    with pytest.raises(RuleError, match="BAD_SEED"):
        commit(1, bytes(size))
