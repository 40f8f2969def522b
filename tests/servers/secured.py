"""OpenSearch with its security plugin: TLS, logins, roles, document-level security.

`admin` with `PASSWORD` may do everything, by the plugin's own configuration. Without credentials
nobody may do anything in `ENGINE`, and everybody everything in `OPEN`, which answers by http as
servers without security do: for tests that know nothing of logins.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import trustme
from cryptography.hazmat.primitives import serialization

from servers import maven, opensearch, plugins
from servers.engine import Launch
from servers.process import StartError

VERSION = plugins.VERSION
PASSWORD = "admin"
AUTHORITY = "authority.pem"
_PLUGIN = "opensearch-security"
_NAME = f"opensearch-{VERSION}-secured"
_COLLECTIONS = "org.apache.commons:commons-collections4:4.5.0"  # of a module that it extends
_READY = "/_plugins/_security/health?mode=strict"
_TLS = """plugins.security.ssl.{layer}.pemcert_filepath: node.pem
plugins.security.ssl.{layer}.pemkey_filepath: node.key
plugins.security.ssl.{layer}.pemtrustedcas_filepath: authority.pem
"""
_SETTINGS = """plugins.security.ssl.transport.enforce_hostname_verification: false
plugins.security.ssl.http.enabled: true
plugins.security.allow_default_init_securityindex: true
plugins.security.allow_unsafe_democertificates: false
plugins.security.restapi.roles_enabled: ["all_access"]
plugins.security.restapi.password_score_based_validation_strength: fair
"""
# file of the plugin's configuration, what it says, what makes it open
_OPEN = (
    ("config.yml", "anonymous_auth_enabled: false", "anonymous_auth_enabled: true"),
    (
        "roles_mapping.yml",
        'all_access:\n  reserved: false\n  backend_roles:\n  - "admin"\n',
        'all_access:\n  reserved: false\n  backend_roles:\n  - "admin"\n'
        '  - "opendistro_security_anonymous_backendrole"\n',
    ),
)


def install() -> Path:
    """Add the plugin to a copy of the server, once, and return its home."""
    return plugins.install(_PLUGIN, _NAME, _add_collections)


def _add_collections(home: Path) -> None:
    """Add a library without which no role may limit documents."""
    maven.copy(_COLLECTIONS, home / "plugins" / _PLUGIN)


def launch(home: Path, folder: Path, port: int) -> Launch:
    """Write a node's configuration, with a certificate of its own, and return its command."""
    command = opensearch.launch(home, folder, port, opensearch.Release(VERSION))
    config = folder / "config"
    shutil.copytree(home / "plugins" / _PLUGIN / "config", config / _PLUGIN, dirs_exist_ok=True)
    if not (config / AUTHORITY).exists():
        _write_certificates(config)
    tls = "".join(_TLS.format(layer=layer) for layer in ("transport", "http"))
    with (config / "opensearch.yml").open("a", encoding="utf-8") as settings:
        settings.write(tls + _SETTINGS)
    return command


def _write_certificates(config: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost", common_name="node")
    authority.cert_pem.write_to_path(str(config / AUTHORITY))
    (config / "node.pem").write_bytes(
        b"".join(part.bytes() for part in certificate.cert_chain_pems)
    )
    key = serialization.load_pem_private_key(certificate.private_key_pem.bytes(), None)
    (config / "node.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def launch_open(home: Path, folder: Path, port: int) -> Launch:
    """Write a configuration that lets requests without credentials do everything."""
    command = launch(home, folder, port)
    node = folder / "config" / "opensearch.yml"
    settings = node.read_text(encoding="utf-8")
    enabled = "plugins.security.ssl.http.enabled: "
    node.write_text(settings.replace(f"{enabled}true", f"{enabled}false"), encoding="utf-8")
    for name, old, new in _OPEN:
        file = folder / "config" / _PLUGIN / name
        text = file.read_text(encoding="utf-8")
        if old not in text:
            raise StartError(f"{file} has no {old.strip()}")
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return command


ENGINE = replace(
    opensearch.engine(VERSION),
    variable="NEARFOLD_TEST_SECURED_OPENSEARCH",
    ready=_READY,
    tls=True,
    install=install,
    launch=launch,
)
OPEN = replace(opensearch.ENGINE, ready=_READY, install=install, launch=launch_open)
