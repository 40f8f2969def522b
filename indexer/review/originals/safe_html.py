"""HTML of strangers as HTML that runs, loads and sends nothing."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

import nh3

from indexer.review.originals.files import picture_type
from indexer.review.originals.mail import PICTURE_TYPES

_TAGS = frozenset((
    "a", "abbr", "address", "b", "bdi", "bdo", "blockquote", "br", "caption", "center", "cite",
    "code", "col", "colgroup", "dd", "del", "div", "dl", "dt", "em", "figcaption", "figure",
    "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "li", "mark", "ol", "p", "pre",
    "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "tt", "u", "ul", "var",
))  # fmt: skip
_ATTRIBUTES = {
    "*": {"dir", "lang"},
    "img": {"src", "alt"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "ol": {"start"},
}
_DATA = re.compile(rf"data:(?:{'|'.join(PICTURE_TYPES)});base64,[A-Za-z0-9+/=\s]*\Z")


def safe_html(html: str, pictures: Mapping[str, bytes] | None = None) -> str:
    """Return HTML of plain tags; scripts, styles, forms, links and addresses are left out.

    Pictures stay where they are in it as data, or by their `cid:` in `pictures`.

    >>> safe_html('<p onclick="x()">See <a href="https://a.example">this</a><script>1</script>')
    '<p>See <a>this</a></p>'
    """

    def keep(element: str, attribute: str, value: str) -> str | None:
        if (element, attribute) != ("img", "src"):
            return value
        if value.startswith("cid:") and pictures:
            return _inline(pictures.get(value[4:], b""))
        return value if _DATA.match(value) else None

    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=keep,
        url_schemes={"data", "cid"},
        link_rel=None,
    )


def _inline(data: bytes) -> str | None:
    kind = picture_type(data)
    return f"data:{kind};base64,{base64.b64encode(data).decode()}" if kind else None
