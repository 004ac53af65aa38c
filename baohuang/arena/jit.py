"""Compilation of the kernels, and where its results are kept.

Numba's own cache does not see that a callee in another file, or a constant imported from one, has changed. So
the folder of the compiled code is named after a hash of all sources that go into it, and a changed source
starts an empty one. Under `NUMBA_CACHE_DIR`, if the caller has set it, else in the user's cache folder, else
(nothing there may be written, as in a read-only container without a home) in a private temporary folder.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba

# Numba's annotations lack what is used here of its settings and options.
_numba: Final[Any] = numba
_config: Final = _numba.config
_types: Final = _numba.types

_KERNELS: Final = Path(__file__).parent / "kernels"
_RULES: Final = Path(__file__).parents[1] / "rules"
SOURCES: Final = (*sorted(_KERNELS.glob("*.py")), _RULES / "cards.py", _RULES / "cover.py")
"""Everything whose code or constants end up in compiled code; a test holds the kernels' imports to it."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


_OPTIONS: Final = {
    "nogil": True,
    "error_model": "numpy",
    # No reference counts: each call would count every array that it is handed up and down again, which took
    # most of the time. So kernels allocate nothing; what they need is handed to them.
    "_nrt": False,
}


def inner(function: _Function) -> _Function:
    """Compiles a function that only kernels call: it becomes part of each. Python must not call it."""
    return _compiled_once(function, forceinline=False)


def hot(function: _Function) -> _Function:
    """As `inner`, and always inlined: a call hands over some twenty numbers for three arrays."""
    return _compiled_once(function, forceinline=True)


def _compiled_once(function: _Function, *, forceinline: bool) -> _Function:
    # Nothing calls it from outside, so it gets no wrappers: they would double the time of compilation.
    dispatcher = _numba.njit(
        forceinline=forceinline, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS
    )(function)
    template_of = dispatcher.get_call_template

    def template_of_whole_numbers(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        # A seat comes as a literal, or out of a row as 16 bits: all are one type, else each makes a version.
        return template_of(tuple(map(_wide, arguments)), keywords)

    dispatcher.get_call_template = template_of_whole_numbers
    return cast(_Function, dispatcher)


def _wide(kind: Any) -> Any:
    """The type of an argument of an inner function: signed whole numbers have 64 bits."""
    plain = _types.unliteral(kind)
    return _types.int64 if isinstance(plain, _types.Integer) and plain.signed else plain


def kernel(function: _Function) -> _Function:
    """Compiles a function that Python calls, at its first call, and keeps the result on disk."""
    before = _config.CACHE_DIR
    # Numba looks this up when it decorates; other users of Numba in the process keep their own folder.
    _config.CACHE_DIR = str(cache_folder())
    try:
        return cast(_Function, _numba.njit(cache=True, **_OPTIONS)(function))
    finally:
        _config.CACHE_DIR = before


def entry_point(function: Callable[..., Any], signature: str) -> Callable[..., Any]:
    """The compiled code of `function` for one signature, callable from Python without Numba's dispatch.

    It saves half of the cost of a call. Arguments must be of exactly these types: nothing is checked.
    """
    compiled = cast(Any, function)
    compiled.compile(signature)
    return cast(Callable[..., Any], compiled.overloads[compiled.signatures[-1]].entry_point)


@lru_cache
def cache_folder() -> Path:
    """Where compiled kernels are kept: writable, and of these sources only."""
    name = f"baohuang-{source_hash()}"
    for base in _bases():
        folder = base / name
        if _is_usable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix=name))


def source_hash() -> str:
    """A hash of all sources that go into the compiled code, 16 hex digits."""
    digest = hashlib.sha256()
    for path in SOURCES:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _bases() -> list[Path]:
    if _config.CACHE_DIR:
        return [Path(_config.CACHE_DIR)]
    homes = [os.environ.get("XDG_CACHE_HOME", ""), str(Path("~/.cache").expanduser())]
    return [Path(home) / "baohuang" for home in homes if Path(home).is_absolute()]


def _is_usable(folder: Path) -> bool:
    """Whether code can be written to `folder`, and nobody else can have written there: it is executed."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        status = folder.stat()
    except OSError:
        return False
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
