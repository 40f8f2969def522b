"""The address of a store: its URL, parsed once, with the credentials that the environment gives."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from indexer.errors import UsageError
from indexer.system.credentials import secret, without_login

Kind: TypeAlias = Literal["sqlite", "opensearch", "elasticsearch"]

PORT = 9200
MEMORY = ":memory:"
_SQLITE = "sqlite://"
_ENGINES: Mapping[str, Kind] = {
    "opensearch": "opensearch",
    "opensearch+https": "opensearch",
    "elasticsearch": "elasticsearch",
    "elasticsearch+https": "elasticsearch",
}
_ENGINE_SPELLINGS = (
    "opensearch://HOST:PORT/INDEX, opensearch+https://..., "
    "elasticsearch://... or elasticsearch+https://..."
)
_INDEX = re.compile(r'[^\s*?"<>|,#:/\\%A-Z_+-][^\s*?"<>|,#:/\\%A-Z]*')
_HOST = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]{2,45}", re.ASCII)
_AWS_SERVICES = ("es", "aoss")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """The address of a store: a SQLite file, or an index in a search engine.

    `url` is the URL as the user wrote it, which holds no password. `location` is the same without
    user and options. `file` is None for an engine and `:memory:` for a store in memory.

    The other fields are for an engine. `hosts` are nodes of one cluster, host and port each.
    `path` is the prefix that a proxy expects before the engine's own paths, empty or with a leading
    slash. `shards` and `replicas` are for an index that is created; None leaves them to the engine.
    `aws`: service and region for which requests are signed, None when they are not.
    """

    kind: Kind
    url: str
    location: str
    file: str | None = None
    hosts: tuple[tuple[str, int], ...] = ()
    tls: bool = False
    path: str = ""
    index: str = ""
    shards: int | None = None
    replicas: int | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    ca_certs: str | None = None
    aws: tuple[str, str] | None = None

    @property
    def is_sqlite(self) -> bool:
        """Return whether the store is a SQLite file, or in memory."""
        return self.file is not None

    def is_same_store(self, other: StoreAddress) -> bool:
        """Return whether both name one store; options for new indices and users do not count."""
        return self._identity() == other._identity()

    def is_named_by(self, url: str) -> bool:
        """Return whether a text is the URL of this store, as `is_same_store` compares."""
        return is_store_url(url) and self.is_same_store(parse_address(url))

    def _identity(self) -> tuple[object, ...]:
        if self.file is None:
            return self.kind, self.tls, self.hosts, self.path, self.index
        return self.kind, self.file if self.file == MEMORY else os.path.realpath(self.file)


def is_store_url(url: str) -> bool:
    """Return whether a text has the scheme of a store's URL; the rest of it is not checked."""
    scheme, colon, _ = url.partition("://")
    return bool(colon) and (scheme == "sqlite" or scheme in _ENGINES)


def parse_address(url: str, environment: Mapping[str, str] | None = None) -> StoreAddress:
    """Parse `sqlite:///FILE` or `ENGINE[+https]://[user@]host[:9200][,host...][/path]/index`.

    A text without a scheme that ends in `.db` names a file of SQLite. `environment` is the
    process's by default; see `_parse_engine` for what it holds. Raises `UsageError`, never
    repeating a password.

    >>> parse_address("sqlite:///library.db").file
    'library.db'
    >>> parse_address("library.db").url
    'sqlite:///library.db'
    >>> parse_address("opensearch://host/docs", {}).hosts
    (('host', 9200),)
    """
    if "://" not in url and url.endswith(".db"):
        url = f"{_SQLITE}/{url}"
    if not is_store_url(url):
        printable = without_login(url)
        if "://" not in url and "#" in url.rpartition("/")[2]:
            raise _fragment_error(printable, _WITHOUT_FRAGMENT)
        file = "sqlite:///FILE" if "://" in url else f"sqlite:///{printable} for that file"
        raise UsageError(f"{printable} is not a store; use {file}, {_ENGINE_SPELLINGS}")
    if url.startswith(_SQLITE):
        return StoreAddress("sqlite", url, _location(url), _sqlite_file(url))
    return _parse_engine(url, os.environ if environment is None else environment)


def _location(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"


def _sqlite_file(url: str) -> str:
    """Return the file that a SQLite URL names, `:memory:` for none.

    Nothing in it is decoded; `~` is the home folder. Raises `UsageError` when it names no file, and
    for a fragment: a `#` in the name of the file. Names of folders may hold one.
    """
    rest = url.removeprefix(_SQLITE)
    if "#" in rest.rpartition("/")[2]:
        raise _fragment_error(url, _WITHOUT_FRAGMENT)
    if rest in ("", MEMORY, f"/{MEMORY}"):
        return MEMORY
    if not rest.startswith("/") or rest == "/":
        raise UsageError(
            f"{url} names no file; write sqlite:///relative.db or sqlite:////absolute.db"
        )
    return str(Path(rest[1:]).expanduser())


def _parse_engine(url: str, environment: Mapping[str, str]) -> StoreAddress:
    """Parse `ENGINE[+https]://[user@]host[:9200][,host...][/path]/index[?shards=N&replicas=N]`.

    The password comes from NEARFOLD_PASSWORD, NEARFOLD_PASSWORD_FILE or the keyring, the user from
    the URL or NEARFOLD_USER; or else a key from NEARFOLD_API_KEY or NEARFOLD_API_KEY_FILE.
    NEARFOLD_CA_CERTS names a file of certificates to trust. NEARFOLD_AWS_SERVICE (`es` or `aoss`)
    asks for signed requests.
    """
    parts = _split(url)
    login, nodes = _login(parts)
    path, _, index = parts.path.rpartition("/")
    if not nodes or not _is_index_name(index):
        raise UsageError(
            f"{_printable(url)} names no index; "
            f"write {parts.scheme}://host:{PORT}/index, the index in lower case; "
            "for several indices, the name of an alias of them"
        )
    options = _index_options(url, parts.query)
    user = login or environment.get("NEARFOLD_USER") or None
    api_key = _api_key(environment)
    kind = _ENGINES[url.partition("://")[0]]
    aws = _aws(kind, environment)
    return StoreAddress(
        kind=kind,
        url=url,
        location=_location(url),
        hosts=tuple(_node(url, node) for node in nodes.split(",")),
        tls=parts.scheme.endswith("+https"),
        path=path,
        index=index,
        shards=options.get("shards"),
        replicas=options.get("replicas"),
        user=user,
        password=password(environment, None if api_key or aws else user, nodes),
        api_key=api_key,
        ca_certs=environment.get("NEARFOLD_CA_CERTS") or None,
        aws=aws,
    )


def _login(parts: SplitResult) -> tuple[str, str]:
    """Return the user and the nodes; raise `UsageError` for a URL with a password."""
    login, _, nodes = parts.netloc.rpartition("@")
    user = unquote(login)
    if ":" in user or "@" in parts.path:
        raise UsageError(
            "a store URL must not hold a password, because others can read it; "
            "set NEARFOLD_PASSWORD in the environment"
        )
    return user, nodes


def _is_index_name(name: str) -> bool:
    return bool(_INDEX.fullmatch(name)) and len(name.encode("utf-8", "replace")) <= 240


def _printable(url: str) -> str:
    """Return the URL for a message, without login and options."""
    return without_login(url).partition("?")[0]


def _split(url: str) -> SplitResult:
    """Split the URL; its nodes are not checked yet."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(
            f"{without_login(url)!r} is not a URL ({error}); write ENGINE://host:{PORT}/index"
        ) from None
    if "#" in url:
        raise _fragment_error(without_login(url), "leave it out")
    return parts


_WITHOUT_FRAGMENT = "leave it out, or rename a file that has # in its name"


def _fragment_error(url: str, remedy: str) -> UsageError:
    return UsageError(f"{url} has a part after #, which no store has; {remedy}")


def _index_options(url: str, query: str) -> dict[str, int]:
    """Return the options of a new index by name."""
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name, value in options.items():
        if name not in ("shards", "replicas") or not value.isdecimal() or len(value) > 9:
            raise UsageError(
                f"{name} after {_printable(url)}? is unknown, or not a number; "
                "write ?shards=N&replicas=N"
            )
    return {name: int(value) for name, value in options.items()}


def _node(url: str, node: str) -> tuple[str, int]:
    """Return host and port of one node."""
    try:
        parts = urlsplit(f"//{node}")
        if parts.hostname and _HOST.fullmatch(parts.hostname):
            return parts.hostname, parts.port or PORT
    except ValueError:
        raise UsageError(
            f"{without_login(url)} has no valid port; write a number up to 65535 after the host"
        ) from None
    raise UsageError(
        f"{without_login(url)} names no host; write host:{PORT}, separate several hosts of one "
        "cluster by commas"
    )


def _api_key(environment: Mapping[str, str]) -> str | None:
    """Return the API key, if there is one.

    It goes into a header unchanged. One that a client cannot send is refused here, because the
    client would repeat it in its error.
    """
    key = secret("NEARFOLD_API_KEY", environment)
    if key is not None and not (key.isascii() and key.isprintable()):
        raise UsageError(
            "NEARFOLD_API_KEY contains characters that are invalid in a key; set it as the engine "
            "returned it (base64)"
        )
    return key


def _aws(kind: Kind, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Return service and region for which requests are to be signed, None when they are not."""
    service = environment.get("NEARFOLD_AWS_SERVICE")
    if not service:
        return None
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if service not in _AWS_SERVICES or not region or kind != "opensearch":
        raise UsageError(
            "NEARFOLD_AWS_SERVICE is `es` (OpenSearch Service) or `aoss` (Serverless), needs "
            "AWS_REGION and an opensearch:// store; set both, or unset it"
        )
    return service, region


def password(environment: Mapping[str, str], user: str | None, path: str) -> str | None:
    """Return the password of a user; None when nobody has one.

    It is the `secret`, else what the keyring holds for the service `nearfold PLACE`. The keyring is
    read only where there is a user and the package `keyring` is installed.
    """
    from_secret = secret("NEARFOLD_PASSWORD", environment)
    if from_secret is not None or user is None:
        return from_secret
    return _in_keyring(f"nearfold {path}", user)


def _in_keyring(service: str, user: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError, NoKeyringError
    except ModuleNotFoundError:
        return None
    try:
        return keyring.get_password(service, user)
    except NoKeyringError:
        return None
    except KeyringError as error:
        raise UsageError(
            f"the keyring gives no password ({error}); unlock it, or set NEARFOLD_PASSWORD_FILE"
        ) from error
