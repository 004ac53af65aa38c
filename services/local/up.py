"""`python -m services.local up`: the platform on this machine, with a hand of each rule set to begin with."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from services.local.errors import LocalServerError, LocalServerReason, os_error
from services.local.first_hands import (
    TOKEN_FILE,
    HandFailed,
    PlayedHand,
    count_finished_games,
    play_first_hands,
)
from services.local.members import MemberFailed
from services.local.platform import PROJECT, Platform, Ports
from services.local.restarts import GaveUp
from services.local.stopping import Stopper, StopRequested

DEFAULT_DATA_DIR = PROJECT / ".data"

INTERRUPTED = 130
_LOOK_SECONDS = 0.5
_TABLE_WIDTH = 110


@dataclass(frozen=True, kw_only=True)
class UpOptions:
    """What to start and play. `data_dir` None: `.data` in the project's folder."""

    data_dir: Path | None
    presets: tuple[str, ...]
    ports: Ports
    once: bool


class DataDirInUse(RuntimeError):
    """Another platform runs on the data."""


def up(options: UpOptions) -> int:
    """Start everything, play, print the results, and run until Ctrl-C or SIGTERM, or with `once` just end.

    Gives the exit code: 0 stopped as asked, 1 something failed, 130 stopped before the results were there.
    """
    console = Console(highlight=False, soft_wrap=True)

    def tell(line: str) -> None:
        console.print(line, markup=False)

    def cut_short() -> None:
        tell("killing what is left; the data are safe")
        platform.kill()
        os._exit(INTERRUPTED)

    data_dir = options.data_dir or DEFAULT_DATA_DIR
    with Stopper(cut_short) as stopper:
        platform = Platform(
            data_dir,
            ports=options.ports,
            tell=tell,
            pause=stopper.pause,
            spare_postgres_dir=_spare_postgres_dir() if options.data_dir is None else None,
        )
        try:
            with DataDirLock(data_dir):
                try:
                    return _run(platform, options, stopper, console)
                except (GaveUp, HandFailed, LocalServerError, MemberFailed) as error:
                    tell(f"{error}{_advice(error)}")
                    return 1
                finally:
                    if platform.members:
                        tell("stopping")
                    platform.stop()
                    tell("stopped")
        except (DataDirInUse, LocalServerError) as error:
            tell(f"{error}{_advice(error)}")
            return 1


def _run(platform: Platform, options: UpOptions, stopper: Stopper, console: Console) -> int:
    is_done = False
    try:
        console.print(f"data and logs: {platform.data_dir}", markup=False)
        platform.start()
        earlier = count_finished_games(platform.replay_url)
        if earlier:
            games = "1 earlier game" if earlier == 1 else f"{earlier} earlier games"
            console.print(f"found {games}: {platform.replay_url}/", markup=False)
        console.print(f"playing a hand of {', '.join(options.presets)} with built-in bots", markup=False)
        hands = play_first_hands(platform, options.presets)
        print_results(hands, platform, console)
        is_done = True
        if options.once:
            return 0
        console.print("running; Ctrl-C stops", markup=False)
        while True:
            stopper.pause(_LOOK_SECONDS)
            platform.look_after()
    except StopRequested:
        return 0 if is_done else INTERRUPTED


def print_results(hands: Sequence[PlayedHand], platform: Platform, console: Console) -> None:
    """A table of what was played, and where it can be seen."""
    table = Table(title="Hands played", title_justify="left")
    table.add_column("Rules")
    table.add_column("Result")
    for name in ("Emperor", "Guard", "Places", "Scores", "Seconds"):
        table.add_column(name, justify="right")
    for hand in hands:
        table.add_row(
            hand.rules,
            hand.termination if hand.solo == "none" else f"{hand.termination}, {hand.solo} solo",
            *("–" if seat is None else str(seat) for seat in (hand.emperor, hand.guard)),
            "–" if hand.places is None else " ".join(map(str, hand.places)),
            " ".join(f"{score:+d}" if score else "0" for score in hand.scores),
            f"{hand.seconds:.1f}",
        )
    # Rich would squeeze the table into a narrow terminal, or into 80 columns where there is none.
    Console(highlight=False, width=max(console.width, _TABLE_WIDTH)).print(table)
    width = max(len(hand.rules) for hand in hands)
    for hand in hands:
        address = f"{platform.replay_url}/replay/{hand.game_id}"
        console.print(f"{hand.rules:{width}}  {address}  (table {hand.table_id})", markup=False)
    lobby = f"lobby: {platform.lobby_url}/ (gRPC: {platform.lobby_grpc_target})"
    console.print(f"all games: {platform.replay_url}/   {lobby}", markup=False)
    console.print(f"a token for the lobby: {platform.data_dir / TOKEN_FILE}", markup=False)


class DataDirLock:
    """Held by the one platform that runs on a data folder; the kernel lets go of it however that one ends."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "lock"

    def __enter__(self) -> None:
        """Raises DataDirInUse, and LocalServerError where the folder cannot be made or written."""
        try:
            # Postgres, which root runs as another user, must pass; what is private lies in folders below.
            self._path.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
            self._file = self._path.open("a+")
            self._take()
            self._file.truncate(0)
            self._file.write(f"{os.getpid()}\n")
            self._file.flush()
            # Nothing in here belongs into a repository.
            (self._path.parent / ".gitignore").write_text("*\n")
        except OSError as error:
            raise os_error(error, f"cannot use the folder {self._path.parent}") from error

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _take(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            holder = self._file.read().strip() or "unknown"
            self._file.close()
            raise DataDirInUse(
                f"another platform (process {holder}) runs on {self._path.parent}: stop it with Ctrl-C, "
                "or choose another folder with --data"
            ) from None


def _spare_postgres_dir() -> Path | None:
    """Where root puts the database of a project that lies in a private folder; None for anybody else."""
    if os.geteuid() != 0:
        return None
    # Two clones keep apart.
    digest = hashlib.sha256(str(PROJECT).encode()).hexdigest()[:8]
    return Path("/var/lib/baohuang") / f"{PROJECT.name}-{digest}"


def _advice(error: Exception) -> str:
    if not isinstance(error, LocalServerError):
        return ""
    if error.reason is LocalServerReason.DISK_FULL:
        return "\nFree some space, or choose another folder with --data, and start again."
    if error.reason in (LocalServerReason.WRONG_OWNER, LocalServerReason.UNREACHABLE_FOLDER):
        return "\nChoose a folder of your own with --data, or BAOHUANG_DATA."
    return ""
