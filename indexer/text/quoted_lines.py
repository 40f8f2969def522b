"""Words that a text quotes from another one, as mails do: marked lines, and forwarded messages."""

from __future__ import annotations

import re

from indexer.text.normal_words import normal_words

_QUOTED = re.compile(r"^[ \t]*>(?!>>).*", re.MULTILINE)  # `>>>` is a prompt of Python
_FROM = (
    "from|von|de|da|van|från|fra|od|lähettäjä|feladó|kimden|gönderen|от|від|από|من|"
    "发件人|寄件者|差出人|보낸 사람"
)
_LABEL = r"[^\s:：][^\n:：]{0,24}[:：]"
_FORWARDED = re.compile(
    rf"^[ \t*]*(?:{_FROM})[ \t\u00a0*]*[:：](?=[^\n]*\S)[^\n]*(?:\n[ \t*]*{_LABEL}[^\n]*){{2}}",
    re.IGNORECASE | re.MULTILINE,
)


def quoted_words(text: str) -> int:
    """Return the number of words that a text quotes.

    They are the words of lines that begin with `>` or `>>` after blanks, and of all from the header
    of a forwarded message on: a line `From: ...` in one of some twenty languages, with at least two
    lines `NAME: ...` below it and other text above. Words are those of `indexer.text.normal_words`.

    >>> quoted_words("I agree.\\n\\n> Shall we meet?\\n> > At noon?")
    5
    >>> quoted_words("Yes.\\n\\nFrom: Ann\\nSent: today\\nTo: Bob\\n\\nAt noon?")
    8
    """
    forwarded = _FORWARDED.search(text)
    parts = []
    if forwarded and text[: forwarded.start()].strip():
        parts.append(text[forwarded.start() :])
        text = text[: forwarded.start()]
    parts += _QUOTED.findall(text)
    return len(normal_words("\n".join(parts)))
