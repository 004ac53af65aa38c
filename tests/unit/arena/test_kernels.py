"""The compiled code: what it is made of, where it is kept, its random numbers."""

import ast
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from baohuang import PRESETS, Role, RuleSet, Solo, Termination
from baohuang.arena import ArenaState, jit
from baohuang.arena.kernels import chance, layout
from baohuang.arena.tables import compile_tables
from baohuang.rules.outcome import DueKind

ROOT = Path(__file__).resolve().parents[3]


def run_python(program: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.check_output(
        [sys.executable, "-c", program], cwd=ROOT, env={**os.environ, **environment}, text=True
    )


def test_all_sources_of_the_kernels_are_in_the_hash_of_the_cache_folder() -> None:
    """Numba freezes constants and does not see a changed callee: whatever a kernel imports must be hashed."""
    hashed = {path.resolve() for path in jit.SOURCES}
    allowed = {"__future__", "typing", "numpy", "numpy.typing", "baohuang.arena.jit"}
    compiler = {"numba", "numba.extending", "llvmlite.ir"}  # whose releases name other files in the folder
    kernels = sorted((ROOT / "baohuang/arena/kernels").glob("*.py"))
    assert set(kernels) <= hashed
    for path in kernels:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert {name.name for name in node.names} <= {"numpy", *compiler}, path
            elif isinstance(node, ast.ImportFrom) and node.module not in allowed | compiler:
                base = ROOT / str(node.module).replace(".", "/")
                files = [base.with_suffix(".py")]
                if base.is_dir():
                    files = [base / f"{name.name}.py" for name in node.names]
                assert set(files) <= hashed, f"{path} imports {node.module}"


def test_importing_baohuang_loads_no_numpy() -> None:
    program = "import sys, baohuang; print('numpy' in sys.modules, 'numba' in sys.modules)"
    assert run_python(program).split() == ["False", "False"]


def test_compiled_code_is_kept_under_the_folder_that_the_caller_names(tmp_path: Path) -> None:
    program = (
        "import numba; from baohuang.arena import jit; import baohuang.arena.kernels.run as run;"
        "print(jit.cache_folder()); print(numba.config.CACHE_DIR); print(run.step._cache.cache_path)"
    )
    folder, own, used = run_python(program, NUMBA_CACHE_DIR=str(tmp_path)).split()
    assert Path(folder).parent == tmp_path
    assert own == str(tmp_path), "the setting of other users of Numba stays"
    assert Path(used).is_relative_to(folder)


def test_a_home_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    program = "from baohuang.arena import jit; print(jit.cache_folder())"
    environment = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": str(blocked), "HOME": str(blocked)}
    folder = Path(run_python(program, TMPDIR=str(tmp_path), **environment).strip())
    assert folder.is_relative_to(tmp_path)
    assert folder.is_dir()


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path) -> None:
    """What lies there is executed."""
    shared = tmp_path / f"baohuang-{jit.source_hash()}"
    shared.mkdir()
    shared.chmod(0o777)
    program = "from baohuang.arena import jit; print(jit.cache_folder())"
    assert run_python(program, NUMBA_CACHE_DIR=str(tmp_path)).strip() != str(shared)


def test_numbers_that_stand_for_words_are_their_places_in_the_enumerations() -> None:
    assert list(Termination) == [Termination.PLAYED, Termination.REFUSED, Termination.VOID]
    assert (layout.TERMINATION_PLAYED, layout.TERMINATION_REFUSED, layout.TERMINATION_VOID) == (0, 1, 2)
    assert list(Solo) == [Solo.NONE, Solo.HIDDEN, Solo.OPEN]
    assert (layout.SOLO_NONE, layout.SOLO_HIDDEN, layout.SOLO_OPEN) == (0, 1, 2)
    assert list(Role) == [Role.EMPEROR, Role.GUARD, Role.REBEL]
    assert (layout.ROLE_EMPEROR, layout.ROLE_GUARD, layout.ROLE_REBEL) == (0, 1, 2)
    assert list(DueKind) == [DueKind.DEBT, DueKind.TRIBUTE]
    assert (layout.DUE_DEBT, layout.DUE_TRIBUTE) == (0, 1)


def test_tables_are_shared_and_read_only() -> None:
    tables = compile_tables(RuleSet.preset("jiaodong"))
    assert tables is compile_tables(RuleSet.preset("jiaodong"))
    with pytest.raises(ValueError, match="read-only"):
        tables[0] = 1


def test_orders_of_cards_are_those_of_the_rules() -> None:
    """R5.2, R10.1, R10.6: asked from the readable functions, written as lists of cards."""
    tables = compile_tables(RuleSet.preset("shandong-folk"))

    def order(section: int) -> list[int]:
        cards = tables[tables[section] :][: layout.ORDER].tolist()
        return cards[: cards.index(layout.NONE)]

    assert order(layout.S_HIGHEST)[:5] == [54, 55, 52, 53, 48]
    assert order(layout.S_ADDED)[:5] == [48, 49, 50, 51, 44]
    assert order(layout.S_BOTTOM_FIRST) == [54, 55, 52, 53, 48, 49, 50, 51]
    assert order(layout.S_BOTTOM_OTHER) == [48, 49, 50, 51, 52, 53, 54, 55]


def test_an_inner_function_is_compiled_once_for_all_whole_numbers() -> None:
    """Else each literal and each width of a field would make a version of its own, and a minute of them."""

    @jit.inner
    def twice(number: int) -> int:
        return number + number

    @jit.kernel
    def caller(row: np.ndarray) -> int:
        return twice(row[0]) + twice(3) + twice(len(row))

    assert caller(np.array([2, 0], np.int16)) == 4 + 6 + 4
    assert len(cast(Any, twice).signatures) == 1


@jit.kernel
def count_triples(stream: np.ndarray, draws: int, counts: np.ndarray) -> None:
    for _ in range(draws):
        first, second, third = chance.draw_three(stream, 5)
        counts[first, second, third] += 1


def test_three_numbers_of_one_draw_are_uniform_and_independent() -> None:
    counts = np.zeros((5, 4, 3), np.int64)
    count_triples(np.array([1, 2, 3, 4], np.uint64), 60_000, counts)
    chi_square = float(((counts - 1000) ** 2 / 1000).sum())
    assert abs(chi_square - 59) < 5 * (2 * 59) ** 0.5


class Xoshiro:
    """The generator in words of docs/simulator.md, in plain whole numbers."""

    mask = 2**64 - 1
    golden = 0x9E3779B97F4A7C15

    @classmethod
    def mix(cls, value: int) -> int:
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & cls.mask
        value = (value ^ (value >> 27)) * 0x94D049BB133111EB & cls.mask
        return value ^ (value >> 31)

    def __init__(self, seed: int, game: int, lane: int) -> None:
        key = self.mix((self.mix((seed + self.golden) & self.mask) + self.golden * (game + 1)) & self.mask)
        word = self.mix(key ^ self.mix((lane + 1) * self.golden & self.mask))
        self.words = [self.mix((word + number * self.golden) & self.mask) for number in (1, 2, 3, 4)]

    def draw(self) -> int:
        s = self.words
        total = (s[0] + s[3]) & self.mask
        word = (((total << 23) | (total >> 41)) + s[0]) & self.mask
        shifted = (s[1] << 17) & self.mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = ((s[3] << 45) | (s[3] >> 19)) & self.mask
        return word

    def three(self, count: int) -> list[int]:
        """Numbers below `count`, `count` - 1 and `count` - 2."""
        bounds = [count, count - 1, count - 2]
        while True:
            fraction, numbers = self.draw() >> 32, []
            for bound in bounds:
                number, fraction = divmod(fraction * bound, 2**32)
                numbers.append(number)
            if fraction >= 2**32 % math.prod(bounds):
                return numbers


@pytest.mark.parametrize("preset", PRESETS)
def test_hands_are_dealt_as_the_documents_say(preset: str) -> None:
    """Docs/simulator.md, random numbers: worked out a second time without any of the kernels."""
    rules = RuleSet.preset(preset)
    state = ArenaState(rules)
    for seed, game, first_drawer in ((1, 0, 0), (2**63, 5, 3), (7, 2**40, 4)):
        stream, cards = Xoshiro(seed, game, lane=0), list(rules.deck)
        hands: list[list[int]] = [[] for _ in range(5)]
        for dealt in range(0, len(cards), 3):
            for place, number in enumerate(stream.three(len(cards) - dealt), dealt):
                hands[(first_drawer + place) % 5].append(cards[place + number])
                cards[place + number] = cards[place]
        state.reset(seed, game=game, first_drawer=first_drawer)
        assert [state.hand(seat) for seat in range(5)] == [tuple(sorted(hand)) for hand in hands]


def test_every_game_has_a_key_of_its_own() -> None:
    state = ArenaState(RuleSet.preset("jiaodong"))
    keys = set()
    for seed in range(20):
        for game in range(20):
            state.reset(seed, game=game)
            keys.add(tuple(state.row[layout.KEY : layout.KEY + 4].tolist()))
    assert len(keys) == 400


@pytest.mark.parametrize("preset", PRESETS)
def test_a_random_leader_plays_each_of_his_plays_as_often(preset: str) -> None:
    """Drawn without being listed: 20 draws for each play on average, none far off and none unlisted."""
    state = ArenaState(RuleSet.preset(preset))
    for game in range(400):
        state.reset(1, game=game)
        while not state.is_over and (
            state.row[layout.STEP] != layout.STEP_PLAY
            or state.row[layout.OWNER] != layout.NONE
            or not 20 < len(state.legal()) < 60
        ):
            state.apply(int(state.legal()[len(state.legal()) // 2]))
        if not state.is_over:
            break
    legal = state.legal().tolist()
    drawn = Counter(state.choose("random") for _ in range(20 * len(legal)))
    assert set(drawn) <= set(legal)
    chi_square = sum((drawn[number] - 20) ** 2 / 20 for number in legal)
    degrees = len(legal) - 1
    assert abs(chi_square - degrees) < 5 * (2 * degrees) ** 0.5
