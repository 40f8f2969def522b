"""The dashboard of an index, put where people look at it: into a file, or into OpenSearch
Dashboards or Kibana by their API.
"""

from __future__ import annotations

import json
import os
import secrets
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from indexer.errors import StoreAccessDenied, StoreError, StoreUnreachable, UsageError
from indexer.stores.engine import dashboards
from indexer.stores.engine import passwords as _engine_secrets
from indexer.stores.engine.dashboards import Product, SavedObject
from indexer.stores.maintenance import Change
from indexer.system.secrets import secret
from indexer.system.urls import parts_of

_SECONDS = 60.0
_KIND = "dashboard"
_CALLED: dict[Product, str] = {"opensearch-dashboards": "OpenSearch Dashboards", "kibana": "Kibana"}


def put(place: str, index: str, product: Product, dry_run: bool) -> Change:
    """Write the bundle to a file, or import it by the address of a running product.

    A file that says the same is left alone. In a product, the digest in the dashboard's description
    tells whether it has this very bundle. Raises `UsageError` when the product at the address is
    the other one or the file cannot be written, `StoreUnreachable`, `StoreAccessDenied`, and
    `StoreError` naming the objects that were not imported.
    """
    if "://" not in place:
        return _write(Path(place), dashboards.bundle(index, product), dry_run)
    server = _Server(place, product)
    made = dashboards.objects(index)
    found = server.found(made[-1])
    if found is not None and found.get("description") == made[-1].attributes["description"]:
        return Change(_KIND, made[-1].id, "unchanged")
    if not dry_run:
        server.load(dashboards.bundle(index, product))
    return Change(
        _KIND,
        made[-1].id,
        "created" if found is None else "updated",
        f"{len(made)} saved objects at {place}",
    )


def remove(place: str, index: str, product: Product, dry_run: bool) -> list[Change]:
    """Delete the objects of the bundle from a product, the dashboard first; those that are gone
    already are not named.
    """
    if "://" not in place:
        raise UsageError(
            f"{place} is no address of a running product; delete the file itself, or give http://host:5601"
        )
    server = _Server(place, product)
    there = [one for one in reversed(dashboards.objects(index)) if server.found(one) is not None]
    for one in there if not dry_run else ():
        server.delete(one)
    return [Change(one.type, one.id, "removed") for one in there]


def _write(file: Path, text: str, dry_run: bool) -> Change:
    try:
        old = file.read_text(encoding="utf-8") if file.exists() else None
        if old == text:
            return Change(_KIND, str(file), "unchanged")
        if not dry_run:
            file.write_text(text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} cannot be written ({error}); give another file, or the address http://host:5601"
        ) from error
    return Change(_KIND, str(file), "created" if old is None else "updated")


@dataclass(frozen=True)
class _Server:
    """A running product; its credentials are those of the store."""

    place: str
    product: Product

    def found(self, one: SavedObject) -> dict[str, Any] | None:
        """The attributes of an object that is there, None when it is not."""
        answer = self._ask("GET", self._path(one), absent=True)
        attributes: dict[str, Any] | None = None if answer is None else answer.get("attributes", {})
        return attributes

    def delete(self, one: SavedObject) -> None:
        """Delete an object; one that is gone is no error."""
        self._ask("DELETE", self._path(one), absent=True)

    def load(self, bundle: str) -> None:
        """Import a bundle, over what has its ids; nothing of it is left out in silence."""
        self._refuse_other_product()
        mark = secrets.token_hex(16)
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="nearfold.ndjson"\r\n'
        body = f"{head}Content-Type: application/ndjson\r\n\r\n{bundle}\r\n--{mark}--\r\n".encode()
        kind = f"multipart/form-data; boundary={mark}"
        answer = self._ask("POST", "/api/saved_objects/_import?overwrite=true", body, kind) or {}
        if not answer.get("success"):
            failed = [
                f"{one.get('id')} ({one.get('error', {}).get('type')})"
                for one in answer.get("errors", ())
            ]
            raise StoreError(
                f"{self.place} did not import {', '.join(failed) or 'the bundle'}; import it by hand from a file"
            )

    def _refuse_other_product(self) -> None:
        """Kibana and OpenSearch Dashboards accept different migration versions."""
        status = self._ask("GET", "/api/status") or {}
        number = str(status.get("version", {}).get("number", ""))
        major = int(number.partition(".")[0]) if number.partition(".")[0].isdecimal() else 0
        if (self.product == "kibana") != (major >= 7):
            raise UsageError(
                f"{self.place} says that its version is {number or 'unknown'}, which is not {self.product}; "
                "the kind of --store tells which product is meant"
            )

    def _path(self, one: SavedObject) -> str:
        return f"/api/saved_objects/{one.type}/{quote(one.id, safe='')}"

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str = "",
        absent: bool = False,
    ) -> Any:
        """One request; the JSON of its answer, or None for a 404 where `absent` is no error."""
        parts = parts_of(self.place)
        base = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        request = urllib.request.Request(base + path, body, self._headers(kind), method=method)
        try:
            with urllib.request.urlopen(
                request, timeout=_SECONDS, context=_trust(parts.scheme)
            ) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            if error.code == 404 and absent:
                return None
            raise self._meaning(error, base, f"{method} {path}") from error
        except (OSError, ValueError) as error:
            raise StoreUnreachable(url=base, reason=str(error)) from error

    def _meaning(
        self, error: urllib.error.HTTPError, base: str, asked: str
    ) -> StoreError | UsageError:
        """Credentials are asked for only where they were refused; a search engine knows no such
        path and says 400.
        """
        if error.code in (401, 403):
            return StoreAccessDenied(url=base, status=error.code, reason=f"{asked}: {error.reason}")
        if error.code == 400 and b"no handler found" in error.read():
            return UsageError(
                f"{base} is a search engine, not {_CALLED[self.product]}; give the address of that, often port 5601 "
                "of the same machine, or the name of a file to import there by hand"
            )
        return StoreError(
            f"{base} answered {asked} with {error.code} {error.reason}; check what listens there, and its log"
        )

    def _headers(self, kind: str) -> dict[str, str]:
        marked = "kbn-xsrf" if self.product == "kibana" else "osd-xsrf"
        return {marked: "true", **({"Content-Type": kind} if kind else {}), **_login(self.place)}


def _login(place: str) -> dict[str, str]:
    """The header that says who asks: a key, or user and password, from where a store's come."""
    environment, (user, _, node) = os.environ, parts_of(place).netloc.rpartition("@")
    if ":" in user:
        raise UsageError(
            "an address must not hold a password: everybody may read it; set NEARFOLD_PASSWORD in the environment"
        )
    if key := secret("NEARFOLD_API_KEY", environment):
        return {"Authorization": f"ApiKey {key}"}
    name = user or environment.get("NEARFOLD_USER")
    password = _engine_secrets.password(environment, name, node)
    if not name or password is None:
        return {}
    return {"Authorization": "Basic " + b64encode(f"{name}:{password}".encode()).decode()}


def _trust(scheme: str) -> ssl.SSLContext | None:
    return (
        ssl.create_default_context(cafile=os.environ.get("NEARFOLD_CA_CERTS"))
        if scheme == "https"
        else None
    )
