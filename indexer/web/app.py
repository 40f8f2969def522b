"""The site as an ASGI application: routes to pages, to the API, to files of ours, and what happens
when one fails.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from indexer.errors import DocumentNotFound, NearfoldError
from indexer.html.rendering import STATIC, environment, render
from indexer.stores.abilities import FullStore
from indexer.system.logs import event
from indexer.system.release import release
from indexer.web import chart_geometry
from indexer.web.actions import ACTIONS, Action, check_token, parsed
from indexer.web.http_errors import heading, status_of
from indexer.web.measurement import MeasureRequests, SiteFigures
from indexer.web.openapi import description
from indexer.web.pages import PAGES, Page
from indexer.web.parameters import ParameterValues, parameter_values
from indexer.web.questions import QUESTIONS, Question
from indexer.web.request_body import body_of
from indexer.web.safety import TOKEN_FIELD, TOKEN_HEADER, App, Safety
from indexer.web.schemas import as_json
from indexer.web.site import Site

TEMPLATES = Path(__file__).parent / "templates"
Endpoint = Callable[[Request], Response]
Writing = Callable[[Request], Awaitable[Response]]


def application(store: FullStore, hosts: frozenset[str], originals: str | None = None) -> App:
    """The site of a store. `hosts` are the values of `Host` that are answered; `originals` the
    folder files are served from.

    The store must be one that threads may share, as all of ours are.
    """
    site = Site(store, originals)
    show, figured = _Shown(site), SiteFigures(store)
    routes: list[BaseRoute] = [
        *(Route(page.path, show.page(page)) for page in PAGES),
        Route("/api", show.reference),
        Route("/api/openapi.json", _fixed(description(release()))),
        Route("/api/token", _fixed({"token": site.token})),
        *(
            Route(f"/api/{question.api}", _answered(site, question))
            for question in QUESTIONS.values()
        ),
        *(
            Route(f"/api/{action.api}", _done(site, action), methods=["POST"])
            for action in ACTIONS.values()
        ),
        Route("/label", show.action("label", "labelled.html"), methods=["POST"]),
        Route("/label/undo", show.action("undo", "undone.html"), methods=["POST"]),
        Route("/overview/anew", show.action("anew", None), methods=["POST"]),
        Route("/original", _original(site)),
        Route("/metrics", figured.answer),
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/favicon.ico", lambda _: RedirectResponse("/static/icon.svg")),
    ]
    kinds: Mapping[Any, Any] = {
        NearfoldError: show.problem,
        HTTPException: show.problem,
        Exception: show.problem,
    }
    paths = [route.path for route in routes if isinstance(route, Route)]
    return Safety(
        MeasureRequests(Starlette(routes=routes, exception_handlers=kinds), paths, figured), hosts
    )


class _Shown:
    """Pages, rendered."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._templates = environment(TEMPLATES)
        self._templates.globals["drawing"] = chart_geometry

    def page(self, page: Page) -> Endpoint:
        """The endpoint of a page."""

        def endpoint(request: Request) -> Response:
            return self._html(
                page.template, {"page": page, **page.values(self._site, _given(request))}
            )

        return endpoint

    def action(self, name: str, template: str | None) -> Writing:
        """The endpoint of a form: does it, and shows what was done, or goes back to the
        overview.
        """

        async def endpoint(request: Request) -> Response:
            values, answer = await _written(self._site, ACTIONS[name], request)
            if template is None:
                return RedirectResponse("/overview", 303)
            return self._html(template, {"page": None, "asked": values, "done": answer})

        return endpoint

    def reference(self, request: Request) -> Response:
        """What the API offers, for people."""
        return self._html(
            "api.html", {"questions": QUESTIONS.values(), "actions": ACTIONS.values(), "page": None}
        )

    def problem(self, request: Request, error: Exception) -> Response:
        """An error in the form of what was asked: JSON for the API, else a page."""
        status, message = _told(error)
        if status == 500:
            event("request_failed", "error", fault=error)
        if request.url.path.startswith("/api/"):
            return _json({"error": message, "kind": type(error).__name__}, status)
        return self._html(
            "problem.html", {"heading": heading(status), "message": message, "page": None}, status
        )

    def _html(self, template: str, values: Mapping[str, Any], status: int = 200) -> Response:
        shared = {"store": self._site.store.url, "token": self._site.token}
        body = render(self._templates, template, {**shared, **values})
        return Response(
            body.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8"
        )


def _fixed(value: Any) -> Endpoint:
    def endpoint(request: Request) -> Response:
        parameter_values((), _given(request))
        return _json(value)

    return endpoint


def _answered(site: Site, question: Question) -> Endpoint:
    def endpoint(request: Request) -> Response:
        return _json(
            as_json(question.answer(site, parameter_values(question.parameters, _given(request))))
        )

    return endpoint


def _done(site: Site, action: Action) -> Writing:
    async def endpoint(request: Request) -> Response:
        _, answer = await _written(site, action, request)
        return _json(as_json(answer))

    return endpoint


async def _written(site: Site, action: Action, request: Request) -> tuple[ParameterValues, Any]:
    """Read a bounded body, check its token, and do what it asks: the values it asked with, and the
    answer.
    """
    parameter_values((), _given(request))
    given = parsed(await body_of(request), request.headers.get("content-type", ""))
    check_token(given, request.headers.get(TOKEN_HEADER, ""), site.token)
    values = parameter_values(
        action.parameters, {name: one for name, one in given.items() if name != TOKEN_FIELD}
    )
    return values, await run_in_threadpool(action.do, site, values)


def _original(site: Site) -> Endpoint:
    """The file of a document, to be saved and never shown; which files, `Site.original` decides."""

    def endpoint(request: Request) -> Response:
        row = site.row(request.query_params.get("id", ""))
        place = site.original(row)
        if place is None:
            raise DocumentNotFound(id=row.id)
        return FileResponse(place, media_type="application/octet-stream", filename=place.name)

    return endpoint


def _given(request: Request) -> Mapping[str, list[str]]:
    """The parameters of a request; lone surrogates, which no text of a store holds, replaced."""
    items = [
        (name, value.encode("utf-8", "replace").decode())
        for name, value in request.query_params.multi_items()
    ]
    return {name: [value for other, value in items if other == name] for name, _ in items}


def _told(error: Exception) -> tuple[int, str]:
    if isinstance(error, NearfoldError):
        return status_of(error), str(error)
    if isinstance(error, HTTPException):
        return (
            error.status_code,
            "there is no such page" if error.status_code == 404 else error.detail,
        )
    return 500, "this is our fault; the terminal in which nearfold serve runs says more"


def _json(value: Any, status: int = 200) -> Response:
    body = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    return Response(body, status, media_type="application/json")
