"""The lines that a mail program writes above the message it quotes or forwards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from indexer.mail import client_words as words
from indexer.mail.quote_marks import Line

HeadingKind: TypeAlias = Literal["quoted", "forwarded", "end"]
_MOST_LINES, _MOST_CHARS, _MOST_HEADER, _MOST_DATE = 4, 400, 16, 60
# Archives of mailing lists write `@` as ` at `.
_ADDRESS = re.compile(r"[^\s<>()@,;:]+@[^\s<>()@,;:]+\w|<\S+ at \S+>")
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\d{4}年|\b\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2,4}\b|\b\d{4}-\d\d-\d\d\b"
)
_TIME = re.compile(r"\d{1,2}\s?[:.h時点]\s?\d{2}|\d{1,2}\s?(?:[ap]\.?\s?m\b)", re.IGNORECASE)
_LABEL = re.compile(r"[ \t]*\*{0,2}([^\s:：*][^\n:：*]{0,24}?)\s*\*{0,2}\s*[:：]\*{0,2}(.*)")
_RULE = re.compile(r"\s*(?:[-_=*]\s?){3,}\s*$")
_DASHES = re.compile(r"\s*[-=_*]{2,}\s*(\S.{0,198}?)\s*[-=_*]{2,}\s*$")
_GROUPWISE = re.compile(r">>>.*>>>\s*$")
_DATED = re.compile(r"\s*message du \d", re.IGNORECASE)  # Orange, above a header
_END = re.compile(r"end (?:of )?(?:the )?(?:forwarded|original) message", re.IGNORECASE)
_BEGIN = re.compile(
    r"\s*(?:begin forwarded message|anfang der weitergeleiteten (?:nachricht|e-?mail)"
    r"|début du (?:message|courriel|e-?mail) (?:réexpédié|transféré)"
    r"|inizio (?:il )?messaggio inoltrato|inicio del mensaje reenviado"
    r"|início da mensagem (?:encaminhada|reencaminhada)|begin doorgestuurd bericht"
    r"|vidarebefordrat (?:brev|mejl)|start på videresendt besked|videresendt melding"
    r"|début du message transmis|転送されたメッセージ|下面是被转发的邮件"
    r"|начало переадресованного сообщения|początek przekazywanej wiadomości)\s*[:：]?\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Heading:
    """The lines above a quoted or forwarded message: how many, and what they say follows; `end` is
    the line below a forwarded one.

    `needs_marks`: it is one only if lines with more quote marks follow. `is_bare`: it says that a
    message follows, but not whose. `subject`: that of the message, empty where it is not said.
    """

    lines: int
    kind: HeadingKind
    needs_marks: bool = False
    is_bare: bool = False
    subject: str = ""


def heading_at(lines: Sequence[Line], place: int) -> Heading | None:
    """Return the heading that begins at a line, None if none does.

    One of four: a line such as `-----Original Message-----` or `Begin forwarded message:`, with
    the header below it, if there is one, `---- On Monday Ann wrote ----`, or GroupWise's `>>> Ann
    5/3/2024 >>>`; a header of its own, `From: ...` with two more fields, one of them the date or
    the subject; the header of Lotus Notes, whose labels stand above their values; `On Monday ...
    Ann <ann@x.org> wrote:`, over at most four lines. All lines have as many quote marks as the
    first.
    """
    marks = lines[place].marks
    if lines[place].is_blank or len(lines[place].text) > _MOST_CHARS:
        return None
    return (
        _separator(lines, place, marks)
        or _header_heading(lines, place, marks)
        or _notes_heading(lines, place, marks)
        or _attribution(lines, place, marks)
    )


def _separator(lines: Sequence[Line], place: int, marks: int) -> Heading | None:
    """Return the heading of a line of dashes with words in it, or of dashes alone."""
    text = lines[place].text
    phrase = _DASHES.match(text)
    said = phrase[1] if phrase else ""
    is_named = bool(words.FORWARDED.search(said) or words.ORIGINAL.search(said))
    is_begin = bool(_BEGIN.match(text))
    if is_named and _END.match(said):
        return Heading(1, "end")
    if _GROUPWISE.match(text) and _DATE.search(text):
        return Heading(1, "quoted")
    if words.WROTE.search(said) and (heading := _judged(said, 1)) and not heading.needs_marks:
        return heading
    if not (is_named or is_begin or phrase or _RULE.match(text) or _DATED.match(text)):
        return None
    following = _after_blanks(lines, place + 1, marks)
    header = _header_lines(lines, following, marks)
    kind: HeadingKind = "forwarded" if is_begin or words.FORWARDED.search(said) else "quoted"
    if header:
        return Heading(
            following + header - place, kind, subject=_subject(lines[following:], header)
        )
    if is_named or is_begin:
        attribution = _attribution(lines, following, marks) if following < len(lines) else None
        more = following + attribution.lines - place if attribution else 1
        return Heading(more, kind, is_bare=attribution is None)
    return None


def _header_heading(lines: Sequence[Line], place: int, marks: int) -> Heading | None:
    count = _header_lines(lines, place, marks)
    subject = _subject(lines[place:], count)
    return Heading(count, "quoted", subject=subject) if count else None


def _notes_heading(lines: Sequence[Line], place: int, marks: int) -> Heading | None:
    """Return the heading of Lotus Notes: the sender, the date and time below, then labels without a
    colon, each above its value or, after a tabulator, beside it; `To` and the subject are needed.
    """
    date = lines[place + 1].text if place + 1 < len(lines) else ""
    if not (_DATE.search(date) and _TIME.search(date)) or len(date) > _MOST_DATE:
        return None
    has_field = has_recipients = False
    for here in range(place + 2, min(place + 2 + _MOST_HEADER, len(lines))):
        label, tab, value = lines[here].text.strip().partition("\t")
        label = label.casefold()
        if lines[here].marks != marks:
            break
        if label in words.SUBJECT and has_recipients:
            below = lines[here + 1 : here + 2]
            has_value = not tab and bool(below) and below[0].marks == marks
            subject = below[0].text.strip() if has_value else value
            return Heading(here + 1 + has_value - place, "quoted", subject=subject)
        if label in words.TO or label in words.OTHERS:
            has_field = True
            has_recipients |= label in words.TO
        elif not has_field and not lines[here].is_blank:
            break
    return None


def _subject(lines: Sequence[Line], count: int) -> str:
    """Return the subject that a header of so many lines states."""
    for line in lines[:count]:
        match = _LABEL.match(line.text[:_MOST_CHARS])
        if match and _field_kind(line.text) == "subject":
            return match[2]
    return ""


def _header_lines(lines: Sequence[Line], place: int, marks: int) -> int:
    """Return the number of lines of the header that begins at a line; 0 if none does.

    It begins with the sender, or in a few programs with another field; it has the sender, at least
    three fields, and among them the date or the subject. Lines that continue a field, and empty
    lines between the fields, belong to it.
    """
    fields: list[str] = []
    last = place
    here = place
    while here < len(lines) and here - place < _MOST_HEADER and lines[here].marks == marks:
        line = lines[here]
        field = _field_kind(line.text)
        if field:
            fields.append(field)
            last = here
            if len(fields) == 4 and "from" not in fields:
                return 0
        elif line.is_blank:
            if here > last + 1 or len(fields) >= 3 or not fields:
                break
        elif not fields or not _continues(line.text, fields[-1]) or lines[here - 1].is_blank:
            break
        else:
            last = here
        here += 1
    is_header = (
        len(fields) >= 3 and "from" in fields[:4] and ("sent" in fields or "subject" in fields)
    )
    return last - place + 1 if is_header else 0


def _after_blanks(lines: Sequence[Line], place: int, marks: int) -> int:
    """Return the first line from a place on that has text; at most two empty ones are left out."""
    stop = min(place + 2, len(lines))
    while place < stop and lines[place].is_blank and lines[place].marks <= marks:
        place += 1
    return place


def _field_kind(text: str) -> str:
    """Return which field of a header a line is, empty if none."""
    match = _LABEL.match(text[:_MOST_CHARS])
    if not match:
        return ""
    label = match[1].strip().casefold()
    kinds = (
        ("from", words.FROM),
        ("sent", words.SENT),
        ("to", words.TO),
        ("subject", words.SUBJECT),
        ("other", words.OTHERS),
    )
    return next((kind for kind, labels in kinds if label in labels), "")


def _continues(text: str, field: str) -> bool:
    """Return whether a line goes on with a field: more addresses, or a subject that is indented."""
    if text[:1] in (" ", "\t"):
        return True
    return field in ("to", "other", "from") and bool(
        _ADDRESS.search(text[:_MOST_CHARS]) or ";" in text
    )


def _attribution(lines: Sequence[Line], place: int, marks: int) -> Heading | None:
    """Return the heading of `On ... wrote:`, which ends with a colon within four lines.

    Lines above it that do not begin it are not of it.
    """
    parts: list[str] = []
    for line in lines[place : place + _MOST_LINES]:
        if line.marks != marks or line.is_blank:
            return None
        parts.append(line.text.strip())
        if sum(map(len, parts)) > _MOST_CHARS:
            return None
        if parts[-1].rstrip("* \u00a0").endswith((":", "：")):
            break
    else:
        return None
    heading = _judged(" ".join(parts), len(parts))
    if heading is None or _begins(parts[0]):
        return heading
    shorter = [_judged(" ".join(parts[start:]), 0) for start in range(1, len(parts))]
    is_below = any(
        other is not None and other.needs_marks <= heading.needs_marks for other in shorter
    )
    return None if is_below else heading


def _begins(first: str) -> bool:
    """Return whether a line has the date or the address of an attribution that ends below it."""
    return bool(_DATE.search(first) or _TIME.search(first) or _ADDRESS.search(first))


def _judged(text: str, count: int) -> Heading | None:
    has_verb = bool(words.WROTE.search(text))
    has_date = bool(_DATE.search(text))
    has_address = bool(_ADDRESS.search(text))
    if has_verb and (has_date or (_TIME.search(text) and has_address)):
        return Heading(count, "quoted")
    if has_date and has_address and _TIME.search(text):
        return Heading(count, "quoted")
    if has_verb or has_address:
        return Heading(count, "quoted", needs_marks=True)
    return None
