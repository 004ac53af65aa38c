"""The queue of the bots' workers, of which the lobby is only a client."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from celery import Celery
from kombu.exceptions import OperationalError

from services.kit.tasks import BOTS_QUEUE, TAKE_TURN

# A copy that lay in the queue for so long has been sent again in the meantime.
_EXPIRES_SECONDS = 60


class Turn(NamedTuple):
    """A decision to send to the workers, for the `sends`th time."""

    game_id: str
    seat: int
    version: int
    bot: str
    sends: int


class BrokerAway(Exception):
    """The broker took only the first `sent` turns."""

    def __init__(self, message: str, sent: int) -> None:
        super().__init__(message)
        self.sent = sent


class TurnSender:
    """Sends turns to the workers' queue. Whether a turn that failed was sent is unknown."""

    def __init__(self, broker_url: str) -> None:
        self._app = Celery("baohuang-lobby", broker=broker_url, set_as_current=False)
        self._app.conf.update(
            task_ignore_result=True,
            # The work lies in the database, so a send fails soon rather than waits for the broker; the one
            # retry is for a connection that broke since the last send.
            task_publish_retry_policy={
                "max_retries": 1,
                "interval_start": 0,
                "interval_step": 0,
                "interval_max": 0,
            },
            broker_connection_timeout=2,
            broker_transport_options=_transport_options(broker_url),
        )

    async def send(self, turns: Sequence[Turn]) -> int:
        """Send turns in order; gives how many. Raises BrokerAway."""
        return await asyncio.to_thread(self._send, turns)

    def close(self) -> None:
        self._app.close()

    def _send(self, turns: Sequence[Turn]) -> int:
        sent = 0
        try:
            with self._app.producer_or_acquire() as producer:
                for turn in turns:
                    self._app.send_task(
                        TAKE_TURN,
                        args=(turn.game_id, turn.seat, turn.version, turn.bot),
                        queue=BOTS_QUEUE,
                        expires=_EXPIRES_SECONDS,
                        producer=producer,
                    )
                    sent += 1
        except OperationalError as error:
            raise BrokerAway(str(error), sent) from error
        return sent


def _transport_options(broker_url: str) -> dict[str, Any]:
    if broker_url.startswith("amqp"):
        # Without confirms a message can be lost between here and the queue without anybody noticing.
        return {"confirm_publish": True, "read_timeout": 2, "write_timeout": 2}
    return {"socket_timeout": 2, "socket_connect_timeout": 2}
