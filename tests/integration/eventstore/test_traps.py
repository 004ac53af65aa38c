"""Each trap is provoked by hand; each part of the SQL that closes one is taken out to see the check fail."""

from collections.abc import Awaitable, Callable

import psycopg
import pytest

from services.eventstore import Pool, sql
from services.eventstore.migrate import EVENTSTORE_FOLDER
from tests.integration.eventstore import traps

Check = Callable[[str, Pool], Awaitable[None]]

CHECKS: list[Check] = [
    traps.check_commit_order_gap,
    traps.check_commit_order_gap_in_buckets,
    traps.check_half_cure,
    traps.check_half_cure_in_buckets,
    traps.check_stream_inversion,
    traps.check_old_snapshot,
    traps.check_stream_lock,
    traps.check_batch_lock,
    traps.check_lock_order,
    traps.check_once,
    traps.check_once_in_batch,
    traps.check_silent_loss,
    traps.check_silent_loss_in_batch,
    traps.check_follower_gap,
    traps.check_compare_and_set,
    traps.check_bucket_lock,
    traps.check_parked_stream,
]


def function_text(name: str) -> str:
    text = (EVENTSTORE_FOLDER / "0001_commits.sql").read_text()
    start = text.index(f"create function eventstore.{name}(")
    return text[start : text.index("$$;", start) + 3]


STREAM_LOCK = "perform pg_advisory_xact_lock(eventstore.lock_key_of(p_stream));"
XID_GUARD = "if pg_current_xact_id_if_assigned() is not null then"
ISOLATION_GUARD = "if current_setting('transaction_isolation') <> 'read committed' then"
SORTED_LOCKS = """select distinct eventstore.lock_key_of(s.stream) as key
        from unnest(p_streams) as s (stream) order by key"""

_APPEND = function_text("append")
LOOK_UNDER_LOCK = _APPEND[_APPEND.index(STREAM_LOCK) : _APPEND.index("<> p_expected_version")]

# The function that is changed, what is replaced in it, by what, and the check that must notice.
FUNCTION_MUTANTS = {
    "xid guard dropped": ("demand_first_write", XID_GUARD, "if false then", traps.check_stream_inversion),
    "isolation guard dropped": (
        "demand_first_write",
        ISOLATION_GUARD,
        "if false then",
        traps.check_old_snapshot,
    ),
    "lock dropped": ("append", STREAM_LOCK, "", traps.check_stream_lock),
    "xid before the lock": (
        "append",
        STREAM_LOCK,
        f"perform pg_current_xact_id(); {STREAM_LOCK}",
        traps.check_stream_lock,
    ),
    "lock after the look at the stream": (
        "append",
        LOOK_UNDER_LOCK,
        LOOK_UNDER_LOCK.replace(STREAM_LOCK, "").replace(
            "    if actual", f"    {STREAM_LOCK}\n    if actual"
        ),
        traps.check_stream_lock,
    ),
    "ON CONFLICT DO NOTHING": (
        "append",
        "returning 'appended'",
        "on conflict do nothing returning 'appended'",
        traps.check_silent_loss,
    ),
    "command not looked for": (
        "append",
        "c.command_id = p_command_id",
        "false",
        traps.check_once,
    ),
    "content not compared": (
        "append",
        "earlier.fingerprint = p_fingerprint",
        "true",
        traps.check_once,
    ),
    "version not compared": (
        "append",
        "actual_version <> p_expected_version",
        "false",
        traps.check_once,
    ),
    "batch: content not compared": (
        "append_batch",
        "e.fingerprint <> i.fingerprint",
        "false",
        traps.check_once_in_batch,
    ),
    "batch: version not compared": (
        "append_batch",
        "else i.expected_version <>",
        "else -1 =",
        traps.check_once_in_batch,
    ),
    "batch: locks dropped": (
        "append_batch",
        "perform eventstore.lock_streams(p_streams);",
        "",
        traps.check_batch_lock,
    ),
    "batch: locks unsorted": (
        "lock_streams",
        SORTED_LOCKS,
        "select eventstore.lock_key_of(s.stream) as key from unnest(p_streams) as s (stream)",
        traps.check_lock_order,
    ),
    "batch: xid before the locks": (
        "append_batch",
        "perform eventstore.lock_streams(p_streams);",
        """perform eventstore.demand_first_write(); perform pg_current_xact_id();
        perform pg_advisory_xact_lock(eventstore.lock_key_of(s)) from unnest(p_streams) as s;""",
        traps.check_batch_lock,
    ),
    "batch: ON CONFLICT DO NOTHING": (
        "append_batch",
        "returning c.stream",
        "on conflict do nothing returning c.stream",
        traps.check_silent_loss_in_batch,
    ),
}

HORIZON = "log.tx < pg_snapshot_xmin(pg_current_snapshot())"
CURSOR = "(log.tx, log.position) > (%(tx)s::text::xid8, %(position)s)"

AFTER_CHECKPOINT = "(log.tx, log.position) > (c.tx, c.position)"
COMPARED = "and c.tx = new.old_tx::xid8 and c.position = new.old_position"
TRY_LOCK = "pg_try_advisory_lock(eventstore.lock_class_of(%(subscription)s), bucket)"
IS_BLOCKED = "where p.subscription = %(subscription)s and p.stream = log.stream"

# The statement that is changed, what is replaced in it, by what, and the check that must notice.
QUERY_MUTANTS = {
    "horizon dropped": ("READ_ALL", HORIZON, "true", traps.check_commit_order_gap),
    "horizon taken from xmax": (
        "READ_ALL",
        HORIZON,
        "log.tx < pg_snapshot_xmax(pg_current_snapshot())",
        traps.check_commit_order_gap,
    ),
    "buckets: horizon dropped": (
        "READ_BUCKETS",
        HORIZON,
        "true",
        traps.check_commit_order_gap_in_buckets,
    ),
    "buckets: cursor on position alone": (
        "READ_BUCKETS",
        CURSOR,
        "log.position > %(position)s",
        traps.check_half_cure_in_buckets,
    ),
    "buckets: order of positions": (
        "READ_BUCKETS",
        "order by log.tx, log.position",
        "order by log.position",
        traps.check_half_cure_in_buckets,
    ),
    "cursor on position alone": ("READ_ALL", CURSOR, "log.position > %(position)s", traps.check_half_cure),
    "cursor on tx alone": ("READ_ALL", CURSOR, "log.tx > %(tx)s::text::xid8", traps.check_half_cure),
    "order of positions": (
        "READ_ALL",
        "order by log.tx, log.position",
        "order by log.position",
        traps.check_half_cure,
    ),
    "follower: horizon dropped": ("READ_PENDING", HORIZON, "true", traps.check_follower_gap),
    "follower: checkpoint on position alone": (
        "READ_PENDING",
        AFTER_CHECKPOINT,
        "log.position > c.position",
        traps.check_follower_gap,
    ),
    "follower: checkpoint not compared": ("MOVE_CHECKPOINTS", COMPARED, "", traps.check_compare_and_set),
    "follower: bucket not locked": ("LOCK_PENDING", TRY_LOCK, "true", traps.check_bucket_lock),
    "follower: gap ignored": ("READ_PENDING", IS_BLOCKED, "where false", traps.check_parked_stream),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_trap_is_closed(check: Check, database: str, pool: Pool) -> None:
    await check(database, pool)


@pytest.mark.parametrize("name", FUNCTION_MUTANTS)
async def test_mutant_of_a_function_is_caught(name: str, database: str, pool: Pool) -> None:
    function, old, new, check = FUNCTION_MUTANTS[name]
    with psycopg.connect(database) as connection:
        connection.execute(mutated_function(function, old, new).encode())
    with pytest.raises(AssertionError):
        await check(database, pool)


@pytest.mark.parametrize("name", QUERY_MUTANTS)
async def test_mutant_of_a_statement_is_caught(
    name: str, database: str, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement, old, new, check = QUERY_MUTANTS[name]
    monkeypatch.setattr(sql, statement, replaced_once(getattr(sql, statement), old, new))
    with pytest.raises(AssertionError):
        await check(database, pool)


def mutated_function(name: str, old: str, new: str) -> str:
    return replaced_once(function_text(name), old, new).replace(
        "create function", "create or replace function", 1
    )


def replaced_once(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
    return text.replace(old, new)
