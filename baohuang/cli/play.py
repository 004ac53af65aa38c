"""`baohuang play`: one hand between bots."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from baohuang.bots import BOT_NAMES, make_bot, play_game
from baohuang.bots.hosts import open_host
from baohuang.bots.hosts.spec import is_built_in
from baohuang.bots.referee import Asked, play_games
from baohuang.cli.files import LanguageOption, write_record
from baohuang.cli.words import text
from baohuang.game import Game
from baohuang.rules.commands import Start
from baohuang.rules.outcome import Outcome
from baohuang.rules.roles import SEATS
from baohuang.rules.ruleset import PRESETS, RuleSet
from baohuang.rules.shuffle import SALT_BYTES
from baohuang.words import Language, name_of, place_name, rules_name, seat_name

_SEEDS = 1 << 64


def play(
    rules: Annotated[
        str, typer.Option(metavar="PRESET", help=f"One of {', '.join(PRESETS)}.")
    ] = "lianzhong-simple",
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Changes an option; may be given several times."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed gives the same hand.")] = None,
    salt: Annotated[
        str | None,
        typer.Option(metavar="HEX", help=f"{SALT_BYTES} bytes; makes the record hold a commitment."),
    ] = None,
    bots: Annotated[
        str,
        typer.Option(
            metavar="BOT,…",
            help=f"Five bots, seat 0 first: {', '.join(BOT_NAMES)}, or as in `baohuang bots check`.",
        ),
    ] = "greedy,greedy,greedy,greedy,greedy",
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where the record goes; - is standard output.")
    ] = None,
    lang: LanguageOption = Language.ENGLISH,
) -> None:
    """Play one hand between five bots and print its result."""
    names = bots.split(",")
    if len(names) != len(SEATS):
        raise typer.BadParameter(f"a game has five bots, not {len(names)}", param_hint="--bots")
    if seed is None:
        seed = secrets.randbelow(_SEEDS)
    rule_set = RuleSet.preset(rules, **_options(option or []))
    game = Game.start(Start(rule_set, seed=seed, salt=_salt(salt)))
    faults = _play(game, names, seed * len(SEATS))
    outcome = game.outcome
    if outcome is None:
        raise RuntimeError("the hand is not over")
    if out is not None:
        write_record(out, game.record())
    console = Console(stderr=out == "-", highlight=False)
    told = lang.say(str(rule_set), rules_name(rule_set, lang))
    console.print(text(lang, "played", rules=told, seed=seed, how=name_of(outcome.termination, lang)))
    console.print(_result(outcome, names, lang))
    for each in faults:
        line = f"{seat_name(each.seat, lang)} {names[each.seat]}: {each.fault}"
        console.print(line, soft_wrap=True, markup=False)


def _play(game: Game, bots: list[str], seed: int) -> tuple[Asked, ...]:
    """Plays a game to its end; gives what its bots did wrong. Built-in ones are trusted, and not timed."""
    if all(map(is_built_in, bots)):
        play_game(game, [make_bot(name, seed=seed + seat) for seat, name in enumerate(bots)])
        return ()
    hosts = {name: open_host(name, shows_output=True) for name in bots}
    try:
        [played] = play_games([game], [[hosts[name] for name in bots]], seed=seed)
    finally:
        for host in hosts.values():
            host.close()
    return played.faults


def _options(pairs: list[str]) -> dict[str, str]:
    options = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE", param_hint="--option")
        options[name] = value
    return options


def _salt(digits: str | None) -> bytes | None:
    try:
        return None if digits is None else bytes.fromhex(digits)
    except ValueError:
        raise typer.BadParameter("not hexadecimal digits", param_hint="--salt") from None


def _result(outcome: Outcome, bots: list[str], lang: Language) -> Table:
    table = Table(
        "", *[text(lang, key) for key in ("column_bot", "column_role", "column_place", "column_score")]
    )
    for seat in SEATS:
        role = name_of(outcome.roles[seat], lang) if outcome.roles else ""
        place = place_name(outcome.places[seat], lang) if outcome.places else ""
        table.add_row(seat_name(seat, lang), bots[seat], role, place, f"{outcome.scores[seat]:+d}")
    return table
