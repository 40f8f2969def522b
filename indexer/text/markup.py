"""Text out of HTML, through Beautiful Soup: the one file that imports it."""

from __future__ import annotations

import warnings

from indexer.errors import MissingExtra


def without_markup(text: str) -> str:
    """The character data of an HTML text: no tags, no comments, no scripts, no styles; character references resolved.

    Python's own HTML parser does the work, through Beautiful Soup, as copietje has it; where a parser changes its mind about
    broken markup in a new Python release, so does this. Nothing is put in place of a tag: `a<br>b` becomes `ab`.

    Raises `MissingExtra` without Beautiful Soup.

    >>> without_markup("<p>Fish &amp; <b>chips</b></p><script>no()</script>")
    'Fish & chips'
    """
    try:
        import bs4
    except ImportError:
        raise MissingExtra(package="beautifulsoup4", extra="text") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs4.MarkupResemblesLocatorWarning)
        warnings.simplefilter("ignore", bs4.XMLParsedAsHTMLWarning)
        return bs4.BeautifulSoup(text, features="html.parser").get_text()
