import asyncio

import pytest

from services.kit.command import Command, run_command
from services.kit.settings import Settings
from services.kit.web import held_port


class CannotGoOn(Exception):
    pass


async def side_by_side(*errors: Exception) -> None:
    async def fail(error: Exception) -> None:
        raise error

    async with asyncio.TaskGroup() as group:
        for error in errors:
            group.create_task(fail(error))


@pytest.mark.parametrize(
    "errors", [[OSError("no room")], [CannotGoOn("no table")], [OSError("a"), CannotGoOn("b")]]
)
def test_failures_of_tasks_are_told_like_others(
    errors: list[Exception], capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: Settings) -> None:
        asyncio.run(side_by_side(*errors))

    assert run_command("name", {"do": Command("", run, ())}, [], failures=CannotGoOn) == 1
    assert capsys.readouterr().err.splitlines() == [f"name do: {error}" for error in errors]


def test_a_failure_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    def run(_: Settings) -> None:
        raise OSError("no room")

    assert run_command("name", {"do": Command("", run, ())}, [], failures=CannotGoOn) == 1
    assert capsys.readouterr().err == "name do: no room\n"


def test_faults_of_ours_are_not_hidden() -> None:
    def run(_: Settings) -> None:
        asyncio.run(side_by_side(OSError("no room"), ValueError("a fault")))

    with pytest.raises(ExceptionGroup, match="unhandled errors") as caught:
        run_command("name", {"do": Command("", run, ())}, [], failures=CannotGoOn)
    assert caught.group_contains(ValueError, match="a fault")


def test_a_held_port_is_given_to_nobody_else_and_its_holder_may_listen() -> None:
    async def listen() -> None:
        with held_port("127.0.0.1", 0) as port, held_port("127.0.0.1", port) as again:
            assert again == port
            async with await asyncio.start_server(lambda *_: None, "127.0.0.1", port):
                with pytest.raises(OSError, match="in use"), held_port("127.0.0.1", port):
                    pass

    asyncio.run(listen())
