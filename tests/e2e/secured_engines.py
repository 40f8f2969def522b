"""Engines with logins, and the users of tests there."""

import base64
import contextlib
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import pytest
from pipelines import call
from servers import choosing, secured
from servers.engine import Engine
from servers.process import Server
from servers.proxy import basic
from servers.rights import RoleGate

from indexer.cli import main

PASSWORD = RoleGate.password


@dataclass(frozen=True)
class SecuredEngine:
    """An engine with logins. `store` is the URL of stores without the index, `root` the user that
    may do everything, with a password. Others have the name of their role, and a password or one
    of the `keys`.
    """

    url: str
    store: str
    root: str = ""
    password: str = PASSWORD
    tls: ssl.SSLContext | None = None
    keys: dict[str, str] = field(default_factory=dict)

    def call(self, method, path, body=None, user=None, **headers):
        """Return status and JSON of a request of `root`, or of another user."""
        login = basic(user or self.root, PASSWORD if user else self.password)
        if user in self.keys:
            login = f"ApiKey {self.keys[user]}"
        return call(method, f"{self.url}/{path}", body, login, self.tls, **headers)

    def environment(self, user):
        """Return the variables that log a user in."""
        if user in self.keys:
            return {"NEARFOLD_API_KEY": self.keys[user]}
        password = self.password if user == self.root else PASSWORD
        return {"NEARFOLD_USER": user, "NEARFOLD_PASSWORD": password}

    def run(self, user, words, index, capsys):
        """Run a command as a user; return its exit code, its output and its messages."""
        with pytest.MonkeyPatch.context() as environment:
            for name, value in self.environment(user).items():
                environment.setenv(name, value)
            code = main.run([*words, "--store", f"{self.store}/{index}"])
        streams = capsys.readouterr()
        return code, streams.out, streams.err

    def put(self, path, body):
        """Put a role or a user; return the answer."""
        status, answer = self.call("PUT", path, body)
        assert status in (200, 201), answer
        return answer

    def put_key(self, name, role):
        """Create a key of Elasticsearch with the rights of a role."""
        grants = {name: {part: role[part] for part in ("cluster", "indices")}}
        key = self.put("_security/api_key", {"name": name, "role_descriptors": grants})
        self.keys[name] = key["encoded"]

    def expire(self, user):
        """Let the key of a user expire now, or replace its password, where it has no key."""
        if user in self.keys:
            id, _, _ = base64.b64decode(self.keys[user]).decode().partition(":")
            self.put(f"_security/api_key/{id}", {"expiration": "1ms"})
        else:
            change = {"password": f"{PASSWORD}-2", "opendistro_security_roles": [user]}
            self.put(f"_plugins/_security/api/internalusers/{user}", change)


@contextlib.contextmanager
def secured_opensearch_server(engine: Engine = secured.ENGINE) -> Iterator[SecuredEngine]:
    """Yield OpenSearch with its security plugin and TLS, trusted by this process; `engine`: with
    more plugins.
    """
    make = partial(Server, engine)
    with choosing.running(make) as server, pytest.MonkeyPatch.context() as environment:
        authority = str(server.folder / "config" / secured.AUTHORITY)
        environment.setenv("NEARFOLD_CA_CERTS", authority)
        tls = ssl.create_default_context(cafile=authority)
        store = f"opensearch+https://127.0.0.1:{server.port}"
        yield SecuredEngine(server.url, store, "admin", secured.PASSWORD, tls)


def put_opensearch_user(engine, name, role):
    """Put a role, and a user of its name."""
    engine.put(f"_plugins/_security/api/roles/{name}", role)
    user = {"password": PASSWORD, "opendistro_security_roles": [name]}
    engine.put(f"_plugins/_security/api/internalusers/{name}", user)
