"""The viewer in Debian's Chromium, with mouse, keyboard, phone and screen reader."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from baohuang.words import Language
from services.replay.frames import SLOTS, parts_of
from services.replay.known import KnownGame
from services.replay.look import Look, Reveal, View
from tests.e2e.watching import CHROMIUM, CHROMIUM_ARGUMENTS, Site, Watched, elsewhere, long_game
from tests.integration.replay.scene import ALL_PRESETS, played_game

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.system

STEPS = {preset: len(KnownGame("g", played_game(preset).events).steps) for preset in ALL_PRESETS}
PHONE, LAPTOP, WIDE = (390, 844), (1280, 900), (1920, 1080)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A replay service with a game of every rule set, two hands of one table, and a running game."""
    folder = Path(tempfile.mkdtemp(prefix="baohuang-viewer-"))
    folder.chmod(0o711)
    with Site(folder) as running:
        for preset in ALL_PRESETS:
            running.write(preset, played_game(preset).events)
        running.write("running", played_game("jiaodong", until=60).events)
        running.seat("jiaodong", "table", 1, ["greedy", "random", "greedy", "random", "张三"])
        running.seat("marked-guard", "table", 2, ["greedy", "random", "greedy", "random", "张三"])
        yield running
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """A page that must have nothing to complain of, and ask nobody but the service."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    opened = context.new_page()
    watched = Watched(opened, site.url)
    yield opened
    context.close()
    assert watched.complaints == []
    assert watched.strangers == []


def visit(page: Page, site: Site, address: str) -> None:
    page.goto(site.url + address)
    page.wait_for_selector("#viewer[data-ready]")


def counter(page: Page) -> str:
    return page.inner_text("#counter")


def slots(page: Page) -> dict[str, str]:
    """What lies in each slot, as text and marks that do not depend on how HTML is written."""
    found: dict[str, str] = page.eval_on_selector_all(
        "[data-slot]",
        "places => Object.fromEntries(places.map(place => [place.dataset.slot, place.innerHTML]))",
    )
    return found


def parsed(page: Page, parts: list[str]) -> dict[str, str]:
    """Fragments as the browser writes them."""
    written: list[str] = page.evaluate(
        "parts => parts.map(part => { const place = document.createElement('div');"
        " place.innerHTML = part; return place.innerHTML; })",
        parts,
    )
    return {slot: part for slot, part in zip(SLOTS, written, strict=True) if slot != "item"}


def wait_for_address(page: Page, step: int) -> None:
    page.wait_for_function("step => new URLSearchParams(location.search).get('step') === step", arg=str(step))


@pytest.mark.parametrize(
    "address",
    [
        "/replay/jiaodong?lang=zh&theme=dark&view=seat3&reveal=0&speed=2&step=17",
        "/replay/lianzhong-classic?lang=en&view=seat1&reveal=1&speed=8&step=60",
        "/embed/shandong-folk?lang=zh&reveal=0&step=33",
        "/replay/marked-guard?lang=en",
    ],
)
def test_an_address_leads_back_to_just_that_moment(page: Page, site: Site, address: str) -> None:
    visit(page, site, address)

    def seen() -> list[Any]:
        marked = page.eval_on_selector_all("[aria-current]", "links => links.map(link => link.innerText)")
        places = page.eval_on_selector_all(".seat", "seats => seats.map(seat => seat.dataset.position)")
        look = page.evaluate("[document.documentElement.lang, document.documentElement.dataset.theme]")
        return [counter(page), slots(page), marked, places, look]

    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    wait_for_address(page, int(counter(page).split(" / ")[0]))
    before = seen()
    page.reload()
    page.wait_for_selector("#viewer[data-ready]")
    assert seen() == before


@pytest.mark.parametrize("preset", ALL_PRESETS)
def test_the_script_shows_what_the_server_draws(page: Page, site: Site, preset: str) -> None:
    game = KnownGame(preset, played_game(preset).events)
    names = (
        ["greedy", "random", "greedy", "random", "张三"] if preset in ("jiaodong", "marked-guard") else None
    )
    look = Look(Language.ENGLISH)
    visit(page, site, f"/replay/{preset}?lang=en")
    assert counter(page) == f"1 / {len(game.steps)}"
    for step in range(2, len(game.steps) + 1):
        page.keyboard.press("ArrowRight")
        if step % 9 == 0 or step == len(game.steps):
            assert counter(page) == f"{step} / {len(game.steps)}"
            assert slots(page) == parsed(page, list(parts_of(game, step, look, names)))
    page.keyboard.press("3")
    page.wait_for_selector("[data-look=seat3][aria-current]")
    look = look.but(view=View.SEAT_3, reveal=Reveal.NO)
    for step in (len(game.steps), 30, 1):
        page.locator(f"#events [data-step='{step}']").click()
        assert slots(page) == parsed(page, list(parts_of(game, step, look, names)))
    page.keyboard.press("x")
    page.wait_for_selector("[data-look=reveal][aria-current]")
    look = look.but(reveal=Reveal.YES)
    assert slots(page) == parsed(page, list(parts_of(game, 1, look, names)))


def test_without_scripts_the_same_is_shown(browser: Browser, page: Page, site: Site) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    for address in (
        "/replay/jiaodong?lang=en&step=40",
        "/replay/shandong-folk?lang=zh&view=seat2&reveal=0&step=70",
    ):
        plain.goto(site.url + address)
        visit(page, site, address)
        for selector in ("#now", ".table", "#events", "#counter"):
            assert plain.inner_text(selector) == page.inner_text(selector)
    plain.goto(f"{site.url}/replay/jiaodong?lang=en&step=40")
    plain.click("[aria-label='Next step']")
    assert plain.inner_text("#counter") == f"41 / {STEPS['jiaodong']}"
    plain.click("[data-look=seat2]")
    assert plain.locator(".stacks").count() == 1
    assert plain.locator(".chips").count() == 0
    plain.click("text=What was legal?")
    assert "was to act" in plain.inner_text("#main")
    plain.click("text=Back to the table")
    assert plain.inner_text("#counter") == f"41 / {STEPS['jiaodong']}"
    context.close()


def test_keys(page: Page, site: Site) -> None:
    last = STEPS["jiaodong"]
    tricks = KnownGame("g", played_game("jiaodong").events).trick_starts
    visit(page, site, "/replay/jiaodong?lang=en")

    def press(key: str) -> int:
        page.keyboard.press(key)
        return int(counter(page).split(" / ")[0])

    assert press("ArrowRight") == 2
    assert press("ArrowLeft") == press("ArrowLeft") == 1
    assert press("Shift+ArrowRight") == tricks[0]
    assert press("Shift+ArrowRight") == tricks[1]
    assert press("Shift+ArrowLeft") == tricks[0]
    assert press("End") == press("ArrowRight") == last
    assert press("Home") == 1
    for key in ("+", "+", "+", "+", "-"):
        page.keyboard.press(key)
    assert page.locator("[data-speed][aria-current]").inner_text() == "4×"
    page.keyboard.press("0")
    page.wait_for_selector("[data-look=seat0][aria-current]")
    assert page.locator(".chips").count() == 0
    page.keyboard.press("x")
    page.wait_for_selector("[data-look=reveal][aria-current]")
    assert page.locator(".chips").count() == 4
    page.keyboard.press("t")
    page.wait_for_selector("[data-look=public][aria-current]")

    page.keyboard.press("?")
    page.wait_for_selector("dialog[open] .keys")
    assert press("ArrowRight") == 1, "what is open in front takes the keys"
    page.keyboard.press("Escape")
    assert press("ArrowRight") == 2
    page.keyboard.press("l")
    page.wait_for_selector("dialog[open] .options")
    page.click("#close")

    # What is typed is typed.
    page.evaluate("document.querySelector('.heading').append(document.createElement('input'))")
    page.focus(".heading input")
    page.keyboard.type("x3 t?l")
    page.keyboard.press("ArrowLeft")
    assert page.input_value(".heading input") == "x3 t?l"
    assert counter(page) == f"2 / {last}"
    page.evaluate("document.activeElement.blur()")

    page.keyboard.press("n")
    page.wait_for_url("**/replay/marked-guard?*")
    page.wait_for_selector("#viewer[data-ready]")
    page.keyboard.press("p")
    page.wait_for_url("**/replay/jiaodong?*")


def test_playback_goes_on_until_it_is_stopped_or_the_game_is_over(page: Page, site: Site) -> None:
    visit(page, site, "/replay/jiaodong?lang=en&speed=8")
    page.keyboard.press(" ")
    page.wait_for_function("() => parseInt(document.getElementById('counter').textContent) > 4")
    assert page.get_attribute("#play", "aria-label") == "Pause"
    page.click("#play")
    stopped = counter(page)
    assert page.get_attribute("#play", "aria-label") == "Play"
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.evaluate("document.activeElement.blur()")
    assert counter(page) != stopped
    page.keyboard.press(" ")
    page.wait_for_function(
        "last => document.getElementById('counter').textContent === last",
        arg=f"{STEPS['jiaodong']} / {STEPS['jiaodong']}",
    )
    page.wait_for_selector("#play[aria-label=Play]")


def test_stepping_loads_nothing(page: Page, site: Site) -> None:
    visit(page, site, "/replay/lianzhong-simple?lang=en")
    asked: list[str] = []
    # A browser looks at the icon again where the address changes.
    page.on("request", lambda request: asked.append(request.url) if "icon.svg" not in request.url else None)
    for key in ["ArrowRight"] * 20 + ["Shift+ArrowRight"] * 5 + ["End", "Home"]:
        page.keyboard.press(key)
    page.click("#events [data-step='50']")
    wait_for_address(page, 50)
    assert asked == []


def test_a_running_game_is_followed_to_its_end_across_a_restart(browser: Browser, site: Site) -> None:
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    watched = Watched(page, site.url)
    game = played_game("marked-guard", seed=5)
    site.write("followed", game.events[:40])
    shown = KnownGame("followed", game.events[:40])
    visit(page, site, "/replay/followed?lang=en")
    page.wait_for_function("() => document.querySelector('#clock:not([hidden])') !== null")
    assert counter(page) == f"{len(shown.steps)} / {len(shown.steps)}"
    longer = KnownGame("followed", game.events[:80])
    site.write("followed", game.events[:80])
    page.wait_for_function(
        "text => document.getElementById('counter').textContent === text",
        arg=f"{len(longer.steps)} / {len(longer.steps)}",
    )
    assert slots(page) == parsed(
        page, list(parts_of(longer, len(longer.steps), Look(Language.ENGLISH), None))
    )
    lines = page.locator("#events [data-step]").count()
    assert lines == len(longer.steps)

    # Who looks back is left there.
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    back = counter(page).split(" / ")[0]
    site.stop()
    site.write("followed", game.events[:120])
    site.start()
    steps = len(KnownGame("followed", game.events[:120]).steps)
    page.wait_for_function(
        "text => document.getElementById('counter').textContent === text", arg=f"{back} / {steps}"
    )
    page.keyboard.press("End")

    site.write("followed", game.events)
    finished = KnownGame("followed", game.events)
    page.wait_for_selector(".table .score")
    assert counter(page) == f"{len(finished.steps)} / {len(finished.steps)}"
    assert slots(page) == parsed(
        page, list(parts_of(finished, len(finished.steps), Look(Language.ENGLISH), None))
    )
    page.keyboard.press("Home")
    assert page.locator(".chips").count() == 4, "once it is over everything is shown"
    # The browser says that nobody answered, and nothing else.
    assert not [text for text in watched.complaints if "ERR_" not in text]
    context.close()


def test_a_list_of_running_games_keeps_up(page: Page, site: Site) -> None:
    for number, address in enumerate(("/", "/live?rules=lianzhong-simple")):
        page.goto(f"{site.url}{address}")
        name = f"new-{number}"
        assert page.locator(f"[data-refresh] a[href^='/replay/{name}']").count() == 0
        site.write(name, played_game("lianzhong-simple", until=30).events)
        page.wait_for_selector(f"[data-refresh] a[href^='/replay/{name}']")


def test_nothing_that_a_browser_gets_of_a_running_game_holds_a_hand(browser: Browser, site: Site) -> None:
    context = browser.new_context()
    opened = context.new_page()
    watched = Watched(opened, site.url)
    for address in ("/replay/running?view=seat2&reveal=1", "/embed/running?reveal=1&step=9"):
        watched.answers.clear()
        visit(opened, site, address)
        opened.wait_for_function("() => document.querySelector('#clock:not([hidden])') !== null")
        for key in ("x", "2", "Home", "End"):
            opened.keyboard.press(key)
        assert opened.locator(".chips, .stacks, .role.secret").count() == 0
        bodies = [
            answer.text() for answer in watched.answers if "text/html" in answer.headers["content-type"]
        ]
        assert len(bodies) == 1
        assert not re.search('class="(chip|stacks)|secret"', bodies[0])
        frames = opened.evaluate(
            "url => fetch(url).then(answer => answer.text())",
            f"{site.url}/replay/running/frames?view=seat2&reveal=1",
        )
        assert not re.search(r'class=\\"(chip|stacks)|secret\\"', frames)
    context.close()


def test_it_can_be_embedded_and_the_rest_cannot(browser: Browser, site: Site) -> None:
    context = browser.new_context()
    outer = context.new_page()
    complaints: list[str] = []
    outer.on("console", lambda message: complaints.append(message.text))
    with elsewhere(site.url) as other:
        outer.goto(f"{other}/embed/jiaodong?lang=en&step=40")
        frame = outer.frame_locator("iframe")
        frame.locator("#viewer[data-ready]").wait_for()
        frame.locator("[data-go=next]").click()
        assert frame.locator("#counter").inner_text() == f"41 / {STEPS['jiaodong']}"
        assert complaints == []
        outer.goto(f"{other}/replay/jiaodong?lang=en")
        assert any("frame-ancestors" in text for text in complaints)
    context.close()


def test_a_game_of_a_thousand_events(page: Page, site: Site) -> None:
    game = long_game()
    steps = len(KnownGame("long", game.events).steps)
    site.write("long", game.events)
    visit(page, site, "/replay/long?lang=zh")
    assert page.locator("#events [data-step]").count() == steps
    for key in ["End", "ArrowLeft", "Home"] + ["ArrowRight"] * 50:
        page.keyboard.press(key)
    assert counter(page) == f"51 / {steps}"
    page.locator(f"#events [data-step='{steps - 5}']").click()
    assert counter(page) == f"{steps - 5} / {steps}"
    current = page.locator("#events [aria-current]").bounding_box()
    frame = page.locator("#events").bounding_box()
    assert current is not None
    assert frame is not None
    assert frame["y"] <= current["y"] <= frame["y"] + frame["height"], "the list follows"


@pytest.mark.parametrize(("language", "words"), [("en", ("plays", "passes")), ("zh", ("出", "过牌"))])
def test_a_screen_reader_is_told_each_step(
    page: Page, site: Site, language: str, words: tuple[str, str]
) -> None:
    visit(page, site, f"/replay/marked-guard?lang={language}&step=6")
    assert page.get_attribute("#now", "aria-live") == "polite"
    told = set()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
        told.add(page.inner_text("#now"))
    assert len(told) > 10
    for word in words:
        assert any(word in text for text in told)
    assert page.locator("#now .unseen").count() == 0


def test_everything_is_reached_by_keyboard(page: Page, site: Site) -> None:
    visit(page, site, "/replay/jiaodong?lang=en&step=30")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()"
        )
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", name
        reached.add(name)
    assert {
        "First step",
        "Next step",
        "Play",
        "table",
        "all cards",
        "8×",
        "What was legal?",
        "Next hand",
    } <= reached
    page.focus("[data-go=next]")
    page.keyboard.press("Enter")
    assert counter(page).startswith("31 / ")


def test_who_wants_no_motion_gets_none(browser: Browser, site: Site) -> None:
    context = browser.new_context(reduced_motion="reduce")
    opened = context.new_page()
    visit(opened, site, "/replay/jiaodong")
    moving = opened.evaluate(
        "[...document.querySelectorAll('*')].map(each => getComputedStyle(each))"
        ".filter(style => style.transitionDuration !== '0s' || style.animationName !== 'none').length"
    )
    assert moving == 0
    context.close()


STATES = [
    "/replay/jiaodong?step=1",
    "/replay/lianzhong-classic?step=3",
    "/replay/lianzhong-simple?step=60",
    "/replay/shandong-folk?step=40&view=seat4&reveal=0",
    f"/replay/marked-guard?step={STEPS['marked-guard']}",
    "/replay/running",
    "/embed/jiaodong?step=25",
]
PAGES = [
    "/",
    "/live",
    "/games?rules=jiaodong",
    "/player/greedy",
    "/replay/jiaodong/legal?step=40",
    "/help",
    "/replay/nothing",
]


@pytest.mark.parametrize("address", [*STATES, *PAGES])
def test_axe_finds_nothing_serious(browser: Browser, site: Site, address: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for language, theme, width in (("en", "light", 1280), ("zh", "dark", 390)):
        context = browser.new_context(viewport={"width": width, "height": 900})
        opened = context.new_page()
        query = f"{'&' if '?' in address else '?'}lang={language}&theme={theme}"
        opened.goto(site.url + address + query)
        if address in STATES:
            opened.wait_for_selector("#viewer[data-ready]")
        found = Axe().run(opened).response["violations"]
        bad = [
            (each["id"], each["impact"], [node["html"] for node in each["nodes"]][:3])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert bad == [], f"{address} {language} {theme}"
        context.close()


OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll(".place-at-table, .spot, .middle")].map((each) => [
    each.className, each.getBoundingClientRect()]);
  const found = [];
  boxes.forEach(([one, a], index) => boxes.slice(index + 1).forEach(([other, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 1) found.push([one, other, wide, high]);
  }));
  return found;
}"""
CLIPPED = """() => [...document.querySelectorAll(
    ".card, .chip, .who, .tags, .role, .button, .place-at-table, .move")]
  .filter((each) => each.offsetParent !== null && each.scrollWidth > each.clientWidth + 1)
  .map((each) => [each.className, each.textContent.trim(), each.scrollWidth, each.clientWidth])"""


@pytest.mark.parametrize(
    ("width", "height"), [(320, 640), PHONE, LAPTOP, WIDE], ids=["zoomed", "phone", "laptop", "wide"]
)
def test_nothing_overlaps_and_nothing_is_cut(page: Page, site: Site, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    for language in ("zh", "en"):
        for address in STATES:
            visit(page, site, f"{address}{'&' if '?' in address else '?'}lang={language}")
            where = f"{address} {language} {width}"
            assert page.evaluate("document.documentElement.scrollWidth") <= width, where
            assert page.evaluate(OVERLAPS) == [], where
            assert page.evaluate(CLIPPED) == [], where
        for address in PAGES[:-1]:
            page.goto(f"{site.url}{address}{'&' if '?' in address else '?'}lang={language}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{address} {width}"
