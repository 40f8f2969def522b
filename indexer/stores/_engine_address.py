"""Where an engine is and who asks: the URL of the store, and what must not stand in it, from the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from indexer.errors import UsageError

PORT = 9200
_INDEX = re.compile(r'[^\s*?"<>|,#:/\\A-Z_+-][^\s*?"<>|,#:/\\A-Z]*')


@dataclass(frozen=True, slots=True)
class Address:
    """An engine's address. `path` is what a proxy puts in front of the engine's own paths, empty or with a leading slash."""

    url: str
    host: str
    port: int
    tls: bool
    path: str
    index: str
    shards: int | None
    replicas: int | None
    user: str | None
    password: str | None
    api_key: str | None
    ca_certs: str | None


def address(url: str, environment: Mapping[str, str]) -> Address:
    """Read `ENGINE[+https]://[user@]host[:9200][/path]/index[?shards=N&replicas=N]`.

    The password comes from NEARFOLD_PASSWORD, the user from the URL or NEARFOLD_USER; or else a key from NEARFOLD_API_KEY.
    NEARFOLD_CA_CERTS names a file of certificates to trust. Raises `UsageError`, never repeating a password.
    """
    parts = urlsplit(url)
    if parts.password is not None:
        raise UsageError(
            "a store URL must not hold a password: everybody may read it; set NEARFOLD_PASSWORD in the environment"
        )
    path, _, index = parts.path.rpartition("/")
    if not parts.hostname or not _INDEX.fullmatch(index) or len(index.encode()) > 240:
        raise UsageError(f"{url} names no index; write {parts.scheme}://host:{PORT}/index, the index in lower case")
    settings = _settings(url, parts.query)
    user = unquote(parts.username) if parts.username else environment.get("NEARFOLD_USER")
    return Address(
        url=url,
        host=parts.hostname,
        port=_port(url),
        tls=parts.scheme.endswith("+https"),
        path=path,
        index=index,
        shards=settings.get("shards"),
        replicas=settings.get("replicas"),
        user=user,
        password=environment.get("NEARFOLD_PASSWORD"),
        api_key=environment.get("NEARFOLD_API_KEY"),
        ca_certs=environment.get("NEARFOLD_CA_CERTS"),
    )


def _settings(url: str, query: str) -> dict[str, int]:
    """The settings of a new index."""
    given = dict(parse_qsl(query, keep_blank_values=True))
    for name, value in given.items():
        if name not in ("shards", "replicas") or not value.isdecimal():
            raise UsageError(f"{name}={value} in {url} is not known; write ?shards=N&replicas=N")
    return {name: int(value) for name, value in given.items()}


def _port(url: str) -> int:
    try:
        return urlsplit(url).port or PORT
    except ValueError:
        raise UsageError(f"{url} has no valid port; write a number up to 65535 after the host") from None
