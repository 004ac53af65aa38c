"""Whom servers run as when root starts them, and what that user may reach."""

from __future__ import annotations

import contextlib
import os
import pwd
import subprocess
from pathlib import Path
from typing import NamedTuple

from services.local.errors import LocalServerError, LocalServerReason

# Root may not run Postgres. These users exist on practically every system; the first that does is taken.
_UNPRIVILEGED_USERS = ("postgres", "nobody")


class Account(NamedTuple):
    """A user of this machine with its main group."""

    user_id: int
    group_id: int
    name: str


def unprivileged_account() -> Account:
    """An existing user without rights of its own. Raises LocalServerError if there is none."""
    for name in _UNPRIVILEGED_USERS:
        with contextlib.suppress(KeyError):
            return _from_entry(pwd.getpwnam(name))
    raise LocalServerError(
        LocalServerReason.WRONG_OWNER,
        "Postgres refuses to run as root, and none of the users "
        f"{', '.join(_UNPRIVILEGED_USERS)} exists: run this as an ordinary user",
    )


def account_of(user_id: int) -> Account | None:
    """The user of this id, if it exists."""
    with contextlib.suppress(KeyError):
        return _from_entry(pwd.getpwuid(user_id))
    return None


def can_enter(folder: Path, account: Account) -> bool:
    """Whether the user may read this folder, asked of the kernel: access lists and mounts count too."""
    answer = subprocess.run(
        ["/bin/sh", "-c", 'cd "$1" && test -r .', "sh", str(folder)],
        user=account.user_id,
        group=account.group_id,
        extra_groups=[],
        env={},
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return answer.returncode == 0


def give_tree(folder: Path, account: Account) -> None:
    """Make the user the owner of a folder and all that is in it. Raises OSError."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, account.user_id, account.group_id, follow_symlinks=False)


def _from_entry(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_uid, entry.pw_gid, entry.pw_name)
