"""Names of players: what is one, and which look alike."""

import unicodedata

import pytest

from services.kit.errors import PlatformError
from services.lobby.names import checked_name, name_keys


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "Ada",
        "保皇高手",
        "Ж",
        "محمد",
        "שלום",
        "नमस्ते",
        "क्\u200dष",  # a joiner that the script needs
        "🃏",
        "x y z",
        "-_-",
        "O'Neil",
        "é" * 32,
    ],
)
def test_names_in_any_script(name):
    assert checked_name(name) == name


def test_a_name_is_kept_in_one_form():
    assert checked_name(unicodedata.normalize("NFD", "José")) == "José"


@pytest.mark.parametrize(
    "name",
    ["", "a" * 33, " a", "a ", "a  b", "a\tb", "a\nb", "\0", "a\u202eb", "\u200b", "\u200d", " ", "\u00a0a",
     "\u3164", "\u2800", "\ud800", "\ue000", "\u0301", "a\u2028b", "\u00ad"],
)  # fmt: skip
def test_what_is_no_name(name):
    with pytest.raises(PlatformError) as refused:
        checked_name(name)
    assert refused.value.reason == "BAD_NAME"
    assert refused.value.violations[0].field == "name"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("paypal", "pаypal"),  # Cyrillic а
        ("Paul", "PauI"),  # capital I for l
        ("ALICE", "alice"),
        ("admin", "ADMIN"),
        ("rnodern", "modern"),
        ("Scope", "ѕсоре"),
        ("O0O", "OOO"),
        ("Ａｄａ", "Ada"),
        ("a b", "ab"),
        ("क\u200dष", "कष"),
        ("工人", "エ人"),
        ("Straße", "STRASSE"),
        ("José", unicodedata.normalize("NFD", "José")),
    ],
)
def test_names_that_look_alike_share_a_key(one, other):
    assert set(name_keys(one)) & set(name_keys(other))


@pytest.mark.parametrize(
    ("one", "other"), [("Ada", "Adam"), ("保皇", "皇保"), ("a", "b"), ("José", "Jose"), ("Anna", "Hanna")]
)
def test_names_that_differ_share_none(one, other):
    assert not set(name_keys(one)) & set(name_keys(other))
