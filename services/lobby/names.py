"""Names of players: any script, one form, and no two that look alike."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

from confusable_homoglyphs.confusables import confusables_data

from services.kit.errors import PlatformError

MOST_CHARACTERS: Final = 32

# Controls, half characters, unassigned and private ones; Zl and Zp are line ends. Format characters (Cf) are
# kept out too, the joiners of some scripts excepted.
_FORBIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
_JOINERS: Final = frozenset("\u200c\u200d")
_INVISIBLE: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f")  # letters and marks that show nothing


def checked_name(text: str) -> str:
    """The name in its one form (NFC). Raises PlatformError (BAD_NAME)."""
    name = unicodedata.normalize("NFC", text)
    if not 1 <= len(name) <= MOST_CHARACTERS:
        raise _bad(f"a name has 1 to {MOST_CHARACTERS} characters, not {len(name)}")
    for character in name:
        is_joiner = character in _JOINERS
        if not is_joiner and (unicodedata.category(character) in _FORBIDDEN or character in _INVISIBLE):
            raise _bad(f"a name cannot hold the character U+{ord(character):04X}")
        if unicodedata.category(character) == "Zs" and character != " ":
            raise _bad(f"the only space in a name is U+0020, not U+{ord(character):04X}")
    if name != " ".join(name.split(" ")).strip() or "  " in name:
        raise _bad("a name neither begins nor ends with a space, nor has two in a row")
    if not any(unicodedata.category(character)[0] in "LNPS" for character in name):
        raise _bad("a name has at least one character that can be seen")
    return name


def name_keys(name: str) -> tuple[str, ...]:
    """What a name looks like: two names look alike if they share a key.

    A key is the skeleton of UTS 39 without regard to case. Case is folded before (`ALICE` is `alice`) and
    after (`PauI` is `Paul`), which gives two keys where it makes a difference.
    """
    text = unicodedata.normalize("NFKC", name)
    keys = (_bare(_skeleton(text.casefold())), _bare(_skeleton(text)).casefold())
    return tuple(sorted({key for key in keys if key}))


def _bad(problem: str) -> PlatformError:
    return PlatformError("BAD_NAME", problem).at("name")


def _skeleton(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", "".join([_prototype(character) for character in decomposed]))


def _bare(text: str) -> str:
    """Without what can hardly be seen: spaces, joiners, direction marks."""
    return "".join([each for each in text if unicodedata.category(each)[0] not in "ZC"])


@cache
def _prototype(character: str) -> str:
    """What stands for all characters that look like this one.

    The data list pairs both ways: a character with many look-alikes stands for them, one with a single one
    looks like that. Where both have only each other, the first in code order stands for the pair.
    """
    alike = confusables_data.get(character, ())
    if len(alike) != 1:
        return character
    other: str = alike[0]["c"]
    if len(confusables_data.get(other, ())) == 1:
        return min(character, other)
    return other
