"""Changes of clauses: ways that leave a duplicate of a known type, and ways that change what a
clause obliges to.

Nothing of `indexer` is used here: what the detector knows must not decide what it is tested by.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

from clausevocabulary import ADDED, DOCUMENTS, FIRMS, MONTHS, OPPOSITES, PLACES, ROLES, STREETS

Change = Callable[[str, random.Random], str]
AMOUNTS = ["$10,000", "$2,500,000", "EUR 75,000", "Ten Thousand Dollars ($10,000)", "$1.5 million"]


def values(random_: random.Random) -> dict[str, str]:
    """Return what one contract has in its slots."""
    roles = random_.choice(ROLES) if random_.random() < 0.7 else random_.sample(FIRMS, 2)
    article = "the " if roles[0] in {role for pair in ROLES for role in pair} else ""
    days = random_.choice([10, 14, 30, 45, 60, 90])
    return {
        "A": f"{article}{roles[0]}",
        "B": f"{article}{roles[1]}",
        "doc": random_.choice(DOCUMENTS),
        "amount": random_.choice(AMOUNTS),
        "days": random_.choice([str(days), f"thirty ({days})", str(days)]),
        "days2": str(days * 3),
        "pct": f"{random_.choice([2, 3.5, 5, 8, 12, 51])}%",
        "date": f"{random_.choice(MONTHS)} {random_.randint(1, 28)}, {random_.randint(1995, 2024)}",
        "place": random_.choice(PLACES),
        "address": random_.choice(STREETS),
    }


def numbers(random_: random.Random) -> dict[str, str]:
    """Return four different numbers for a formula."""
    hundredths = random_.sample(range(105, 995), 4)
    return {name: f"{number / 100:.2f}" for name, number in zip("nmkj", hundredths, strict=True)}


def fill_slots(template: str, slots: Mapping[str, str]) -> str:
    """A template with its slots; sentences begin with a capital."""
    text = template.format_map(slots)
    return re.sub(r"(^|[.] )(the|this) ", lambda match: f"{match[1]}{match[2].capitalize()} ", text)


def add_heading(heading: str, body: str, random_: random.Random) -> str:
    """A clause with a number and a heading, in one of many ways."""
    number = random_.randint(1, 40)
    label = random_.choice(
        [
            f"{number}.",
            f"Section {number}.{random_.randint(1, 19):02d}",
            f"{number}.{random_.randint(1, 9)}",
            "(c)",
            "",
        ]
    )
    title = random_.choice([heading, heading.upper(), ""])
    return " ".join(part for part in (label, f"{title}." if title else "", body) if part)


def identical(text: str, random_: random.Random) -> str:
    """Articles come, go or change; so do spaces, line ends, quotation marks and commas."""
    words = text.split(" ")
    changed: list[str] = []
    for word in words:
        if word in {"the", "such", "said"} and random_.random() < 0.3:
            changed.append(random_.choice(["", "such", "said", "the"]))
        elif word.endswith(",") and random_.random() < 0.2:
            changed.append(word[:-1])
        elif word not in {"a", "an"} or random_.random() < 0.8:
            changed.append(word)
    joined = " ".join(word for word in changed if word)
    wide = random_.choice([70, 100, 10_000])
    return "\n".join(_wrap(joined, wide)) if "\n" not in joined else joined


def near_identical(text: str, random_: random.Random) -> str:
    """Names, years and numbers in prose are others, each name the same other one throughout."""
    names = sorted(
        set(re.findall(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*", text))
        - {"You", "Your", "I", "We", "Our", "They", "If"}
    )
    new = random_.sample(
        [
            "Orion",
            "Velden",
            "Marchmont",
            "Quill",
            "Tarrant",
            "Osprey",
            "Caldera",
            "Wexford",
            "Lumen",
            "Sable",
        ],
        10,
    )
    for old, name in zip(names[:10], new, strict=False):
        text = re.sub(rf"\b{old}\b", name, text)
    return re.sub(r"\b(?:19|20)\d\d\b", lambda _: str(random_.randint(1990, 2024)), text)


def synonymous(table: Mapping[str, str], share: float) -> Change:
    """Words become synonyms of a table, at most that share of all words, each throughout the
    text.
    """

    def change(text: str, random_: random.Random) -> str:
        budget = max(1, int(share * len(text.split())))
        for word in random_.sample(sorted(table), len(table)):
            count = len(re.findall(rf"\b{word}\b", text))
            if 0 < count <= budget:
                text = re.sub(rf"\b{word}\b", table[word], text)
                budget -= count
        return text

    return change


def reorder(text: str, random_: random.Random) -> str:
    """Exchange two words or phrases about `and` or `or`, or the sentences."""
    pairs = list(re.finditer(r"\b([a-z]{4,}) (and|or) (?!shall|must)([a-z]{4,})\b", text))
    for match in random_.sample(pairs, min(3, len(pairs))):
        text = text.replace(match[0], f"{match[3]} {match[2]} {match[1]}", 1)
    sentences = re.split(r"(?<=[.;]) (?=[A-Z])", text)
    if len(sentences) > 1 and random_.random() < 0.5:
        sentences = [*sentences[1:], sentences[0]]
    return " ".join(sentences)


def lengthen(text: str, random_: random.Random) -> str:
    """Insert one or two phrases after a comma, each at most a tenth of the words."""
    for phrase in random_.sample(ADDED, random_.choice([1, 2])):
        commas = [match.end() for match in re.finditer(r",(?= )", text)]
        if commas and 10 * len(phrase.split()) <= len(text.split()):
            at = random_.choice(commas)
            text = f"{text[:at]} {phrase},{text[at:]}"
    return text


def shorten(text: str, random_: random.Random) -> str:
    """Drop what stands in brackets, or one of two joined words."""
    text = re.sub(r" \([^()]{3,40}\)", "", text) if random_.random() < 0.5 else text
    pairs = list(re.finditer(r"\b([a-z]{4,}) (?:and|or) (?!shall|must)([a-z]{4,})\b", text))
    for match in random_.sample(pairs, min(1, len(pairs))):
        text = text.replace(match[0], match[random_.choice([1, 2])], 1)
    return text


def inflect(text: str, random_: random.Random) -> str:
    """`shall pay` becomes `pays` and the like, once or twice."""
    for _ in range(random_.choice([1, 2])):
        text = re.sub(
            r"\bshall "
            r"(maintain|keep|pay|remove|provide|spend|deliver|hold|grant|ship|train|correct)\b",
            r"\1s",
            text,
            count=1,
        )
    return text


def fuzzy(table: Mapping[str, str]) -> Change:
    """Make several of these changes at once, with synonyms of one table."""

    def change(text: str, random_: random.Random) -> str:
        text = synonymous(table, 0.08)(reorder(text, random_), random_)
        for change_text in random_.sample([lengthen, shorten, inflect], 2):
            text = change_text(text, random_)
        return text

    return change


def change_force(text: str, random_: random.Random) -> str:
    """A duty becomes a right, or the other way round."""
    return _once(
        text,
        random_,
        [
            (r"\bshall(?! not)\b", "may"),
            (r"\bmust(?! not)\b", "may"),
            (r"\bmay(?! not)\b", "shall"),
        ],
    )


def deny(text: str, random_: random.Random) -> str:
    """A duty or a right is denied, or no longer denied."""
    return _once(
        text,
        random_,
        [(r"\b(shall|may|must) not\b", r"\1"), (r"\b(shall|may|must|is|are)(?! not)\b", r"\1 not")],
    )


def replace_by_opposite(text: str, random_: random.Random) -> str:
    """Replace a word by its opposite."""
    return _once(
        text,
        random_,
        [(rf"\b{a}\b", b) for a, b in OPPOSITES] + [(rf"\b{b}\b", a) for a, b in OPPOSITES],
    )


def _once(text: str, random_: random.Random, rules: list[tuple[str, str]]) -> str:
    possible = [rule for rule in rules if re.search(rule[0], text)]
    if not possible:
        return text
    pattern, becomes = random_.choice(possible)
    return re.sub(pattern, becomes, text, count=1)


def _wrap(text: str, width: int) -> list[str]:
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]
