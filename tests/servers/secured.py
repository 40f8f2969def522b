"""Elasticsearch with its security switched on: users and roles from files, as the integration
distribution allows.

Its keys and its native users need analysis modules that this distribution lacks; the rights are
checked by the real security plugin.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from servers import elasticsearch
from servers.engine import Engine, Launch

PASSWORD = "correct horse"
_SALT = b"nearfold in tests"
_SETTINGS = """xpack.security.enabled: true
xpack.security.http.ssl.enabled: false
xpack.security.transport.ssl.enabled: false
xpack.security.authc.anonymous.roles: ready
"""


def engine(roles: Mapping[str, Any]) -> Engine:
    """Return an Elasticsearch with these roles and, for each, a user of the same name; `root` may
    do everything.
    """

    def launch(home: Path, folder: Path, port: int) -> Launch:
        command = elasticsearch.launch(home, folder, port)
        config = folder / "config"
        settings = (
            (config / "elasticsearch.yml")
            .read_text(encoding="utf-8")
            .replace("xpack.security.enabled: false\n", _SETTINGS)
        )
        (config / "elasticsearch.yml").write_text(settings, encoding="utf-8")
        all_roles = {**roles, "ready": {"cluster": ["monitor"]}}
        lines = (f"{name}: {json.dumps(body)}\n" for name, body in all_roles.items())
        (config / "roles.yml").write_text("".join(lines), encoding="utf-8")
        role_of_user = {"root": "superuser", **{name: name for name in roles}}
        (config / "users").write_text(
            "".join(f"{user}:{_password_hash()}\n" for user in role_of_user), encoding="utf-8"
        )
        (config / "users_roles").write_text(
            "".join(f"{role}:{user}\n" for user, role in role_of_user.items()), encoding="utf-8"
        )
        return command

    return replace(elasticsearch.ENGINE, launch=launch)


def _password_hash() -> str:
    """Return the password as the file realm stores it."""
    digest = hashlib.pbkdf2_hmac("sha512", PASSWORD.encode(), _SALT, 1000, 32)
    return f"{{PBKDF2}}1000${base64.b64encode(_SALT).decode()}${base64.b64encode(digest).decode()}"
