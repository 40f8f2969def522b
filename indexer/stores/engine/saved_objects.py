"""Export of an index's dashboard to a file, or to OpenSearch Dashboards or Kibana by their API."""

from __future__ import annotations

import json
import os
import secrets
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

from indexer.errors import StoreAccessDenied, StoreError, StoreUnreachable, UsageError
from indexer.stores.address import password
from indexer.stores.engine import dashboards
from indexer.stores.engine.connections import certificate_remedy, check_certificates
from indexer.stores.engine.dashboards import OWN_FIELDS, DashboardFields, SavedObject
from indexer.stores.maintenance import Change, Product
from indexer.system.credentials import parts_of, secret
from indexer.wording import count_of

_SECONDS = 60.0
_KIND = "dashboard"
_TITLES: dict[Product, str] = {"opensearch-dashboards": "OpenSearch Dashboards", "kibana": "Kibana"}


def put(
    target: str,
    index: str,
    product: Product,
    dry_run: bool,
    fields: DashboardFields = OWN_FIELDS,
) -> Change:
    """Write the bundle to a file, or import it by the address of a running product.

    A file with the same content is left alone. A product whose dashboard has the same digest in its
    description already has this bundle. Raises `UsageError` when the product at the address is the
    other one or the file cannot be written, `StoreUnreachable`, `StoreAccessDenied`, and
    `StoreError` for a dashboard that another program put, or naming the objects that were not
    imported.
    """
    if "://" not in target:
        change = _write(Path(target), dashboards.bundle(index, product, fields), dry_run)
        return replace(change, detail=_times(fields))
    server = _Server(target, product)
    objects = dashboards.objects(index, fields)
    dashboard = objects[-1]
    stored = server.attributes(dashboard)
    if stored is not None and stored.get("description") == dashboard.attributes["description"]:
        return Change(_KIND, dashboard.id, "unchanged")
    if stored is not None and not dashboards.is_marked(stored):
        raise StoreError(
            f"dashboard {dashboard.id} at {target} is not nearfold's, which would replace it; "
            "nothing was changed: copy it there under another id, and delete this one"
        )
    server.require_workspace()
    if not dry_run:
        server.load(dashboards.bundle(index, product, fields))
    detail = f"{count_of(len(objects), 'saved object')} at {target}, {_times(fields)}"
    return Change(_KIND, dashboard.id, "created" if stored is None else "updated", detail)


def _times(fields: DashboardFields) -> str:
    if fields.time:
        return f"by the time in {fields.time}"
    return "documents of any time, since no field of dates is in all of them (--time-field)"


def remove(path: str, index: str, product: Product, dry_run: bool) -> list[Change]:
    """Delete the objects of the bundle from a product, the dashboard first.

    Objects that the product does not have are not in the result.
    """
    if "://" not in path:
        raise UsageError(
            f"{path} is not the address of a running product; "
            "delete the file itself, or give http://host:5601"
        )
    server = _Server(path, product)
    objects = dashboards.objects(index, replace(OWN_FIELDS, searches=True, queries=True))
    dashboard = server.attributes(objects[-1])
    if dashboard is not None and not dashboards.is_marked(dashboard):
        return [Change(_KIND, objects[-1].id, "kept", "it is another program's")]
    stored = [saved for saved in reversed(objects) if server.attributes(saved) is not None]
    if not dry_run:
        for saved in stored:
            server.delete(saved)
        if kept := [saved.id for saved in stored[:1] if server.attributes(saved) is not None]:
            raise StoreError(
                f"{path} did not delete {kept[0]}; delete the objects called nearfold-{index}-... "
                "by hand, in its management of saved objects"
            )
    return [Change(saved.type, saved.id, "removed") for saved in stored]


def _write(file: Path, text: str, dry_run: bool) -> Change:
    try:
        old = file.read_text(encoding="utf-8") if file.exists() else None
        if old == text:
            return Change(_KIND, str(file), "unchanged")
        if old and not dashboards.is_bundle(old):
            raise UsageError(
                f"{file} exists, and has no dashboard of nearfold's; name another file"
            )
        if not dry_run:
            file.write_text(text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} cannot be written ({error}); "
            "give another file, or the address http://host:5601"
        ) from error
    return Change(_KIND, str(file), "created" if old is None else "updated")


@dataclass(frozen=True)
class _Server:
    """A running product, which has the credentials of the store."""

    url: str
    product: Product

    def attributes(self, saved: SavedObject) -> dict[str, Any] | None:
        """Return the attributes of a stored object; None when it is not there."""
        export = {
            "objects": [{"type": saved.type, "id": saved.id}],
            "excludeExportDetails": True,
        }
        body = json.dumps(export).encode()
        path = "/api/saved_objects/_export"
        response = self._ask("POST", path, body, "application/json", absent=True)
        if response is None:
            return None
        attributes: dict[str, Any] = response.get("attributes", {})
        return attributes

    def delete(self, saved: SavedObject) -> None:
        """Delete an object; a missing one is not an error."""
        self._ask("DELETE", self._path(saved), absent=True)

    def load(self, bundle: str) -> None:
        """Import a bundle over objects with its ids; raise `StoreError` if any is left out."""
        self._refuse_other_product()
        mark = secrets.token_hex(16)
        part = (
            f"--{mark}",
            'Content-Disposition: form-data; name="file"; filename="nearfold.ndjson"',
            "Content-Type: application/ndjson",
            "",
            bundle,
            f"--{mark}--",
            "",
        )
        body = "\r\n".join(part).encode()
        kind = f"multipart/form-data; boundary={mark}"
        response = self._ask("POST", "/api/saved_objects/_import?overwrite=true", body, kind) or {}
        if not response.get("success"):
            failed = [
                f"{item.get('id')} ({item.get('error', {}).get('type')})"
                for item in response.get("errors", ())
            ]
            raise StoreError(
                f"{self.url} did not import {', '.join(failed) or 'the bundle'}; "
                "import it by hand from a file"
            )

    def require_workspace(self) -> None:
        """Raise `UsageError` where the product has workspaces, and the address is of none.

        Objects outside of all workspaces appear in none of them.
        """
        if self.product != "opensearch-dashboards" or "/w/" in f"{parts_of(self.url).path}/":
            return
        path = "/api/workspaces/_list"
        response = self._ask("POST", path, b"{}", "application/json", absent=True) or {}
        workspaces = (response.get("result") or {}).get("workspaces", ())
        if workspaces:
            listed = ", ".join(f"/w/{each['id']} ({each.get('name')})" for each in workspaces)
            raise UsageError(
                f"{self.url} has workspaces, which show only what is in them; "
                f"append one to the address: {listed}"
            )

    def _refuse_other_product(self) -> None:
        """Kibana and OpenSearch Dashboards accept different migration versions."""
        status = self._ask("GET", "/api/status") or {}
        number = str(status.get("version", {}).get("number", ""))
        major = int(number.partition(".")[0]) if number.partition(".")[0].isdecimal() else 0
        if (self.product == "kibana") != (major >= 7):
            raise UsageError(
                f"{self.url} says that its version is {number or 'unknown'}, "
                f"which is not {self.product}; the kind of --store chooses the product"
            )

    def _path(self, saved: SavedObject) -> str:
        return f"/api/saved_objects/{saved.type}/{quote(saved.id, safe='')}"

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str = "",
        absent: bool = False,
    ) -> Any:
        """Return the JSON response to one request, or None for what is not there if `absent`."""
        parts = parts_of(self.url)
        base = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        request = urllib.request.Request(base + path, body, self._headers(kind), method=method)
        try:
            with urllib.request.urlopen(
                request, timeout=_SECONDS, context=_trust(parts.scheme)
            ) as response:
                return json.loads(response.read() or b"{}")
        except urllib.error.HTTPError as error:
            body_of_error = error.read()
            if absent and (error.code == 404 or _is_of_missing_objects(error.code, body_of_error)):
                return None
            raise self._meaning(error, body_of_error, base, f"{method} {path}") from error
        except (OSError, ValueError) as error:
            trusted = os.environ.get("NEARFOLD_CA_CERTS")
            if remedy := certificate_remedy(parts.hostname or "", trusted, str(error)):
                raise StoreUnreachable(url=base, reason=str(error), remedy=remedy) from error
            raise StoreUnreachable(url=base, reason=str(error)) from error

    def _meaning(
        self, error: urllib.error.HTTPError, body: bytes, base: str, request: str
    ) -> StoreError | UsageError:
        """Return the error that an HTTP error means.

        A search engine, which has no such path, responds with 400.
        """
        if error.code in (401, 403):
            reason = f"{request}: {error.reason}"
            return StoreAccessDenied(url=base, status=error.code, reason=reason)
        if error.code == 400 and b"no handler found" in body:
            return UsageError(
                f"{base} is a search engine, not {_TITLES[self.product]}; give the address of "
                "that, often port 5601 of the same machine, or the name of a file to import there "
                "by hand"
            )
        return StoreError(
            f"{base} answered {request} with {error.code} {error.reason}; "
            "check what listens there, and its log"
        )

    def _headers(self, kind: str) -> dict[str, str]:
        content_type = {"Content-Type": kind} if kind else {}
        marker = "kbn-xsrf" if self.product == "kibana" else "osd-xsrf"
        return {marker: "true", **content_type, **_login(self.url), **self._tenant()}

    def _tenant(self) -> dict[str, str]:
        """Return the header with the tenant of OpenSearch Dashboards that the address names.

        Raises `UsageError` for another query in the address.
        """
        given = parse_qsl(parts_of(self.url).query, keep_blank_values=True)
        if not given:
            return {}
        ((name, tenant), *others) = given
        is_valid = tenant.isascii() and tenant.isprintable() and not others
        if self.product != "opensearch-dashboards" or name != "security_tenant" or not is_valid:
            raise UsageError(
                "the address of Dashboards may have ?security_tenant=NAME and nothing else after "
                "its path, that of Kibana nothing; correct it"
            )
        return {"securitytenant": tenant}


def _is_of_missing_objects(status: int, body: bytes) -> bool:
    """Return whether an export was refused because none of its objects is there."""
    try:
        objects = json.loads(body)["attributes"]["objects"] if status == 400 else []
        return bool(objects) and all(each["error"]["statusCode"] == 404 for each in objects)
    except (ValueError, KeyError, TypeError):
        return False


def _login(path: str) -> dict[str, str]:
    """Return the header with the credentials of the store: an API key, or user and password."""
    environment = os.environ
    user, _, node = parts_of(path).netloc.rpartition("@")
    if ":" in user:
        raise UsageError(
            "an address must not hold a password, because others can read it; "
            "set NEARFOLD_PASSWORD in the environment"
        )
    if key := secret("NEARFOLD_API_KEY", environment):
        return {"Authorization": f"ApiKey {key}"}
    name = user or environment.get("NEARFOLD_USER")
    given = password(environment, name, node)
    if not name or given is None:
        return {}
    return {"Authorization": "Basic " + b64encode(f"{name}:{given}".encode()).decode()}


def _trust(scheme: str) -> ssl.SSLContext | None:
    if scheme != "https":
        return None
    file = os.environ.get("NEARFOLD_CA_CERTS")
    if file:
        check_certificates(file)
    return ssl.create_default_context(cafile=file)
