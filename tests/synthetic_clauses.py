"""Result sets of clauses with synthetic duplicates of every type and synthetic hard negatives; the
same for the same seed.

Bases are contract clauses of our own and formulas (`data/clauses.txt`), and paragraphs of the
licences that each Debian has (122 in Debian 12). Half of the bases, whichever way they are changed,
are for fixing parameters (`train`), the other half for reporting (`test`). Nothing of `indexer` is
used here: what the detector knows must not decide what it is tested by.

A block of that file is a clause: heading, an obligation, another obligation under the same
heading, boilerplate of both. {A} and {B} are parties, {doc} the contract; the other slots differ
between contracts. A block of other than four lines is a heading and a formula.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import cycle
from pathlib import Path


def items(text: str) -> tuple[str, ...]:
    """Return what stands between semicolons."""
    return tuple(text.split("; "))


def pairs(text: str) -> dict[str, str]:
    """Return the pairs "a=b" that stand between semicolons."""
    return dict(item.split("=") for item in items(text))


# Words that clauses are changed by: of the synonyms, the detector's list has KNOWN, not UNKNOWN
KNOWN = pairs(
    "pay=remit; promptly=without delay; before=prior to; terminate=cancel; maintain=keep; "
    "approval=consent; breach=violation; deliver=hand over; provide=furnish; use=utilize; "
    "modify=amend; modified=altered; liability=responsibility; costs=expenses; writing=written "
    "form; begin=commence; purchase=buy; obligation=duty; entire=whole; if=in the event that; "
    "sole=exclusive; purchase price=buying price; law=statute; damages=harm; shall=must; "
    "under=pursuant to; modification=alteration; transfer=assign; required=obliged; "
    "permitted=allowed; lawyers=attorneys; agreement=contract"
)
UNKNOWN = pairs(
    "copy=duplicate; copies=duplicates; notice=notification; claims=demands; staff=personnel; "
    "goods=merchandise; receives=obtains from time to time; reasonable=sensible; "
    "build=construct; software=program; sum=amount; sums=amounts; books=ledgers; annual=yearly; "
    "immediately=at once; documentation=manuals; source=origin; works=creations; "
    "distribute=circulate; distribution=circulation; conditions=requirements; "
    "receipt=reception; loss=detriment; including=among them; terms=provisions; fee=charge; "
    "fees=charges; further=additional; land=ground; section=clause; conspicuous=prominent; "
    "accompany=go with; contributors=authors; applicable=relevant; loan=credit; shares=stock; "
    "receive=get; following=subsequent; number=count"
)
ADDED = items(
    "in good faith; to the extent permitted by applicable rules; from time to time; as the case "
    "may be; in its reasonable judgment; at its own expense; for the avoidance of doubt; in "
    "each instance; on a timely basis; without limitation; if applicable"
)
ROLES = pairs(
    "Landlord=Tenant; Seller=Buyer; Licensor=Licensee; Lender=Borrower; Company=Consultant; "
    "Contractor=Owner; Sponsor=Trustee; Supplier=Customer; Employer=Executive; "
    "Franchisor=Franchisee"
)
FIRMS = items(
    "Northfield Holdings, Inc.; Quarry Lane LLC; Brightwater Bank; Tessel & Roe Limited; "
    "Avonmere Foods plc; Halden Shipping AG; Orchard Medical Group; Pine Ridge Partners LP; "
    "Solway Energy Corp.; Merrow Textiles"
)
PLACES = items(
    "New York; the State of Delaware; England and Wales; Ontario; the Netherlands; Singapore; "
    "the Commonwealth of Virginia"
)
DOCUMENTS = items(
    "this Agreement; this Indenture; this Lease; this Contract; this Deed; this Master Services "
    "Agreement"
)
STREETS = items(
    "12 Main Street, Springfield; 400 Harbour Road, Bristol; 7 Old Mill Lane, Trenton, New "
    "Jersey 08601; 85 Canal Street, Leeds"
)
MONTHS = items("January; March; April; June; September; December")
OPPOSITES = pairs(
    "before=after; including=excluding; greater=less; exclusively=jointly; include=exclude; "
    "without=with; all=none; in advance=in arrears; permitted=prohibited; later=earlier; at "
    "least=at most; any=no; above=below; freely=rarely; with=without"
)

AMOUNTS = items("$10,000; $2,500,000; EUR 75,000; Ten Thousand Dollars ($10,000); $1.5 million")
NAMES = items("Orion; Velden; Marchmont; Quill; Tarrant; Osprey; Caldera; Wexford; Lumen; Sable")
DUPLICATES = ("identical", "near_identical", "fuzzy")
NEGATIVES = ("other_force", "denied", "opposite", "roles", "other_body", "formula")
LICENCES = Path("/usr/share/common-licenses")  # of Debian, the same whatever is installed
GROUPS_A_RESULT = 8


@dataclass(frozen=True)
class Group:
    """A clause and what was made of it: `kind` is the duplicate type or the hard negative, `words`
    says whose synonyms it has.
    """

    kind: str
    base: str
    texts: tuple[str, ...]
    words: str = ""


@dataclass
class Result:
    """One result set: clauses in rank order, and the true groups as ranks."""

    clauses: list[tuple[str, str]] = field(default_factory=list)
    groups: list[tuple[Group, tuple[int, ...]]] = field(default_factory=list)


@dataclass(frozen=True)
class Base:
    """What clauses are made from: the lines of a template or of a formula, or a paragraph."""

    name: str
    template: tuple[str, ...] = ()
    formula: tuple[str, ...] = ()
    text: str = ""

    def write(self, draw: random.Random) -> str:
        if not self.template:
            return self.text
        heading, obligation, _, boilerplate = self.template
        body = fill_slots(f"{obligation} {boilerplate}", values(draw))
        return add_heading(heading, body, draw)

    def write_formula(self, figures: Mapping[str, str]) -> str:
        heading, formula = self.formula
        return f"{heading}. {formula.format_map(figures)}"


# Slots, headings


def values(draw: random.Random) -> dict[str, str]:
    """Return what one contract has in its slots."""
    roles = draw.choice(tuple(ROLES.items())) if draw.random() < 0.7 else draw.sample(FIRMS, 2)
    article = "the " if roles[0] in {*ROLES, *ROLES.values()} else ""
    days = draw.choice([10, 14, 30, 45, 60, 90])
    return {
        "A": f"{article}{roles[0]}",
        "B": f"{article}{roles[1]}",
        "doc": draw.choice(DOCUMENTS),
        "amount": draw.choice(AMOUNTS),
        "days": draw.choice([str(days), f"thirty ({days})", str(days)]),
        "days2": str(days * 3),
        "pct": f"{draw.choice([2, 3.5, 5, 8, 12, 51])}%",
        "date": f"{draw.choice(MONTHS)} {draw.randint(1, 28)}, {draw.randint(1995, 2024)}",
        "place": draw.choice(PLACES),
        "address": draw.choice(STREETS),
    }


def numbers(draw: random.Random) -> dict[str, str]:
    """Return four different numbers for a formula."""
    hundredths = draw.sample(range(105, 995), 4)
    return {name: f"{number / 100:.2f}" for name, number in zip("nmkj", hundredths, strict=True)}


def fill_slots(template: str, slots: Mapping[str, str]) -> str:
    """Return a template with its slots; sentences begin with a capital."""
    text = template.format_map(slots)
    return re.sub(r"(^|[.] )(the|this) ", lambda match: f"{match[1]}{match[2].capitalize()} ", text)


def add_heading(heading: str, body: str, draw: random.Random) -> str:
    """Return a clause with a number and a heading, in one of many ways."""
    number = draw.randint(1, 40)
    section = f"Section {number}.{draw.randint(1, 19):02d}"
    label = draw.choice([f"{number}.", section, f"{number}.{draw.randint(1, 9)}", "(c)", ""])
    title = draw.choice([heading, heading.upper(), ""])
    return " ".join(part for part in (label, f"{title}." if title else "", body) if part)


# Changes that leave a duplicate


def identical(text: str, draw: random.Random) -> str:
    """Change articles, spaces, line ends, quotation marks and commas."""
    changed: list[str] = []
    for word in text.split(" "):
        if word in {"the", "such", "said"} and draw.random() < 0.3:
            changed.append(draw.choice(["", "such", "said", "the"]))
        elif word.endswith(",") and draw.random() < 0.2:
            changed.append(word[:-1])
        elif word not in {"a", "an"} or draw.random() < 0.8:
            changed.append(word)
    joined = " ".join(word for word in changed if word)
    width = draw.choice([70, 100, 10_000])
    if "\n" in joined:
        return joined
    lines, line = [], ""
    for word in joined.split(" "):
        if line and len(line) + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def near_identical(text: str, draw: random.Random) -> str:
    """Change names, years and numbers in prose, each name to the same other one throughout."""
    capitals = set(re.findall(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*", text))
    names = sorted(capitals - {"You", "Your", "I", "We", "Our", "They", "If"})
    for old, name in zip(names[:10], draw.sample(NAMES, 10), strict=False):
        text = re.sub(rf"\b{old}\b", name, text)
    return re.sub(r"\b(?:19|20)\d\d\b", lambda _: str(draw.randint(1990, 2024)), text)


def synonymous(table: Mapping[str, str], fraction: float, text: str, draw: random.Random) -> str:
    """Replace words by synonyms, at most that fraction of all words, each throughout the text."""
    budget = max(1, int(fraction * len(text.split())))
    for word in draw.sample(sorted(table), len(table)):
        count = len(re.findall(rf"\b{word}\b", text))
        if 0 < count <= budget:
            text = re.sub(rf"\b{word}\b", table[word], text)
            budget -= count
    return text


def reorder(text: str, draw: random.Random) -> str:
    """Exchange two words or phrases about `and` or `or`, or the sentences."""
    pairs = list(re.finditer(r"\b([a-z]{4,}) (and|or) (?!shall|must)([a-z]{4,})\b", text))
    for match in draw.sample(pairs, min(3, len(pairs))):
        text = text.replace(match[0], f"{match[3]} {match[2]} {match[1]}", 1)
    sentences = re.split(r"(?<=[.;]) (?=[A-Z])", text)
    if len(sentences) > 1 and draw.random() < 0.5:
        sentences = [*sentences[1:], sentences[0]]
    return " ".join(sentences)


def lengthen(text: str, draw: random.Random) -> str:
    """Insert one or two phrases after a comma, each at most a tenth of the words."""
    for phrase in draw.sample(ADDED, draw.choice([1, 2])):
        commas = [match.end() for match in re.finditer(r",(?= )", text)]
        if commas and 10 * len(phrase.split()) <= len(text.split()):
            at = draw.choice(commas)
            text = f"{text[:at]} {phrase},{text[at:]}"
    return text


def shorten(text: str, draw: random.Random) -> str:
    """Drop what stands in brackets, or one of two joined words."""
    text = re.sub(r" \([^()]{3,40}\)", "", text) if draw.random() < 0.5 else text
    pairs = list(re.finditer(r"\b([a-z]{4,}) (?:and|or) (?!shall|must)([a-z]{4,})\b", text))
    for match in draw.sample(pairs, min(1, len(pairs))):
        text = text.replace(match[0], match[draw.choice([1, 2])], 1)
    return text


def inflect(text: str, draw: random.Random) -> str:
    """Write `pays` for `shall pay` and the like, once or twice."""
    verbs = "maintain|keep|pay|remove|provide|spend|deliver|hold|grant|ship|train|correct"
    return re.sub(rf"\bshall ({verbs})\b", r"\1s", text, count=draw.choice([1, 2]))


def fuzzy(table: Mapping[str, str], text: str, draw: random.Random) -> str:
    """Make several of these changes at once, with synonyms of one table."""
    text = synonymous(table, 0.08, reorder(text, draw), draw)
    for change in draw.sample([lengthen, shorten, inflect], 2):
        text = change(text, draw)
    return text


# Changes of what a clause obliges to


def change_force(text: str, draw: random.Random) -> str:
    """Make a duty a right, or the other way round."""
    verbs = {"shall": "may", "must": "may", "may": "shall"}
    return _once(text, draw, [(rf"\b{a}(?! not)\b", b) for a, b in verbs.items()])


def deny(text: str, draw: random.Random) -> str:
    """Deny a duty or a right, or no longer deny it."""
    denied = (r"\b(shall|may|must|is|are)(?! not)\b", r"\1 not")
    return _once(text, draw, [(r"\b(shall|may|must) not\b", r"\1"), denied])


def replace_by_opposite(text: str, draw: random.Random) -> str:
    """Replace a word by its opposite."""
    rules = [(rf"\b{a}\b", b) for a, b in OPPOSITES.items()]
    return _once(text, draw, rules + [(rf"\b{b}\b", a) for a, b in OPPOSITES.items()])


def _once(text: str, draw: random.Random, rules: list[tuple[str, str]]) -> str:
    possible = [rule for rule in rules if re.search(rule[0], text)]
    if not possible:
        return text
    pattern, becomes = draw.choice(possible)
    return re.sub(pattern, becomes, text, count=1)


# Result sets


def results(half: str, sets: int, seed: int = 1) -> list[Result]:
    """Return result sets of one half (`train`, `test`), with at least `sets` groups of each
    duplicate type and of hard negatives.
    """
    draw = random.Random(f"{seed} {half}")
    bases = all_bases()[half != "train" :: 2]
    groups = [*_duplicates(bases, sets, draw), *_negatives(bases, sets, draw)]
    draw.shuffle(groups)
    dealt: list[list[Group]] = []
    for group in groups:  # no base twice in one result set
        for hand in dealt:
            if len(hand) < GROUPS_A_RESULT and group.base not in {other.base for other in hand}:
                hand.append(group)
                break
        else:
            dealt.append([group])
    return [_rank(hand, draw) for hand in dealt]


def all_bases() -> list[Base]:
    """Return every base: templates, formulas, paragraphs."""
    file = Path(__file__).with_name("data") / "clauses.txt"
    text = file.read_text(encoding="utf-8")
    blocks = [tuple(block.splitlines()) for block in text.split("\n\n")]
    clauses = [block for block in blocks if len(block) == 4]
    formulas = [(block[0], "\n".join(block[1:])) for block in blocks if len(block) != 4]
    bases = [Base(f"clause {number}", template=block) for number, block in enumerate(clauses)]
    bases += [Base(f"formula {number}", formula=block) for number, block in enumerate(formulas)]
    return bases + [Base(f"paragraph {n}", text=text) for n, text in enumerate(paragraphs())]


@cache
def paragraphs(limit: int = 240) -> tuple[str, ...]:
    """Return paragraphs of licences with words of obligation, no two with half of their words in
    common.
    """
    kept: list[str] = []
    vocabularies: list[set[str]] = []
    for path in sorted(LICENCES.glob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        for paragraph in re.split(r"\n[ .]*\n", path.read_text(encoding="utf-8", errors="replace")):
            text = " ".join(paragraph.split())
            words = set(re.findall(r"[a-z]+", text.lower()))
            is_prose = len(re.findall(r"[a-z ]", text)) > 0.9 * len(text)
            obliges = re.search(r"\b(?:shall|may|must)\b", text)
            if not (40 <= len(text.split()) <= 200 and is_prose and obliges):
                continue
            if not any(2 * len(words & other) > len(words | other) for other in vocabularies):
                kept.append(text)
                vocabularies.append(words)
            if len(kept) == limit:
                return tuple(kept)
    return tuple(kept)


def holds(left: str, right: str) -> bool:
    """Return whether Table 2 holds to the letter: lengths within 20 %, and 80 % of the words of one
    text in the other.
    """
    left_words, right_words = (re.findall(r"[a-z0-9]+", text.lower()) for text in (left, right))
    shorter, longer = sorted((len(left_words), len(right_words)))
    shared = len(set(left_words) & set(right_words))
    fewer = min(len(set(left_words)), len(set(right_words)))
    return shorter >= 0.8 * longer and shared >= 0.8 * fewer


def _duplicates(bases: list[Base], sets: int, draw: random.Random) -> Iterator[Group]:
    prose = [base for base in bases if not base.formula]
    for kind in DUPLICATES:
        count = 0
        for base in cycle(prose):
            group = _duplicate(kind, base, count, draw)
            if group:
                yield group
                count += 1
            if count >= sets:
                break


def _duplicate(kind: str, base: Base, number: int, draw: random.Random) -> Group | None:
    """Return a group of two or three; every other one has synonyms that the detector's list does
    not have.
    """
    text = base.write(draw)
    words, table = (("known", KNOWN), ("unknown", UNKNOWN))[number % 2]
    members = [text]
    for _ in range(draw.choice([1, 1, 2])):
        if kind == "identical":
            members.append(identical(text, draw))
        elif kind == "near_identical":
            renamed = base.write(draw) if base.template else near_identical(text, draw)
            with_synonyms = draw.random() < 0.5
            members.append(synonymous(table, 0.04, renamed, draw) if with_synonyms else renamed)
        else:
            members.append(fuzzy(table, text, draw))
    is_other = kind == "fuzzy" and not all(holds(text, member) for member in members)
    if is_other or len(set(members)) < len(members):
        return None
    return Group(kind, base.name, tuple(members), words if kind != "identical" else "")


def _negatives(bases: list[Base], sets: int, draw: random.Random) -> Iterator[Group]:
    changes = {"other_force": change_force, "denied": deny, "opposite": replace_by_opposite}
    any_base = cycle(bases)
    any_template = cycle([base for base in bases if base.template])
    any_formula = cycle([base for base in bases if base.formula])
    count = 0
    for kind in cycle(NEGATIVES):
        if kind in changes:
            base = next(any_base)
            text = base.write_formula(numbers(draw)) if base.formula else base.write(draw)
            changed = changes[kind](text, draw)
        elif kind == "formula":
            base = next(any_formula)
            text, changed = _one_number(base, draw)
        else:
            base = next(any_template)
            text, changed = _other_template(base, kind, draw)
        if text != changed:
            yield Group(kind, base.name, (text, changed))
            count += 1
        if count >= sets:
            return


def _one_number(base: Base, draw: random.Random) -> tuple[str, str]:
    figures, others = numbers(draw), numbers(draw)
    name = draw.choice([name for name in figures if f"{{{name}}}" in base.formula[1]])
    changed = base.write_formula({**figures, name: others[name]})
    return base.write_formula(figures), changed


def _other_template(base: Base, kind: str, draw: random.Random) -> tuple[str, str]:
    """Return a clause, and the same with the parties exchanged (`roles`), or with the other
    obligation under the same heading.
    """
    heading, obligation, other_obligation, boilerplate = base.template
    slots = other_slots = values(draw)
    second = other_obligation
    if kind == "roles":
        if not ("{A}" in obligation and "{B}" in obligation):
            return "", ""
        second, other_slots = obligation, {**slots, "A": slots["B"], "B": slots["A"]}
    return (
        add_heading(heading, fill_slots(f"{obligation} {boilerplate}", slots), draw),
        add_heading(heading, fill_slots(f"{second} {boilerplate}", other_slots), draw),
    )


def _rank(hand: list[Group], draw: random.Random) -> Result:
    slots = [(group, member) for group in hand for member in range(len(group.texts))]
    draw.shuffle(slots)
    rank_of = {(id(group), member): rank for rank, (group, member) in enumerate(slots)}
    clauses = [(str(rank), group.texts[member]) for rank, (group, member) in enumerate(slots)]
    groups = [
        (group, tuple(rank_of[id(group), member] for member in range(len(group.texts))))
        for group in hand
    ]
    return Result(clauses, groups)
