"""The pages of `nearfold judge`: one pair at a time, side by side, and four answers; guarded as the
review pages are.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from indexer.errors import NearfoldError
from indexer.html.rendering import STATIC, environment, render
from indexer.lab.evaluation.judging_session import QUESTIONS, JudgingSession, Task
from indexer.text.normalise import count_words
from indexer.web.actions import check_token, parsed
from indexer.web.http_errors import heading, status_of
from indexer.web.request_body import body_of
from indexer.web.safety import App, Safety, allowed_hosts
from indexer.web.serve import listen

_TEMPLATES = Path(__file__).parent / "templates"
_LOG = logging.getLogger("nearfold.web")


def serve_desk(
    desk: JudgingSession,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a desk until Ctrl-C or SIGTERM; `ready` hears the address. `port` 0 takes any that is
    free.

    Raises `UsageError` for an address that cannot be had.
    """
    listen(lambda actual: judging_application(desk, allowed_hosts(host, actual)), host, port, ready)


def judging_application(desk: JudgingSession, hosts: frozenset[str]) -> App:
    """The desk as an ASGI application. `hosts` are the values of `Host` that are answered."""
    pages = _Pages(desk)
    routes = [
        Route("/", pages.next),
        Route("/pair", pages.pair),
        Route("/judge", pages.judge, methods=["POST"]),
        Route("/undo", pages.undo, methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/favicon.ico", lambda _: RedirectResponse("/static/icon.svg")),
    ]
    kinds: Mapping[Any, Any] = {
        NearfoldError: pages.problem,
        HTTPException: pages.problem,
        Exception: pages.problem,
    }
    return Safety(Starlette(routes=routes, exception_handlers=kinds), hosts)


class _Pages:
    def __init__(self, desk: JudgingSession) -> None:
        self._desk = desk
        self._templates = environment(_TEMPLATES)
        self._token = secrets.token_urlsafe(32)

    def next(self, request: Request) -> Response:
        """The first pair that is not judged, or word that all are."""
        return self._shown(self._desk.next())

    def pair(self, request: Request) -> Response:
        """One pair again."""
        return self._shown(self._desk.task(request.query_params.get("key", "")))

    async def judge(self, request: Request) -> Response:
        """Keep an answer; the next pair is shown when it is on the disk."""
        given = await self._given(request)
        key, answer = (next(iter(given.get(name, ())), "") for name in ("key", "answer"))
        await run_in_threadpool(self._desk.judge, key, answer)
        return RedirectResponse("/", 303)

    async def undo(self, request: Request) -> Response:
        """Take the last answer back, and show its pair."""
        await self._given(request)
        task = await run_in_threadpool(self._desk.undo)
        return RedirectResponse(f"/pair?key={task.key}" if task else "/", 303)

    async def problem(self, request: Request, error: Exception) -> Response:
        """What went wrong, and the way back."""
        status, told = 500, "this is our fault; the terminal in which nearfold judge runs says more"
        if isinstance(error, NearfoldError):
            status, told = status_of(error), str(error)
        elif isinstance(error, HTTPException):
            status, told = error.status_code, error.detail
        else:
            _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return self._html({"task": None, "heading": heading(status), "told": told}, status)

    async def _given(self, request: Request) -> Mapping[str, Any]:
        """The values of a form with the token of this process."""
        given = parsed(await body_of(request), request.headers.get("content-type", ""))
        check_token(given, "", self._token)
        return given

    def _shown(self, task: Task | None) -> Response:
        if task is None:
            return self._html(
                {
                    "task": None,
                    "heading": "All pairs are judged",
                    "told": "Close this window, and end the program.",
                }
            )
        texts = self._desk.texts(task)
        return self._html(
            {
                "task": task,
                "texts": texts,
                "words": list(map(count_words, texts)),
                "said": self._desk.judgement(task),
            }
        )

    def _html(self, values: Mapping[str, Any], status: int = 200) -> Response:
        shared = {
            "token": self._token,
            "judged": self._desk.judged,
            "total": len(self._desk),
            "questions": QUESTIONS,
        }
        body = render(
            self._templates,
            "judge.html",
            {"texts": (), "words": (), "said": None, **shared, **values},
        )
        return Response(
            body.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8"
        )
