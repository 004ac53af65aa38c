"""Asking why something is refused."""

from collections.abc import Callable

import pytest

from baohuang import BaohuangError


def why_refused(command: Callable[..., object], *arguments: object, **options: object) -> tuple[str, str]:
    """Reason and clause of the refusal of a call, which must be refused."""
    with pytest.raises(BaohuangError) as refusal:
        command(*arguments, **options)
    return str(refusal.value.reason), refusal.value.clause
