"""Who may read and who may label: logins from a file, a token of this run, or a reverse proxy.

On this machine alone nobody logs in. Browsers and programs log in by HTTP Basic: names and
passwords of a file, or any name with the token that the server printed. Passwords are kept as
scrypt digests. A proxy that has logged a user in passes the name in a header, which counts only on
connections from this machine and, where a secret is given, next to that secret.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from starlette.requests import Request

from indexer.errors import UsageError
from indexer.review.safety import App, Receive, Scope, Send, decode_headers, is_local, refuse
from indexer.system.files import write_whole

Role: TypeAlias = Literal["reviewer", "reader"]
ROLES: tuple[Role, ...] = ("reviewer", "reader")
LOGIN = "nearfold.login"  # of a request, in its scope
_COST, _BLOCK, _PARALLEL = 1 << 14, 8, 1  # of scrypt: 16 MB and some 50 ms
_DIGEST = re.compile("scrypt:[0-9a-f]{32}:[0-9a-f]{64}")
_REMEMBERED = 256  # passwords that were right
_MAX_CHECKED = 8  # passwords that wait to be checked; others are refused for now
PROXY_SECRET = "x-nearfold-proxy"  # the header of a proxy's secret
_ASK = ("www-authenticate", 'Basic realm="nearfold", charset="UTF-8"')
_NO_LOGIN = "log in with a name and a password that the server knows"
_TOO_MANY = "too many passwords are being checked; try again in a second"
_READ_ONLY = "this login is read-only and cannot label; ask for one with the role reviewer"


@dataclass(frozen=True, slots=True)
class Login:
    """Who sends a request. A `reader` changes nothing; the name is empty where nobody logs in."""

    name: str = ""
    role: Role = "reviewer"

    @property
    def may_write(self) -> bool:
        """Return whether labels may be changed."""
        return self.role == "reviewer"


@dataclass(frozen=True, slots=True)
class Account:
    """A name that may log in: its role, and the digest of its password, empty for none."""

    name: str
    role: Role
    digest: str


@dataclass(slots=True)
class Access:
    """The logins of a site.

    `accounts` are found by name. `header`: the header by which a proxy on this machine passes the
    name of a user; a name without an account is then a reviewer. `secret`: what the proxy sends in
    `x-nearfold-proxy`; without one, any process of this machine may name a user. `token`: a
    password for any name. Without any of them nobody logs in, and everybody is `nobody`.
    """

    accounts: Mapping[str, Account] = field(default_factory=dict)
    header: str = ""
    token: str = ""
    nobody: Login = field(default_factory=Login)
    secret: str = ""
    _right: dict[str, bytes] = field(default_factory=dict)

    @property
    def required(self) -> bool:
        """Return whether requests need a login."""
        return bool(self.accounts or self.header or self.token)

    def login(self, scope: Scope) -> Login | None:
        """Return who sends a request, None for one without a valid login."""
        login = self.quick_login(scope)
        if login is None and self.has_password(scope):
            return self.checked_login(scope)
        return login

    def has_password(self, scope: Scope) -> bool:
        """Return whether a request has a password that accounts may have."""
        return bool(self.accounts) and bool(_credentials(decode_headers(scope))[0])

    def quick_login(self, scope: Scope) -> Login | None:
        """Return who sends a request as far as no password has to be checked for it, else None."""
        if not self.required:
            return self.nobody
        headers = decode_headers(scope)
        if self.header and is_local(scope.get("client")) and self._is_proxy(headers):
            names = [name for name in headers.get(self.header.lower(), []) if name.strip()]
            if len(names) == 1:
                return self._named(names[0].strip())
        name, password = _credentials(headers)
        if self.token and _is_same(password.encode(), self.token.encode()):
            return Login(name)
        if _is_same(self._right.get(name, b""), _key(name, password)):
            return Login(name, self.accounts[name].role)
        return None

    def checked_login(self, scope: Scope) -> Login | None:
        """Return the login of the password of a request, None if it is wrong; takes some 50 ms.

        An unknown name takes as long as a known one. A password that was right is remembered by
        its digest.
        """
        name, password = _credentials(decode_headers(scope))
        account = self.accounts.get(name)
        digest = account.digest if account else ""
        is_right = matches(password, digest or _NOBODY) and bool(digest)
        if account is None or not is_right:
            return None
        if len(self._right) < _REMEMBERED:
            self._right[name] = _key(name, password)
        return Login(name, account.role)

    def _is_proxy(self, headers: Mapping[str, list[str]]) -> bool:
        if not self.secret:
            return True
        values = headers.get(PROXY_SECRET, [])
        return len(values) == 1 and _is_same(values[0].encode("latin-1"), self.secret.encode())

    def _named(self, name: str) -> Login:
        account = self.accounts.get(name)
        return Login(name, account.role if account else "reviewer")


class RequireLogin:
    """The layer that passes on only requests with a login, and changes only for reviewers.

    Passwords are checked one at a time in a thread of their own: wrong ones, however many, stop
    nobody who is logged in, and only so many can be tried.
    """

    def __init__(self, app: App, access: Access) -> None:
        self._app, self._access = app, access
        self._checker = ThreadPoolExecutor(1, "passwords")
        self._checking = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its login, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        login = self._access.quick_login(scope)
        if login is None and self._access.has_password(scope):
            if self._checking >= _MAX_CHECKED:
                await refuse(send, 429, _TOO_MANY, ("retry-after", "1"))
                return
            login = await self._check(scope)
        if login is None:
            await refuse(send, 401, _NO_LOGIN, _ASK)
        elif scope["method"] not in ("GET", "HEAD") and not login.may_write:
            await refuse(send, 403, _READ_ONLY)
        else:
            await self._app({**scope, LOGIN: login}, receive, send)

    async def _check(self, scope: Scope) -> Login | None:
        self._checking += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._checker, self._access.checked_login, scope)
        finally:
            self._checking -= 1


def login_of(request: Request) -> Login:
    """Return who sends a request."""
    login: Login = request.scope[LOGIN]
    return login


def hash_password(password: str) -> str:
    """Return the digest of a password, with a salt of its own."""
    salt = secrets.token_bytes(16)
    return f"scrypt:{salt.hex()}:{_scrypt(password, salt).hex()}"


def matches(password: str, digest: str) -> bool:
    """Return whether a digest is the digest of a password."""
    _, salt, expected = digest.split(":")
    return hmac.compare_digest(_scrypt(password, bytes.fromhex(salt)), bytes.fromhex(expected))


def read_accounts(path: Path) -> Mapping[str, Account]:
    """Return the accounts of a file by name: lines of NAME ROLE DIGEST, `-` for no password.

    Empty lines and those that begin with # are left out. Raises `UsageError`.
    """
    accounts = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read ({error}); check the path") from error
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            account = _account(line.split())
            if account is None or account.name in accounts:
                raise UsageError(
                    f"line {number} of {path} is malformed or repeats a name; remove it, "
                    f"then run: nearfold serve --auth {path} --add-login NAME"
                )
            accounts[account.name] = account
    return accounts


def add_account(path: Path, name: str, role: Role, password: str) -> None:
    """Write an account to a file, instead of one of that name; its other lines stay.

    Only the owner may read a new file; one that exists keeps its mode, and a link stays one.
    Raises `UsageError` for a name with white space or a colon, a password of fewer than 8
    characters, and a file that cannot be read or written.
    """
    if not name or name.startswith("#") or ":" in name or len(name.split()) != 1:
        raise UsageError(f"{name!r} is no name for a login; leave out white space and colons")
    if len(password) < 8:
        raise UsageError("a password has at least 8 characters; choose a longer one")
    file = path.resolve()
    lines = []
    mode = 0o600
    if file.exists():
        read_accounts(file)
        mode = file.stat().st_mode & 0o777
        lines = file.read_text(encoding="utf-8").splitlines()
    account = f"{name} {role} {hash_password(password)}"
    names = [line.split()[0] if line.strip() else "" for line in lines]
    if name in names:
        lines[names.index(name)] = account
    else:
        lines.append(account)
    with write_whole(file, "--auth") as part:
        part.touch(mode=0o600)
        part.chmod(mode)
        part.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _account(words: list[str]) -> Account | None:
    """Return the account of the words of a line, None if they are none."""
    if len(words) != 3 or words[1] not in ROLES or ":" in words[0]:
        return None
    name, role, digest = words
    if digest != "-" and not _DIGEST.fullmatch(digest):
        return None
    known: Role = "reader" if role == "reader" else "reviewer"
    return Account(name, known, "" if digest == "-" else digest)


def _credentials(headers: Mapping[str, list[str]]) -> tuple[str, str]:
    """Return name and password of the `Authorization` header, empty without a valid one."""
    values = headers.get("authorization", [])
    scheme, _, encoded = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return "", ""
    name, colon, password = decoded.partition(":")
    return (name, password) if colon and scheme.lower() == "basic" else ("", "")


def _key(name: str, password: str) -> bytes:
    return hashlib.sha256(f"{name}\0{password}".encode()).digest()


def _is_same(a: bytes, b: bytes) -> bool:
    return hmac.compare_digest(a, b)


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_PARALLEL, dklen=32)


_NOBODY = f"scrypt:{bytes(16).hex()}:{bytes(32).hex()}"
