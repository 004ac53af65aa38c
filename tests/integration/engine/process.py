"""Engines as processes of their own."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import grpc.aio

from tests.integration.engine.client import Client

ROOT = Path(__file__).resolve().parents[3]


class Running(NamedTuple):
    process: asyncio.subprocess.Process
    listening: dict[str, Any]
    client: Client

    async def end(self, number: signal.Signals) -> tuple[int, str]:
        """Sends a signal; gives the exit code and the rest of the log."""
        self.process.send_signal(number)
        assert self.process.stderr is not None
        log = (await asyncio.wait_for(self.process.stderr.read(), 20)).decode()
        return await self.process.wait(), log


async def launch(**settings: str) -> asyncio.subprocess.Process:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BAOHUANG_")}
    environment |= {"BAOHUANG_LOG_FORMAT": "json", **settings}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.engine", cwd=ROOT, env=environment, stderr=asyncio.subprocess.PIPE
    )


@asynccontextmanager
async def running(**settings: str) -> AsyncIterator[Running]:
    process = await launch(**settings)
    assert process.stderr is not None
    lines = []
    try:
        while not lines or lines[-1]["event"] != "listening":
            line = await asyncio.wait_for(process.stderr.readline(), 30)
            assert line, f"it ended: {lines}"
            lines.append(json.loads(line))
        async with grpc.aio.insecure_channel(f"127.0.0.1:{lines[-1]['port']}") as channel:
            yield Running(process, lines[-1], Client(channel))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
