"""Threads of mails: who answers whom, and which mails must be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from indexer.mail.inclusive import Reason, Verdict, inclusive
from indexer.mail.message import MailMessage
from indexer.mail.message_hash import message_hash
from indexer.mail.quote_links import quote_parents
from indexer.mail.read_mail import ReadMail, read_mail
from indexer.mail.reference_tree import is_above, reference_parents
from indexer.mail.segments import Segment

Link: TypeAlias = Literal["reference", "quote", ""]


@dataclass(frozen=True, slots=True)
class ThreadMail:
    """A mail in its thread.

    `parent`: the id of the mail that it answers or forwards, None for the first one and where that
    mail is missing; `link` says by what it was found. `depth`: the number of mails above it.
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

    @property
    def is_inclusive(self) -> bool:
        """True if no later mail of the thread holds it."""
        return self.held_by is None


@dataclass(frozen=True, slots=True)
class Thread:
    """Mails that answer or forward each other, in the order of the tree, answers by date.

    `id` is the MIH of the first mail's Message-ID, also where only answers to it are there; the id
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

    `depth` is the number of messages above it that are there, `level` that of all.
    """

    key: str
    places: list[int]
    children: list[_Node]
    date: int
    parent: _Node | None = None
    depth: int = 0
    level: int = 0
    first: int = 0
    last: int = 0

    @property
    def is_present(self) -> bool:
        return bool(self.places)


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
    orphans = [place for place, key in enumerate(keys) if not _has_present(key, parents, present)]
    for place, quoted in quote_parents(mails, orphans, similarity):
        if not is_above(keys[place], keys[quoted], parents):
            parents[keys[place]] = keys[quoted]
            links[keys[place]] = "quote"
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
    for place, key in enumerate(keys):
        nodes.setdefault(key, _Node(key, [], [], mails[place].message.date or 0)).places.append(
            place
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
    return sorted(roots, key=lambda root: min(_places(root)))


def _places(root: _Node) -> list[int]:
    return [place for node in _members(root) for place in node.places]


def _members(root: _Node) -> list[_Node]:
    """Return the nodes of a tree in its order: each before its answers, these by date, then key.

    An answer is never earlier than what it answers, whatever its date says. Numbers the nodes, so
    that those below one have the numbers from `first` to `last`.
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
        answers = sorted(node.children, key=lambda child: (max(child.date, node.date), child.key))
        stack.extend((child, False) for child in reversed(answers))
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
    places = [place for node in by_time for place in node.places]

    def distance(a: int, b: int) -> int:
        lower = nodes[keys[places[a]]]
        upper = nodes[keys[places[b]]]
        return lower.level - upper.level if upper.first < lower.first <= upper.last else 0

    verdicts = inclusive([mails[place] for place in places], distance, similarity, ignore_endings)
    by_place = dict(zip(places, verdicts, strict=True))
    ids = [mail.message.id for mail in mails]
    shown = tuple(
        _thread_mail(mails[place], node, links, by_place[place], ids, places)
        for node in members
        for place in node.places
    )
    first = members[0]
    thread_id = message_hash(root.key) if root.key.startswith("<") else ids[first.places[0]]
    return Thread(thread_id, shown)


def _thread_mail(
    mail: ReadMail,
    node: _Node,
    links: dict[str, Link],
    verdict: Verdict,
    ids: Sequence[str],
    places: Sequence[int],
) -> ThreadMail:
    above = node.parent
    while above is not None and not above.is_present:
        above = above.parent
    first_copy = ids[node.places[0]]
    return ThreadMail(
        message=mail.message,
        segments=mail.segments,
        parent=ids[above.places[0]] if above else None,
        link=links.get(node.key, "") if above else "",
        depth=node.depth,
        copy_of=None if first_copy == mail.message.id else first_copy,
        reasons=verdict.reasons,
        held_by=None if verdict.held_by is None else ids[places[verdict.held_by]],
    )
