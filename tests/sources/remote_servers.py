"""Servers on loopback that support reading by S3 and SFTP, over the files of a folder."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

_WHEN = "2024-01-31T12:00:00.000Z"
_HTTP_WHEN = "Wed, 31 Jan 2024 12:00:00 GMT"


@contextmanager
def s3_server(root: Path) -> Iterator[str]:
    """Yield the address of an S3 server whose buckets are the folders in `root`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_S3,), {"root": root}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class _S3(BaseHTTPRequestHandler):
    root: Path
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {
            name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()
        }
        bucket, _, key = unquote(url.path).lstrip("/").partition("/")
        if not key:
            self._answer(
                200,
                self._listing(bucket, query.get("prefix", ""), query.get("delimiter", "")).encode(),
            )
            return
        place = self.root / bucket / key
        if not place.is_file():
            self._answer(
                404, b"<Error><Code>NoSuchKey</Code><Message>It is not there.</Message></Error>"
            )
            return
        data, part = place.read_bytes(), self.headers.get("Range")
        if part is None:
            self._answer(200, data)
            return
        first, last = (
            int(end) if end else len(data) - 1 for end in part.removeprefix("bytes=").split("-")
        )
        self._answer(
            206,
            data[first : last + 1],
            {"Content-Range": f"bytes {first}-{min(last, len(data) - 1)}/{len(data)}"},
        )

    do_HEAD = do_GET  # noqa: N815

    def _listing(self, bucket: str, prefix: str, delimiter: str) -> str:
        files = sorted(path for path in (self.root / bucket).rglob("*") if path.is_file())
        keys = [path.relative_to(self.root / bucket).as_posix() for path in files]
        files_listed, folders = [], set()
        for path, key in zip(files, keys, strict=True):
            rest = key.removeprefix(prefix)
            if key.startswith(prefix) and delimiter and delimiter in rest:
                folders.add(prefix + rest.partition(delimiter)[0] + delimiter)
            elif key.startswith(prefix):
                files_listed.append((key, path.stat().st_size))
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{_WHEN}</LastModified><ETag>x</ETag><Size>{size}</Size></Contents>"
            for key, size in files_listed
        ) + "".join(
            f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
            for name in sorted(folders)
        )
        count = len(files_listed) + len(folders)
        head = f"<KeyCount>{count}</KeyCount><IsTruncated>false</IsTruncated>"
        return f"<ListBucketResult>{head}{contents}</ListBucketResult>"

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        all_headers = {
            "Content-Length": str(len(body)),
            "Last-Modified": _HTTP_WHEN,
            "ETag": '"x"',
            "Content-Type": "text/plain",
        }
        for name, value in {**all_headers, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def sftp_server(root: Path, user: str, password: str) -> Iterator[int]:
    """Yield the port of an SFTP server on which this user may read the files in `root`."""
    import paramiko

    class Files(paramiko.SFTPServerInterface):
        def list_folder(self, path: str) -> list[paramiko.SFTPAttributes] | int:
            return [
                paramiko.SFTPAttributes.from_stat(file.stat(), file.name)
                for file in self._at(path).iterdir()
            ]

        def stat(self, path: str) -> paramiko.SFTPAttributes | int:
            try:
                return paramiko.SFTPAttributes.from_stat(self._at(path).stat())
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno or 0)

        lstat = stat

        def open(self, path: str, flags: int, attr: object) -> paramiko.SFTPHandle | int:
            if flags & (os.O_WRONLY | os.O_RDWR):
                return paramiko.SFTP_PERMISSION_DENIED
            handle = paramiko.SFTPHandle(flags)
            handle.readfile = self._at(path).open("rb")
            return handle

        def _at(self, path: str) -> Path:
            return root / self.canonicalize(path).lstrip("/")

    class Login(paramiko.ServerInterface):
        def check_auth_password(self, username: str, offered: str) -> int:
            return (
                paramiko.AUTH_SUCCESSFUL
                if (username, offered) == (user, password)
                else paramiko.AUTH_FAILED
            )

        def check_channel_request(self, kind: str, number: int) -> int:
            return paramiko.OPEN_SUCCEEDED

    listener, key, transports = (
        socket.create_server(("127.0.0.1", 0)),
        paramiko.RSAKey.generate(2048),
        [],
    )

    def accept() -> None:
        with suppress(OSError):
            while True:
                transport = paramiko.Transport(listener.accept()[0])
                transports.append(transport)
                transport.add_server_key(key)
                transport.set_subsystem_handler("sftp", paramiko.SFTPServer, Files)
                with suppress(paramiko.SSHException, EOFError):
                    transport.start_server(server=Login())

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)
    for transport in transports:
        transport.close()
