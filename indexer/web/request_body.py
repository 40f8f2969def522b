"""The body of a request, bounded, from clients that may be slow, leave, or never end."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from indexer.web.actions import MOST_BYTES

PATIENCE_SECONDS = 30


async def body_of(request: Request) -> bytes:
    """All bytes of a body.

    Raises `HTTPException`: 413 beyond `MOST_BYTES`, 400 from who left, 408 after 30 seconds, 503
    when the server ends.
    """
    try:
        return await asyncio.wait_for(_read(request), PATIENCE_SECONDS)
    except asyncio.TimeoutError:
        raise HTTPException(
            408, f"the request did not come to its end within {PATIENCE_SECONDS} s"
        ) from None
    except ClientDisconnect:
        raise HTTPException(400, "the request broke off") from None
    except (
        asyncio.CancelledError
    ):  # whoever is still sending then must not keep the server, and is no fault of its
        raise HTTPException(503, "the server is being ended") from None


async def _read(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"a request may have {MOST_BYTES:,} bytes")
    return body
