"""Threads of mails: replies by fields and by quoted words, and the mails that must be read.

Fields are Message-ID, In-Reply-To and References. The first step of the algorithm REFERENCES (RFC
5256, section 3; by Jamie Zawinski, who described it in "message threading"): every mail links the
Message-IDs that it refers to, oldest first. Messages are not gathered by their subjects: equal
subjects are no evidence that one is a reply to another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias, cast

from indexer.documents.base import message_hash
from indexer.documents.mail.message import MailMessage
from indexer.documents.mail.quote_headings import (
    RUN,
    formatted,
    key_run,
    key_runs,
    runs,
    segment_words,
    without_symbols,
)
from indexer.documents.mail.segments import (
    CONTENT,
    Quote,
    ReadMail,
    Segment,
    SegmentKind,
    is_same,
    is_same_with_names,
    names_another,
    names_sender,
    read_mail,
    subject_parts,
)


def reference_parents(references: Sequence[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """Return the parent of each Message-ID that has one, also of those that are only referred to.

    `references`: each message's own id and those it refers to, oldest first, the parent last. A
    message's own last reference counts more than what others say of it; of what others say the
    first counts, in the order given. A link that would close a circle is left out.

    >>> reference_parents([("<c>", ["<a>", "<b>"]), ("<b>", ["<a>"]), ("<a>", ["<c>"])])
    {'<b>': '<a>', '<c>': '<b>'}
    """
    parents: dict[str, str] = {}
    for own, line in references:
        for parent, child in pairwise(line):
            if child not in parents and child != own and not is_above(child, parent, parents):
                parents[child] = parent
        if line and not is_above(own, line[-1], parents):
            parents[own] = line[-1]
    return parents


def is_above(upper: str, lower: str, parents: Mapping[str, str]) -> bool:
    """Return whether `upper` is `lower` or one of its ancestors."""
    here: str | None = lower
    while here is not None:
        if here == upper:
            return True
        here = parents.get(here)
    return False


# The mail that another one quotes, found by its words where the fields name none.

MIN_WORDS = 8
"""Words that a mail and a quote share at least, unless the quote is the mail, with its sender named
and its subject."""
_KEYS = 4
_CHANGED = 0.8
_MAX_MAILS = 200
_TOLERANCE = 86_400_000  # a day in milliseconds: clocks and time zones of senders are wrong
Run: TypeAlias = tuple[str, ...]
Similarity: TypeAlias = Callable[[str, str], float]


@dataclass(frozen=True, slots=True)
class _Index:
    """Mails by runs of words of their own text: by `key_runs`, and by all runs that are wanted."""

    by_key: Mapping[Run, Sequence[int]]
    by_run: Mapping[Run, Sequence[int]]

    def having(self, quote: Quote) -> set[int]:
        """Return the mails whose own text a quote may hold, or that may hold the quote."""
        numbers: set[int] = set()
        words = without_symbols(quote.words)
        for run in key_runs(words, _KEYS):
            numbers.update(_few(self.by_run.get(run, ())))
        for width in range(1, RUN + 1):
            for run in runs(words, width):
                numbers.update(_few(self.by_key.get(run, ())))
        return numbers


def _few(positions: Sequence[int]) -> Sequence[int]:
    return positions if len(positions) <= _MAX_MAILS else ()


def quote_parents(
    mails: Sequence[ReadMail], orphans: Collection[int], similarity: Similarity
) -> Iterator[tuple[int, int]]:
    """Yield each orphan that quotes another mail, with that mail, by their positions.

    The mail is the one of the lowest depth of quoting whose own words are in the quote in a row, or
    in whose own words the quote is; or whose own words, 8 or more, and the words of the quote have
    a `similarity` of 80 % at least, for a quote may be changed. It was sent at most a day after the
    orphan, as far as both dates are known. Fewer than 8 words in common do for none but a mail that
    is the whole quote, whose sender is named above it, and whose subject is the same. Of several,
    the one counts that is not changed, then whose sender is named, then one of the same subject,
    then the one with more words in common, then the last one sent, then the first by id. Texts that
    more than 200 mails share are no evidence, nor are signs such as `?`, which stand for characters
    that were lost.
    """
    quoting = sorted(position for position in orphans if mails[position].inner)
    index = _index(mails, quoting)
    for position in quoting:
        parent = _parent(mails, position, index, similarity)
        if parent is not None:
            yield position, parent


def _index(mails: Sequence[ReadMail], quoting: Sequence[int]) -> _Index:
    quotes = (quote for position in quoting for quote in mails[position].inner)
    wanted = {run for quote in quotes for run in key_runs(without_symbols(quote.words), _KEYS)}
    by_key: dict[Run, list[int]] = {}
    by_run: dict[Run, list[int]] = {}
    for index, mail in enumerate(mails):
        own = without_symbols(mail.own)
        for run in key_runs(own, _KEYS):
            by_key.setdefault(run, []).append(index)
        for run in set(runs(own, RUN)) & wanted:
            by_run.setdefault(run, []).append(index)
    return _Index(by_key, by_run)


def _parent(
    mails: Sequence[ReadMail], position: int, index: _Index, similarity: Similarity
) -> int | None:
    """Return the mail that a mail quotes; None if none is found."""
    mail = mails[position]
    for quote in sorted(mail.inner, key=lambda quote: quote.depth):
        ranked = [
            (rank, other)
            for other in index.having(quote) - {position}
            if (rank := _rank(mail, quote, mails[other], similarity)) is not None
        ]
        if ranked:
            return max(ranked)[1]
    return None


def _rank(
    mail: ReadMail, quote: Quote, other: ReadMail, similarity: Similarity
) -> tuple[object, ...] | None:
    """Return by how much a mail is what a quote is of, more is better; None if it is not."""
    sent = other.message.date
    received = mail.message.date
    if sent is not None and received is not None and sent > received + _TOLERANCE:
        return None
    own_words = without_symbols(other.own)
    quoted_words = without_symbols(quote.words)
    own = formatted(own_words)
    quoted = formatted(quoted_words)
    common = min(len(own_words), len(quoted_words))
    is_whole = own in quoted or quoted in own
    if not is_whole and (common < MIN_WORDS or similarity(own, quoted) < _CHANGED):
        return None
    is_named = names_sender(quote.attribution, other.message.sender)
    is_same_subject = bool(mail.subject) and mail.subject == other.subject
    is_same = own_words == quoted_words
    if common < MIN_WORDS and not (is_same and is_named and is_same_subject):
        return None
    return (is_whole, is_named, is_same_subject, common, sent or 0, _reversed(other.message.id))


def _reversed(id: str) -> tuple[int, ...]:
    """Return a key by which the first id is the greatest."""
    return tuple(-ord(character) for character in id)


# Inclusive mails: those to be read, because no later mail of the thread holds them whole.

Reason: TypeAlias = Literal[
    "own_text",
    "changed",
    "quoted_text",
    "attachment",
    "subject",
    "attribution",
    "signature",
    "disclaimer",
    "empty",
]
"""Why a mail is inclusive.

`own_text`: no later mail quotes what its sender wrote. `changed`: a reply to it quotes that, but
not as it is. `quoted_text`: a later mail has the sender's text, but not all that is quoted below.
`attachment`: a later mail has the text, but not all attachments. `subject`, `attribution` (the
lines above a quote), `signature` and `disclaimer`: no other inclusive mail has these, or a later
mail has the quotes with other attributions. `empty`:
there is nothing in it that another mail could have.
"""
REASONS: Mapping[Reason, str] = {
    "own_text": "its text is in no later mail",
    "changed": "a reply quotes it with changes",
    "quoted_text": "a later mail has its text, but not what it quotes",
    "attachment": "a later mail has its text, but not its attachments",
    "subject": "its subject is in no other inclusive mail",
    "attribution": "the lines above its quotations are in no other inclusive mail",
    "signature": "its signature is in no other inclusive mail",
    "disclaimer": "its disclaimer is in no other inclusive mail",
    "empty": "it has no text",
}
_MIN_CHANGED, _INCLUSIVE_CHANGED = 8, 0.8
InclusiveRun = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The `reasons` why a mail is inclusive, or the position of a later mail that contains it."""

    reasons: tuple[Reason, ...] = ()
    held_by: int | None = None

    @property
    def is_inclusive(self) -> bool:
        """True for a mail that must be read."""
        return self.held_by is None


@dataclass(slots=True)
class _Thread:
    """The working state of one thread; positions are the indices of its mails, in order."""

    mails: Sequence[ReadMail]
    distance: Callable[[int, int], int]
    similarity: Callable[[str, str], float]
    holders: dict[InclusiveRun, set[int]] = field(default_factory=dict)
    copies: dict[str, list[int]] = field(default_factory=dict)
    by_text: dict[tuple[str, InclusiveRun], list[int]] = field(default_factory=dict)
    above: dict[tuple[int, tuple[str, InclusiveRun]], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wanted = {key_run(quote.words) for mail in self.mails for quote in mail.quotes}
        for index, mail in enumerate(self.mails):
            for run in _runs_of(mail) & wanted:
                self.holders.setdefault(run, set()).add(index)
            if mail.message.message_id:
                self.copies.setdefault(mail.message.message_id, []).append(index)
            self.by_text.setdefault((mail.message.sender, mail.own), []).append(index)

    def nearer(self, other: int, position: int) -> int:
        """Return how many mails between two have the same text of the same sender as the upper."""
        text = (self.mails[position].message.sender, self.mails[position].own)
        key = (other, text)
        if key not in self.above:
            distances = {self.distance(other, same) for same in self.by_text[text]}
            self.above[key] = sorted(distances - {0})
        return bisect_left(self.above[key], self.distance(other, position))


def inclusive(
    mails: Sequence[ReadMail],
    distance: Callable[[int, int], int],
    similarity: Callable[[str, str], float],
    ignore_endings: bool = False,
) -> list[Verdict]:
    """Return the verdict on each mail of a thread.

    `mails` are in an order in which every mail comes after the mail it replies to. `distance(a, b)`
    is 1 where a replies to b, 2 where it replies to a reply to b, and so on; 0 where it does not.

    A reply, also an indirect one, holds a mail if it quotes each message in it with all its words
    and no others (one that replies interrupt is one message), in the same order and under the same
    attributions, and has all its attachments. The quote of the mail itself is as deep as the
    distance and nobody else is named above it, or its sender is: others may have written the same.
    Of equal mails of one sender, as many are held as there are such quotes. A copy with the same
    Message-ID holds a mail if it has all these at least. `similarity` of two texts says which
    quotes are changed ones.

    The inclusive mails together have every subject and segment: a mail with a signature or
    disclaimer (unless `ignore_endings`), or anything else, that no inclusive mail has, becomes
    inclusive itself, the last ones first.
    """
    thread = _Thread(mails, distance, similarity)
    verdicts = [_verdict(thread, position) for position in range(len(mails))]
    coverage = _Coverage(
        mails, [index for index, verdict in enumerate(verdicts) if verdict.is_inclusive]
    )
    for index in reversed(range(len(mails))):
        if verdicts[index].is_inclusive:
            continue
        missing = coverage.missing(index, ignore_endings)
        if missing:
            verdicts[index] = Verdict(missing)
            coverage.add(index)
    return verdicts


def _verdict(thread: _Thread, position: int) -> Verdict:
    mail = thread.mails[position]
    if not mail.quotes and not mail.message.attachments:
        holder = _copy(thread, position)
        return Verdict(held_by=holder) if holder is not None else Verdict(("empty",))
    with_own = [other for other in _later(thread, position) if _has_own(thread, other, position)]
    with_text = [other for other in with_own if _has_quotes(thread.mails[other], mail)]
    with_names = [o for o in with_text if _has_quotes(thread.mails[o], mail, is_same_with_names)]
    with_all = [other for other in with_names if _has_attachments(thread.mails[other], mail)]
    if with_all:
        return Verdict(held_by=with_all[-1])
    if with_names:
        return Verdict(("attachment",))
    if with_text:
        return Verdict(("attribution",))
    if with_own:
        return Verdict(("quoted_text",))
    return Verdict(("changed" if _is_changed(thread, position) else "own_text",))


def _later(thread: _Thread, position: int) -> list[int]:
    """Return the positions of later mails that quote a run of a mail's own text."""
    mail = thread.mails[position]
    if mail.own:
        candidates = set(thread.holders.get(key_run(mail.own), ()))
    else:
        candidates = set(range(len(thread.mails)))
    candidates.update(thread.copies.get(mail.message.message_id, ()))
    return sorted(other for other in candidates if other > position)


def _copy(thread: _Thread, position: int) -> int | None:
    copies = thread.copies.get(thread.mails[position].message.message_id, [])
    later = [other for other in copies if other > position and _has_own(thread, other, position)]
    return later[-1] if later else None


def _is_copy(a: ReadMail, b: ReadMail) -> bool:
    return bool(a.message.message_id) and a.message.message_id == b.message.message_id


def _has_own(thread: _Thread, other: int, position: int) -> bool:
    """Return whether a mail quotes what the sender of another one wrote, or is a copy of it."""
    mail = thread.mails[position]
    later = thread.mails[other]
    if _is_copy(later, mail):
        return later.own == mail.own
    distance = thread.distance(other, position)
    if not distance or mail.own_message is None:
        return bool(distance)
    sender = mail.message.sender
    quotes = [quote for quote in later.inner if is_same(mail.own_message, quote)]
    is_in_position = any(
        quote.depth == distance and not names_another(quote.attribution, sender) for quote in quotes
    )
    named = sum(names_sender(quote.attribution, sender) for quote in quotes)
    return is_in_position or named > thread.nearer(other, position)


def _has_quotes(
    later: ReadMail, mail: ReadMail, is_equal: Callable[[Quote, Quote], bool] = is_same
) -> bool:
    """Return whether a mail has every message that another one quotes, in the same order."""
    following = iter(later.inner)

    def follows(message: Quote) -> bool:
        return any(is_equal(message, quote) for quote in following)

    return all(map(follows, mail.inner))


def _has_attachments(later: ReadMail, mail: ReadMail) -> bool:
    digests = {attachment.sha256 for attachment in later.message.attachments}
    return all(attachment.sha256 in digests for attachment in mail.message.attachments)


def _is_changed(thread: _Thread, position: int) -> bool:
    """Return whether a reply to a mail quotes at least 80 % of its words in order."""
    mail = thread.mails[position]
    own = " ".join(mail.own)
    if len(mail.own) < _MIN_CHANGED:
        return False
    replies = (
        other
        for other in range(position + 1, len(thread.mails))
        if thread.distance(other, position)
    )
    quotes = (quote for other in replies for quote in thread.mails[other].inner)
    return any(
        len(quote.words) < 2 * len(mail.own)
        and thread.similarity(own, " ".join(quote.words)) >= _INCLUSIVE_CHANGED
        for quote in quotes
    )


class _Coverage:
    """The segments and subjects that the inclusive mails have."""

    def __init__(self, mails: Sequence[ReadMail], positions: Sequence[int]) -> None:
        self._mails = mails
        self._texts: dict[InclusiveRun, list[str]] = {}
        wanted = (text for mail in mails for text in _wanted_texts(mail))
        self._wanted = {key_run(segment_words(text)) for text in wanted}
        for position in positions:
            self.add(position)

    def add(self, position: int) -> None:
        mail = self._mails[position]
        for quote in mail.quotes:
            for words in (quote.words, quote.whole):
                self._add(words)
        for part in mail.segments:
            self._add(segment_words(part.text))
        above = [part.text for part in mail.segments if part.kind == "attribution"]
        self._add(segment_words("\n".join(above)))
        self._add(segment_words(mail.message.subject))

    def missing(self, position: int, ignore_endings: bool) -> tuple[Reason, ...]:
        """Return why a mail is needed: what it has that no inclusive mail has."""
        mail = self._mails[position]
        has_subject = all(map(self._has, subject_parts(mail.message.subject)))
        reasons: list[Reason] = [] if has_subject else ["subject"]
        for part in mail.segments:
            reason = _reason_of(part.kind, part.depth)
            is_ignored = ignore_endings and reason in ("signature", "disclaimer")
            if not is_ignored and not self._has(part.text):
                reasons.append(reason)
        return tuple(dict.fromkeys(reasons))

    def _add(self, words: Sequence[str]) -> None:
        text = formatted(words)
        for run in _all_runs(words) & self._wanted:
            self._texts.setdefault(run, []).append(text)

    def _has(self, text: str) -> bool:
        words = segment_words(text)
        spelling = formatted(words)
        return not words or any(spelling in held for held in self._texts.get(key_run(words), ()))


def _wanted_texts(mail: ReadMail) -> list[str]:
    """Return what some inclusive mail must have: parts of the subject, and segments."""
    return subject_parts(mail.message.subject) + [part.text for part in mail.segments]


def _reason_of(kind: SegmentKind, depth: int) -> Reason:
    if kind in CONTENT:
        return "quoted_text" if depth else "own_text"
    return cast(Reason, kind)


def _runs_of(mail: ReadMail) -> set[InclusiveRun]:
    """Return the runs of words of the messages that a mail quotes."""
    return {
        run
        for quote in mail.inner
        for words in (quote.words, quote.whole)
        for run in _all_runs(words)
    }


def _all_runs(words: Sequence[str]) -> set[InclusiveRun]:
    return {run for width in range(1, RUN + 1) for run in runs(words, width)}


# The threads themselves: who replies to whom, and which mails must be read.

Link: TypeAlias = Literal["reference", "quote", ""]


@dataclass(frozen=True, slots=True)
class ThreadMail:
    """A mail in its thread.

    `parent`: the id of the mail that it replies to or forwards, None for the first one and where
    that mail is missing; `link` says by what it was found. `depth`: the number of mails above it.
    `copy_of`: the id of the first mail with the same Message-ID, None for that one. `held_by`: the
    id of a later mail that holds it, None for an inclusive one; `reasons` say why it is inclusive.
    """

    message: MailMessage
    segments: tuple[Segment, ...]
    parent: str | None
    link: Link
    depth: int
    copy_of: str | None
    reasons: tuple[Reason, ...]
    held_by: str | None

    def content(self, min_depth: int = 0) -> str:
        """Return what was written in the mail, from a depth of quoting on."""
        parts = (
            part.text for part in self.segments if part.kind in CONTENT and part.depth >= min_depth
        )
        return "\n".join(parts)

    @property
    def is_inclusive(self) -> bool:
        """True if no later mail of the thread holds it."""
        return self.held_by is None


@dataclass(frozen=True, slots=True)
class Thread:
    """Mails that reply to or forward each other, in the order of the tree, replies by date.

    `id` is the MIH of the first mail's Message-ID, also where only replies to it are there; the id
    of the first mail where that has none.
    """

    id: str
    mails: tuple[ThreadMail, ...]

    @property
    def inclusive(self) -> tuple[ThreadMail, ...]:
        """The mails that must be read."""
        return tuple(mail for mail in self.mails if mail.is_inclusive)


@dataclass(slots=True)
class _Node:
    """A message of the tree: the mails that are it (copies), none for one that is missing.

    `depth` is the number of messages above it that are there, `level` the number of all.
    """

    key: str
    positions: list[int]
    children: list[_Node]
    date: int
    parent: _Node | None = None
    depth: int = 0
    level: int = 0
    first: int = 0
    last: int = 0

    @property
    def is_present(self) -> bool:
        return bool(self.positions)


def build_threads(
    messages: Iterable[MailMessage],
    similarity: Callable[[str, str], float],
    ignore_endings: bool = False,
) -> list[Thread]:
    """Return the threads of mails, the earliest first; the same for every order of the mails.

    Links come from the fields first (`reference_tree`); a mail whose parent is not there and that
    quotes another mail is linked to that (`quote_links`). Ties of dates go by id.
    """
    mails = sorted((read_mail(message) for message in messages), key=_order)
    keys = [_key(mail.message) for mail in mails]
    parents = reference_parents(
        [(key, mail.message.replies_to) for key, mail in zip(keys, mails, strict=True)]
    )
    links: dict[str, Link] = dict.fromkeys(parents, "reference")
    present = set(keys)
    orphans = [index for index, key in enumerate(keys) if not _has_present(key, parents, present)]
    for index, quoted in quote_parents(mails, orphans, similarity):
        if not is_above(keys[index], keys[quoted], parents):
            parents[keys[index]] = keys[quoted]
            links[keys[index]] = "quote"
    roots = _trees(mails, keys, parents)
    return [_thread(root, mails, keys, links, similarity, ignore_endings) for root in roots]


def _order(mail: ReadMail) -> tuple[bool, int, str, str]:
    date = mail.message.date
    return date is None, date or 0, mail.message.path, mail.message.id


def _key(message: MailMessage) -> str:
    """Return what a message is known by: its Message-ID, else the document's id."""
    return message.message_id or message.id


def _has_present(key: str, parents: dict[str, str], present: set[str]) -> bool:
    """Return whether an ancestor of a message is there."""
    here = parents.get(key)
    while here is not None and here not in present:
        here = parents.get(here)
    return here is not None


def _trees(mails: Sequence[ReadMail], keys: Sequence[str], parents: dict[str, str]) -> list[_Node]:
    """Return the first messages of the threads, the earliest thread first."""
    nodes: dict[str, _Node] = {}
    for index, key in enumerate(keys):
        nodes.setdefault(key, _Node(key, [], [], mails[index].message.date or 0)).positions.append(
            index
        )
    for key in list(nodes):
        here = key
        while here in parents and parents[here] not in nodes:
            here = parents[here]
            nodes[here] = _Node(here, [], [], nodes[key].date)
    roots = []
    for key, node in nodes.items():
        parent = parents.get(key)
        if parent is None:
            roots.append(node)
        else:
            node.parent = nodes[parent]
            nodes[parent].children.append(node)
    return sorted(roots, key=lambda root: min(_positions(root)))


def _positions(root: _Node) -> list[int]:
    return [position for node in _members(root) for position in node.positions]


def _members(root: _Node) -> list[_Node]:
    """Return the nodes of a tree in its order: each before its replies, these by date, then key.

    A reply is never earlier than the mail it replies to, whatever its date says. Numbers the nodes,
    so that those below one have the numbers from `first` to `last`.
    """
    members: list[_Node] = []
    stack: list[tuple[_Node, bool]] = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            node.last = len(members) - 1
            continue
        if node.parent is not None:
            node.date = max(node.date, node.parent.date)
            node.depth = node.parent.depth + node.parent.is_present
            node.level = node.parent.level + 1
        node.first = len(members)
        members.append(node)
        stack.append((node, True))
        replies = sorted(node.children, key=lambda child: (max(child.date, node.date), child.key))
        stack.extend((child, False) for child in reversed(replies))
    return members


def _thread(
    root: _Node,
    mails: Sequence[ReadMail],
    keys: Sequence[str],
    links: dict[str, Link],
    similarity: Callable[[str, str], float],
    ignore_endings: bool,
) -> Thread:
    members = [node for node in _members(root) if node.is_present]
    nodes = {node.key: node for node in members}
    by_time = sorted(members, key=lambda node: (node.date, node.depth, node.first))
    positions = [position for node in by_time for position in node.positions]

    def distance(a: int, b: int) -> int:
        lower = nodes[keys[positions[a]]]
        upper = nodes[keys[positions[b]]]
        return lower.level - upper.level if upper.first < lower.first <= upper.last else 0

    verdicts = inclusive(
        [mails[position] for position in positions], distance, similarity, ignore_endings
    )
    by_position = dict(zip(positions, verdicts, strict=True))
    ids = [mail.message.id for mail in mails]
    shown = tuple(
        _thread_mail(mails[position], node, links, by_position[position], ids, positions)
        for node in members
        for position in node.positions
    )
    first = members[0]
    thread_id = message_hash(root.key) if root.key.startswith("<") else ids[first.positions[0]]
    return Thread(thread_id, shown)


def _thread_mail(
    mail: ReadMail,
    node: _Node,
    links: dict[str, Link],
    verdict: Verdict,
    ids: Sequence[str],
    positions: Sequence[int],
) -> ThreadMail:
    above = node.parent
    while above is not None and not above.is_present:
        above = above.parent
    first_copy = ids[node.positions[0]]
    return ThreadMail(
        message=mail.message,
        segments=mail.segments,
        parent=ids[above.positions[0]] if above else None,
        link=links.get(node.key, "") if above else "",
        depth=node.depth,
        copy_of=None if first_copy == mail.message.id else first_copy,
        reasons=verdict.reasons,
        held_by=None if verdict.held_by is None else ids[positions[verdict.held_by]],
    )
