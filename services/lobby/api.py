"""The REST interface, version 1."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from litestar import Controller, get, post
from litestar.params import Parameter

from baohuang import RuleSet, RuleSetError
from baohuang.bots import BOT_NAMES
from services.kit.errors import PlatformError, to_platform_error
from services.kit.paging import PLACE
from services.kit.rest import refusals
from services.lobby import metrics
from services.lobby.catalogue import rules_catalogue
from services.lobby.messages import NewTable, Rules, RulesCatalogue, Table, TablePage
from services.lobby.tables import TableStore
from services.lobby.work import HandOpener

# Whoever opens a table waits so long for its first game to begin; after that the table is `starting`.
_OPEN_SECONDS: Final = 2.0

IdempotencyKey = Annotated[
    str | None,
    Parameter(
        header="Idempotency-Key",
        min_length=1,
        max_length=64,
        pattern=r"^[!-~]+$",
        description="The same key and request again give the table of the first time.",
    ),
]


class Tables(Controller):
    """Tables and what they can be opened with."""

    path = "/v1"
    tags = ("tables",)

    @post(
        "/tables",
        summary="Open a table",
        responses=refusals(HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    )
    async def open_table(
        self,
        data: NewTable,
        tables: TableStore,
        hand_opener: HandOpener,
        idempotency_key: IdempotencyKey = None,
    ) -> Table:
        """Open a table with five built-in bots, which play its hands one after another.

        The table is stored before this answers. Should the engine be away just now, its status is
        `starting`, and its first hand begins by itself.
        """
        rules = _rule_set(data.rules)
        for seat, bot in enumerate(data.bots):
            if bot not in BOT_NAMES:
                message = f"there is no bot {bot!r}; there are {', '.join(BOT_NAMES)}"
                raise PlatformError("UNKNOWN_BOT", message).at(f"bots[{seat}]")
        opened = await tables.open(rules, data.bots, data.hands, idempotency_key)
        if opened.first_hand is not None:
            metrics.TABLES_OPENED.inc()
            await hand_opener.open(opened.first_hand, _OPEN_SECONDS)
        return await tables.get(opened.table_id)

    @get("/tables", summary="List tables, the newest first", responses=refusals(HTTPStatus.BAD_REQUEST))
    async def list_tables(
        self,
        tables: TableStore,
        limit: Annotated[int, Parameter(ge=1, le=100, description="How many at most.")] = 20,
        after: Annotated[
            str | None,
            Parameter(pattern=PLACE, max_length=80, description="`next` of the page before."),
        ] = None,
    ) -> TablePage:
        """A page of tables."""
        return await tables.page(limit, after)

    @get("/tables/{table_id:str}", summary="Show a table", responses=refusals(HTTPStatus.NOT_FOUND))
    async def get_table(self, table_id: str, tables: TableStore) -> Table:
        """Its seats, its hands with their games and outcomes, its totals, and how its next hand starts."""
        return await tables.get(table_id)

    @get("/rules", summary="What a table can be opened with", sync_to_thread=False)
    def get_rules(self) -> RulesCatalogue:
        """The presets with the values of all options, the options with their choices, the built-in bots."""
        return rules_catalogue()


def _rule_set(rules: Rules) -> RuleSet:
    """Raises PlatformError with the place of the fault in the request."""
    try:
        return RuleSet.preset(rules.preset, **rules.options)
    except RuleSetError as error:
        if "preset" in error.details:
            where = "rules.preset"
        elif "option" in error.details:
            where = f"rules.options.{error.details['option']}"
        else:
            where = "rules.options"
        raise to_platform_error(error).at(where) from error
