"""The forms of the work list and of notes, and the history of labels as a table."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from indexer.errors import UsageError
from indexer.exports.csv_tables import Column, Table
from indexer.grouping.undo_labels import label_events_of
from indexer.html.rendering import link
from indexer.web.access import login_of
from indexer.web.downloads import csv_download
from indexer.web.labelling_pages import lead_to, local_address
from indexer.web.questions import ID, Parameter, parameter_values
from indexer.web.request_body import read_fields
from indexer.web.work_list_questions import LIST_PARAMETERS, WORK_LIST_ACTIONS

if TYPE_CHECKING:
    from indexer.web.site import Site

_LIST = Parameter("list", "the parameters of a work list", "")
_AFTER = Parameter("after", "the family before it", "")
_NEXT = Parameter("next", "the page to go on with", "")
_NOTE = Parameter("text", "the note")
_COLUMNS = (
    Column("labelling", "whole", attrgetter("number")),
    Column("at", "text", attrgetter("at")),
    Column("reviewer", "text", attrgetter("reviewer")),
    Column("id", "text", attrgetter("id")),
    Column("path", "text", attrgetter("path")),
    Column("before", "list", attrgetter("before")),
    Column("after", "list", attrgetter("after")),
    Column("undone", "flag", attrgetter("undone")),
    Column("undone_at", "text", attrgetter("undone_at")),
    Column("undone_by", "text", attrgetter("undone_by")),
)


def work_list_routes(site: Site) -> list[BaseRoute]:
    """Return the routes of the forms, and of the history of labels."""
    pages = _WorkListPages(site)
    return [
        Route("/worklist/next", pages.next, methods=["POST"]),
        Route("/worklist/assign", pages.assign, methods=["POST"]),
        Route("/note", pages.note, methods=["POST"]),
        Route("/history.csv", pages.history),
    ]


class _WorkListPages:
    """The endpoints of the work list."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def next(self, request: Request) -> Response:
        """Give the next family of a list to the reviewer, and lead to it, or back to the list."""
        fields = await read_fields(request, self._site.token)
        values = parameter_values((_LIST, _AFTER), fields)
        names = {parameter.name for parameter in LIST_PARAMETERS}
        wanted = {name: texts for name, texts in parse_qs(values["list"]).items() if name in names}
        options = parameter_values(
            (*LIST_PARAMETERS, _AFTER), {**wanted, "after": [values["after"]]}
        )
        claim = WORK_LIST_ACTIONS["claim"].do
        result = await run_in_threadpool(claim, self._site, options, login_of(request))
        if result.family:
            return lead_to(link("/family", id=result.family, list=values["list"]))
        return lead_to(f"/worklist?{values['list']}" if values["list"] else "/worklist")

    async def assign(self, request: Request) -> Response:
        """Give the families that are checked to a reviewer."""
        action = WORK_LIST_ACTIONS["assign"]
        fields = await read_fields(request, self._site.token)
        values = parameter_values((*action.parameters, _NEXT), fields)
        await run_in_threadpool(action.do, self._site, values, login_of(request))
        return lead_to(local_address(values["next"]) or "/worklist")

    async def note(self, request: Request) -> Response:
        """Write a note on a document."""
        fields = await read_fields(request, self._site.token)
        values = parameter_values((ID, _NOTE), fields)
        if not values["text"].strip():
            raise UsageError("the note is empty; write a text")
        row = await run_in_threadpool(self._site.row, values["id"])
        name = login_of(request).name
        await run_in_threadpool(self._site.review.add_note, row.id, name, values["text"].strip())
        return lead_to(f"{link('/document', id=row.id)}#notes")

    def history(self, request: Request) -> Response:
        """Answer with every change of a document's labels, the last one first, as csv."""
        parameter_values((), {name: [""] for name in request.query_params})
        table = Table(_COLUMNS, label_events_of(self._site.store))
        return csv_download(table, "label-history.csv")
