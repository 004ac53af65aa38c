"""Once and no more, in any order, from any number of engines: what commands may rely on."""

import asyncio
import random
from typing import Any

import grpc.aio

from baohuang import RuleSet, parse_cards
from baohuang.rpc.codec import decode_events, encode_action, encode_rules
from baohuang.rpc.engine.v1 import engine_pb2 as pb
from baohuang.rules.actions import Action
from baohuang.rules.events import Step
from baohuang.rules.roles import SEATS, Opening
from services.engine.server import serving
from services.eventstore import Commit, EventStore, bucket_of
from services.eventstore.wakeups import WakeupListener, WakeupSender
from services.local.valkey import LocalValkey
from tests.integration.engine.client import (
    Client,
    check_applied,
    check_views,
    dealt,
    play_on,
    refused,
)

RULES = RuleSet.preset("lianzhong-simple")
PLAIN = RuleSet.preset("marked-guard")
HANDS = [parse_cards(hand) for hand in ("EJ 9s 9h", "GJ 7c 7d", "8h 8d", "6c 6d", "Ts Th Ac")]
AT_PLAY = Opening(0, 1)

Two = tuple[Client, Client]


def as_repeated(applied: pb.Applied) -> pb.Applied:
    again = pb.Applied.FromString(applied.SerializeToString())
    again.repeated_command = True
    return again


async def at_play(client: Client, game_id: str = "g") -> pb.Applied:
    return await client.create(game_id, PLAIN, hands=HANDS, opening=AT_PLAY, command_id="create")


async def test_the_same_command_again_gives_the_first_answer(clients: Two, store: EventStore) -> None:
    first, second = clients
    created = await at_play(first)
    answers = {}
    moves = {"a": (0, "play 9s"), "b": (1, "pass"), "c": (2, "pass"), "d": (3, "pass"), "e": (4, "play Th")}
    for command_id, (seat, action) in moves.items():
        answers[command_id] = await first.act("g", seat, action, command_id=command_id, expected_version=None)
    before = await store.read_stream("g")
    for client in (first, second, first):
        assert await at_play(client) == as_repeated(created)
        for command_id, (seat, action) in moves.items():
            again = await client.act("g", seat, action, command_id=command_id)
            assert again == as_repeated(answers[command_id])
    assert await store.read_stream("g") == before


async def test_a_hidden_answer_again_gives_the_first_answer(clients: Two) -> None:
    first, second = clients
    await first.create("g", RuleSet.preset("marked-guard"), seed=1)
    answer = await first.act("g", 2, "no", command_id="x", expected_version=3)
    await second.act("g", 0, "no")
    for client in clients:
        assert await client.act("g", 2, "no", command_id="x", expected_version=3) == as_repeated(answer)
    assert answer.version == 3
    assert answer.log_version == 4


async def test_the_end_of_the_hand_again_tells_its_outcome(client: Client) -> None:
    await client.create("g", PLAIN, hands=HANDS, opening=AT_PLAY)
    last, n = None, 0
    while last is None or not last.HasField("outcome"):
        view = await client.view("g")
        (seat,) = view.public.to_act
        action = (await client.legal_actions("g", seat))[0]
        n += 1
        last = await client.act("g", seat, action, command_id=f"m{n}")
    assert await client.act("g", seat, action, command_id=f"m{n}") == as_repeated(last)


async def test_a_command_id_is_for_one_content(clients: Two, store: EventStore) -> None:
    first, second = clients
    await at_play(first)
    await first.act("g", 0, "play 9s", command_id="a")
    before = await store.read_stream("g")
    for client in clients:
        for attempt in (
            client.act("g", 0, "play 9h", command_id="a"),
            client.act("g", 1, "pass", command_id="a"),
            client.act("g", 0, "play 9s", command_id="a", expected_version=before[-1].version),
            client.command("AutoAct", game_id="g", seat=0, command_id="a"),
            client.act("g", 1, "pass", command_id="create"),
            client.create("g", RULES, command_id="create"),
        ):
            assert (await refused(attempt)).reason == "COMMAND_REUSED"
        other = await refused(client.create("g", PLAIN, hands=HANDS, opening=AT_PLAY))
        assert other.reason == "GAME_EXISTS"
    assert await store.read_stream("g") == before
    # Ids belong to a game.
    await at_play(second, "h")
    await second.act("h", 0, "play 9h", command_id="a")


async def test_a_stale_version_is_told_with_the_current_one(clients: Two) -> None:
    first, second = clients
    created = await at_play(first)
    await first.act("g", 0, "play 9s")
    after = await first.act("g", 1, "pass")
    for client in clients:
        for version in (0, created.version, after.version - 1, after.version + 1, 2**32 - 1):
            error = await refused(client.act("g", 2, "pass", expected_version=version))
            assert (error.reason, dict(error.details)) == (
                "VERSION_CONFLICT",
                {"version": str(after.version)},
            )
    assert await second.act("g", 2, "pass", expected_version=after.version)


async def test_breaches_of_the_rules_change_nothing(clients: Two, store: EventStore) -> None:
    await at_play(clients[0])
    before = await store.read_stream("g")
    for client in clients * 2:
        for seat, action, reason, clause in (
            (0, "pass", "LEADER_CANNOT_PASS", "R3.2"),
            (0, "play 8h", "CARDS_NOT_HELD", "R3.1"),
            (0, "play EJ 9s 9h GJ", "CARDS_NOT_HELD", "R3.1"),
            (1, "play 7c", "NOT_YOUR_TURN", "R3.3"),
            (0, "keep", "WRONG_STEP", "R5.0"),
            (0, "rebel", "TOO_LATE_TO_DECLARE", "R5.13"),
        ):
            error = await refused(client.act("g", seat, action))
            assert error.reason == reason
            assert error.clause.startswith("R")
            assert clause[:2] == error.clause[:2]
    assert await store.read_stream("g") == before


async def test_seats_answer_a_step_at_the_same_time(clients: Two) -> None:
    game = dealt(RULES, 4)
    await clients[0].create("g", RULES, seed=4)
    chance = random.Random(4)
    while game.state.public.step is not Step.PLAY:
        opened, seats = game.state.public.opened_version, game.to_act
        actions = {seat: chance.choice(game.legal_actions(seat)) for seat in seats}
        answers = await asyncio.gather(
            *[clients[seat % 2].act("g", seat, actions[seat], expected_version=opened) for seat in seats]
        )
        assert [answer.repeated_command for answer in answers] == [False] * len(seats)
        for seat in seats:
            game.apply(seat, actions[seat])
        # Until the step closes it looks the same to everybody.
        assert {answer.version for answer in answers} <= {opened, game.state.public.version}
    for client in clients:
        # Which of them came first is not told, and matters to the hidden events' order alone.
        for seat in SEATS:
            assert await client.view("g", seat) == game.view(seat)
    await check_views(clients[1], "g", game)


async def test_of_two_moves_of_one_seat_one_is_made(clients: Two) -> None:
    for round_ in range(10):
        game_id = f"g{round_}"
        created = await at_play(clients[0], game_id)
        answers = await asyncio.gather(
            *[
                client.act(game_id, 0, action, expected_version=created.version)
                for client, action in zip(clients, ("play 9s", "play 9h"), strict=True)
            ],
            return_exceptions=True,
        )
        (error,) = [answer for answer in answers if isinstance(answer, Exception)]
        assert getattr(error, "reason", error) == "VERSION_CONFLICT"


async def test_one_command_sent_twice_at_once_is_done_once(clients: Two, store: EventStore) -> None:
    await at_play(clients[0])
    answers = await asyncio.gather(*[c.act("g", 0, "play 9s", command_id="a") for c in clients * 3])
    assert sorted(answer.repeated_command for answer in answers) == [False] + [True] * 5
    assert {as_repeated(answer).SerializeToString() for answer in answers} == {
        as_repeated(answers[0]).SerializeToString()
    }
    assert len(await store.read_stream("g")) == 2


async def test_two_engines_race_through_a_whole_game(clients: Two, store: EventStore) -> None:
    game = dealt(RULES, 8)
    await clients[0].create("g", RULES, seed=8)
    chance = random.Random(8)
    while game.to_act:
        seat = chance.choice(game.to_act)
        version = game.state.public.version
        actions = [chance.choice(game.legal_actions(seat)) for _ in clients]
        answers = await asyncio.gather(
            *[
                client.act("g", seat, action, expected_version=version)
                for client, action in zip(clients, actions, strict=True)
            ],
            return_exceptions=True,
        )
        ((applied, action),) = [
            (answer, action)
            for answer, action in zip(answers, actions, strict=True)
            if isinstance(answer, pb.Applied)
        ]
        check_applied(applied, game, game.apply(seat, action), seat)
    stored = [event for commit in await store.read_stream("g") for event in decode_events(commit.payload)]
    assert tuple(stored) == game.events


async def test_an_engine_sees_what_others_have_done(clients: Two) -> None:
    game = dealt(RULES, 6)
    await clients[0].create("g", RULES, seed=6)
    chance = random.Random(6)
    for turn in range(12):
        await play_on(clients[turn % 2], "g", game, chance, moves=5)
        await check_views(clients[(turn + 1) % 2], "g", game)


class Counting(EventStore):
    """The store, and a list of what was asked of it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.asked: list[str] = []

    async def append(self, *arguments: Any, **named: Any) -> Any:
        self.asked.append("append")
        return await super().append(*arguments, **named)

    async def read_stream(self, stream: str, after_version: int = 0) -> list[Commit]:
        self.asked.append(f"read after {after_version}")
        return await super().read_stream(stream, after_version)


async def test_a_move_costs_one_append(pool: Any) -> None:
    counting = Counting(pool)
    for cold in (False, True):
        async with serving(counting) as port, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            client = Client(channel)
            if not cold:
                await at_play(client)
            counting.asked.clear()
            if not cold:
                await client.act("g", 0, "play 9s")
                await client.act("g", 1, "pass")
                assert counting.asked == ["append", "append"]
                # A refused command, or one that was done before, is looked up without reading the log.
                counting.asked.clear()
                await refused(client.act("g", 3, "pass"))
                assert counting.asked == ["append"]
            else:
                version = (await client.act("g", 2, "pass")).version
                assert counting.asked == ["read after 0", "append"]
                await client.view("g", 1)
                assert counting.asked[2:] == [f"read after {version}"]


async def test_many_who_ask_for_a_cold_game_have_it_read_once(pool: Any) -> None:
    async with serving(EventStore(pool)) as port, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        await at_play(Client(channel))
    counting = Counting(pool)
    async with serving(counting) as port, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        client = Client(channel)
        views = await asyncio.gather(*[client.view("g", 1) for _ in range(40)])
        assert views == [views[0]] * 40
        version = views[0].public.version
        assert sorted(counting.asked) == ["read after 0", *[f"read after {version}"] * 39]


async def test_readers_are_woken_after_a_move(pool: Any, valkey: LocalValkey) -> None:
    heard = asyncio.Event()
    async with WakeupSender(valkey.url) as sender, WakeupListener(valkey.url) as listener:
        await listener.is_listening.wait()
        with listener.waking(heard, [bucket_of("g")]):
            async with (
                serving(EventStore(pool, sender)) as port,
                grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
            ):
                client = Client(channel)
                for move in (at_play(client), client.act("g", 0, "play 9s")):
                    await move
                    await asyncio.wait_for(heard.wait(), 5)
                    heard.clear()


ACT = encode_action(Action.parse("pass"))
COMMANDS: dict[str, dict[str, Any]] = {
    "AddNonce": {"nonce": "x"},
    "Deal": {},
    "Act": {"action": ACT},
    "StartAutoPlay": {"why": "AUTO_PLAY_REASON_REQUEST"},
    "StopAutoPlay": {},
    "AutoAct": {},
    "Forfeit": {"why": "FORFEIT_REASON_REMOVED"},
}


async def test_unknown_games(client: Client) -> None:
    for name, fields in COMMANDS.items():
        assert (await refused(client.command(name, game_id="none", **fields))).reason == "GAME_NOT_FOUND"
    for request in (pb.GetViewRequest(game_id="none"), pb.GetLegalActionsRequest(game_id="none")):
        name = type(request).__name__.removesuffix("Request")
        error = await refused(client.call(name, request))
        assert (error.reason, error.message) == ("GAME_NOT_FOUND", "there is no game none")


NEW = {"rules": encode_rules(PLAIN)}
HAND = {"cards": ["CARD_9S"]}
MALFORMED: list[tuple[str, dict[str, Any], str]] = [
    *[(name, {**fields, "game_id": ""}, "game_id") for name, fields in COMMANDS.items()],
    *[(name, {**fields, "seat": 5}, "seat") for name, fields in COMMANDS.items() if name != "Deal"],
    *[(name, {**fields, "command_id": ""}, "command_id") for name, fields in COMMANDS.items()],
    ("Act", {"action": ACT, "game_id": "a/b"}, "game_id"),
    ("Act", {"action": ACT, "game_id": "g" * 65}, "game_id"),
    ("Act", {"action": ACT, "command_id": "c" * 65}, "command_id"),
    ("Act", {"action": ACT, "command_id": "a b"}, "command_id"),
    ("Act", {"action": ACT, "command_id": "é"}, "command_id"),
    ("Act", {}, "action"),
    ("Act", {"action": {}}, "action.kind"),
    ("Act", {"action": {"kind": 99}}, "action.kind"),
    ("Act", {"action": {"kind": "ACTION_KIND_PLAY"}}, "action.cards"),
    ("Act", {"action": {"kind": "ACTION_KIND_PLAY", "cards": [0]}}, "action.cards[0]"),
    ("Act", {"action": {"kind": "ACTION_KIND_PLAY", "cards": [1] * 217}}, "action.cards"),
    ("Act", {"action": {"kind": "ACTION_KIND_PASS", "cards": [1]}}, "action.cards"),
    ("StartAutoPlay", {}, "why"),
    ("StartAutoPlay", {"why": 9}, "why"),
    ("Forfeit", {}, "why"),
    ("CreateGame", {**NEW, "game_id": "x y"}, "game_id"),
    ("CreateGame", {**NEW, "command_id": "\n"}, "command_id"),
    ("CreateGame", {}, "rules"),
    ("CreateGame", {**NEW, "first_drawer": 5}, "first_drawer"),
    ("CreateGame", {**NEW, "dues": [{}]}, "dues[0].kind"),
    ("CreateGame", {**NEW, "dues": [{"kind": 1, "giver": 9}]}, "dues[0].giver"),
    ("CreateGame", {**NEW, "dues": [{"kind": 1, "giver": 1}] * 21}, "dues"),
    ("CreateGame", {**NEW, "seed": b"short"}, "seed"),
    ("CreateGame", {**NEW, "salt": b"short"}, "salt"),
    ("CreateGame", {**NEW, "hands": [HAND] * 4}, "hands"),
    ("CreateGame", {**NEW, "hands": [HAND] * 4 + [{"cards": [99]}]}, "hands[4].cards[0]"),
    ("CreateGame", {**NEW, "hands": [HAND] * 4 + [{"cards": [1] * 9999}]}, "hands[4].cards"),
    ("CreateGame", {**NEW, "hands": [HAND] * 5, "opening": {"emperor": 7}}, "opening.emperor"),
    ("CreateGame", {**NEW, "hands": [HAND] * 5, "opening": {"rebels": [1, 8]}}, "opening.rebels[1]"),
    ("CreateGame", {**NEW, "hands": [HAND] * 5, "opening": {"called": 0}}, "opening.called"),
]


async def test_malformed_commands_name_the_field(client: Client) -> None:
    for name, fields, field in MALFORMED:
        error = await refused(client.command(name, **{"game_id": "g", **fields}))
        told = (error.reason, [violation.field for violation in error.violations])
        assert told == ("MALFORMED_REQUEST", [field]), (name, fields)


async def test_malformed_questions(client: Client) -> None:
    for request, field in (
        (pb.GetViewRequest(game_id="?"), "game_id"),
        (pb.GetViewRequest(game_id="g", viewer=5), "viewer"),
        (pb.GetLegalActionsRequest(game_id=""), "game_id"),
        (pb.GetLegalActionsRequest(game_id="g", seat=5), "seat"),
        (pb.CheckRecordRequest(), "record"),
    ):
        error = await refused(client.call(type(request).__name__.removesuffix("Request"), request))
        assert (error.reason, error.violations[0].field) == ("MALFORMED_REQUEST", field)


CANNOT_BE: list[tuple[dict[str, Any], str]] = [
    ({"rules": {"preset": "whist"}}, "UNKNOWN_PRESET"),
    ({"rules": {"preset": "jiaodong", "options": {"x": "1"}}}, "UNKNOWN_OPTION"),
    ({"rules": {"preset": "jiaodong", "options": {"kaopai": "x"}}}, "BAD_OPTION_VALUE"),
    ({"rules": {"preset": "jiaodong", "options": {"tribute": "true"}}}, "OPTIONS_CONFLICT"),
    ({**NEW, "dues": [{"kind": 1, "giver": 1}]}, "BAD_DEAL"),
    ({**NEW, "hands": [HAND] * 5}, "BAD_DEAL"),
    ({**NEW, "hands": [HAND] * 5, "seed": bytes(32)}, "BAD_DEAL"),
    ({**NEW, "opening": {}}, "BAD_DEAL"),
]


async def test_games_that_cannot_be(client: Client) -> None:
    for fields, reason in CANNOT_BE:
        error = await refused(client.command("CreateGame", game_id="g", **fields))
        assert error.reason == reason, fields
    assert (await refused(client.view("g"))).reason == "GAME_NOT_FOUND"
