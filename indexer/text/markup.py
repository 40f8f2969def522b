"""Text out of HTML, through Beautiful Soup: the one file that imports it."""

from __future__ import annotations

import re
import warnings

from indexer.errors import MissingExtra

_DECLARATION = re.compile("<!(?!--)")


def without_markup(text: str) -> str:
    """The character data of an HTML text: no tags, no comments, no scripts, no styles; character
    references resolved.

    Python's own HTML parser does the work, through Beautiful Soup, as copietje has it; where a
    parser changes its mind about broken markup in a new Python release, so does this. Nothing is
    put in place of a tag: `a<br>b` becomes `ab`. Where the parser gives up on a malformed
    declaration (`<![x`), declarations are taken for text, and at last comments too. In older Python
    releases it takes quadratic time for text that opens tags or comments and never closes them.

    Raises `MissingExtra` without Beautiful Soup.

    >>> without_markup("<p>Fish &amp; <b>chips</b></p><script>no()</script>")
    'Fish & chips'
    """
    for attempt in (text, _DECLARATION.sub("&lt;!", text), text.replace("<!", "&lt;!")):
        found = _character_data(attempt)
        if found is not None:
            return found
    return text


def _character_data(text: str) -> str | None:
    """None when the parser gives up."""
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
