"""The least that a durable move could cost: a gRPC method that does one equal INSERT and nothing else.

`python -m benchmarks.bare`: answers `EngineService.Act`, with the engine's settings.
"""

import asyncio
import itertools
import json
import sys
from typing import Any

import grpc.aio
import uvloop

from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rpc.engine.v1.engine_pb2_grpc import EngineServiceServicer, add_EngineServiceServicer_to_server
from services.eventstore import Pool, make_pool
from services.kit.settings import Settings

TABLE = "create table if not exists bare (like eventstore.commits including all)"
INSERT = """
insert into bare
    (stream, bucket, first_version, version, schema_version, command_id, fingerprint, payload)
values (%s, 7, %s, %s, 1, %s, %s, %s)
returning tx::text::bigint, position"""


class Bare(EngineServiceServicer):
    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._versions = itertools.count(1)

    async def Act(self, request: pb.ActRequest, context: Any) -> pb.ActResponse:  # noqa: N802
        version = next(self._versions)
        payload = request.action.SerializeToString()
        async with self._pool.connection() as connection:
            cursor = await connection.cursor(binary=True).execute(
                INSERT, [request.game_id, version, version, request.command_id, bytes(32), payload]
            )
            await cursor.fetchone()
        return pb.ActResponse(applied=pb.Applied(version=version, log_version=version))


async def run(settings: Settings) -> None:
    async with make_pool(settings.database_url, max_size=settings.database_connections) as pool:
        async with pool.connection() as connection:
            await connection.execute(TABLE)
        server = grpc.aio.server()
        add_EngineServiceServicer_to_server(Bare(pool), server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        print(json.dumps({"event": "listening", "port": port}), file=sys.stderr, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(run(Settings.from_environment().require("database_url")))
