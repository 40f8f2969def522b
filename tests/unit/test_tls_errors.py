"""What is said where TLS fails: the certificate, the host, and what to set."""

import socket
import ssl
from threading import Thread

import pytest
import trustme

from indexer.errors import StoreUnreachable, UsageError
from indexer.stores import open_store
from indexer.stores.engine import saved_objects

SCHEMES = pytest.mark.parametrize("scheme", ["opensearch+https", "elasticsearch+https"])


@pytest.fixture
def serve(tmp_path):
    """Return a function that starts a server with a certificate for a name, or without TLS, and
    returns its port and the file of the authority.
    """
    sockets = []

    def start(name):
        listener = socket.create_server(("127.0.0.1", 0))
        sockets.append(listener)
        authority = trustme.CA()
        file = tmp_path / "authority.pem"
        authority.cert_pem.write_to_path(str(file))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if name:
            authority.issue_cert(name).configure_cert(context)
        Thread(target=answer, args=(listener, context if name else None), daemon=True).start()
        return listener.getsockname()[1], file

    yield start
    for listener in sockets:
        listener.close()


def answer(listener, context):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        try:
            if context:
                context.wrap_socket(connection, server_side=True).close()
            else:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                connection.close()
        except OSError:
            connection.close()


def message(scheme, port):
    store = open_store(f"{scheme}://127.0.0.1:{port}/papers")
    try:
        with pytest.raises(StoreUnreachable) as caught:
            store.stored_recipe()
    finally:
        store.close()
    return str(caught.value)


@SCHEMES
def test_a_certificate_of_an_unknown_authority(serve, scheme):
    port, _ = serve("127.0.0.1")
    text = message(scheme, port)
    assert "the system's authorities do not vouch for the certificate of 127.0.0.1" in text
    assert "NEARFOLD_CA_CERTS" in text and "server runs" not in text


@SCHEMES
def test_a_certificate_that_the_file_does_not_vouch_for(serve, scheme, monkeypatch, tmp_path):
    port, _ = serve("127.0.0.1")
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    monkeypatch.setenv("NEARFOLD_CA_CERTS", str(other))
    assert f"{other} does not vouch for the certificate of 127.0.0.1" in message(scheme, port)


@SCHEMES
def test_a_certificate_of_another_host(serve, scheme, monkeypatch):
    port, file = serve("search.example")
    monkeypatch.setenv("NEARFOLD_CA_CERTS", str(file))
    text = message(scheme, port)
    assert "the certificate is of another host than 127.0.0.1" in text
    assert "NEARFOLD_CA_CERTS names authorities, and not hosts" in text


@SCHEMES
def test_a_server_without_tls(serve, scheme):
    port, _ = serve(None)
    plain = scheme.partition("+")[0]
    assert f"responds without TLS there: begin the URL with {plain}://" in message(scheme, port)


@SCHEMES
def test_a_file_of_certificates_that_is_missing_or_is_none(scheme, monkeypatch, tmp_path):
    file = tmp_path / "authority.pem"
    monkeypatch.setenv("NEARFOLD_CA_CERTS", str(file))
    with pytest.raises(UsageError, match=f"NEARFOLD_CA_CERTS={file} cannot be used .No such file"):
        open_store(f"{scheme}://127.0.0.1/papers")
    file.write_text("no certificate\n")
    with pytest.raises(UsageError, match="in PEM"):
        open_store(f"{scheme}://127.0.0.1/papers")


def test_certificates_of_dashboards_have_the_same_messages(serve, monkeypatch, tmp_path):
    port, file = serve("search.example")

    def error_of(kind):
        with pytest.raises(kind) as caught:
            saved_objects.put(f"https://127.0.0.1:{port}", "papers", "kibana", dry_run=True)
        return str(caught.value)

    assert "authorities do not vouch for the certificate of 127.0.0.1" in error_of(StoreUnreachable)
    monkeypatch.setenv("NEARFOLD_CA_CERTS", str(file))
    assert "certificate is of another host than 127.0.0.1" in error_of(StoreUnreachable)
    monkeypatch.setenv("NEARFOLD_CA_CERTS", str(tmp_path / "missing.pem"))
    assert "missing.pem cannot be used (No such file" in error_of(UsageError)
