"""Words that a text quotes from another one, as mails do: marked lines, and forwarded messages."""

from __future__ import annotations

import re

from indexer.text.normal_words import normal_words

# Patterns begin with the end of the line before and tell cases apart, which is found fast.
_QUOTED = re.compile(r"\n[ \t]*>(?!>>).*")  # `>>>` is a prompt of Python
_FROM = (
    "From|Von|De|Da|Van|Från|Fra|Od|Lähettäjä|Feladó|Kimden|Gönderen|От|Від|Από|من|"
    "发件人|寄件者|差出人|보낸 사람"
)
_LABEL = r"[^\s:：][^\n:：]{0,24}[:：]"
_FORWARDED = re.compile(
    rf"\n\*?(?:{_FROM}|FROM|VON)[ \t\u00a0*]*[:：](?=[^\n]*\S)[^\n]*(?:\n{_LABEL}[^\n]*){{2}}"
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
    parts += _QUOTED.findall(f"\n{text}")
    return len(normal_words("".join(parts)))
