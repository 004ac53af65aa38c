"""The templates, and what they draw again and again, each once: cards, hands, the places at the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import jinja2
from markupsafe import Markup, escape

from baohuang import RuleSet
from baohuang.phrases import Phrase, how_it_ended
from baohuang.rules.cards import Card, Hand
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import Role, Seat, Solo
from baohuang.words import Language, Named, name_of, place_name, preset_name, rules_name, seat_name
from services.replay.faces import Style, face_of, groups_of
from services.replay.moments import Middle, Plate, Remark, Spot

FOLDER: Final = Path(__file__).parent

TEMPLATES: Final = jinja2.Environment(
    loader=jinja2.FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


class Names:
    """What things are called in a language, for templates."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self.solo = name_of(Solo.HIDDEN, language)

    def of(self, value: Named) -> str:
        return name_of(value, self._language)

    def role(self, role: str) -> str:
        return name_of(Role(role), self._language)

    def seat(self, seat: Seat) -> str:
        return seat_name(seat, self._language)

    def place(self, place: int) -> str:
        return place_name(place, self._language)

    def preset(self, preset: str) -> str:
        return preset_name(preset, self._language)

    def rules(self, preset: str, options: Mapping[str, object]) -> str:
        return rules_name(RuleSet.preset(preset, **options), self._language)

    def ended(self, outcome: Outcome) -> str:
        return how_it_ended(outcome, self._language)

    def winner(self, outcome: Outcome) -> str:
        """Which side has won: the sign of the score says it, not who was out first (R6.5)."""
        say = self._language.say
        if outcome.roles is None:
            return say("Not played", "未打成")
        score = outcome.scores[outcome.roles.index(Role.EMPEROR)]
        if score == 0:
            return say("A draw", "平局")
        if outcome.solo is not Solo.NONE:
            return say("The emperor wins", "皇帝胜") if score > 0 else say("The rebels win", "起义军胜")
        return say("The royal side wins", "皇帝与侍卫胜") if score > 0 else say("The rebels win", "起义军胜")

    @staticmethod
    def signed(number: int) -> str:
        return f"{number:+d}".replace("-", "−") if number else "0"

    @staticmethod
    def date(at_ms: int) -> str:
        return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


NAMES: Final = {language: Names(language) for language in Language}


@cache
def draw_card(card: Card, style: Style) -> Markup:
    """A card alone."""
    return _draw("cards.html", "card", face_of(card, style))


@lru_cache(maxsize=1 << 12)
def draw_cards(cards: Hand, style: Style) -> Markup:
    """Cards in a row, the highest first."""
    row = Markup("").join([draw_card(card, style) for card in reversed(cards)])
    return Markup('<span class="cards">{}</span>').format(row)


def draw_phrase(phrase: Phrase, style: Style) -> Markup:
    """A sentence with its cards."""
    return Markup("").join(
        [escape(part) if isinstance(part, str) else draw_cards(part, style) for part in phrase]
    )


def draw_said(said: tuple[Phrase, ...], style: Style) -> Markup:
    """Sentences with their cards, one after the other."""
    end = style.language.say(". ", "。")
    return Markup("").join([draw_phrase((*phrase, end), style) for phrase in said])


@lru_cache(maxsize=1 << 12)
def draw_hand(
    hand: Hand | None, count: int | None, called: Card | None, style: Style, *, is_near: bool
) -> Markup:
    """A hand: the near one card by card, others by rank and number; the backs of a secret one."""
    if hand is None:
        return Markup('<span class="backs" aria-hidden="true">{}</span>').format(
            Markup("<i></i>") * (count or 0)
        )
    if not hand:
        return Markup("")
    groups = groups_of(hand, called, style)
    called_word = style.language.say("called card", "叫牌")
    if not is_near:
        return _draw("cards.html", "hand", groups, called_word)
    return _draw("cards.html", "fan", groups, lambda card: draw_card(card, style), called_word)


@lru_cache(maxsize=1 << 12)
def draw_plate(plate: Plate, style: Style) -> Markup:
    """Who sits at a seat."""
    return _draw("board.html", "plate", plate, style.language, NAMES[style.language])


@lru_cache(maxsize=1 << 12)
def draw_spot(spot: Spot, style: Style) -> Markup:
    """What lies before a seat."""
    return _draw("board.html", "spot", spot, style.language, lambda cards: draw_cards(cards, style))


@lru_cache(maxsize=1 << 10)
def draw_middle(middle: Middle, style: Style) -> Markup:
    """The middle of the table."""
    return _draw(
        "board.html",
        "middle",
        middle,
        style.language,
        NAMES[style.language],
        lambda card: draw_card(card, style),
        lambda cards: draw_cards(cards, style),
    )


def draw_remark(remark: Remark | None, style: Style) -> Markup:
    """What a bot wrote of its move."""
    if remark is None:
        return Markup("")
    return _draw(
        "board.html",
        "remark",
        remark,
        style.language,
        NAMES[style.language],
        lambda cards: draw_cards(cards, style),
    )


def draw_item(
    step: int,
    href: str,
    said: tuple[Phrase, ...],
    style: Style,
    *,
    trick: int,
    move: Seat | None,
    cards: Hand,
    is_current: bool,
) -> Markup:
    """A step in the list of steps; `trick` is the number of the trick that it begins, else 0.

    A play or pass of the seat `move` is told in short.
    """
    return _draw(
        "board.html",
        "item",
        step,
        trick,
        href,
        move,
        cards,
        said[0],
        said[1:],
        style.language,
        NAMES[style.language],
        lambda phrase: draw_phrase(phrase, style),
        is_current,
    )


def _draw(template: str, macro: str, *arguments: object) -> Markup:
    return Markup(_macro(template, macro)(*arguments))  # noqa: S704 (the template has escaped it)


@cache
def _macro(template: str, name: str) -> Callable[..., str]:
    macro: Callable[..., str] = getattr(TEMPLATES.get_template(template).module, name)
    return macro
