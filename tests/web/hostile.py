"""Documents with attacks on the browser in text, title, path, labels, metadata and id."""

from __future__ import annotations

from dataclasses import replace

from sample_library import rows, sentence

from indexer.documents.base import message_hash
from indexer.model import Row

ELSEWHERE = "http://elsewhere.invalid"
PAYLOADS = (
    "<script>alert(1);pwned=1</script>",
    "<img src=x onerror=alert(1)>",
    f'"><img src="{ELSEWHERE}/a.png" onload=alert(1)>',
    "'\"/><svg onload=alert(1)>",
    "</title><script>alert(1)</script>",
    "</textarea></style></script><script>alert(1)</script>",
    "<a href=javascript:alert(1) autofocus onfocus=alert(1)>x</a>",
    f"<iframe src={ELSEWHERE}></iframe>",
    f"<link rel=stylesheet href={ELSEWHERE}/a.css><style>@import url({ELSEWHERE}/b.css)</style>",
    f"<meta http-equiv=refresh content='0;url={ELSEWHERE}'>",
    f"<base href={ELSEWHERE}/><form action={ELSEWHERE}><button autofocus>",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}${7*7}#{7*7}",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "<math><mtext><table><mglyph><style><!--</style>"
    "<img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "\u202egnp.exe\u2066\u200b\x00\x1b[31m\u2028alert(1)",
    "&lt;script&gt;alert(1)&lt;/script&gt;&#60;img src=x onerror=alert(1)&#62;",
    "<template shadowrootmode=open><script>alert(1)</script></template>",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
)

_IN_THREAD = {"references": "<hostile@x>", "thread": message_hash("<hostile@x>")}


def hostile_rows() -> list[Row]:
    """Return a family of documents, each with another payload in every field that pages show."""
    shared = sentence(11, 80)
    plain_rows = rows(
        {
            f"hostile{place}": f"{payload} {shared} {payload}"
            for place, payload in enumerate(PAYLOADS)
        }
    )
    return [_with_payload(row, payload) for row, payload in zip(plain_rows, PAYLOADS, strict=True)]


def _with_payload(row: Row, payload: str) -> Row:
    id = f"{row.id} {payload}"
    return replace(
        row,
        id=id,
        family=id,
        title=payload,
        path=f"/library/{payload}/{payload}",
        content_type=payload,
        labels=(payload, "hostile"),
        metadata={payload: payload, "author": payload, "from": payload, **_IN_THREAD},
        extractor=payload,
    )
