"""Styles, scripts and pictures of the pages, under an address that names their contents.

So a browser keeps them for good and asks for none of them twice, and after an upgrade it takes the
new ones.
"""

from __future__ import annotations

import hashlib

from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from indexer.html.rendering import STATIC
from indexer.web.safety import Scope

_FOR_GOOD = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"


class _CachedFiles(StaticFiles):
    """The files of one folder, each with the same `Cache-Control`."""

    def __init__(self, policy: str) -> None:
        super().__init__(directory=STATIC)
        self._policy = policy

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = self._policy
        return response


def static_address() -> str:
    """Return the path of the static files, without a final slash: it changes when one of them does.

    Scripts import each other by relative paths, and so stay in the same version.
    """
    contents = hashlib.sha256()
    for path in sorted(STATIC.iterdir()):
        contents.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"/static/{contents.hexdigest()[:16]}"


def static_routes(address: str) -> list[BaseRoute]:
    """Return the routes of the static files: at `address` for good, below `/static` to be checked
    again each time.
    """
    return [
        Mount(address, _CachedFiles(_FOR_GOOD)),
        Mount("/static", _CachedFiles(_ASK_AGAIN)),
        Route("/favicon.ico", lambda _: RedirectResponse(f"{address}/icon.svg")),
    ]
