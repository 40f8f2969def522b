"""The text of HTML, by Beautiful Soup: the one file that imports it."""

from __future__ import annotations

import re
import warnings

from indexer.errors import MissingExtra

_DECLARATION = re.compile("<!(?!--)")


def without_markup(text: str) -> str:
    """Return the character data of an HTML text, with character references resolved.

    There are no tags, comments, scripts or styles in it. Python's own HTML parser does the work,
    through Beautiful Soup, as in copietje; broken markup is read as the running Python release
    reads it. Nothing is put in place of a tag: `a<br>b` becomes `ab`. Where the parser fails on a
    malformed declaration (`<![x`), declarations are read as text, and at last comments too. In
    older Python releases it takes quadratic time for text that opens tags or comments and never
    closes them.

    Raises `MissingExtra` without Beautiful Soup.

    >>> without_markup("<p>Fish &amp; <b>chips</b></p><script>no()</script>")
    'Fish & chips'
    """
    for attempt in (text, _DECLARATION.sub("&lt;!", text), text.replace("<!", "&lt;!")):
        data = _character_data(attempt)
        if data is not None:
            return data
    return text


def _character_data(text: str) -> str | None:
    """Return the character data; None when the parser fails."""
    try:
        import bs4
    except ImportError:
        raise MissingExtra(package="beautifulsoup4", extra="text") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs4.MarkupResemblesLocatorWarning)
        warnings.simplefilter("ignore", bs4.XMLParsedAsHTMLWarning)
        try:
            return bs4.BeautifulSoup(text, features="html.parser").get_text()
        except bs4.ParserRejectedMarkup:
            return None
