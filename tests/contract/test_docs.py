"""What the documents point to is there: files, targets of make, commands of `baohuang`, modules."""

import importlib.util
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from baohuang.cli import main

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part.startswith(".") or part == "node_modules" for part in path.relative_to(ROOT).parts)
)

FENCED = re.compile(r"^ *(```+|~~~+).*?\n(.*?)^ *\1", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(<?([^)\s>]+)>?[^)]*\)")
COMMAND = re.compile(r"(?:\$ )?((?:\S*/)?(?:baohuang|make|python3?) .*)")


def links(text: str) -> list[str]:
    """Targets of the links to files, anchors cut off."""
    prose = INLINE.sub("", FENCED.sub("", text))
    return [target.split("#")[0] for target in LINK.findall(prose) if not re.match(r"[a-z]+:|#", target)]


def commands(text: str) -> Iterator[list[str]]:
    """The words of every call of make, baohuang or python in fenced or inline code."""
    code = [body for _, body in FENCED.findall(text)] + INLINE.findall(FENCED.sub("", text))
    for line in "\n".join(code).replace("\\\n", " ").splitlines():
        for part in re.split(r"&&|[;|]", line):
            if call := COMMAND.fullmatch(part.strip()):
                program, *arguments = shlex.split(call[1], comments=True)
                yield [Path(program).name, *arguments]


def unknown(call: list[str], targets: set[str], capsys: pytest.CaptureFixture[str]) -> bool:
    """Whether this call names a target, command or module that does not exist."""
    match call:
        case ["make", *words]:
            return not {word for word in words if not re.search(r"^-|=|[A-Z.<]", word)} <= targets
        case ["baohuang", *words]:
            return not is_command(words, capsys)
        case ["python" | "python3", "-m", module, *_]:
            return importlib.util.find_spec(module) is None
    return False


def is_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> bool:
    """Whether `baohuang` takes the leading words as commands; what follows them is not looked at."""
    path = []
    for word in words:
        if not re.fullmatch(r"[a-z][a-z-]*", word):
            break
        path.append(word)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["baohuang", *path, "--help"])
        with pytest.raises(SystemExit) as end:
            main()
    capsys.readouterr()
    return end.value.code in (None, 0)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_that_exist(path: Path) -> None:
    broken = [link for link in links(path.read_text("utf-8")) if not (path.parent / link).exists()]
    assert broken == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_exist(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    calls = commands(path.read_text("utf-8"))
    assert [call for call in calls if unknown(call, targets, capsys)] == []


def test_the_checks_above_see_links_and_commands(capsys: pytest.CaptureFixture[str]) -> None:
    text = """
    See [rules](docs/rules.md#cover "title"), [elsewhere](https://example.org), [here](#below), not `[x](y)`.
    Inline: `make test`, `import baohuang`, make sure.

```sh
$ cd baohuang && make nothing ARGS=-x  # make tea
.venv/bin/baohuang no-such-command \\
    file.jsonl
python -m baohuang.no_such_module
```
"""
    assert links(text) == ["docs/rules.md"]
    calls = list(commands(text))
    assert calls == [
        ["make", "nothing", "ARGS=-x"],
        ["baohuang", "no-such-command", "file.jsonl"],
        ["python", "-m", "baohuang.no_such_module"],
        ["make", "test"],
    ]
    assert [unknown(call, {"test"}, capsys) for call in calls] == [True, True, True, False]
