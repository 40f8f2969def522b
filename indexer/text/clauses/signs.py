"""Signs of a clause that say something and are in no word: of currencies, feet, a minus."""

from __future__ import annotations

import re

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
_CURRENCIES = (
    r"$\u00a2-\u00a5\u058f\u060b\u09f2\u09f3\u0af1\u0bf9\u0e3f\u17db\u20a0-\u20c0\ufdfc\uff04"
    r"\uffe0\uffe1\uffe5\uffe6"
)
_RAISED = r"\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079\u2080-\u2089\u2460-\u24ff"
_UNITS = r"%\u2030\u2031\u00b0\u2032\u2033"
_SIGN = re.compile(
    rf"[{_CURRENCIES}{_RAISED}{_UNITS}]"
    r"|(?<=\d)['\"](?!\w)"  # feet, inches
    r"|(?<=\d)/(?=\d)"
    r"|(?<=\d)\s?-\s?(?=\d)|(?<!\w)-(?=\s?[(\[]?\D?\d)"  # a range, a minus
    r"|(?<=[A-Z])[+\-](?=[\s,.;:)]|$)"  # a rating
    r"|[~+\u00b1=<>\u2248\u2264\u2265\u00d7\u00f7](?=\s?\d)"
    r"|\((?=\D?\d[\d.,]*\D?\))"  # a loss, in accounts
)


def telling_signs(text: str) -> tuple[str, ...]:
    """Return these signs in order: every currency, percent, degree, prime, raised figure, and
    those of sums, ranges and negative amounts beside a figure. All dashes are the same.

    >>> telling_signs("a rent of 10,000 \u20ac, of 5\u2013 to 6 per cent") == ("\u20ac",)
    True
    >>> telling_signs("rated AA\u2212, or -5 to 10-20 m\u00b2")
    ('-', '-', '-', '\u00b2')
    """
    return tuple([sign.strip() for sign in _SIGN.findall(text.translate(_DASHES))])
