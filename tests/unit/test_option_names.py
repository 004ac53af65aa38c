"""Names of options come from outsiders: any text gets a typed refusal."""

import pytest

from baohuang import Record, RecordError, RuleSet, RuleSetError

NAMES = ("self", "cls", "preset", "name", "options", "changes", "", "\0")


@pytest.mark.parametrize("name", NAMES)
def test_any_unknown_option_is_refused_by_name(name: str) -> None:
    with pytest.raises(RuleSetError, match="UNKNOWN_OPTION"):
        RuleSet.preset("jiaodong", **{name: True})


def test_so_it_is_in_a_record() -> None:
    line = (
        '{"format": "baohuang-record", "schema": 1, "event": "game_started", "rules": {"preset": "jiaodong", '
        '"options": {"self": true}}, "first_drawer": 0, "dues": [], "commitment": null, "seed": null, '
        '"salt": null}'
    )
    with pytest.raises(RecordError):
        Record.loads(line)
