"""The pages: readable without scripts, every step of every rule set, nothing that is not escaped."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from baohuang import Game
from services.eventstore import EventStore, Pool
from services.replay.assets import ASSETS
from services.replay.steps import spans_of, trick_starts_of
from tests.integration.replay.conftest import Client
from tests.integration.replay.scene import ALL_PRESETS, index, played_game, write

VOID = {"link", "meta"}


class Page(HTMLParser):
    """A page taken apart; fails where its elements are not properly nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[dict[str, str]] = []
        self.text: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.sources: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag == "script":
            self.sources.append(dict(attrs)["src"] or "")
        if tag == "a":
            self.links.append({name: value or "" for name, value in attrs})
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.text.append(data.strip())

    def link(self, text: str) -> str:
        """Where the link with this attribute goes."""
        return next(link["href"] for link in self.links if text in link.values())

    def step_of(self, label: str) -> int:
        return int(parse_qs(urlsplit(self.link(label)).query)["step"][0])


async def page_at(client: Client, address: str, status: int = 200) -> Page:
    answer = await client.get(address)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(answer.text)
    # Nothing that the policy would refuse: no script or style in the page, nothing from elsewhere.
    assert not page.tags & {"style", "iframe", "object", "embed", "form"}
    assert not {name for name in page.attributes if name.startswith("on") or name == "style"}
    assert all(source.startswith("/assets/") for source in page.sources)
    assert answer.text.count("<script") == len(page.sources) <= 1
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; ")
    assert "unsafe" not in policy
    assert policy.endswith(
        f"frame-ancestors {'*' if address.startswith('/embed/') else chr(39) + 'none' + chr(39)}"
    )
    return page


def languages() -> Iterator[str]:
    while True:
        yield from ("zh", "en")


@pytest.mark.parametrize("preset", ALL_PRESETS)
async def test_every_step_of_a_game_of_every_rule_set_is_a_page(
    preset: str, client: Client, store: EventStore
) -> None:
    game = played_game(preset)
    steps = len(spans_of(game.events))
    await write(store, "g", game.events, per_commit=50)
    for step, language in zip(range(1, steps + 1, 11), languages(), strict=False):
        page = await page_at(client, f"/replay/g?step={step}&lang={language}")
        assert f"{step} / {steps}" in page.text
        lines = [link["href"] for link in page.links if "data-step" in link]
        assert [parse_qs(urlsplit(href).query)["step"] for href in lines] == [
            [str(number)] for number in range(1, steps + 1)
        ]
        assert all(parse_qs(urlsplit(href).query)["lang"] == [language] for href in lines)
    await page_at(client, f"/replay/g?step={steps + 1}", 404)
    await page_at(client, "/replay/g?step=0", 404)


async def test_links_step_through_a_game_without_scripts(client: Client, store: EventStore) -> None:
    game = played_game("jiaodong")
    spans = spans_of(game.events)
    first, second = trick_starts_of(game.events, spans)[:2]
    await write(store, "g", game.events)
    start = await page_at(client, "/replay/g?lang=en")
    assert f"1 / {len(spans)}" in start.text, "a finished game opens with the cards just dealt"
    assert start.step_of("Next step") == 2
    assert start.step_of("Last step") == len(spans)
    assert start.step_of("Next trick") == first
    there = await page_at(client, "/replay/g" + start.link("Next trick"))
    assert there.step_of("Previous step") == first - 1
    assert there.step_of("Next trick") == second
    back = await page_at(client, "/replay/g" + there.link("Next trick"))
    assert back.step_of("Previous trick") == first
    end = await page_at(client, "/replay/g" + start.link("Last step"))
    ways = {link["aria-label"] for link in end.links if "aria-label" in link and "href" in link}
    assert not ways & {"Next step", "Next trick", "Last step"}
    assert "the hand is over" in " ".join(end.text).lower()


async def test_the_address_says_all_of_what_is_seen(client: Client, store: EventStore) -> None:
    await write(store, "g", played_game("jiaodong").events)
    address = "/replay/g?lang=zh&theme=dark&view=seat3&reveal=0&speed=2&step=17"
    page = await page_at(client, address)
    for link in page.links:
        query = {name: value for name, (value,) in parse_qs(urlsplit(link.get("href", "")).query).items()}
        if "data-step" in link or "data-go" in link:
            assert query | {"step": "17"} == {
                "lang": "zh",
                "theme": "dark",
                "view": "seat3",
                "reveal": "0",
                "speed": "2",
                "step": "17",
            }
        elif "?" in link.get("href", ""):
            assert query.get("theme") in ("dark", "light") or link.get("class") == "theme"
    current = [
        link.get("data-look") or link.get("data-speed") for link in page.links if "aria-current" in link
    ]
    assert {"seat3", "2"} < set(current)
    assert "reveal" not in current


async def test_a_step_shows_hands_roles_moves_places_and_scores(client: Client, store: EventStore) -> None:
    hands = ["EJ 9s 9h 7c 7d", "GJ 7c", "8h 8d Ks", "6c 6d 6s", "Ts Th Ac"]
    game = Game.from_hands(played_game("marked-guard", until=2).rules, hands)
    while game.state.public.step != "play":
        game.apply(game.to_act[0], "no")
    game.apply(0, "play 7c 7d")
    await write(store, "g", game.events)
    running = await page_at(client, "/replay/g?lang=en&view=seat1&reveal=1")
    assert "live" in running.text
    assert "(secret)" not in " ".join(running.text)
    assert {"9", "10", "K", "GJ", "EJ"}.isdisjoint(running.text), "no card of a hand is shown"
    game.apply(1, "pass")
    game.apply(2, "play 8d 8h")
    for seat in (3, 4):
        game.apply(seat, "pass")
    game.apply(0, "play 9h 9s")
    before_the_end = len(spans_of(game.events))
    for seat in (1, 2, 3, 4):
        game.apply(seat, "pass")
    game.apply(0, "play EJ")
    while game.to_act:
        legal = game.legal_actions(game.to_act[0])
        game.apply(game.to_act[0], max(legal, key=lambda action: len(action.cards)))
    await write(store, "g", game.events)

    text = " ".join((await page_at(client, f"/replay/g?lang=en&step={before_the_end}")).text)
    assert "Seat 0 plays 9 ♠ S 9 ♥ H ." in text
    assert "guard (secret)" in text
    assert "rebel (secret)" in text
    assert "pass" in text
    assert "GJ" in text
    seat = await client.get(f"/replay/g?lang=en&step={before_the_end}&view=seat2&reveal=0")
    assert seat.text.count("role unknown") == 3, "to a rebel the three others may be the guard"
    chinese = " ".join((await page_at(client, f"/replay/g?lang=zh&step={len(spans_of(game.events))}")).text)
    outcome = game.outcome
    assert outcome is not None
    for word in (
        "皇帝",
        "侍卫",
        "起义军",
        "头客",
        "大拉",
        *(f"{score:+d}" for score in outcome.scores if score > 0),
    ):
        assert word in chinese


async def test_what_was_legal_is_told_of_finished_games_only(client: Client, store: EventStore) -> None:
    game = played_game("jiaodong")
    await write(store, "g", game.events)
    await write(store, "running", played_game("jiaodong", until=60).events)
    page = await page_at(client, "/replay/g/legal?step=30&lang=en")
    assert "To beat" in page.text or "A lead: any play may be made, and passing is not allowed." in page.text
    assert "was to act" in page.text
    assert (
        "Nobody had to decide anything here."
        in (await page_at(client, "/replay/g/legal?step=1&lang=en")).text
    )
    await page_at(client, "/replay/running/legal?step=30", 404)


async def test_frames_hold_as_many_steps_as_the_page_says(client: Client, store: EventStore) -> None:
    game = played_game("shandong-folk")
    await write(store, "g", game.events)
    frames = (await client.get("/replay/g/frames?lang=zh")).json()
    assert len(frames["steps"]) == len(spans_of(game.events))
    assert frames["game_id"] == "g"
    assert not frames["is_running"]


async def test_an_embedded_game_is_the_table_and_its_buttons(client: Client, store: EventStore) -> None:
    await write(store, "g", played_game("jiaodong").events)
    page = await page_at(client, "/embed/g?step=30&lang=en")
    assert "header" not in page.tags
    assert not [link for link in page.links if "data-step" in link]
    assert page.step_of("Next step") == 31
    assert page.link("noopener").startswith("/replay/g?")


async def test_the_hands_of_a_table_lead_to_each_other_and_say_who_sits_where(
    client: Client, store: EventStore, pool: Pool
) -> None:
    game = played_game("marked-guard")
    for name in ("one", "two", "three"):
        await write(store, name, game.events)
    names = ["greedy", "random", "<b>", "李四", "greedy"]
    async with pool.connection() as connection:
        for number, name in enumerate(("one", "two", "three"), 1):
            await connection.execute(
                "insert into replay_tables.sittings (table_id, game_id, hand, names) values"
                " ('t', %s, %s, %s)",
                [name, number, names],
            )
    await index(pool)
    middle = await page_at(client, "/replay/two?lang=en&speed=4&step=9")
    assert middle.link("prev") == "/replay/one?lang=en&speed=4"
    assert "/replay/three?lang=en&speed=4" in {link["href"] for link in middle.links if "rel" in link}
    assert set(names) <= set(middle.text)
    assert "next" not in {link.get("rel") for link in (await page_at(client, "/replay/three")).links}
    home = await page_at(client, "/?lang=en")
    assert set(names) <= set(home.text)
    player = await page_at(client, home.link("/player/%E6%9D%8E%E5%9B%9B?lang=en"))
    assert len([link for link in player.links if link["href"].startswith("/replay/")]) == 3
    await page_at(client, "/player/nobody", 404)


async def test_the_lists_of_games(client: Client, store: EventStore, pool: Pool) -> None:
    assert "No game has been finished yet." in (await page_at(client, "/?lang=en")).text
    for number in range(30):
        await write(store, f"game-{number}", played_game("marked-guard", seed=1).events, per_commit=400)
    await write(store, "running", played_game("jiaodong", until=30, kaopai=True).events)
    await index(pool)
    page = await page_at(client, "/?lang=en")

    def replays(page: Page) -> list[str]:
        return [link["href"] for link in page.links if link["href"].startswith("/replay/")]

    newest = [f"/replay/game-{number}?lang=en" for number in range(29, -1, -1)]
    assert replays(page) == ["/replay/running?lang=en", *newest[:25]]
    assert replays(await page_at(client, "/live?lang=en")) == ["/replay/running?lang=en"]
    finished = await page_at(client, "/games?lang=en")
    assert replays(finished) == newest[:25]
    assert replays(await page_at(client, finished.link("next"))) == newest[25:]
    assert replays(await page_at(client, "/live?lang=zh&rules=jiaodong")) == ["/replay/running?lang=zh"]
    assert replays(await page_at(client, "/games?lang=zh&rules=jiaodong")) == []


@pytest.mark.parametrize(
    ("accepts", "title"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "保皇"),
        ("de-DE,de;q=0.9,en;q=0.7", "Protect the emperor"),
        ("zhx", "Protect the emperor"),
        ("", "Protect the emperor"),
    ],
)
async def test_without_a_language_in_the_address_the_browser_s_is_taken(
    client: Client, accepts: str, title: str
) -> None:
    answer = await client.get("/", headers={"Accept-Language": accepts})
    assert f"<h1>{title}</h1>" in answer.text


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/replay/nothing", 404),
        ("/replay/%3Cscript%3Ealert(1)%3C%2Fscript%3E", 404),
        ("/replay/g?step=%3Cscript%3E", 400),
        ("/replay/g?lang=%3Cscript%3E", 400),
        ("/replay/g?view=%3Cscript%3E", 400),
        ("/replay/g?reveal=2", 400),
        ("/replay/g?speed=1000", 400),
        ("/replay/g?theme=%3Cscript%3E", 400),
        ("/replay/nothing/frames", 404),
        ("/replay/nothing/live", 404),
        ("/embed/nothing", 404),
        ("/games?rules=%3Cscript%3E", 400),
        ("/live?after=%3Cscript%3E", 400),
        ("/player/%3Cscript%3E", 404),
        ("/nowhere", 404),
        ("/nowhere/%3Cscript%3E", 404),
        ("/assets/..%2F..%2Fapp.py", 404),
        ("/assets/nothing.css", 404),
        ("/replay/" + "g" * 5000, 404),
        ("/replay/g?step=99999999999999999999", 404),
    ],
)
async def test_a_bad_address_gives_a_page_that_says_so_and_escapes_it(
    client: Client, store: EventStore, address: str, status: int
) -> None:
    await write(store, "g", played_game("jiaodong", until=20).events)
    for language in ("en", "zh"):
        asked = await client.get(address, headers={"Accept-Language": language})
        assert asked.status_code == status
        assert "<script" not in asked.text.replace('<script type="module" src="/assets/', "")
    await page_at(client, address, status)


async def test_assets_are_named_by_their_content_and_kept(client: Client, store: EventStore) -> None:
    await write(store, "g", played_game("jiaodong", until=20).events)
    home = (await client.get("/")).text
    replay = (await client.get("/replay/g")).text
    addresses = set(re.findall(r'"(/assets/[^"]+)"', home + replay))
    (folder,) = {address.rpartition("/")[0] for address in addresses}
    modules = [f"{folder}/{name}" for name in ASSETS if name.endswith(".js")]
    assert len(modules) > 3
    for address in addresses | set(modules):
        answer = await client.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
