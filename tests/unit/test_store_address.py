"""Addresses of engines, and sources of secrets."""

import base64
import sys

import keyring.backend
import keyring.core
import keyring.errors
import pytest

from indexer.errors import MissingExtra, StoreError, UsageError
from indexer.recipe import DEFAULT
from indexer.stores import open_store
from indexer.stores.address import parse_address
from indexer.stores.engine.opensearch import OpenSearchLink


def test_a_full_url():
    address = parse_address(
        "opensearch+https://ada%40x@[::1]:9201/proxy/path/docs?shards=3&replicas=0", {}
    )
    assert (address.hosts, address.tls, address.path, address.index) == (
        (("::1", 9201),),
        True,
        "/proxy/path",
        "docs",
    )
    assert (address.shards, address.replicas, address.user, address.password) == (
        3,
        0,
        "ada@x",
        None,
    )


def test_defaults():
    address = parse_address("elasticsearch://host/docs", {})
    assert (address.hosts, address.tls, address.path) == ((("host", 9200),), False, "")
    assert (address.shards, address.replicas, address.user, address.aws) == (None, None, None, None)


def test_several_nodes_of_one_cluster():
    address = parse_address("opensearch://ada@one:9201,two,[::1]:9203/docs", {})
    assert address.hosts == (("one", 9201), ("two", 9200), ("::1", 9203))
    assert address.user == "ada"


def test_secrets_come_from_the_environment():
    environment = {
        "NEARFOLD_USER": "ada",
        "NEARFOLD_PASSWORD": "secret",
        "NEARFOLD_API_KEY": "key",
        "NEARFOLD_CA_CERTS": "/ca.pem",
    }
    address = parse_address("opensearch://host/docs", environment)
    assert (address.user, address.password, address.api_key, address.ca_certs) == (
        "ada",
        "secret",
        "key",
        "/ca.pem",
    )
    assert parse_address("opensearch://eve@host/docs", environment).user == "eve"
    assert "secret" not in address.url


def test_an_empty_variable_is_as_one_that_is_not_set():
    url, empty = "opensearch+https://host/docs", {"NEARFOLD_USER": "", "NEARFOLD_CA_CERTS": ""}
    assert parse_address(url, empty) == parse_address(url, {})


def test_secrets_come_from_files_that_only_their_owner_can_read(tmp_path):
    file = tmp_path / "password"
    file.write_text("correct horse\nand nothing else\n", encoding="utf-8")
    for name, field in (("NEARFOLD_PASSWORD", "password"), ("NEARFOLD_API_KEY", "api_key")):
        environment = {"NEARFOLD_USER": "ada", f"{name}_FILE": str(file)}
        file.chmod(0o640)
        with pytest.raises(UsageError, match=f"chmod 600 {file}") as caught:
            parse_address("opensearch://host/docs", environment)
        assert "correct horse" not in str(caught.value)
        file.chmod(0o600)
        assert (
            getattr(parse_address("opensearch://host/docs", environment), field) == "correct horse"
        )
        with pytest.raises(UsageError, match="both set"):
            parse_address("opensearch://host/docs", {**environment, name: "x"})
        with pytest.raises(UsageError, match="cannot be read"):
            parse_address("opensearch://host/docs", {f"{name}_FILE": str(tmp_path / "absent")})


class Ring(keyring.backend.KeyringBackend):
    """Keyring in memory."""

    priority = 1

    def get_password(self, service, username):
        if service == "nearfold locked:9200":
            raise keyring.errors.KeyringLocked("locked")
        return {("nearfold one:9200,two", "ada"): "from the ring"}.get((service, username))

    def set_password(self, service, username, password):
        raise NotImplementedError


def test_a_password_comes_from_the_keyring(monkeypatch):
    monkeypatch.setattr(keyring.core, "_keyring_backend", Ring())
    assert parse_address("opensearch://ada@one:9200,two/docs", {}).password == "from the ring"
    assert parse_address("opensearch://eve@one:9200,two/docs", {}).password is None
    assert (
        parse_address("opensearch://ada@one:9200,two/docs", {"NEARFOLD_PASSWORD": "given"}).password
        == "given"
    )
    with pytest.raises(UsageError, match="unlock"):
        parse_address("opensearch://ada@locked:9200/docs", {})


@pytest.mark.parametrize(
    "environment",
    [{"NEARFOLD_AWS_SERVICE": "es"}, {"NEARFOLD_AWS_SERVICE": "s3", "AWS_REGION": "eu-north-1"}],
)
def test_aws_needs_a_service_and_a_region(environment):
    with pytest.raises(UsageError, match="AWS_REGION"):
        parse_address("opensearch://host/docs", environment)
    with pytest.raises(UsageError, match="opensearch://"):
        parse_address(
            "elasticsearch://host/docs", {"NEARFOLD_AWS_SERVICE": "es", "AWS_REGION": "eu-north-1"}
        )


@pytest.mark.parametrize(
    "url",
    [
        "opensearch://ada:hunter2@host/docs", "elasticsearch+https://ada:hunter2@host:1/docs",
        "opensearch://ada%3Ahunter2@host/docs",
        "opensearch://ada:/hunter2@host/docs", "opensearch://ada:1#hunter2@host/docs", "opensearch://ada:x?hunter2@host/docs",
        "opensearch://host/docs?password=hunter2", "opensearch://host/docs?shards=hunter2",
        "opensearch//ada:hunter2@host/docs",
        "postgres://ada:hunter2@host/docs", "opensearch://ada:hunter2@[host/docs",
    ],
)  # fmt: skip
def test_a_password_in_the_url_is_refused_and_not_repeated(url):
    with pytest.raises(UsageError) as caught:
        open_store(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "value", ["hunter2\r\nX-Other: 1", "hunter2\n", "hunter2\0", "hunter2\udcff"]
)
@pytest.mark.parametrize("name", ["NEARFOLD_PASSWORD", "NEARFOLD_API_KEY"])
def test_a_secret_that_no_header_can_hold_is_refused_and_not_repeated(name, value):
    with pytest.raises(UsageError, match=f"{name} holds a control character") as caught:
        parse_address("opensearch://ada@host/docs", {name: value})
    assert "hunter2" not in str(caught.value)


def test_a_key_is_in_ascii_and_a_password_in_any_script():
    with pytest.raises(UsageError, match="as the engine returned it"):
        parse_address("opensearch://host/docs", {"NEARFOLD_API_KEY": "schlüssel…"})
    where = parse_address("opensearch://ada@host/docs", {"NEARFOLD_PASSWORD": "schlüssel…"})
    link = OpenSearchLink(where)
    named = link._client.transport.connection_pool.connections[0].headers["authorization"]
    assert base64.b64decode(named.removeprefix("Basic ")).decode() == "ada:schlüssel…"


def test_a_file_that_is_no_text_is_not_quoted(tmp_path):
    file = tmp_path / "password"
    file.write_bytes(b"\xef\xbb\xbfcorrect horse\r\n")
    file.chmod(0o600)
    assert (
        parse_address("opensearch://ada@host/docs", {"NEARFOLD_PASSWORD_FILE": str(file)}).password
        == "correct horse"
    )
    file.write_bytes(b"\xfa\xce" * 32)
    with pytest.raises(UsageError, match="is not UTF-8 text") as caught:
        parse_address("opensearch://ada@host/docs", {"NEARFOLD_PASSWORD_FILE": str(file)})
    assert "0xfa" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "opensearch://host", "opensearch://host/", "opensearch:///docs", "opensearch://host/Docs", "opensearch://host/a,b",
        "opensearch://host/docs*", "opensearch://host/_all", "opensearch://host/-docs",
        "opensearch://host/" + "x" * 250,
        "opensearch://host,/docs", "opensearch://one,two:x/docs",
        "opensearch://host:notaport/docs", "opensearch://host:99999/docs", "opensearch://host/docs?shards=x",
        "opensearch://host/docs?password=x", "opensearch+http://host/docs",
        "opensearch+https+https://host/docs", "opensearch",
        "elasticsearch:/host/docs",
    ],
)  # fmt: skip
def test_what_cannot_be_opened(url):
    with pytest.raises(UsageError):
        open_store(url)


@pytest.mark.parametrize(
    "url",
    [
        "opensearch://host/docs#part", "elasticsearch+https://host/docs?shards=1#",
        "sqlite:///library.db#part", "sqlite:////data/library.db#", "sqlite://:memory:#part",
        "library#2.db", "library.db#part",
    ],
)  # fmt: skip
def test_a_fragment_is_refused(url):
    with pytest.raises(UsageError, match="has a part after #, which no store has; leave it out"):
        open_store(url)


def test_a_folder_of_a_store_may_have_a_number_sign_in_its_name():
    assert parse_address("/data/C# notes/library.db", {}).file == "/data/C# notes/library.db"


@pytest.mark.parametrize(
    ("scheme", "module"), [("opensearch", "opensearchpy"), ("elasticsearch+https", "elasticsearch")]
)
def test_a_client_that_is_not_installed(scheme, module, monkeypatch):
    adapter = f"indexer.stores.engine.{scheme.partition('+')[0]}"
    monkeypatch.delitem(sys.modules, adapter, raising=False)
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'nearfold\["):
        open_store(f"{scheme}://host/docs")
    monkeypatch.delitem(sys.modules, adapter, raising=False)


def test_a_relative_path_that_was_meant_to_be_absolute_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "here"
    folder.mkdir()
    for use in (lambda store: store.counts(), lambda store: store.prepare(DEFAULT)):
        with pytest.raises(StoreError, match=f"write four slashes: sqlite:///{folder}/x.db"):
            use(open_store(f"sqlite://{folder}/x.db"))
    with pytest.raises(StoreError) as error:
        open_store("sqlite:///absent/x.db").counts()
    assert "slashes" not in str(error.value)


def test_a_bare_file_name_is_a_store_if_it_ends_in_db() -> None:
    assert parse_address("/data/library.db", {}).url == "sqlite:////data/library.db"
    with pytest.raises(UsageError, match=r"use sqlite:////data/library for that file"):
        parse_address("/data/library", {})
