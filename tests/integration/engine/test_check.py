"""Foreign records: the first fault with its line, and no patience with oversized ones."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator

import pytest

from baohuang import PRESETS, Game, RuleSet
from baohuang.rpc.codec import decode_outcome, encode_event
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rpc.game.v1 import event_pb2
from baohuang.rules.events import redact
from services.engine.check import MOST_WAITING, RecordChecker
from services.kit.errors import PlatformError
from tests.integration.engine.client import Client, dealt, refused


def played(rules: RuleSet, seed: int) -> Game:
    game, chance = dealt(rules, seed), random.Random(seed)
    while game.to_act:
        seat = chance.choice(game.to_act)
        game.apply(seat, chance.choice(game.legal_actions(seat)))
    return game


async def check(client: Client, **fields: object) -> pb.CheckRecordResponse:
    return await client.call("CheckRecord", pb.CheckRecordRequest(**fields))


async def test_records_of_the_library_are_valid(client: Client) -> None:
    for preset, rules in PRESETS.items():
        game = played(rules, 3)
        running = dealt(rules, 3)
        unfinished = await check(client, record=running.record().dumps())
        assert (unfinished.valid, unfinished.events) == (True, running.version)
        assert not unfinished.HasField("outcome")
        for verdict in (
            await check(client, record=game.record().dumps()),
            await check(client, events=[encode_event(event) for event in game.events]),
        ):
            assert verdict.valid, (preset, verdict)
            assert verdict.events == len(game.events)
            assert decode_outcome(verdict.outcome) == game.outcome


async def test_the_first_impossible_step_is_told(client: Client) -> None:
    game = played(PRESETS["marked-guard"], 4)
    lines = game.record().dumps().splitlines()
    removed = "\n".join(lines[:40] + lines[41:])
    by_text = await check(client, record=removed)
    by_events = await check(client, events=[encode_event(e) for e in game.events[:40] + game.events[41:]])
    for verdict in (by_text, by_events):
        assert not verdict.valid
        assert verdict.line in (40, 41)
        assert verdict.message
        assert not verdict.HasField("outcome")
    assert by_text == by_events


async def test_what_is_no_record(client: Client) -> None:
    for record in ("{", "[]", "\x00", "{}\n" * 1999, "[" * 5000, '{"format": "baohuang-record"}'):
        verdict = await check(client, record=record)
        assert (verdict.valid, verdict.line) == (False, 1)
    seen = [encode_event(redact(event, 0)) for event in dealt(PRESETS["jiaodong"], 1).events]
    assert not (await check(client, events=seen)).valid
    whole = [encode_event(event) for event in dealt(PRESETS["jiaodong"], 1).events]
    for broken in (
        event_pb2.Event(),
        event_pb2.Event(played=event_pb2.Played(seat=9)),
        event_pb2.Event(
            dealt=event_pb2.Dealt(hands=[event_pb2.Dealt.SeatHand(hand={"cards": [1] * 9999})] * 5)
        ),
    ):
        verdict = await check(client, events=[*whole, broken])
        assert (verdict.valid, verdict.line) == (False, len(whole) + 1)


async def test_long_records_are_refused(client: Client) -> None:
    for fields in ({"record": "{}\n" * 2001}, {"events": [event_pb2.Event()] * 2001}):
        assert (await refused(check(client, **fields))).reason == "REQUEST_TOO_LARGE"
    both = await refused(check(client, record="{}", events=[event_pb2.Event()]))
    assert both.reason == "MALFORMED_REQUEST"


JIAODONG = pb.CheckRecordRequest(record=dealt(PRESETS["jiaodong"], 1).record().dumps())
FOLK = pb.CheckRecordRequest(record=dealt(PRESETS["shandong-folk"], 1).record().dumps()[:-20])


@pytest.fixture
async def checker() -> AsyncIterator[RecordChecker]:
    """Its process runs."""
    async with RecordChecker() as opened:
        assert (await opened.check(JIAODONG)).valid
        yield opened


def send_signal(checker: RecordChecker, number: signal.Signals) -> int:
    assert checker._process is not None
    checker._process.send_signal(number)
    return checker._process.pid


async def test_a_client_that_goes_away_leaves_its_verdict_to_nobody(checker: RecordChecker) -> None:
    send_signal(checker, signal.SIGSTOP)
    gone = [asyncio.create_task(checker.check(JIAODONG)) for _ in range(3)]
    await asyncio.sleep(0)  # the first has its turn, the others wait
    for task in gone:
        task.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    assert all(task.cancelled() for task in gone)
    waiting = asyncio.create_task(checker.check(FOLK))
    send_signal(checker, signal.SIGCONT)
    assert not (await waiting).valid
    assert (await checker.check(JIAODONG)).valid


async def test_only_so_many_records_wait(checker: RecordChecker) -> None:
    send_signal(checker, signal.SIGSTOP)
    checks = [asyncio.create_task(checker.check(JIAODONG)) for _ in range(1 + MOST_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(PlatformError, match="try again later") as refusal:
        await checker.check(JIAODONG)
    assert (refusal.value.reason, refusal.value.is_retryable) == ("SERVICE_UNAVAILABLE", True)
    send_signal(checker, signal.SIGCONT)
    assert all(verdict.valid for verdict in await asyncio.gather(*checks))
    assert (await checker.check(JIAODONG)).valid


async def test_a_replayer_that_was_killed_is_started_again(checker: RecordChecker) -> None:
    send_signal(checker, signal.SIGSTOP)
    check = asyncio.create_task(checker.check(JIAODONG))
    await asyncio.sleep(0)
    killed = send_signal(checker, signal.SIGKILL)
    with pytest.raises(PlatformError, match="try again") as failure:
        await check
    assert failure.value.is_retryable
    assert (await checker.check(JIAODONG)).valid
    assert send_signal(checker, signal.SIGCONT) != killed


async def test_a_replayer_that_ended_between_two_records_is_not_missed(checker: RecordChecker) -> None:
    send_signal(checker, signal.SIGKILL)
    assert checker._process is not None
    await checker._process.wait()
    assert (await checker.check(JIAODONG)).valid


async def test_a_replayer_that_hangs_is_ended(
    checker: RecordChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.engine.check.LONGEST_SECONDS", 0.05)
    send_signal(checker, signal.SIGSTOP)
    with pytest.raises(PlatformError, match="try again"):
        await checker.check(JIAODONG)
    monkeypatch.undo()
    assert (await checker.check(JIAODONG)).valid


async def test_the_replayer_ends_with_its_checker() -> None:
    async with RecordChecker() as checker:
        await checker.check(JIAODONG)
        pid = send_signal(checker, signal.SIGCONT)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
