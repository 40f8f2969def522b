"""Installation of the roles by an engine's security API, where it has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.stores.engine.bodies import Body
from indexer.stores.engine.index_requests import Dialect, Requests
from indexer.stores.engine.link import Answer, error_of
from indexer.stores.engine.role_files import has_limits, is_marked, is_same
from indexer.stores.maintenance import Change

_KIND = "role"
_FOREIGN = "it is another program's, as its description says; rename it there"
_LIMITED = (
    "it was changed and limits documents or fields, and replacing it would remove the limits; "
    "remove or repair it by hand"
)


def put(
    requests: Requests, dialect: Dialect, roles: Mapping[str, Body], dry_run: bool
) -> list[Change]:
    """Put the roles that are missing or differ; impossible where the engine has no roles."""
    return [
        _put(requests, f"{dialect.roles}/{name}", name, body, dry_run)
        for name, body in roles.items()
    ]


def remove(
    requests: Requests, dialect: Dialect, roles: Mapping[str, Body], dry_run: bool
) -> list[Change]:
    """Remove the roles that exist; an engine without a security API has none."""
    changes = []
    for name in roles:
        path = f"{dialect.roles}/{name}"
        stored = _stored_role(name, _ask(requests, "GET", path))
        if stored is None:
            continue
        if not is_marked(stored):
            changes.append(Change(_KIND, name, "kept", _FOREIGN))
            continue
        if not dry_run:
            _ask(requests, "DELETE", path)
        changes.append(Change(_KIND, name, "removed"))
    return changes


def _put(requests: Requests, path: str, name: str, body: Body, dry_run: bool) -> Change:
    answer = _ask(requests, "GET", path)
    stored = _stored_role(name, answer)
    if stored is not None and is_same(body, stored):
        return Change(_KIND, name, "unchanged")
    if stored is not None and not is_marked(stored):
        return Change(_KIND, name, "kept", _FOREIGN)
    if stored is not None and has_limits(stored):
        return Change(_KIND, name, "kept", _LIMITED)
    if answer.status != 400 and not dry_run:
        answer = _ask(requests, "PUT", path, body)
    if answer.status == 400:
        return Change(_KIND, name, "impossible", answer.reason)
    return Change(_KIND, name, "created" if stored is None else "updated")


def _stored_role(name: str, answer: Answer) -> Mapping[str, Any] | None:
    """Return the role in an answer; None where there is none, or no security API."""
    return answer.body.get(name) if answer.status == 200 else None


def _ask(requests: Requests, method: str, path: str, body: Body | None = None) -> Answer:
    """Return a successful answer, a 404, or the 400 of an engine that lacks this; raise others."""
    answer = requests.send(method, path, body)
    expected = {"GET": (400, 404), "PUT": (400,), "DELETE": (404,)}[method]
    if 200 <= answer.status < 300 or answer.status in expected:
        return answer
    raise error_of(requests.url, answer, f"{method} {path}")
