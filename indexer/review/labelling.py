"""The forms that label: each redirects to another address, so that Back and Reload send nothing
again.

A dry run is remembered under a number, and confirmed by it. A decision redirects to `next`, the
page that the reviewer reads on with, unless there is something to say about it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from indexer.defaults import MEASURE
from indexer.errors import NearfoldError, StoreBusy, UnknownNumber, UsageError
from indexer.jobs.label import LabelEvent, LabelResult, LabelUpdate, UndoResult, label_events_of
from indexer.model import Row
from indexer.review.access import Login, login_of
from indexer.review.api.endpoints import (
    DocumentId,
    NoParameters,
    P,
    Parameters,
    YesNo,
    about,
    number_meta,
    parse_parameters,
    text_meta,
)
from indexer.review.api.labels import (
    LabelParameters,
    NoteText,
    UndoParameters,
    label_request,
    plan_label,
    take_outcome,
)
from indexer.review.api.work_list import (
    AssignParameters,
    ClaimParameters,
    ListParameters,
    assign,
    claim,
)
from indexer.review.exports.writers import Column, Table
from indexer.review.family_view import (
    MemberDifferences,
    comparable_members,
    format_others,
    member_ranks,
    serious_marks,
)
from indexer.review.http import csv_download, read_fields
from indexer.review.label_queue import LabelRequest, is_as_wanted
from indexer.review.rendering import link
from indexer.stores.journal import known_group_settings
from indexer.stores.requirements import require_recipe

if TYPE_CHECKING:
    from indexer.review.site import Site


Number: TypeAlias = Annotated[int, number_meta("a labelling", 1, 1 << 53)]
Plan: TypeAlias = Annotated[int, number_meta("a dry run", 1, 1 << 53)]
Next: TypeAlias = Annotated[str, text_meta("the page to go on with")]


class _LabelForm(LabelParameters, frozen=True):
    next: Next = ""
    choose: Annotated[
        str, text_meta("the label that is chosen, instead of the others of a given set")
    ] = ""
    on: Annotated[
        Literal["checked", "others", "family"],
        about("of a group, the documents that are named, all but its principal, or all"),
    ] = "checked"
    head: Annotated[str, text_meta("the id of the principal")] = ""


class _ConfirmForm(Parameters, frozen=True):
    plan: Plan
    next: Next = ""
    note: NoteText = ""


class _UndoForm(UndoParameters, frozen=True):
    next: Next = ""


class _LabelledParameters(Parameters, frozen=True):
    number: Number | None = None
    plan: Plan | None = None
    next: Next = ""


_REDIRECT = 303
_MAX_COMPARED = 200  # documents of a dry run that are compared with their principals
_MAX_AUTHORS = 50  # documents of a conflict that are shown with who labelled them
_WAIT_SECONDS = 20.0  # for these comparisons
Html = Callable[..., Response]


def labelling_routes(site: Site, html: Html) -> list[BaseRoute]:
    """Return the routes of the forms. `html` responds with a page of a template and its values."""
    pages = _LabellingPages(site, html)
    return [
        Route("/label", pages.label, methods=["POST"]),
        Route("/label/confirm", pages.confirm, methods=["POST"]),
        Route("/label/undo", pages.undo, methods=["POST"]),
        Route("/labelled", pages.labelled),
    ]


@dataclass(frozen=True, slots=True)
class _DryRunDifferences:
    """The differences of documents from their principals, by id.

    `remaining`: the number of documents that are still being compared; `left_out`: that of those
    beyond what a page compares. `serious`: the marks for which a reviewer has to read one. `ranks`:
    the similarity to the principal, less what new words cost, by id.
    """

    differences: Mapping[str, MemberDifferences] = field(default_factory=dict)
    remaining: int = 0
    left_out: int = 0
    serious: frozenset[str] = frozenset()
    ranks: Mapping[str, float] = field(default_factory=dict)


class _LabellingPages:
    """The endpoints of labelling."""

    def __init__(self, site: Site, html: Html) -> None:
        self._site = site
        self._html = html

    async def label(self, request: Request) -> Response:
        """Label as a form says, or plan it and redirect to the plan."""
        values = await self._values(request, _LabelForm)
        return await run_in_threadpool(self._label, values, login_of(request))

    async def confirm(self, request: Request) -> Response:
        """Write what a dry run showed, unless its documents have other labels by now."""
        values = await self._values(request, _ConfirmForm)
        planned = self._site.plans.get(values.plan)
        if planned is None:
            raise _forgotten(values.plan)
        options = planned[0].options
        if options is not None and values.note.strip():
            options = replace(options, note=values.note)
        login = login_of(request)
        wanted = replace(planned[0], reviewer=login.name, seen=planned[1].state, options=options)
        return await run_in_threadpool(self._write, wanted, values.next)

    async def undo(self, request: Request) -> Response:
        """Undo a labelling."""
        values = await self._values(request, _UndoForm)
        wanted = LabelRequest(login_of(request).name, undo=values.job)
        return await run_in_threadpool(self._write, wanted, values.next)

    def labelled(self, request: Request) -> Response:
        """Show a dry run, a labelling that was written or waits, an undo, or a conflict."""
        texts = {name: [value] for name, value in request.query_params.items()}
        values = parse_parameters(_LabelledParameters, texts)
        context: dict[str, Any] = {
            "page": None,
            "number": values.number,
            "plan": None,
            "next": values.next,
            "differences": {},
            "compared": _DryRunDifferences(),
            "others": [],
            "unlike": [],
            "listed": _listed,
            "authors": {},
            "note": "",
        }
        if values.plan is not None:
            planned = self._site.plans.get(values.plan)
            if planned is None:
                raise _forgotten(values.plan)
            wanted, result = planned
            is_of_mail = bool(wanted.options and wanted.options.attachments)
            compared = _DryRunDifferences() if is_of_mail else self._compare(result)
            differences = compared.differences
            others = {id: differences[id] for id in differences if id in _changed(result)}
            context |= {"wanted": wanted, "result": result, "plan": values.plan}
            unlike = [id for id, member in others.items() if member.is_other]
            sentences = format_others(others, compared.serious)
            context |= {"differences": differences, "others": sentences}
            context |= {"unlike": unlike, "compared": compared}
            notes = self._site.review.notes(wanted.ids[0]) if result.broken else ()
            context["note"] = notes[-1].text if notes else ""
            return self._html(request, "labelled.html", context)
        if values.number is None:
            raise UsageError("number is missing: the labelling to show")
        wanted = self._site.labels.request(values.number)
        outcome = self._site.labels.outcome(values.number, 0)
        if outcome is not None:
            self._site.labels.mark_seen(values.number)
        if isinstance(outcome, NearfoldError):
            raise outcome
        if isinstance(outcome, UndoResult):
            return self._html(request, "undone.html", {**context, "result": outcome})
        if outcome is None or outcome.conflict:
            waits = outcome is None
            outcome = plan_label(self._site, wanted) if wanted.options else None
            again = replace(wanted, seen="")
            plan = self._site.keep_plan(again, outcome) if outcome and not waits else None
            context |= {"waits": waits, "plan": plan}
            if outcome and not waits:
                context["authors"] = _authors(self._site, outcome)
            template = "waiting.html" if waits else "conflict.html"
            return self._html(request, template, {**context, "wanted": wanted, "result": outcome})
        return self._html(
            request, "labelled.html", {**context, "wanted": wanted, "result": outcome}
        )

    def _compare(self, result: LabelResult) -> _DryRunDifferences:
        """Compare the documents of a dry run with the principals of their groups."""
        changes = [(item.family, item.id) for item in result.changes]
        items = [*changes, *((item.family, item.id) for item in result.review)]
        members = [(family, id) for family, id in items if id != family]
        pairs = members[:_MAX_COMPARED]
        ids = dict.fromkeys(id for pair in pairs for id in pair)
        rows = self._site.store.get(list(ids)) if ids else {}
        by_family: dict[str, list[Row]] = {}
        for family, id in pairs:
            if family in rows and id in rows:
                by_family.setdefault(family, []).append(rows[id])
        settings = known_group_settings(self._site.store.address)
        serious = serious_marks(settings)
        by_measure = require_recipe(self._site.store), settings.get("measure") or MEASURE
        deadline = time.monotonic() + _WAIT_SECONDS
        found: dict[str, MemberDifferences] = {}
        remaining, left_out = 0, len(members) - len(pairs)
        ranks: dict[str, float] = {}
        for family, listed in by_family.items():
            ranks |= member_ranks(rows[family], listed, *by_measure)
            chosen = comparable_members(rows[family], listed)
            left_out += len(listed) - len(chosen)
            remaining += len(chosen)
            seconds = deadline - time.monotonic()
            if seconds > 0:  # each call may start a thread
                compared = self._site.members.find(rows[family], chosen, serious, seconds)
                found |= compared
                remaining -= len(compared)
        return _DryRunDifferences(found, remaining, left_out, serious, ranks)

    def _label(self, values: _LabelForm, login: Login) -> Response:
        if values.on != "checked":
            others: YesNo = "yes" if values.on == "others" else "no"
            values = values.replace(id=(values.head,), family="yes", others=others)
        if choice := values.choose:
            is_of_set = self._site.coding().field_of(choice) is None
            exclusive = self._site.offered_labels.exclusive if is_of_set else ()
            rest = tuple(name for name in exclusive if name != choice)
            values = values.replace(add=(choice, *values.add), remove=(*rest, *values.remove))
        wanted = label_request(self._site, values, login)
        if values.dry_run == "yes":
            plan = self._site.keep_plan(wanted, plan_label(self._site, wanted))
            return redirect_to(link("/labelled", plan=plan, next=local_address(values.next)))
        return self._write(wanted, values.next)

    def _write(self, wanted: LabelRequest, next_page: str) -> Response:
        """Put a labelling into the queue, and redirect to the next page, or to a message."""
        self._site.last_joins.pop(wanted.reviewer, None)
        number = self._site.labels.put(wanted)
        outcome = take_outcome(self._site, number)
        is_settled = outcome is None or is_as_wanted(outcome)
        address = local_address(next_page)
        return redirect_to(
            address if address and is_settled else link("/labelled", number=number, next=address)
        )

    async def _values(self, request: Request, form: type[P]) -> P:
        parse_parameters(NoParameters, {name: [""] for name in request.query_params})
        return parse_parameters(form, await read_fields(request, self._site.token))


def _authors(site: Site, result: LabelResult) -> Mapping[str, LabelEvent]:
    """Return the last labelling of each of the first documents of a conflict, by id.

    None while a job holds the journal.
    """
    authors: dict[str, LabelEvent] = {}
    for change in result.changes[:_MAX_AUTHORS]:
        with suppress(StoreBusy):
            events = label_events_of(site.store, change.id)
            authors |= {change.id: events[0]} if events else {}
    return authors


def _listed(
    result: LabelResult, unlike: Collection[str], ranks: Mapping[str, float]
) -> list[LabelUpdate]:
    """Return changes in the order of the page: those that overwrite a label, then documents that a
    reviewer has to read, each by its similarity to the principal.
    """

    def order(change: LabelUpdate) -> tuple[bool, bool, float, str]:
        rank = ranks.get(change.id, math.inf)
        return not change.lost, change.id not in unlike, rank, change.path

    return sorted(result.changes, key=order)


def _changed(result: LabelResult) -> set[str]:
    return {change.id for change in result.changes}


def local_address(address: str) -> str:
    """Return an address of this site, empty for any other one."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_local and address.isprintable() else ""


def redirect_to(address: str) -> Response:
    """Return the response to a form: the page to go on with."""
    return RedirectResponse(address, _REDIRECT)


def _forgotten(plan: int) -> UnknownNumber:
    return UnknownNumber(what="dry run", number=plan, remedy="go back, and try it again")


# The forms of the work list and of notes, and the history of labels as a table.


class _NextForm(Parameters, frozen=True):
    list: Annotated[str, text_meta("the parameters of a work list")] = ""
    after: Annotated[str, text_meta("the group before it")] = ""


class _AssignForm(AssignParameters, frozen=True):
    next: Next = ""


class _NoteForm(DocumentId, frozen=True):
    text: Annotated[str, text_meta("the note")]


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
        """Give the next group of a list to the reviewer; redirect to it, or back to the list.

        Of a single document to its text.
        """
        fields = await read_fields(request, self._site.token)
        values = parse_parameters(_NextForm, fields)
        names = ListParameters.__struct_fields__
        wanted = {name: texts for name, texts in parse_qs(values.list).items() if name in names}
        options = parse_parameters(ClaimParameters, {**wanted, "after": [values.after]})
        result = await run_in_threadpool(claim, self._site, options, login_of(request))
        if result.family:
            is_single = await run_in_threadpool(self._is_single, result.family)
            page = "/document" if is_single else "/family"
            return redirect_to(link(page, id=result.family, list=values.list))
        return redirect_to(f"/worklist?{values.list}" if values.list else "/worklist")

    def _is_single(self, family: str) -> bool:
        members = self._site.store.families.members("family", [family])
        return all(id == family for id, _ in members)

    async def assign(self, request: Request) -> Response:
        """Give the groups that are checked to a reviewer."""
        fields = await read_fields(request, self._site.token)
        values = parse_parameters(_AssignForm, fields)
        await run_in_threadpool(assign, self._site, values, login_of(request))
        return redirect_to(local_address(values.next) or "/worklist")

    async def note(self, request: Request) -> Response:
        """Write a note on a document."""
        fields = await read_fields(request, self._site.token)
        values = parse_parameters(_NoteForm, fields)
        if not values.text.strip():
            raise UsageError("the note is empty; write a text")
        row = await run_in_threadpool(self._site.row, values.id)
        name = login_of(request).name
        await run_in_threadpool(self._site.review.add_notes, [row.id], name, values.text.strip())
        return redirect_to(f"{link('/document', id=row.id)}#notes")

    def history(self, request: Request) -> Response:
        """Respond with every change of a document's labels, the last one first, as csv."""
        parse_parameters(NoParameters, {name: [""] for name in request.query_params})
        table = Table(_COLUMNS, label_events_of(self._site.store))
        return csv_download(table, "label-history.csv")
