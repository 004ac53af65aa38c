"""What the REST interface accepts, refuses, and says about it."""

import re
import secrets
import socket

import httpx
import pytest

from tests.integration.lobby.conftest import wait_for

BOTS = ["greedy", "random", "greedy", "random", "greedy"]
RULES = {"preset": "jiaodong", "options": {}}
REQUEST = {"rules": RULES, "bots": BOTS, "hands": 1}


def new_table(**changes):
    return REQUEST | changes


BAD_REQUESTS = {
    "unknown preset": (new_table(rules={"preset": "jiaoding"}), "UNKNOWN_PRESET", "rules.preset"),
    "unknown option": (
        new_table(rules={"preset": "jiaodong", "options": {"kaopia": True}}),
        "UNKNOWN_OPTION",
        "rules.options.kaopia",
    ),
    "bad value": (
        new_table(rules={"preset": "jiaodong", "options": {"kaopai": "perhaps"}}),
        "BAD_OPTION_VALUE",
        "rules.options.kaopai",
    ),
    "conflict": (
        new_table(rules={"preset": "lianzhong-simple", "options": {"tribute": True}}),
        "OPTIONS_CONFLICT",
        "rules.options",
    ),
    "unknown bot": (
        new_table(bots=["greedy", "greedy", "gready", "greedy", "greedy"]),
        "UNKNOWN_BOT",
        "bots[2]",
    ),
    "four bots": (new_table(bots=BOTS[:4]), "MALFORMED_REQUEST", "bots"),
    "six bots": (new_table(bots=[*BOTS, "greedy"]), "MALFORMED_REQUEST", "bots"),
    "bot is a number": (
        new_table(bots=["greedy", 2, "greedy", "greedy", "greedy"]),
        "MALFORMED_REQUEST",
        "bots[1]",
    ),
    "bots are null": (new_table(bots=None), "MALFORMED_REQUEST", "bots"),
    "no rules": ({"bots": BOTS}, "MALFORMED_REQUEST", "rules"),
    "no hands": (new_table(hands=0), "MALFORMED_REQUEST", "hands"),
    "too many hands": (new_table(hands=101), "MALFORMED_REQUEST", "hands"),
    "half a hand": (new_table(hands=1.5), "MALFORMED_REQUEST", "hands"),
    "unknown field": (new_table(chairs=5), "MALFORMED_REQUEST", "chairs"),
    "unknown field within": (
        new_table(rules={"preset": "jiaodong", "variant": 1}),
        "MALFORMED_REQUEST",
        "rules.variant",
    ),
    "option is a list": (
        new_table(rules={"preset": "jiaodong", "options": {"kaopai": []}}),
        "MALFORMED_REQUEST",
        "rules.options[]",
    ),
    "hands are a text": (new_table(hands="1"), "MALFORMED_REQUEST", "hands"),
    "seat is none": (new_table(seat=5), "MALFORMED_REQUEST", "seat"),
    "turns are too short": (new_table(pace={"turn_seconds": 0}), "MALFORMED_REQUEST", "pace.turn_seconds"),
    "a list": ([], "MALFORMED_REQUEST", "body"),
    "null": (None, "MALFORMED_REQUEST", "body"),
}


def refusal(answer, status, reason):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("application/problem+json")
    problem = answer.json()
    assert (problem["status"], problem["reason"]) == (status, reason)
    assert problem["detail"]
    return problem


@pytest.mark.parametrize(("body", "reason", "where"), BAD_REQUESTS.values(), ids=BAD_REQUESTS)
def test_bad_request_is_refused_with_reason_and_place(body, reason, where, platform):
    before = platform.query("select count(*) as tables from lobby.tables")
    answer = platform.http.post("/v1/tables", json=body)
    problem = refusal(answer, 400, reason)
    assert problem["violations"][0]["field"] == where
    assert platform.query("select count(*) as tables from lobby.tables") == before


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b'{"rules": {"preset": "jiaodong"}, "bots": [' + b"[" * 5000]
)
def test_what_is_not_json_is_refused(content, platform):
    answer = platform.http.post("/v1/tables", content=content, headers={"Content-Type": "application/json"})
    refusal(answer, 400, "MALFORMED_REQUEST")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "image/png"])
def test_what_does_not_say_that_it_is_json_is_taken_for_json_or_refused(content_type, platform):
    answer = platform.http.post(
        "/v1/tables", content=b"preset=jiaodong", headers={"Content-Type": content_type}
    )
    assert 400 <= answer.status_code < 500
    refusal(answer, answer.status_code, "MALFORMED_REQUEST")


def test_too_large_a_body_is_refused(platform):
    answer = platform.http.post("/v1/tables", json=new_table(bots=["g" * 20_000] * 5))
    refusal(answer, 413, "REQUEST_TOO_LARGE")


@pytest.mark.parametrize(
    "table_id", ["nothing", "%00", "%F0%9F%83%8F", "a" * 3000, "'; drop table lobby.tables"]
)
def test_unknown_table_is_not_found(table_id, platform):
    refusal(platform.http.get(f"/v1/tables/{table_id}"), 404, "TABLE_NOT_FOUND")


def test_unknown_address_is_not_found(platform):
    refusal(platform.http.get("/v1/tabels"), 404, "NOT_FOUND")


def test_wrong_method_is_refused(platform):
    assert platform.http.delete("/v1/tables").status_code == 405


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=many", "after=nonsense", "after=zz-1", "after=-"]
)
def test_bad_page_is_refused(query, platform):
    refusal(platform.http.get(f"/v1/tables?{query}"), 400, "MALFORMED_REQUEST")


def test_options_may_be_text_or_plain(platform):
    plain = platform.open_table("lianzhong-simple", kaopai=True)
    text = platform.open_table("lianzhong-simple", kaopai="true")
    assert plain["rules"] == text["rules"] == {"preset": "lianzhong-simple", "options": {"kaopai": True}}


def post_with_key(platform, key, request):
    return platform.http.post("/v1/tables", json=request, headers={"Idempotency-Key": key})


def test_same_key_and_request_give_the_same_table(platform):
    first = post_with_key(platform, "twice", REQUEST)
    # The same request in other words.
    again = post_with_key(platform, "twice", {"bots": BOTS, "rules": {"preset": "jiaodong"}})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert first.headers["Location"] == f"/v1/tables/{first.json()['table_id']}"


def test_same_key_with_another_request_is_refused(platform):
    first = post_with_key(platform, "other", REQUEST)
    other = post_with_key(platform, "other", new_table(hands=2))
    problem = refusal(other, 409, "COMMAND_REUSED")
    assert problem["violations"][0]["field"] == "Idempotency-Key"
    assert platform.table(first.json()["table_id"])["hands_to_play"] == 1


@pytest.mark.parametrize("key", ["", "a" * 65, "a b"])
def test_bad_key_is_refused(key, platform):
    problem = refusal(post_with_key(platform, key, REQUEST), 400, "MALFORMED_REQUEST")
    assert problem["violations"][0]["field"] == "Idempotency-Key"


def test_pages_show_every_table_once_and_the_newest_first(platform):
    for _ in range(3):
        platform.open_table("marked-guard")
    seen, after = [], None
    while True:
        query = {"limit": 2} | ({"after": after} if after else {})
        page = platform.http.get("/v1/tables", params=query).json()
        seen += page["tables"]
        after = page["next"]
        if after is None:
            break
    ids = [table["table_id"] for table in seen]
    assert len(set(ids)) == len(ids)
    stored = platform.query("select table_id from lobby.tables order by created_at desc, table_id desc")
    assert ids == [row["table_id"] for row in stored]
    assert all(table["latest_game_id"] for table in seen)


def test_rules_list_what_a_table_can_be_opened_with(platform):
    rules = platform.http.get("/v1/rules").json()
    assert len(rules["presets"]) == 5
    assert {"random", "greedy"} <= set(rules["bots"])
    options = {option["name"]: option["choices"] for option in rules["options"]}
    assert options["kaopai"] == ["true", "false"]
    assert options["all_refuse"] == ["lose", "void", "must_play"]
    assert set(rules["presets"][0]["values"]) == set(options)


def test_who_has_no_token_is_told(platform):
    for header in ({}, {"Authorization": "Basic abc"}, {"Authorization": "Bearer nonsense"}):
        answer = httpx.post(f"{platform.http.base_url}/v1/tables", json=REQUEST, headers=header)
        refusal(answer, 401, "UNAUTHENTICATED")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_player_is_registered_once(platform):
    name = secrets.token_hex(8)
    first = platform.http.post("/v1/players", json={"name": name})
    assert first.status_code == 201
    player = first.json()["player"]
    assert platform.http.get(first.headers["Location"]).json() == player
    problem = refusal(platform.http.post("/v1/players", json={"name": name.upper()}), 409, "NAME_TAKEN")
    assert problem["violations"][0]["field"] == "name"
    refusal(platform.http.post("/v1/players", json={"name": " "}), 400, "BAD_NAME")
    headers = {"Authorization": f"Bearer {first.json()['secret']}"}
    assert platform.http.get("/v1/me", headers=headers).json() == player


def test_requests_have_ids(platform):
    assert platform.http.get("/v1/me", headers={"X-Request-Id": "mine"}).headers["X-Request-Id"] == "mine"
    ids = [platform.http.get(path).headers["X-Request-Id"] for path in ("/v1/me", "/v1/me", "/nowhere")]
    assert len(set(ids)) == 3
    assert platform.http.get("/v1/me", headers={"X-Request-Id": "a b"}).headers["X-Request-Id"] != "a b"


@pytest.mark.parametrize("path", ["/", "/v1/me", "/nowhere", "/v1/tables/nothing", "/openapi/lobby.json"])
def test_security_headers_are_on_everything(path, platform):
    headers = platform.http.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/nowhere", "/openapi/nothing", "/v2/tables", "/openapi.json"])
def test_unknown_addresses_are_problems_everywhere(path, platform):
    refusal(platform.http.get(path), 404, "NOT_FOUND")


def counted(platform, name):
    """The value of a metric of the server, 0 if it was never counted."""
    found = re.search(rf"^{re.escape(name)} (\S+)$", platform.http.get("/metrics").text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_a_client_that_breaks_off_its_body_is_no_fault_of_ours(platform):
    before = counted(platform, 'baohuang_requests_total{code="400",method="POST /v1/tables",protocol="http"}')
    host, port = platform.http.base_url.host, platform.http.base_url.port
    token = platform.http.headers["Authorization"]
    head = f"POST /v1/tables HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Length: 100\r\n\r\n"
    with socket.create_connection((host, port)) as connection:
        connection.sendall(head.encode() + b"{")
    # The answer is counted, though nobody is there to read it.
    broken = 'baohuang_requests_total{code="400",method="POST /v1/tables",protocol="http"}'
    wait_for("the broken request to be noticed", lambda: counted(platform, broken) > before)
    assert counted(platform, 'baohuang_errors_total{reason="INTERNAL"}') == 0


def test_openapi_document_describes_the_operations(platform):
    document = platform.http.get("/openapi/lobby.json").json()
    assert document["openapi"].startswith("3.1")
    refusals = document["paths"]["/v1/tables"]["post"]["responses"]
    assert set(refusals) >= {"201", "400", "401", "403", "409", "413", "429", "503"}
    assert list(refusals["409"]["content"]) == ["application/problem+json"]
    assert document["components"]["schemas"]["NewTable"]["properties"]["hands"]["maximum"] == 100


def test_the_page_shows_every_operation_and_asks_nobody_else(platform):
    document = platform.http.get("/openapi/lobby.json").json()
    answer = platform.http.get("/")
    assert answer.headers["content-type"].startswith("text/html")
    for operations in document["paths"].values():
        for operation in operations.values():
            assert f'id="{operation["operationId"]}"' in answer.text
    assert "<script" not in answer.text
    assert "//" not in re.sub(r"<pre>.*?</pre>", "", answer.text, flags=re.DOTALL)
    assert platform.http.get("/api.css").headers["content-type"].startswith("text/css")


def test_metrics_and_health_are_served(platform):
    assert platform.http.get("/health/live").status_code == 200
    assert platform.http.get("/health/ready").json() == {"status": "ready"}
    platform.http.get("/v1/tables/nothing")
    text = platform.http.get("/metrics").text
    assert 'baohuang_requests_total{code="404",method="GET /v1/tables/{table_id}",protocol="http"}' in text
    assert "baohuang_lobby_tables_opened_total" in text
