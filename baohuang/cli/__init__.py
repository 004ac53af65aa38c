"""The `baohuang` command. Its packages come with `pip install "baohuang[cli]"`."""

import sys


def main() -> None:
    """Runs the command with this process's arguments and exits.

    0: done. 1: failed. 2: used wrongly, or a check that cannot tell.
    """
    try:
        from baohuang.cli.app import run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("rich", "typer"):
            raise
        sys.exit(f'baohuang: {error.name} is not installed; the command needs: pip install "baohuang[cli]"')
    sys.exit(run(sys.argv[1:]))
