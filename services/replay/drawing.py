"""The templates, and cards drawn by them. A card looks the same wherever it lies, so each is drawn once."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import jinja2
from markupsafe import Markup, escape

from baohuang.phrases import Phrase
from baohuang.rules.cards import Card, Hand
from baohuang.words import Language
from services.replay.faces import face_of

FOLDER: Final = Path(__file__).parent

TEMPLATES: Final = jinja2.Environment(
    loader=jinja2.FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@cache
def draw_card(card: Card, language: Language) -> Markup:
    """A card alone."""
    return Markup(_macro("card")(face_of(card, language)))  # noqa: S704 (the template has escaped it)


@cache
def draw_suit(card: Card, language: Language) -> Markup:
    """A card below its rank: the suit, or what marks a joker."""
    return Markup(_macro("suit")(face_of(card, language)))  # noqa: S704 (the template has escaped it)


@lru_cache(maxsize=4096)
def draw_cards(cards: Hand, language: Language) -> Markup:
    """Cards in a row."""
    row = Markup(" ").join([draw_card(card, language) for card in cards])
    return Markup('<span class="cards">{}</span>').format(row)


def draw_phrase(phrase: Phrase, language: Language) -> Markup:
    """A sentence with its cards."""
    return Markup("").join(
        [escape(part) if isinstance(part, str) else draw_cards(part, language) for part in phrase]
    )


def _macro(name: str) -> jinja2.runtime.Macro:
    macro: jinja2.runtime.Macro = getattr(TEMPLATES.get_template("cards.html").module, name)
    return macro
