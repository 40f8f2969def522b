"""The text of a clause without the number and the heading at its beginning.

A heading is told by its structure: few words with capitals and no verb, alone on a line or before
the beginning of a sentence, and no name in it. The full stop of an abbreviation ends no heading:
"Acme, Inc. shall pay" begins with a party. No list has all abbreviations, so a full stop ends a
heading only before a function word that begins a sentence, or after a word that is whole by its
form and before what goes on no name. When in doubt a heading stays in its clause.
"""

from __future__ import annotations

import re

from indexer.text.clauses.function_words import (
    COMPANY_FORMS,
    FIRM_WORDS,
    FUNCTION,
    HEADING_WORDS,
    ORGANISATIONS,
    PARTY_ACTS,
    SMALL_FORMS,
    STARTERS,
    VERBS,
    is_abbreviation,
)
from indexer.text.clauses.heading_words import is_heading_word
from indexer.text.clauses.labels import LABEL, SMALL_NAME, label_end

_END = re.compile(
    r"(?P<sign>[.:—–]+|(?<=\w)\]|(?<=\s)--?)[*_\"”’'\])]*\.?(?P<gap>\s+[*_]*)(?=\S)"
    r"|[*_]*(?P<line>[ \t]*\n\s*)(?=\S)"
)
_BEFORE = re.compile(r"[*_#]*\s*[\"“‘'\[]?")
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:[.'’\-][^\W_]+)*")
_BEGINS = re.compile(r"[\"“‘'(\[$€£¥@#§]*[^\W_]|§")
_BEGINS_SMALL = re.compile(rf"[\"“‘'(\[]*{SMALL_NAME}")
_PART = rf"(?:[A-Z][\w.'’&\-]*|&|{'|'.join(sorted(SMALL_FORMS))})(?!\w)"
_RUN = re.compile(rf"{_PART}(?:,?[^\S\n]+{_PART})*")
_NEXT = re.compile(r"[^\S\n]*(?P<comma>,)?\s*(?:(?i:hereby|also)\s+)?(?P<word>[^\W\d_]+)")
_PLAIN_NUMBER = re.compile(r"(?:[^\W\d_]+\.?|§+)\s*(?:[\dIVXLC]+|[^\W\d_]+)[^\S\n]+")
_TITLE_NUMBER = re.compile(r"^[\d.]+\)?\s+")
_POSSESSIVE = re.compile(r"['’]s?$")
_FIRST = re.compile(r"[\"“‘'(\[*_]*(?P<word>[^\W\d_]+)(?=[\s,])")
_NOUN = re.compile(r"(?=\w{6})\w+(?:tion|sion|ment|ity|[ae]nce|ness|ing|ship|ure|cy|ty|ery|ie)s?")
_RELATIONS = frozenset(["to", "of", "by", "for", "from", "with", "against", "on", "upon"])
_SHOUTED_LIST = re.compile(  # ARTICLE II VENTURES, AS GUARANTOR
    rf"(?P<name>[^a-z]+?),\s+(?:{'|'.join(sorted(word.upper() for word in FUNCTION))})\b[^a-z]*$"
)
_NAME_GOES_ON = PARTY_ACTS | {"and", "or"}
_BODIES = FIRM_WORDS | ORGANISATIONS
_LONGEST, _MOST_WORDS = 80, 10
_ROMAN = re.compile("[IVXLC]+")
_SPARE = 12  # characters by which a title is shorter than a wrapped line


def body(text: str, heading: str = "", parties: frozenset[str] = frozenset()) -> str:
    """Return the text without its clause number and without its heading.

    The heading is `heading`, else a first run of capitalised words without a verb or a name, before
    a sentence or on a line of its own. A text that is nothing else stays as it is. A number that is
    part of a name stays, and is put back where it is the heading. `parties` are words in lower case
    that name a party: "Tenant:" says whose the sentence is.

    >>> body("Section 14.06 Successors and Assignors. All covenants shall bind.")
    'All covenants shall bind.'
    >>> body("Acme, Inc. shall pay the rent."), body("Payments to Acme Inc. The rent is due.")
    ('Acme, Inc. shall pay the rent.', 'Payments to Acme Inc. The rent is due.')
    """
    rest = _without_label(text, parties)
    for start in (text.lstrip(), rest):
        if heading and start[: len(heading)].casefold() == heading.casefold():
            after = start[len(heading) :].lstrip(" .:—–\n")
            if _is_name_of(heading, after, parties):
                return start
            return rest if _belongs_to_text(heading, after, parties) else after or text
    if _is_name_of(heading, text, parties):
        return f"{heading} {text}"
    title = _TITLE_NUMBER.sub("", _without_label(heading, parties))
    if _belongs_to_text(title, text, parties) and not rest.startswith(title):
        return f"{title}. {text}"
    return rest[_heading_end(rest, parties, len(text.lstrip()) - len(rest)) :] or text


def _without_label(text: str, parties: frozenset[str]) -> str:
    """Return the text without the numbers and letters at its beginning."""
    rest = text.lstrip()
    return rest[
        label_end(
            rest,
            lambda label, after: _begins_name(label, after, parties),
            lambda label, after: _begins_clause(label, after, parties),
        ) :
    ]


def _is_name_of(heading: str, text: str, parties: frozenset[str]) -> bool:
    """Return whether a heading is a number that is part of a name, and the text its rest."""
    label = LABEL.match(f"{heading} {text}")
    is_number = label is not None and label.end() == len(heading) + 1
    return is_number and _begins_name(f"{heading} ", text, parties)


def _belongs_to_text(heading: str, text: str, parties: frozenset[str]) -> bool:
    """Return whether an extracted heading is an abbreviation of a name, or has a name in it."""
    words = _WORD.findall(heading)
    if not words or not text or VERBS.intersection(word.lower() for word in words):
        return False
    if _has_name(words, text, parties):
        return True
    return _RUN.match(text) is not None and not _is_ended(words, text, parties)


def _begins_name(label: str, text: str, parties: frozenset[str]) -> bool:
    """Return whether a number and the capitalised words after it are a name: "Section 8 Capital".

    Before the last words of a firm's name alone any label is part of the name: "4A. Holdings
    shall". A division's whole number without a sign is
    before a name that ends so, and before what no heading and no party is and does as a party does:
    "Article 5 Coffee shall", "Section 8 Bluebird, as".
    """
    word = _WORD.match(label.lstrip())
    if word and _singular(word.group()) in parties:  # "Tenant 1: The"
        return True
    run = _RUN.match(text)
    if run is None:
        return False
    shouted = _SHOUTED_LIST.match(run.group())
    run_text = shouted["name"] if shouted else run.group()
    spelled = _WORD.findall(re.sub(r"['’]s\b", "", run_text))
    words = [_POSSESSIVE.sub("", word.lower()) for word in spelled]
    verb = next((place for place, word in enumerate(words) if word in PARTY_ACTS), len(words))
    after = _NEXT.match(text, run.end())
    goes_on = verb < len(words) or (
        after is not None and (after["comma"] is not None or after["word"] in _NAME_GOES_ON)
    )
    goes_on = goes_on or shouted is not None
    words = words[:verb]
    has_form = any(word in COMPANY_FORMS and word not in parties for word in words)
    if has_form and FIRM_WORDS.issuperset(words):
        return True
    goes_on = goes_on or run.group().endswith(("'s", "’s", "s'", "s’"))
    is_firm = bool(words) and FIRM_WORDS.issuperset(words)
    if is_firm and goes_on and parties.isdisjoint(map(_singular, words)):
        return True
    is_party = any(_singular(word) in parties and word not in FIRM_WORDS for word in words)
    if not _PLAIN_NUMBER.fullmatch(label) or not words or words[0] in FUNCTION or is_party:
        return False
    if _heading_end(text, parties, len(label)):
        return False
    return words[-1] in FIRM_WORDS or goes_on


def _begins_clause(label: str, text: str, parties: frozenset[str]) -> bool:
    """Return whether a sentence or a heading begins after a letter or a number without a sign.

    After a number only a heading of known words does, and no firm: "4A Rent", "4A Company".
    """
    word = _WORD.match(text)
    first = word.group().lower() if word else ""
    end = _heading_end(text, parties, len("A. "))
    if label.strip().endswith("."):
        return first in STARTERS or first in parties or end > 0
    is_party = first in parties and first not in _BODIES
    return is_party or first in STARTERS or (end > 0 and _is_known(_WORD.findall(text[:end])))


def _heading_end(text: str, parties: frozenset[str], number: int) -> int:
    """Return the offset where the body begins after a heading, 0 where there is no heading.

    `number`: the characters before the text on its line, 0 without a number.
    """
    begin = _BEFORE.match(text)
    start = begin.end() if begin else 0
    for end in _END.finditer(text, start, start + _LONGEST + 20):
        title = text[start : end.start()]
        sign = end["sign"] or ""
        words = _WORD.findall(title)
        if sign.startswith(".") and words and is_abbreviation(words[-1]):
            continue
        rest = text[end.end() :]
        if not _is_title(title, words) or not _BEGINS.match(rest) or _is_small(rest):
            return 0
        is_apart = end.group().count("\n") > 1
        if sign.startswith(".") and not is_apart and not _is_ended(words, rest, parties):
            return 0
        is_weak = sign.startswith(("]", "-"))  # signs that names have, too
        if _has_name(words, rest, parties):
            return 0
        if is_weak and not _begins_sentence(rest):
            return 0
        if end["line"] and not _is_own_line(end["line"], title, rest, parties, number):
            return 0
        speaks = ":" in sign and all(_singular(word) in parties for word in words)
        return 0 if speaks else end.end()
    return 0


def _is_ended(title: list[str], rest: str, parties: frozenset[str]) -> bool:
    """Return whether the full stop after some words ends a heading, by the form of both sides.

    Before "The" and other words that begin sentences it does. Else the last word must be whole;
    before a name all words must be, and in themselves.
    """
    first = _FIRST.match(rest)
    if first and first["word"].lower() in STARTERS:
        return _begins_sentence(rest)
    if all(word.lower() in FUNCTION or _is_whole(word, "", parties) for word in title):
        return True
    run = _RUN.match(rest)
    if run is None or not _is_whole(title[-1], rest, parties):
        return False
    words = _WORD.findall(run.group())
    if len(words) != 1 or run.group().endswith("."):
        return False
    return _singular(words[0]) in parties or words[0].lower() not in _BODIES


def _begins_sentence(rest: str) -> bool:
    """Return whether a text begins with a word that begins sentences, and no firm: "The LLC"."""
    first = _FIRST.match(rest)
    if first is None or first["word"].lower() not in STARTERS:
        return False
    after = _WORD.search(rest, first.end())
    return after is None or after.group().lower() not in COMPANY_FORMS


def _is_known(title: list[str]) -> bool:
    """Return whether a title has no words but those of headings."""
    words = map(str.lower, title)
    return all(word in FUNCTION or is_heading_word(word) for word in words)


def _is_whole(word: str, rest: str, parties: frozenset[str]) -> bool:
    """Return whether a word is no abbreviation and no name.

    Such are parties, nouns by their ending, words of headings, and what the text below has small.
    """
    folded = word.lower()
    return (
        folded in HEADING_WORDS
        or _singular(folded) in parties
        or _NOUN.fullmatch(folded) is not None
        or re.search(rf"\b{re.escape(folded)}\b", rest) is not None
    )


def _has_name(words: list[str], rest: str, parties: frozenset[str]) -> bool:
    """Return whether a heading may have a name in it: "Kestrel Group", "Release of Kestrel"."""
    folded = [word.lower() for word in words]
    for place in range(1, len(words)):
        is_last = place + 1 == len(words) or folded[place + 1] in FUNCTION
        is_after_name = folded[place - 1] not in FUNCTION and not _is_whole(
            words[place - 1], rest, parties
        )
        if is_last and folded[place] in _BODIES and is_after_name:
            return True
    relation = next((place for place, word in enumerate(folded) if word in _RELATIONS), len(words))
    return not all(word in FUNCTION or _is_whole(word, rest, parties) for word in folded[relation:])


def _is_title(title: str, words: list[str]) -> bool:
    """Return whether there are few words, all capitalised but function words, no verb, no name."""
    folded = [word.lower() for word in words]
    return (
        len(title) <= _LONGEST
        and 0 < len(words) <= _MOST_WORDS
        and not any(char.isdigit() or char == "." for char in title)
        and not VERBS.intersection(folded)
        and not any(map(_is_company, words, words[1:]))
        and not any(map(_is_mixed, words))
        and all(word[0].isupper() or word.lower() in FUNCTION for word in words)
        and not FUNCTION.issuperset(folded)
        and not all(map(_ROMAN.fullmatch, words))
    )


def _is_company(before: str, word: str) -> bool:
    """Return whether two words are the end of a company's name, unlike "the Corporation"."""
    return word.lower() in COMPANY_FORMS and before.lower() not in FUNCTION


def _is_mixed(word: str) -> bool:
    """Return whether a word has a capital inside, as the names of companies have it."""
    return word != word.upper() and any(
        part[1:] != part[1:].lower() for part in re.split(r"['’\-]", word)
    )


def _is_small(text: str) -> bool:
    """Return whether a sentence goes on: the next letter is a small one, and not of a name."""
    letter = re.search(r"[^\W_]", text)
    is_small = letter is not None and letter.group().islower()
    return is_small and _BEGINS_SMALL.match(text) is None


def _is_own_line(gap: str, title: str, rest: str, parties: frozenset[str], number: int) -> bool:
    """Return whether a line is a heading by what is around it.

    A blank line follows, or it is in capitals and the text below is not. Else no wrapped text
    breaks there, for the next word would have fitted on the line, and a sentence begins below: by a
    function word, after a number by a party, or by any word where the line is clearly shorter.
    """
    if gap.count("\n") > 1 or (title == title.upper() and rest != rest.upper()):
        return True
    lines = rest.split("\n")
    spare = max(map(len, lines)) - number - len(title) - 1 - len(lines[0].split(" ", 1)[0])
    word = _WORD.match(rest)
    first = word.group().lower() if word else ""
    if first in FUNCTION or (number and _singular(first) in parties):
        return spare >= 0
    return number > 0 and spare >= _SPARE


def _singular(word: str) -> str:
    return re.sub(r"(?:['’]s?|s)$", "", word.lower())
