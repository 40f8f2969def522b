"""Where an engine is and who asks: the URL of the store, and what must not stand in it, from the
environment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from indexer.errors import UsageError
from indexer.stores.engine import passwords as secrets
from indexer.system.secrets import secret
from indexer.system.urls import without_login

PORT = 9200
_INDEX = re.compile(r'[^\s*?"<>|,#:/\\A-Z_+-][^\s*?"<>|,#:/\\A-Z]*')
_HOST = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]{2,45}", re.ASCII)
_AWS_SERVICES = ("es", "aoss")


@dataclass(frozen=True, slots=True)
class Address:
    """An engine's address. `hosts` are nodes of one cluster, host and port each.

    `path` is what a proxy puts in front of the engine's own paths, empty or with a leading slash.
    `aws`: service and region for which requests are signed, None when they are not.
    """

    url: str
    hosts: tuple[tuple[str, int], ...]
    tls: bool
    path: str
    index: str
    shards: int | None
    replicas: int | None
    user: str | None
    password: str | None
    api_key: str | None
    ca_certs: str | None
    aws: tuple[str, str] | None


def address(url: str, environment: Mapping[str, str]) -> Address:
    """Read `ENGINE[+https]://[user@]host[:9200][,host...][/path]/index[?shards=N&replicas=N]`.

    The password comes from NEARFOLD_PASSWORD, NEARFOLD_PASSWORD_FILE or the keyring, the user from
    the URL or NEARFOLD_USER; or else a key from NEARFOLD_API_KEY or NEARFOLD_API_KEY_FILE.
    NEARFOLD_CA_CERTS names a file of certificates to trust. NEARFOLD_AWS_SERVICE (`es` or `aoss`)
    asks for signed requests. Raises `UsageError`, never repeating a password.
    """
    parts = _parts(url)
    login, _, nodes = parts.netloc.rpartition("@")
    if ":" in unquote(login) or "@" in parts.path:
        raise UsageError(
            "a store URL must not hold a password: everybody may read it; set NEARFOLD_PASSWORD in the environment"
        )
    path, _, index = parts.path.rpartition("/")
    if not nodes or not _INDEX.fullmatch(index) or len(index.encode("utf-8", "replace")) > 240:
        told = without_login(url).partition("?")[0]
        raise UsageError(
            f"{told} names no index; write {parts.scheme}://host:{PORT}/index, the index in lower case"
        )
    settings = _settings(url, parts.query)
    user = unquote(login) or environment.get("NEARFOLD_USER")
    api_key = _api_key(environment)
    aws = _aws(url, environment)
    return Address(
        url=url,
        hosts=tuple(_node(url, one) for one in nodes.split(",")),
        tls=parts.scheme.endswith("+https"),
        path=path,
        index=index,
        shards=settings.get("shards"),
        replicas=settings.get("replicas"),
        user=user,
        password=secrets.password(environment, None if api_key or aws else user, nodes),
        api_key=api_key,
        ca_certs=environment.get("NEARFOLD_CA_CERTS"),
        aws=aws,
    )


def _api_key(environment: Mapping[str, str]) -> str | None:
    """The key, which goes into a header as it is: a client that cannot send it would repeat it in
    its error.
    """
    key = secret("NEARFOLD_API_KEY", environment)
    if key is not None and not (key.isascii() and key.isprintable()):
        raise UsageError(
            "NEARFOLD_API_KEY holds characters that no key has; set it as the engine gave it (base64)"
        )
    return key


def _parts(url: str) -> SplitResult:
    """The URL taken apart; its nodes are not looked at yet."""
    try:
        return urlsplit(url)
    except ValueError as error:
        raise UsageError(
            f"{without_login(url)!r} is not a URL ({error}); write ENGINE://host:{PORT}/index"
        ) from None


def _settings(url: str, query: str) -> dict[str, int]:
    """The settings of a new index."""
    given = dict(parse_qsl(query, keep_blank_values=True))
    for name, value in given.items():
        if name not in ("shards", "replicas") or not value.isdecimal() or len(value) > 9:
            told = without_login(url).partition("?")[0]
            raise UsageError(
                f"{name} in what follows {told}? is not known, or no number; write ?shards=N&replicas=N"
            )
    return {name: int(value) for name, value in given.items()}


def _node(url: str, node: str) -> tuple[str, int]:
    """Host and port of one node."""
    try:
        parts = urlsplit(f"//{node}")
        if parts.hostname and _HOST.fullmatch(parts.hostname):
            return parts.hostname, parts.port or PORT
    except ValueError:
        raise UsageError(
            f"{without_login(url)} has no valid port; write a number up to 65535 after the host"
        ) from None
    raise UsageError(
        f"{without_login(url)} names no host; write host:{PORT}, several of one cluster with commas between"
    )


def _aws(url: str, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Service and region for which requests are to be signed."""
    service = environment.get("NEARFOLD_AWS_SERVICE")
    if not service:
        return None
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if service not in _AWS_SERVICES or not region or not url.startswith("opensearch"):
        raise UsageError(
            "NEARFOLD_AWS_SERVICE is `es` (OpenSearch Service) or `aoss` (Serverless), needs AWS_REGION, and signs for an "
            "opensearch:// store; set both, or unset it"
        )
    return service, region
