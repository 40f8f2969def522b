"""The review pages of a store on a port of this machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection

from indexer.errors import UsageError
from indexer.stores.abilities import FullStore
from indexer.stores.requirements import require_recipe
from indexer.web.actions import ACTIONS
from indexer.web.app import Api, application
from indexer.web.comparison_questions import COMPARISON_QUESTIONS
from indexer.web.document_questions import DOCUMENT_QUESTIONS
from indexer.web.listen import listen
from indexer.web.safety import App, allowed_hosts
from indexer.web.site import Site
from indexer.web.store_questions import STORE_QUESTIONS

REVIEW_API = Api({**DOCUMENT_QUESTIONS, **COMPARISON_QUESTIONS, **STORE_QUESTIONS}, ACTIONS)


def serve(
    store: FullStore,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    originals: str | None = None,
    allow_hosts: Collection[str] = (),
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the review pages of a store until Ctrl-C or SIGTERM.

    `port` 0 takes any free one; `ready` receives the address when the server answers. Raises
    `StoreError` when nothing was indexed yet, and `UsageError` for an address that cannot be bound
    or a folder of originals that does not exist.
    """
    require_recipe(store)

    def app_at(bound_port: int) -> App:
        hosts = allowed_hosts(host, bound_port, allow_hosts)
        try:
            return review_application(store, hosts, originals)
        except FileNotFoundError as error:
            raise UsageError(
                f"{originals} does not exist; give the folder whose files may be fetched"
            ) from error

    listen(app_at, host, port, ready)


def review_application(
    store: FullStore, hosts: frozenset[str], originals: str | None = None
) -> App:
    """Return the review pages and their API as an ASGI application.

    `hosts` are the values of `Host` that are answered; files are served from the folder
    `originals`, none without it. Raises `FileNotFoundError` if that folder does not exist.
    """
    return application(Site(store, originals), hosts, REVIEW_API)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
