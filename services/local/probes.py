"""Whether a process of ours is ready, asked as any operator's probe would ask."""

from __future__ import annotations

import grpc
import httpx
from grpc_health.v1 import health_pb2

_SECONDS = 2.0


def answers_http(url: str) -> bool:
    """Whether a GET of this address is answered with 200."""
    try:
        return httpx.get(url, timeout=_SECONDS, trust_env=False).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def serves_grpc(target: str) -> bool:
    """Whether the gRPC health service at `host:port` says SERVING."""
    with grpc.insecure_channel(target) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        try:
            answer = check(health_pb2.HealthCheckRequest(), timeout=_SECONDS)
        except grpc.RpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)
