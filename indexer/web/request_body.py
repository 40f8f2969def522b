"""The values in the address and the body of a request; limits of size and time, and the token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from indexer.errors import UsageError
from indexer.text.phrases import well_formed
from indexer.web.questions import MOST_BYTES
from indexer.web.safety import TOKEN_FIELD, TOKEN_HEADER, TokenRefusal, is_same_token

TIMEOUT_SECONDS = 30  # for a whole body
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"


def query_texts(request: Request) -> Mapping[str, list[str]]:
    """Return the parameters in the address of a request.

    Lone surrogates, which no stored text holds, are replaced.
    """
    texts: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        texts.setdefault(name, []).append(well_formed(value))
    return texts


async def read_body(request: Request, most: int = MOST_BYTES) -> bytes:
    """Return all bytes of a body.

    Raises `HTTPException`: 413 beyond `most` bytes, 400 when the client disconnects, 408 after 30
    seconds, 503 when the server stops.
    """
    try:
        return await asyncio.wait_for(_read(request, most), TIMEOUT_SECONDS)
    except asyncio.TimeoutError:
        message = f"the request was not complete within {TIMEOUT_SECONDS} s; send it again"
        raise HTTPException(408, message) from None
    except ClientDisconnect:
        raise HTTPException(400, "the client disconnected before the request ended") from None
    except asyncio.CancelledError:
        # A client that is still sending must not keep the server from stopping.
        raise HTTPException(503, "the server is shutting down; try again later") from None


async def _read(request: Request, most: int) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise HTTPException(413, f"the request is longer than {most:,} bytes; send less")
    return bytes(body)


async def read_fields(
    request: Request, token: str, most: int = MOST_BYTES
) -> Mapping[str, Sequence[str]]:
    """Return the values in the body of a request without the token, which must be right.

    Raises as `read_body`, `parse_body` and `check_token` do.
    """
    body = await read_body(request, most)
    fields = parse_body(body, request.headers.get("content-type", ""))
    check_token(fields, request.headers.get(TOKEN_HEADER, ""), token)
    return {name: items for name, items in fields.items() if name != TOKEN_FIELD}


def parse_body(body: bytes, content_type: str) -> Mapping[str, Sequence[str]]:
    """Return the values of a form or of a JSON object, as strings by name. Raises `UsageError`.

    >>> parse_body(b'{"id": ["a"], "family": true}', "application/json")
    {'id': ['a'], 'family': ['yes']}
    """
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if kind == _FORM:
            return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=1000)
        if kind == _JSON:
            return _parse_object(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the request cannot be parsed: {error}") from error
    raise UsageError(f"send a JSON object as {_JSON}")


def _parse_object(value: Any) -> Mapping[str, Sequence[str]]:
    if not isinstance(value, dict):
        raise UsageError(f"send a JSON object as {_JSON}")
    lists = {name: item if isinstance(item, list) else [item] for name, item in value.items()}
    return {name: list(map(_to_string, items)) for name, items in lists.items()}


def _to_string(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (str, int, float)):
        raise UsageError("values are strings, numbers, true or false, or lists of them")
    return str(value)


def check_token(fields: Mapping[str, Sequence[str]], header: str, token: str) -> None:
    """Raise `TokenRefusal` unless the header or the form carries the token of this process."""
    candidates = (header, *fields.get(TOKEN_FIELD, ()))
    if not any(is_same_token(candidate, token) for candidate in candidates):
        raise TokenRefusal(
            "this page is from another run of nearfold serve; load it again, then repeat"
        )
