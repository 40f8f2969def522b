"""Requests to a site without a browser."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.body = response.status, response.headers, response.read()


def request(
    site: str, path: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> Answer:
    connection = http.client.HTTPConnection(urlsplit(site).netloc, timeout=30)
    try:
        connection.request(
            method, path, body, {name.replace("_", "-"): value for name, value in headers.items()}
        )
        return Answer(connection.getresponse())
    finally:
        connection.close()
