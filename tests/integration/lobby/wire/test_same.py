"""REST and gRPC say the same: the same values, and for the same fault the same reason, words and place."""

import msgspec

from baohuang.rpc.codec import decode_view, encode_action, encode_view
from baohuang.rpc.game.v1 import rules_pb2
from baohuang.rpc.lobby.v1 import tables_pb2
from baohuang.rules.actions import Action
from services.lobby.grpc import convert
from services.lobby.messages import matches, players, tables
from services.lobby.shown import show_view
from tests.integration.lobby.wire.conftest import refused

RULES = {"preset": "marked-guard"}


def json(struct):
    """A body as a client reads it."""
    return msgspec.json.decode(msgspec.json.encode(struct))


def shown(error):
    """All that a client learns from an error."""
    violations = [tuple(each) for each in error.violations]
    return error.reason, error.message, error.clause, dict(error.details), violations


def as_table(body):
    return convert.table_message(msgspec.convert(body, tables.Table))


async def test_players_and_tokens(wire):
    guest = wire.caller(None)
    answer = await guest.call("Player", "RegisterPlayer", name="Ännchen", is_bot=True)
    assert (answer.player.name, answer.player.is_bot) == ("Ännchen", True)
    caller = wire.caller(answer.secret)
    me = await caller.call("Player", "GetPlayer")
    assert me.player == answer.player
    body = await caller.rest("GET", "/v1/me")
    assert me.player == convert.player_message(msgspec.convert(body, players.Player))
    assert (await guest.call("Player", "GetPlayer", player_id=me.player.player_id)).player == me.player

    added = await caller.call("Player", "CreateToken", label="laptop", expires_in_seconds=60)
    listed = await caller.call("Player", "ListTokens")
    assert [token.label for token in listed.tokens] == ["", "laptop"]
    body = await caller.rest("GET", "/v1/tokens")
    shown = [convert.token_message(msgspec.convert(token, players.Token)) for token in body["tokens"]]
    assert list(listed.tokens) == shown
    await caller.call("Player", "RevokeToken", token_id=added.token.token_id)
    assert len((await caller.call("Player", "ListTokens")).tokens) == 1


async def test_tables(wire):
    host, other = await wire.player("host"), await wire.player("other")
    made = await host.call(
        "Table",
        "CreateTable",
        command_id="new-table",
        rules=rules_pb2.RuleSet(preset="lianzhong-simple", options={"kaopai": "true"}),
        hands=3,
        bots=["", "greedy", "", "", "random"],
        sit=True,
        seat=2,
        is_private=True,
        bots_allowed=True,
        pace={"turn_seconds": 60},
        spectator_delay=2,
    )
    table_id = made.table.table_id
    seats = [(seat.bot, bool(seat.player.player_id), seat.ready) for seat in made.table.seats]
    assert seats == [
        ("", False, False),
        ("greedy", False, True),
        ("", True, False),
        ("", False, False),
        ("random", False, True),
    ]
    assert made.table.rules.options == {"kaopai": "true"}
    assert (made.table.pace.turn_seconds, made.table.pace.opening_seconds) == (60, 30)
    assert as_table(await host.rest("GET", f"/v1/tables/{table_id}")) == made.table

    joined = await other.call("Table", "JoinTable", code=made.table.code, seat=0)
    assert as_table(await other.rest("GET", f"/v1/tables/{table_id}")) == joined.table
    seated = await host.call("Table", "SeatBot", table_id=table_id, seat=3, bot="greedy")
    assert seated.table.seats[3].bot == "greedy"
    freed = await host.call("Table", "UnseatBot", table_id=table_id, seat=3)
    assert not freed.table.seats[3].HasField("bot")
    assert (await other.call("Table", "SetReady", table_id=table_id, ready=True)).table.seats[0].ready
    begun = await host.call("Table", "StartTable", command_id="go", table_id=table_id, bot="random")
    assert begun.table.seats[3].bot == "random"
    await wire.settle()
    playing = await host.call("Table", "GetTable", table_id=table_id)
    assert playing.table.status == tables_pb2.TABLE_STATUS_PLAYING
    assert as_table(await host.rest("GET", f"/v1/tables/{table_id}")) == playing.table
    await other.call("Table", "LeaveTable", command_id="bye", table_id=table_id, by_force=True)
    assert (await host.call("Table", "GetTable", table_id=table_id)).table.seats[0].bot == "greedy"


async def test_lists_of_tables(wire):
    host = await wire.player()
    for _ in range(3):
        await host.call("Table", "CreateTable", rules=RULES, sit=True)
    guest = wire.caller(None)
    found, after = [], ""
    while True:
        page = await guest.call("Table", "ListTables", limit=2, after=after, open=True, preset="marked-guard")
        found += page.tables
        after = page.next
        if not after:
            break
    body = await guest.rest("GET", "/v1/tables?open=true")
    shown = [convert.summary_message(msgspec.convert(each, tables.TableSummary)) for each in body["tables"]]
    assert found == shown
    assert len(found) == 3
    assert not (await guest.call("Table", "ListTables", status="TABLE_STATUS_PLAYING")).tables


async def test_operators_remove_players_and_dissolve_tables(wire):
    host, operator = await wire.player(), await wire.player(scopes=("play", "operator"))
    table = (await host.call("Table", "CreateTable", rules=RULES, sit=True)).table
    other = (await host.call("Table", "CreateTable", rules=RULES, sit=True)).table
    gone = await operator.call("Table", "RemovePlayer", table_id=table.table_id, seat=0)
    assert gone.table.reason == "everybody left"
    ended = await operator.call("Table", "DissolveTable", table_id=other.table_id)
    assert ended.table.status == tables_pb2.TABLE_STATUS_DISSOLVED
    assert as_table(await host.rest("GET", f"/v1/tables/{other.table_id}")) == ended.table


async def test_quick_match(wire):
    players_ = [await wire.player() for _ in range(5)]
    tickets = [
        (await player.call("Match", "RequestMatch", command_id="m", rules=RULES)).ticket
        for player in players_[:4]
    ]
    assert [ticket.waiting for ticket in tickets] == [1, 2, 3, 4]
    body = await players_[0].rest("GET", f"/v1/matches/{tickets[0].ticket_id}")
    seen = (await players_[0].call("Match", "GetMatch", ticket_id=tickets[0].ticket_id)).ticket
    assert seen == convert.ticket_message(msgspec.convert(body, matches.Ticket))
    last = (await players_[4].call("Match", "RequestMatch", rules=RULES)).ticket
    assert last.table_id
    cancelled = await players_[0].call("Match", "CancelMatch", ticket_id=tickets[0].ticket_id)
    assert cancelled.ticket.table_id == last.table_id, "a ticket that is matched stays so"


async def test_games(wire):
    host = await wire.player()
    table = await host.call("Table", "CreateTable", rules=RULES, sit=True)
    table_id = table.table.table_id
    await host.call("Table", "StartTable", table_id=table_id)
    await wire.settle()
    game_id = (await host.call("Table", "GetTable", table_id=table_id)).table.hands[0].game_id
    while not (offered := await host.call("Game", "GetLegalActions", game_id=game_id)).actions:
        state = await wire.scene.state(game_id)
        await wire.scene.act_for(game_id, state.to_act[0])

    body = await host.rest("GET", f"/v1/games/{game_id}/legal-actions")
    assert [encode_action(Action.parse(text)) for text in body["actions"]] == list(offered.actions)
    assert (body["version"], body["deadline_ms"]) == (offered.version, offered.deadline_ms)
    for as_spectator in (False, True):
        seen = await host.call("Game", "GetView", game_id=game_id, as_spectator=as_spectator)
        body = await host.rest("GET", f"/v1/games/{game_id}/view?as_spectator={as_spectator}".lower())
        assert json(show_view(decode_view(seen.view))) == body["view"]
        assert encode_view(decode_view(seen.view)) == seen.view

    action = offered.actions[0]
    done = await host.call(
        "Game", "Act", game_id=game_id, command_id="one", expected_version=offered.version, action=action
    )
    again = await host.call(
        "Game", "Act", game_id=game_id, command_id="one", expected_version=offered.version, action=action
    )
    assert again == done
    listed = await host.call("Game", "ListMyGames")
    body = await host.rest("GET", "/v1/me/games")
    assert [(game.game_id, game.seat, game.to_act) for game in listed.games] == [
        (game["game_id"], game["seat"], game["to_act"]) for game in body["games"]
    ]
    handed = await host.call("Game", "SetAutoPlay", game_id=game_id, command_id="auto", auto_play=True)
    assert handed.events
    taken = await host.call("Game", "SetAutoPlay", game_id=game_id, auto_play=False)
    assert taken.version > handed.version


async def test_an_idempotency_key_is_the_same_over_both_wires(wire):
    host = await wire.player()
    body = {
        "rules": {"preset": "marked-guard", "options": {}},
        "hands": 2,
        "sit": True,
        "bots_allowed": False,
    }
    rest = await host.rest("POST", "/v1/tables", body, key="k1")
    made = await host.call("Table", "CreateTable", command_id="k1", rules=RULES, hands=2, sit=True)
    assert made.table.table_id == rest["table_id"]
    error = await refused(host.call("Table", "CreateTable", command_id="k1", rules=RULES, hands=3, sit=True))
    assert error.reason == "COMMAND_REUSED"


NOBODY = "a" * 26
FAULTS = {
    "unknown table": (
        ("Table", "GetTable", {"table_id": NOBODY}),
        ("GET", f"/v1/tables/{NOBODY}", None),
        "me",
    ),
    "unknown game": (
        ("Game", "GetView", {"game_id": NOBODY}),
        ("GET", f"/v1/games/{NOBODY}/view", None),
        "me",
    ),
    "unknown player": (
        ("Player", "GetPlayer", {"player_id": NOBODY}),
        ("GET", f"/v1/players/{NOBODY}", None),
        "me",
    ),
    "unknown ticket": (
        ("Match", "GetMatch", {"ticket_id": NOBODY}),
        ("GET", f"/v1/matches/{NOBODY}", None),
        "me",
    ),
    "unknown token": (
        ("Player", "RevokeToken", {"token_id": NOBODY}),
        ("DELETE", f"/v1/tokens/{NOBODY}", None),
        "me",
    ),
    "unknown preset": (
        ("Table", "CreateTable", {"rules": {"preset": "poker"}}),
        ("POST", "/v1/tables", {"rules": {"preset": "poker"}}),
        "me",
    ),
    "unknown option": (
        ("Table", "CreateTable", {"rules": {"preset": "jiaodong", "options": {"wind": "no"}}}),
        ("POST", "/v1/tables", {"rules": {"preset": "jiaodong", "options": {"wind": "no"}}}),
        "me",
    ),
    "options that cannot work together": (
        ("Match", "RequestMatch", {"rules": {"preset": "jiaodong", "options": {"tribute": "true"}}}),
        ("POST", "/v1/matches", {"rules": {"preset": "jiaodong", "options": {"tribute": "true"}}}),
        "me",
    ),
    "too many hands": (
        ("Table", "CreateTable", {"rules": RULES, "hands": 101}),
        ("POST", "/v1/tables", {"rules": RULES, "hands": 101}),
        "me",
    ),
    "four bots": (
        ("Table", "CreateTable", {"rules": RULES, "bots": ["greedy"] * 4}),
        ("POST", "/v1/tables", {"rules": RULES, "bots": ["greedy"] * 4}),
        "me",
    ),
    "an unknown bot": (
        ("Table", "CreateTable", {"rules": RULES, "bots": ["greedy", "", "", "", "gready"]}),
        ("POST", "/v1/tables", {"rules": RULES, "bots": ["greedy", None, None, None, "gready"]}),
        "me",
    ),
    "a seat that is none": (
        ("Table", "CreateTable", {"rules": RULES, "sit": True, "seat": 5}),
        ("POST", "/v1/tables", {"rules": RULES, "sit": True, "seat": 5}),
        "me",
    ),
    "a pace too fast": (
        ("Table", "CreateTable", {"rules": RULES, "pace": {"turn_seconds": 1}}),
        ("POST", "/v1/tables", {"rules": RULES, "pace": {"turn_seconds": 1}}),
        "me",
    ),
    "neither table nor code": (("Table", "JoinTable", {}), ("POST", "/v1/join", {}), "me"),
    "an unknown code": (
        ("Table", "JoinTable", {"code": "NOCODE"}),
        ("POST", "/v1/join", {"code": "NOCODE"}),
        "me",
    ),
    "no name": (
        ("Player", "RegisterPlayer", {"name": ""}),
        ("POST", "/v1/players", {"name": ""}),
        None,
    ),
    "a scope that one lacks": (
        ("Player", "CreateToken", {"scopes": ["SCOPE_OPERATOR"]}),
        ("POST", "/v1/tokens", {"scopes": ["operator"]}),
        "me",
    ),
}


async def test_faults(wire):
    guest, player = wire.caller(None), await wire.player()
    for fault, ((service, method, fields), (verb, path, body), who) in FAULTS.items():
        caller = guest if who is None else player
        one = await refused(caller.call(service, method, **fields))
        two = await refused(caller.rest(verb, path, body))
        assert shown(one) == shown(two), fault


async def test_without_a_token_each_says_how_its_own_wire_carries_one(wire):
    one = await refused(wire.caller(None).call("Player", "GetPlayer"))
    two = await refused(wire.caller(None).rest("GET", "/v1/me"))
    assert one.reason == two.reason == "UNAUTHENTICATED"
    for secret in ("nonsense", "bh_" + "0" * 48):
        one = await refused(wire.caller(secret).call("Player", "GetPlayer"))
        assert shown(one) == shown(await refused(wire.caller(secret).rest("GET", "/v1/me")))


async def test_a_breach_of_the_rules(wire):
    host = await wire.player()
    table_id = (await host.call("Table", "CreateTable", rules=RULES, sit=True)).table.table_id
    await host.call("Table", "StartTable", table_id=table_id)
    await wire.settle()
    game_id = (await host.call("Table", "GetTable", table_id=table_id)).table.hands[0].game_id
    action = Action.parse("play " + " ".join(["BJ"] * 9))
    one = await refused(host.call("Game", "Act", game_id=game_id, action=encode_action(action)))
    two = await refused(host.rest("POST", f"/v1/games/{game_id}/actions", {"action": str(action)}))
    assert shown(one) == shown(two)
    stale = {"game_id": game_id, "expected_version": 999, "action": encode_action(Action.parse("no"))}
    one = await refused(host.call("Game", "Act", **stale))
    two = await refused(
        host.rest("POST", f"/v1/games/{game_id}/actions", {"action": "no", "expected_version": 999})
    )
    assert (one.reason, one.details) == (two.reason, two.details)
