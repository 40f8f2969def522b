"""Find the names among the tokens of a clause, by how they are written and by their neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from indexer.comparing.clauses.lexicon import (
    ARTICLES,
    CLASSIFIERS,
    COMPANY_FORMS,
    FUNCTION,
    LEADING_PARTICLES,
    NAME_SUFFIXES,
    NAME_TAILS,
    ORGANISATIONS,
    PARTICLES,
    SITE_ENDING,
    SMALL_FORMS,
    Lexicon,
)
from indexer.comparing.clauses.tokens import Token, firm_positions, is_shouted

_JOINS = frozenset("&/")
_WORDS = frozenset(["word", "other"])
_ENGLISH = frozenset(["the", "of", "and", "to", "shall"])
_POINTERS = frozenset(["a", "an", "this", "that"])  # "this Agreement" is "This Agreement"
_ENDS = (COMPANY_FORMS | NAME_SUFFIXES) - {"corporation"}  # "such corporation" is no name
_ENGLISH_ARTICLES = (["a"], ["an"], ["the"])
_AFTER_AN = re.compile("[AEIOUH]")
_SITE = re.compile(rf".+{SITE_ENDING}")
_FIGURE = re.compile(r"\d{1,2}[a-z]{1,2}|\dx\d")
_PLAIN = re.compile(r"[\w.'’\-‐‑]+")


class Names:
    """The names among the tokens of a clause.

    `spoken` are the folded words of the tokens, `stems` the stems of these. `proper` flags the
    words of names. In a text in capitals no word is one by its capitals; one before the form of a
    company is.
    """

    def __init__(
        self,
        tokens: Sequence[Token],
        spoken: Sequence[str],
        stems: Sequence[str],
        lexicon: Lexicon,
    ) -> None:
        self.tokens = tokens
        self.spoken = spoken
        self.stems = stems
        self.lexicon = lexicon
        words = [token for token in tokens if token.kind == "word"]
        self._is_cased = 2 * sum(token.text != token.text.swapcase() for token in words) > len(
            words
        )
        self._is_english = not _ENGLISH.isdisjoint(spoken)
        positions = range(len(tokens))
        if is_shouted(tokens):
            firms = firm_positions(tokens, spoken, lexicon.party_words.intersection(stems))
            self.proper = self._capital = [
                position in firms or self._is_small_word_of_name(position) for position in positions
            ]
            return
        self._capital = [self._is_capital(position) for position in positions]
        known = {
            spoken[position]
            for position in positions
            if self._capital[position] and not tokens[position].opens
        }
        self.proper = [self._is_proper(position, known) for position in positions]

    def end(self, position: int) -> int:
        """Return the position after the name that begins here.

        It goes on over capitalised words, over a particle, `&` or `/` between two of them, over a
        number or the form of a company after a comma, and over one after a bracket: "Acme (UK)
        Limited".
        """
        end = position + 1
        while end < len(self.tokens):
            after = end + 1 if self._goes_on(end, self.proper) else self._joined(end, self.proper)
            if after == end:
                break
            end = after
        return end

    def labelled_end(self, position: int) -> int:
        """Return the position after a name that begins with a number: "No. 5 Funding LLC".

        `position` where the number is a number. A division as "Section 8" begins a name where
        nothing else makes it one: "Section 8 Capital", or where it opens a sentence.
        """
        token = self.tokens[position]
        if position + 1 == len(self.tokens) or not self._goes_on(position + 1, self.proper):
            return position
        end = self.end(position + 1)
        last = self.spoken[end - 1]
        if token.kind == "number" or token.text.startswith(("N", "n")):
            return end if last in COMPANY_FORMS else position
        rest = set(self.spoken[position + 1 : end]) - {","}
        return end if rest <= _ENDS or (token.opens and last in _ENDS) else position

    def spelling(self, position: int, end: int) -> tuple[str, ...]:
        """Return the words of a name by which it is the same as another one.

        `&` is "and"; a possessive counts before the form of a company: "Wendy's LLC".
        """
        return tuple(self._spelling(position, end))

    def _spelling(self, position: int, end: int) -> Iterator[str]:
        for at in range(position, end):
            token, word = self.tokens[at], self.spoken[at]
            if token.text == "&":
                yield "and"
            elif token.kind != "join":
                is_inside = at + 1 < end and self.spoken[at + 1] in _ENDS
                is_possessive = token.text.lower().endswith(("'s", "’s"))
                yield f"{word}'s" if is_inside and is_possessive else word

    def _goes_on(self, position: int, flags: Sequence[bool]) -> bool:
        return position < len(self.tokens) and flags[position] and not self.tokens[position].opens

    def _joined(self, end: int, capital: Sequence[bool]) -> int:
        """Return the position after what joins the words before to a name that goes on.

        `end` if nothing does. "of" joins no party that has an opposite: "Obligations of Tenant".
        """
        tokens, spoken = self.tokens, self.spoken

        last = end
        while last < len(tokens) and spoken[last] in PARTICLES:
            last += 1
        if last > end and self._is_article_of_name(last):
            last += 1
        if last > end or spoken[end] in _JOINS:
            opposite = self.lexicon.opposable.intersection(self.stems[last : last + 1])
            is_party = last > end and bool(opposite)
            last = max(last, end + 1)
            return last + 1 if self._goes_on(last, capital) and not is_party else end
        after = end + 1 + (spoken[end + 1 : end + 2] == [","])
        is_form = after < len(tokens) and spoken[after] in COMPANY_FORMS
        if tokens[end].kind == "number" and is_form and self._goes_on(after, capital):
            return after + 1
        is_tail = end + 1 < len(tokens) and spoken[end + 1] in NAME_TAILS
        if spoken[end] == "," and is_tail and self._goes_on(end + 1, capital):
            return end + 2
        is_form = end + 2 < len(tokens) and spoken[end + 2] in COMPANY_FORMS
        if (
            spoken[end] == "("
            and is_form
            and self._goes_on(end + 1, capital)
            and self._goes_on(end + 2, capital)
        ):
            return end + 3
        return end

    def _is_party(self, position: int) -> bool:
        return not self.lexicon.party_words.isdisjoint(self.stems[position : position + 1])

    def _is_proper(self, position: int, known: set[str]) -> bool:
        """Return whether a word is capitalised as names are.

        The first word of a sentence is one when it is capitalised elsewhere too, when a name goes
        on after it, or when no other word is written like it: eBay, 3M, J.P.
        """
        token = self.tokens[position]
        return self._capital[position] and (
            not token.opens
            or self.spoken[position] in known
            or self._is_unusual(token.text)
            or self._is_followed(position)
            or (self.spoken[position] in ARTICLES and self._is_no_article(position))
        )

    def _is_followed(self, position: int) -> bool:
        """Return whether a name goes on after the first word of a sentence."""
        tokens, spoken, capital = self.tokens, self.spoken, self._capital
        if position + 1 == len(tokens) or tokens[position + 1].opens:
            return False
        is_list = (
            spoken[position + 1] == "," and spoken[position + 3 : position + 4] == ["&"]
        ) and capital[position + 2]
        return (
            capital[position + 1] or is_list or self._joined(position + 1, capital) > position + 1
        )

    def _is_capital(self, position: int) -> bool:
        """Return whether a word is written as in a name: a capital, a sign or another script."""
        token, word = self.tokens[position], self.spoken[position]
        if token.kind not in _WORDS:
            return False
        if token.kind == "other":
            return self._is_before_name(position)
        if token.text in SMALL_FORMS:
            return self._follows_name(position)
        if word in FUNCTION:
            return self._is_in_symbol(position) or self._is_small_word_of_name(position)
        if word in LEADING_PARTICLES and token.text == word:
            return self._is_english and self._is_title_case(position + 1)
        return token.text != token.text.lower() or self._is_unusual(token.text)

    def _is_in_symbol(self, position: int) -> bool:
        """Return whether a short word in capitals is part of a sign: "AT&T", "(A) Corp"."""
        before = self.spoken[position - 1] if position else ""
        after = [*self.spoken[position + 1 : position + 2], ""][0]
        is_bracketed = before == "(" and after in _ENDS and self._is_title_case(position + 1)
        return self.tokens[position].text.isupper() and ("&" in (before, after) or is_bracketed)

    def _is_before_name(self, position: int) -> bool:
        """Return whether a figure with small letters begins a name: "3i Group", "4x4 Motors"."""
        follows = self.spoken[position + 1 : position + 3]
        if COMPANY_FORMS.intersection(follows) and follows[0] in {",", *COMPANY_FORMS}:
            return True
        is_name = self._ends_in_form(position + 1) or (
            self._is_title_case(position + 1) and not self._is_party(position + 1)
        )
        return is_name and _FIGURE.fullmatch(self.tokens[position].text) is not None

    def _follows_name(self, position: int) -> bool:
        """Return whether the word before is written with a capital, or as nothing but a name."""
        before = self.tokens[position - 1] if position else None
        return (
            before is not None
            and before.kind == "word"
            and (before.text != before.text.lower() or self._is_unusual(before.text))
        )

    def _is_title_case(self, position: int) -> bool:
        """Return whether a word that opens no sentence and has content begins with a capital."""
        if position >= len(self.tokens) or self.tokens[position].opens:
            return False
        is_content = self.tokens[position].kind == "word" and self.spoken[position] not in FUNCTION
        text = self.tokens[position].text
        return is_content and (text[0].isupper() or text in SMALL_FORMS)

    def _is_small_word_of_name(self, position: int) -> bool:
        """Return whether a word that is no substance elsewhere is part of a name.

        Such are a letter ("Class A", "Fund I"), the article of a place ("Bank of the West"), and
        what would point to a thing, but stands before the form of a company ("A Inc.").
        """
        return (
            self._is_letter(position)
            or self._is_article_of_name(position)
            or self._is_determiner_of_name(position)
        )

    def _is_letter(self, position: int) -> bool:
        tokens, spoken = self.tokens, self.spoken
        if tokens[position].text not in {"A", "I"} or tokens[position].opens or not position:
            return False
        if spoken[position - 1] in CLASSIFIERS or spoken[position + 1 : position + 2] == ["/"]:
            return True
        is_shouted = all(
            token.text.isupper() and len(token.text) > 1
            for token in (tokens[position - 1], *tokens[position + 1 : position + 2])
        )
        return (
            self._follows_name(position) and spoken[position - 1] not in FUNCTION and not is_shouted
        )

    def _is_article_of_name(self, position: int) -> bool:
        """Return whether "the" stands in the name of a body after "of", before no party."""
        noun = position - 2
        if noun < 0 or self.spoken[position - 1 : position + 1] != ["of", "the"]:
            return False
        if self.tokens[noun].text[0].islower() or self._is_party(position + 1):
            return False
        begins_name = self.tokens[position].text == "The"  # by The Acme Company, Inc.
        is_firm = self._ends_in_form(position + 1) and not begins_name
        return self.spoken[noun] in ORGANISATIONS or is_firm

    def _ends_in_form(self, position: int) -> bool:
        """Return whether a run of capitalised words ends in the form of a company."""
        while self._is_title_case(position) and self.spoken[position] not in COMPANY_FORMS:
            position += 1
        position += position < len(self.spoken) and self.spoken[position] == ","
        return self._is_title_case(position) and self.spoken[position] in COMPANY_FORMS

    def _is_determiner_of_name(self, position: int) -> bool:
        """Return whether a word such as "Said" or "A" begins a name.

        It does before the last word of a firm's name, and with a capital inside a sentence.
        """
        token, word = self.tokens[position], self.spoken[position]
        if word not in ARTICLES or not token.text[0].isupper():
            return False
        if self._is_no_article(position):
            return True
        if word == "the":
            return False
        if not self._is_title_case(position + 1):
            return False
        if self.spoken[position + 1] in _ENDS and not self._is_party(position + 1):
            return not self._is_title_case(position + 2) or self.spoken[position + 2] in _ENDS
        is_shouted = token.text.isupper() and self.tokens[position + 1].text.isupper()
        if self._ends_in_form(position + 1):
            return not is_shouted or word in {"a", "an"}
        is_name = not self._is_party(position + 1) and word not in _POINTERS
        return is_name and not token.opens and not is_shouted

    def _is_no_article(self, position: int) -> bool:
        """Return whether a word is no article, but the beginning of a name that looks like one.

        After an article there is no other: "The The". "An" stands before no consonant: "An Post".
        Neither does an article stand before a small word with a capital ("The Who"), nor with a
        capital inside a sentence before one ("to An Event").
        """
        tokens, spoken = self.tokens, self.spoken
        if spoken[position - 1 : position] in _ENGLISH_ARTICLES:
            return True
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if after is None or after.opens or spoken[position] not in {"the", "an", "a"}:
            return False
        is_cased = after.text[0].isupper() and not after.text.isupper()
        if spoken[position] != "an" or spoken[position + 1] in FUNCTION:
            return is_cased and spoken[position + 1] in FUNCTION
        return is_cased and (not tokens[position].opens or not _AFTER_AN.match(after.text))

    def _is_unusual(self, text: str) -> bool:
        """Return whether a word is a name by how it is written.

        It has a capital inside, a figure first, initials, a sign, the address of a site, or letters
        of another script.
        """
        is_mixed = text[1:] != text[1:].lower() and text != text.upper()
        has_no_case = self._is_cased and text[0].isalpha() and text == text.swapcase()
        is_initials = "." in text and text != text.lower()
        is_sign = not _PLAIN.fullmatch(text) or _SITE.fullmatch(text.lower()) is not None
        return text[0].isdigit() or is_initials or is_mixed or has_no_case or is_sign
