"""The site as an ASGI application: routes to pages, the API and static files, and error pages."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from indexer.comparing.compare import Comparison
from indexer.errors import DocumentNotFound, NearfoldError, QueryError, StoreBusy
from indexer.jobs.label import labels_state
from indexer.jobs.review_file import with_labels
from indexer.review import charts
from indexer.review.access import Access, RequireLogin, login_of
from indexer.review.api.endpoints import (
    NoParameters,
    ReadEndpoint,
    TwoIds,
    WriteEndpoint,
    model_fields,
    parse_parameters,
)
from indexer.review.api.openapi import as_json, describe_api, describe_parameters
from indexer.review.api.responses import DocumentFacts
from indexer.review.caches import ReadProgress
from indexer.review.compared_documents import WordFormats, word_formats
from indexer.review.comparison_files import redline_docx, redline_pdf
from indexer.review.http import (
    heading,
    page_message,
    query_texts,
    read_fields,
    static_address,
    static_routes,
    status_of,
)
from indexer.review.labelling import labelling_routes, local_address, work_list_routes
from indexer.review.middleware import (
    DEFAULT_MEGABYTES,
    LimitMemory,
    MeasureRequests,
    SiteStatistics,
)
from indexer.review.originals.files import MAX_DISPLAYED, OriginalUnavailable
from indexer.review.originals.pages import POLICIES, original_routes
from indexer.review.rendering import environment, found_words, link, render
from indexer.review.safety import App, Safety, masked_token
from indexer.stores.requirements import stored_ids
from indexer.system.logs import event
from indexer.system.release import release

if TYPE_CHECKING:
    from indexer.review.site import Site


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its path, template and title, and the names of the endpoints that it shows.

    The template receives each response under the name of its endpoint. `defaults` are parameters
    that the page sets where the reader did not.
    """

    path: str
    template: str
    title: str
    endpoints: tuple[str, ...]
    defaults: Mapping[str, str]

    def values(
        self, site: Site, reads: Mapping[str, ReadEndpoint], query: Mapping[str, Sequence[str]]
    ) -> dict[str, Any]:
        """Return the values for the template: the responses, and `parameters` by name.

        Unknown names in `query` are ignored: mail programs add marks to addresses.
        """
        texts = {**{name: (value,) for name, value in self.defaults.items()}, **query}
        parsed = {}
        for name in self.endpoints:
            model = reads[name].parameters
            known = {field: texts[field] for field in model_fields(model) if field in texts}
            parsed[name] = parse_parameters(model, known)
        responses = {name: reads[name].run(site, values) for name, values in parsed.items()}
        parameters: dict[str, Any] = {}
        for values in parsed.values():
            parameters |= values.as_dict()
        return {"parameters": parameters, **responses}


_SOON = {"wait": "0.1"}  # the first screen of long texts does not wait for all of them
_SOME = {**_SOON, "whole": "no"}  # members of a group, as many as take little time
_GROUP_READS = ("family", "differences", "near")
_REDLINES = {"redline": "yes", "whole": "no"}
_NEAREST = {**_SOON, "limit": "10", "whole": "no"}  # near duplicates next to a document
_GROUP = {"wait": "1.5"}
_READING = {"wait": "0.2"}  # nor the first page of a store for all of it
# facts are compared when somebody unfolds a hit
_SEARCHING = {"wait": "1.5", "ranking": "first", "facts": "0"}
_DASHBOARD = Page(
    "/dashboard", "dashboard.html", "Dashboard", ("dashboard", "status", "figures"), _GROUP
)
PAGES = (
    Page("/", "search.html", "Search", ("search", "searches"), _SEARCHING),
    Page("/searches", "searches.html", "Saved searches", ("counts",), {}),
    Page("/document", "document.html", "Document", ("document", "similar", "history"), _NEAREST),
    Page("/thread", "thread.html", "Thread of mails", ("thread",), {}),
    Page("/family", "family.html", "Near-duplicate group", _GROUP_READS, _SOME),
    Page("/variants", "variants.html", "Differences of a group", ("variants",), _GROUP),
    Page("/versions", "versions.html", "Versions", ("versions",), _REDLINES),
    Page("/matrix", "matrix.html", "Versions side by side", ("matrix",), {}),
    Page("/compare", "compare.html", "Compare", ("compare",), _SOON),
    _DASHBOARD,
    Page("/worklist", "worklist.html", "Work list", ("worklist", "searches"), _READING),
    Page("/overview", "overview.html", "Overview", ("status", "figures"), _READING),
    Page("/threshold", "threshold.html", "Threshold", ("survey", "preview"), _READING),
    Page("/regroup", "regroup.html", "Apply a threshold", ("regroup",), _READING),
    Page("/jobs", "jobs.html", "Jobs", ("status", "labellings"), {}),
)


_SECONDS_OF_FILE = 1.5  # until a page says how far the file is
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
Endpoint = Callable[[Request], Response]
AsyncEndpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Api:
    """The endpoints that a site offers, by name, and the routes of its tables."""

    reads: Mapping[str, ReadEndpoint]
    writes: Mapping[str, WriteEndpoint]
    tables: tuple[Callable[[Site], BaseRoute], ...] = ()


def application(
    site: Site,
    hosts: frozenset[str],
    api: Api,
    access: Access,
    megabytes: int = DEFAULT_MEGABYTES,
) -> App:
    """Return the ASGI application of a site.

    `hosts` are the values of `Host` that are answered, `access` says who may log in, `megabytes` of
    resident memory are those beyond which the site discards what it keeps. The store of the site
    must be thread-safe.
    """
    pages = _Pages(site, api)
    statistics = SiteStatistics(site.store)
    routes = [
        *_page_routes(pages),
        *_api_routes(site, api),
        *(table(site) for table in api.tables),
        *original_routes(site, pages.static),
        Route("/redline.docx", _redline_docx(site)),
        Route("/redline.pdf", pages.redline_pdf),
        Route("/metrics", statistics.respond),
        *static_routes(pages.static),
    ]
    paths = [route.path for route in routes if isinstance(route, Route)]
    handlers: Mapping[Any, Any] = dict.fromkeys(
        (NearfoldError, HTTPException, Exception), pages.problem
    )
    router = Starlette(routes=routes, exception_handlers=handlers)
    measured = MeasureRequests(router, paths, statistics)
    limited = LimitMemory(measured, megabytes << 20, site.discard_kept)
    return Safety(RequireLogin(GZipMiddleware(limited, compresslevel=5), access), hosts, POLICIES)


def _page_routes(pages: _Pages) -> list[BaseRoute]:
    return [
        *(Route(page.path, pages.page(page)) for page in PAGES),
        Route("/api", pages.reference),
        *labelling_routes(pages.site, pages.html),
        *work_list_routes(pages.site),
        Route("/overview/refresh", pages.refresh, methods=["POST"]),
        Route("/regroup/apply", pages.regroup, methods=["POST"]),
        Route("/searches/save", pages.form("save_search"), methods=["POST"]),
        Route("/searches/delete", pages.form("delete_search"), methods=["POST"]),
        Route("/terms/save", pages.form("save_term"), methods=["POST"]),
        Route("/terms/delete", pages.form("delete_term"), methods=["POST"]),
        Route("/family/join", pages.form("join"), methods=["POST"]),
        Route("/family/separate", pages.form("separate"), methods=["POST"]),
    ]


def _api_routes(site: Site, api: Api) -> list[BaseRoute]:
    description = describe_api(release(), api.reads, api.writes)
    return [
        Route("/api/openapi.json", _fixed(description)),
        Route("/api/token", _token(site)),
        *(Route(f"/api/{read.path}", _respond(site, read)) for read in api.reads.values()),
        *(
            Route(f"/api/{write.path}", _perform(site, write), methods=["POST"])
            for write in api.writes.values()
        ),
    ]


class _Pages:
    """The endpoints of HTML pages."""

    def __init__(self, site: Site, api: Api) -> None:
        self.site = site
        self._api = api
        self.static = static_address()
        self._templates = environment()
        self._templates.globals |= {
            "drawing": charts,
            "static": self.static,
            "coding": site.offered_coding,
            "field_of": lambda label: site.coding().field_of(label),
            "joined": lambda: list(site.review.joined()),
            "has_note": lambda document: bool(site.review.notes(document)),
            "known_labels": site.offered_labels.known,
            "exclusive_labels": site.offered_labels.exclusive,
            "states_of": self._states_of,
            "last_join": site.last_joins.get,
        }

    def _states_of(self, document: DocumentFacts) -> dict[str, str]:
        """Return the digest of the labels of a document in each field by which a change of them is
        noticed.
        """
        coding = self.site.offered_coding()
        return {
            field.name: labels_state(
                [(document.id, coding.related(document.labels, field.labels[:1]))]
            )
            for field in coding.fields
            if field.values
        }

    def page(self, page: Page) -> Endpoint:
        """Return the endpoint of a page; that of searches without a query shows the dashboard where
        the store is grouped.
        """

        def endpoint(request: Request) -> Response:
            is_first = page.path == "/" and not request.url.query
            chosen = _DASHBOARD if is_first and self.site.is_grouped else page
            values = chosen.values(self.site, self._api.reads, query_texts(request))
            return self.html(request, chosen.template, {"page": chosen, **values})

        return endpoint

    async def refresh(self, request: Request) -> Response:
        """Read the store again, and redirect to the page that asked, else to the overview."""
        fields = dict(await read_fields(request, self.site.token))
        address = local_address("".join(fields.pop("next", ())))
        endpoint = self._api.writes["refresh"]
        values = parse_parameters(endpoint.parameters, fields)
        await run_in_threadpool(endpoint.run, self.site, values, login_of(request))
        return RedirectResponse(address or "/overview", 303)

    async def regroup(self, request: Request) -> Response:
        """Start `group` and redirect to the jobs, or to what it would change by now."""
        result = await run_write(self.site, self._api.writes["group"], request)
        if result.started:
            return RedirectResponse("/jobs", 303)
        return RedirectResponse(link("/regroup", threshold=result.threshold, changed="yes"), 303)

    def form(self, name: str) -> AsyncEndpoint:
        """Return the endpoint of a form that redirects to its page."""
        write = self._api.writes[name]

        async def endpoint(request: Request) -> Response:
            fields = dict(await read_fields(request, self.site.token))
            address = local_address("".join(fields.pop("next", ())))
            values = parse_parameters(write.parameters, fields)
            await run_in_threadpool(write.run, self.site, values, login_of(request))
            return RedirectResponse(address or "/", 303)

        return endpoint

    def reference(self, request: Request) -> Response:
        """Respond with the description of the API for people."""
        values = {
            "reads": self._api.reads.values(),
            "writes": self._api.writes.values(),
            "describe": describe_parameters,
            "page": None,
        }
        return self.html(request, "api.html", values)

    def redline_pdf(self, request: Request) -> Response:
        """Respond with the changes from one document to another as a PDF; while a long one is
        written, with a page that says how far it is and requests it again.
        """
        comparison = _comparison(self.site, request)
        file = self.site.written(comparison, redline_pdf, _SECONDS_OF_FILE)
        if not isinstance(file, ReadProgress):
            return _attachment(file, "pdf", "application/pdf")
        ids = {name: request.query_params[name] for name in ("a", "b")}
        response = self.html(request, "writing.html", {"page": None, "progress": file, **ids})
        response.headers["refresh"] = "1"
        return response

    def problem(self, request: Request, error: Exception) -> Response:
        """Respond with an error: as JSON below `/api/`, else as a page; the address of a document
        by a former id redirects to the current one.
        """
        if isinstance(error, DocumentNotFound) and request.method == "GET" and error.id.isalnum():
            with suppress(NearfoldError):
                (id,) = stored_ids(self.site.store, [error.id])
                if id != error.id and error.id in request.query_params.values():
                    return RedirectResponse(_with_id(request, error.id, id), 302)
        status, message = _describe_error(error)
        if status == 500:
            event("request_failed", "error", fault=error)
        if request.url.path.startswith("/api/"):
            response = _json({"error": message, "kind": type(error).__name__}, status)
        else:
            values = {
                "heading": heading(status),
                "message": page_message(error) or message,
                "fault": error if isinstance(error, QueryError) else None,
                "is_invalid": status == 400,
                "kept": _choices(request),
                "page": None,
            }
            response = self.html(request, "problem.html", values, status)
        if isinstance(error, HTTPException):
            response.headers.update(error.headers or {})
        return response

    def html(
        self, request: Request, template: str, values: Mapping[str, Any], status: int = 200
    ) -> Response:
        """Respond with a page."""
        login = login_of(request)
        shared = {
            "labels": self.site.labels,
            "store": self.site.store.url,
            "matter": self.site.matter,
            "token": masked_token(self.site.token) if login.may_write else "",
            "login": login,
            "address": _address(request),
            "from_list": request.query_params.get("list", ""),
            **self._highlighting(request),
        }
        html = render(self._templates, template, {**shared, **values})
        body = html.encode("utf-8", "replace")
        return Response(body, status, media_type="text/html; charset=utf-8")

    def _highlighting(self, request: Request) -> dict[str, Any]:
        """Return the query that the address carries, the terms of the store, and their finder."""
        searched = given = request.query_params.get("q", "")
        terms = self.site.review.terms()
        with suppress(QueryError):
            searched = with_labels(searched, self.site.coding())
        found = found_words(searched, {term.text: term.color for term in terms})
        return {"searched": given, "terms": terms, "found": found}


def _address(request: Request) -> str:
    """Return the address of a page without its site."""
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def _choices(request: Request) -> list[tuple[str, str]]:
    """Return filters, fold and order of a search, all that another query keeps; [] elsewhere."""
    is_search = request.url.path == "/"
    query = request.query_params.multi_items() if is_search else []
    return [(name, value) for name, value in query if name not in {"q", "page"}]


def _with_id(request: Request, former: str, id: str) -> str:
    """Return the address of a request with an id in the position of a former one."""
    query = [
        (name, id if value == former else value)
        for name, value in request.query_params.multi_items()
    ]
    return f"{request.url.path}?{urlencode(query)}"


def _fixed(value: Any) -> Endpoint:
    """Return the endpoint of a constant that takes no parameters."""

    def endpoint(request: Request) -> Response:
        parse_parameters(NoParameters, query_texts(request))
        return _json(value)

    return endpoint


def _token(site: Site) -> Endpoint:
    """Return the endpoint of the token that writes carry, which readers do not get."""

    def endpoint(request: Request) -> Response:
        parse_parameters(NoParameters, query_texts(request))
        if not login_of(request).may_write:
            raise HTTPException(403, "this login is read-only and cannot label")
        return _json({"token": site.token})

    return endpoint


def _respond(site: Site, read: ReadEndpoint) -> Endpoint:
    """Return the endpoint of the API that reads."""

    def endpoint(request: Request) -> Response:
        values = parse_parameters(read.parameters, query_texts(request))
        return _json(as_json(read.run(site, values)))

    return endpoint


def _perform(site: Site, write: WriteEndpoint) -> AsyncEndpoint:
    """Return the endpoint of the API that writes."""

    async def endpoint(request: Request) -> Response:
        return _json(as_json(await run_write(site, write, request)))

    return endpoint


async def run_write(site: Site, endpoint: WriteEndpoint, request: Request) -> Any:
    """Read the body of a request, check its token, run the endpoint, and return its response."""
    parse_parameters(NoParameters, query_texts(request))
    fields = await read_fields(request, site.token, endpoint.max_bytes)
    values = parse_parameters(endpoint.parameters, fields)
    return await run_in_threadpool(endpoint.run, site, values, login_of(request))


def _redline_docx(site: Site) -> Endpoint:
    """Return the endpoint of the changes from one document to another, as a Word document."""

    def endpoint(request: Request) -> Response:
        values = parse_parameters(TwoIds, query_texts(request))
        formats = _formats(site, values.a), _formats(site, values.b)
        return _attachment(redline_docx(_comparison(site, request), formats), "docx", DOCX)

    return endpoint


def _formats(site: Site, id: str) -> WordFormats | None:
    """Return the formats of a document whose file is in Word, where files may be fetched."""
    with suppress(OriginalUnavailable), site.originals.open(site.row(id)) as stream:
        return word_formats(stream.read(MAX_DISPLAYED))
    return None


def _comparison(site: Site, request: Request) -> Comparison:
    """Return the comparison of the documents of a request; raise `StoreBusy` while it is made."""
    values = parse_parameters(TwoIds, query_texts(request))
    compared = site.comparisons.side_by_side(site.row(values.a), site.row(values.b), "literal", 30)
    if compared.chars is not None:
        raise StoreBusy(what="the whole of both texts", holder="their comparison")
    return compared.side_by_side.comparison


def _attachment(body: bytes, kind: str, type: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="redline.{kind}"'}
    return Response(body, media_type=type, headers=headers)


def _describe_error(error: Exception) -> tuple[int, str]:
    """Return the status and the message of an error."""
    if isinstance(error, NearfoldError):
        return status_of(error), str(error)
    if isinstance(error, HTTPException):
        message = "there is no such page" if error.status_code == 404 else error.detail
        return error.status_code, message
    return 500, "internal error; see the terminal in which nearfold serve runs"


def _json(value: Any, status: int = 200) -> Response:
    body = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    return Response(body, status, media_type="application/json")
