"""The pages: readable without scripts, every step of every rule set, nothing that is not escaped."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest

from baohuang import Game
from services.eventstore import EventStore, Pool
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
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
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

    def step_of(self, title: str) -> int:
        return int(parse_qs(urlsplit(self.link(title)).query)["step"][0])


async def page_at(client: Client, address: str, status: int = 200) -> Page:
    answer = await client.get(address)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(answer.text)
    # Nothing that the policy would refuse: no script, no style in the page, nothing from elsewhere.
    assert not page.tags & {"script", "style", "iframe", "object", "embed", "form"}
    assert not {name for name in page.attributes if name.startswith("on") or name == "style"}
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self'; ")
    assert "unsafe" not in policy
    return page


def languages() -> Iterator[str]:
    while True:
        yield from ("zh", "en")


@pytest.mark.parametrize("preset", ALL_PRESETS)
async def test_every_step_of_a_game_of_every_rule_set_is_a_page(
    preset: str, client: Client, store: EventStore
) -> None:
    game = played_game(preset)
    await write(store, "g", game.events, per_commit=50)
    for step, language in zip(range(1, game.version + 1), languages(), strict=False):
        address = f"/replay/g?step={step}&lang={language}"
        if step % 5:  # to take a page apart takes longer than to make it
            answer = await client.get(address)
            assert answer.status_code == 200
            assert answer.text.count('aria-current="step"') == 1
            continue
        page = await page_at(client, address)
        current = [link for link in page.links if link.get("aria-current") == "step"]
        assert [parse_qs(urlsplit(link["href"]).query)["step"] for link in current] == [[str(step)]]
        assert all(parse_qs(urlsplit(link["href"]).query)["lang"] == [language] for link in current)
    await page_at(client, f"/replay/g?step={game.version + 1}", 404)
    await page_at(client, "/replay/g?step=0", 404)


async def test_links_step_through_a_game(client: Client, store: EventStore) -> None:
    game = played_game("jiaodong")
    await write(store, "g", game.events)
    start = await page_at(client, "/replay/g?lang=en")
    assert start.step_of("One step on") == 3, "a finished game opens with the cards just dealt"
    assert start.step_of("To the last step") == game.version
    first_trick = start.step_of("To the next trick")
    assert type(game.events[first_trick - 1]).__name__ == "Played"
    there = await page_at(client, start.link("To the next trick"))
    assert there.step_of("One step back") == first_trick - 1
    second_trick = there.step_of("To the next trick")
    assert type(game.events[second_trick - 2]).__name__ == "TrickEnded"
    back = await page_at(client, there.link("To the next trick"))
    assert back.step_of("To the trick before") == first_trick
    end = await page_at(client, start.link("To the last step"))
    titles = {link.get("title") for link in end.links}
    assert not titles & {"One step on", "To the next trick", "To the last step"}
    assert "the hand is over" in " ".join(end.text).lower()


async def test_a_step_shows_hands_roles_moves_places_and_scores(client: Client, store: EventStore) -> None:
    hands = ["EJ 9s 9h 7c 7d", "GJ 7c", "8h 8d Ks", "6c 6d 6s", "Ts Th Ac"]
    game = Game.from_hands(played_game("marked-guard", until=2).rules, hands)
    while game.state.public.step != "play":
        game.apply(game.to_act[0], "no")
    game.apply(0, "play 7c 7d")
    await write(store, "g", game.events)
    running = await page_at(client, "/replay/g?lang=en")
    text = " ".join(running.text)
    assert "live" in running.text
    assert "guard joker" not in text
    assert "9" not in {part for part in running.text if len(part) == 1}, "no card of a hand is shown"
    game.apply(1, "pass")
    game.apply(2, "play 8d 8h")
    for seat in (3, 4):
        game.apply(seat, "pass")
    game.apply(0, "play 9h 9s")
    before_the_end = game.version
    for seat in (1, 2, 3, 4):
        game.apply(seat, "pass")
    game.apply(0, "play EJ")
    while game.to_act:
        legal = game.legal_actions(game.to_act[0])
        game.apply(game.to_act[0], max(legal, key=lambda action: len(action.cards)))
    await write(store, "g", game.events)

    text = " ".join((await page_at(client, f"/replay/g?lang=en&step={before_the_end}")).text)
    assert "Seat 0 plays 9 ♥ H 9 ♠ S" in re.sub(r"([♥♠])", r" \1 ", text).replace("  ", " ")
    assert "guard (secret)" in text
    assert "rebel (secret)" in text
    assert "pass" in text
    chinese = " ".join((await page_at(client, f"/replay/g?lang=zh&step={game.version}")).text)
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


async def test_the_list_of_games(client: Client, store: EventStore, pool: Pool) -> None:
    assert "No game has been finished yet." in (await page_at(client, "/?lang=en")).text
    for number in range(30):
        await write(store, f"game-{number}", played_game("marked-guard", seed=1).events, per_commit=400)
    await write(store, "running", played_game("jiaodong", until=30, kaopai=True).events)
    await index(pool)
    page = await page_at(client, "/?lang=en")
    replays = [link["href"] for link in page.links if link["href"].startswith("/replay/")]
    assert replays[0] == "/replay/running?lang=en"
    assert replays[1:] == [f"/replay/game-{number}?lang=en" for number in range(29, 4, -1)]
    assert "kaopai=true" in page.text
    older = await page_at(client, page.link("next"))
    replays = [link["href"] for link in older.links if link["href"].startswith("/replay/")]
    assert replays == [f"/replay/game-{number}?lang=en" for number in range(4, -1, -1)]
    only = await page_at(client, "/?lang=zh&rules=jiaodong")
    replays = [link["href"] for link in only.links if link["href"].startswith("/replay/")]
    assert replays == ["/replay/running?lang=zh"]


@pytest.mark.parametrize(
    ("accepts", "title"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "牌局"),
        ("de-DE,de;q=0.9,en;q=0.7", "Games"),
        ("zhx", "Games"),
        ("", "Games"),
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
        ("/?rules=%3Cscript%3E", 400),
        ("/?after=%3Cscript%3E", 400),
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
        assert "<script" not in asked.text
    await page_at(client, address, status)


async def test_assets_are_named_by_their_content_and_kept(client: Client) -> None:
    home = (await client.get("/")).text
    for address in re.findall(r'href="(/assets/[^"]+)"', home):
        answer = await client.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
