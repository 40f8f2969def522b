"""A gate that requires requests signed by AWS Signature Version 4, as managed OpenSearch does.

The signature is computed from the published rules with the standard library alone.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from servers.proxy import Gate, GateRequest

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<day>\d{8})/(?P<region>[^/]+)/"
    r"(?P<service>[^/]+)/aws4_request, "
    r"SignedHeaders=(?P<headers>[a-z0-9;-]+), Signature=(?P<signature>[0-9a-f]{64})"
)


class AwsGate(Gate):
    """A gate for requests signed with this key for this region and service; 403 for others, as AWS
    answers.
    """

    key = "AKIDEXAMPLE"
    secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    token = "a session token"
    region = "eu-north-1"
    service = "es"

    def refusal(self, request: GateRequest) -> tuple[int, str] | None:
        """Return the refusal of a request without a valid signature."""
        match = _AUTHORIZATION.fullmatch(request.authorization)
        if match is None:
            return 403, "Missing Authentication Token"
        credential = (match["key"], match["region"], match["service"])
        if credential != (self.key, self.region, self.service):
            return 403, "Credential should be scoped to a valid region and service"
        signed = match["headers"].split(";")
        has_token = request.headers.get("X-Amz-Security-Token") == self.token
        if not has_token or not {"host", "x-amz-date"} <= set(signed):
            return 403, "The security token included in the request is invalid."
        if request.headers.get("X-Amz-Content-SHA256") != hashlib.sha256(request.body).hexdigest():
            return 403, "The provided x-amz-content-sha256 does not match what was computed."
        headers = {name: request.headers.get(name, "") for name in signed}
        scope = (match["day"], self.region, self.service, "aws4_request")
        if signature(request, headers, self.secret, scope) != match["signature"]:
            return (
                403,
                "The request signature we calculated does not match the signature you provided.",
            )
        return None


def signature(
    request: GateRequest, headers: Mapping[str, str], secret: str, scope: Sequence[str]
) -> str:
    """Return the signature of a request over these headers, 64 hexadecimal digits."""
    parts = urlsplit(request.path)
    query = sorted(
        (_requote(name), _requote(value))
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    )
    canonical = [
        request.method,
        quote(parts.path, safe="/~"),
        "&".join(f"{name}={value}" for name, value in query),
        *(f"{name}:{' '.join(headers[name].split())}" for name in sorted(headers)),
        "",
        ";".join(sorted(headers)),
        hashlib.sha256(request.body).hexdigest(),
    ]
    digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], "/".join(scope), digest])
    key = f"AWS4{secret}".encode()
    for part in (*scope, text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


def _requote(text: str) -> str:
    return quote(unquote(text), safe="~")
