"""The roles as pieces of an installation: an engine keeps them by its security API, where it has
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.stores.engine.bodies import Body
from indexer.stores.engine.index import Dialect, Requests
from indexer.stores.engine.link import Answer, error_of
from indexer.stores.engine.roles import limits, same
from indexer.stores.maintenance import Change

_KIND = "role"
_LIMITED = "it was changed and limits documents or fields, which putting it anew would lift; remove or mend it by hand"


def put(
    requests: Requests, dialect: Dialect, roles: Mapping[str, Body], dry_run: bool
) -> list[Change]:
    """Put the roles that are missing or grant something else; impossible where the engine keeps no
    roles.
    """
    return [
        _put(requests, f"{dialect.roles}/{name}", name, body, dry_run)
        for name, body in roles.items()
    ]


def remove(
    requests: Requests, dialect: Dialect, roles: Mapping[str, Body], dry_run: bool
) -> list[Change]:
    """Remove the roles that are there; an engine without a security API has none."""
    changes = []
    for name in roles:
        path = f"{dialect.roles}/{name}"
        if _found(name, _ask(requests, "GET", path)) is None:
            continue
        if not dry_run:
            _ask(requests, "DELETE", path)
        changes.append(Change(_KIND, name, "removed"))
    return changes


def _put(requests: Requests, path: str, name: str, body: Body, dry_run: bool) -> Change:
    answer = _ask(requests, "GET", path)
    found = _found(name, answer)
    if found is not None and same(body, found):
        return Change(_KIND, name, "unchanged")
    if found is not None and limits(found):
        return Change(_KIND, name, "kept", _LIMITED)
    if answer.status != 400 and not dry_run:
        answer = _ask(requests, "PUT", path, body)
    if answer.status == 400:
        return Change(_KIND, name, "impossible", answer.reason)
    return Change(_KIND, name, "created" if found is None else "updated")


def _found(name: str, answer: Answer) -> Mapping[str, Any] | None:
    """The role in an answer; None where there is none, or no security API."""
    return answer.body.get(name) if answer.status == 200 else None


def _ask(requests: Requests, method: str, path: str, body: Body | None = None) -> Answer:
    """An answer that is a success, a 404 to a question, or the 400 of an engine that cannot do
    this; others are raised.
    """
    answer = requests.ask(method, path, body)
    expected = {"GET": (400, 404), "PUT": (400,), "DELETE": (404,)}[method]
    if 200 <= answer.status < 300 or answer.status in expected:
        return answer
    raise error_of(requests.url, answer, f"{method} {path}")
