"""Mail threads: how well segments, threads and inclusive mails are found, and the oracle.

    python benchmarks/threads.py [--mails 5000] [--seed 0] [--json]
    python benchmarks/threads.py --peer        also mail-parser-reply, where it is installed
    python benchmarks/threads.py --read FOLDER [--show 20] [--seed 0]

The first writes the corpus of `mail_corpus.py`, whose threads and segments are known, reads it back
from the bytes of its mails, and prints, by client: the share of words whose kind and depth are
right, the share whose depth is (which says of which message they are), the share of mails that are
right to the last word, and the share of own words that are taken for the sender's. Then precision
and recall of the pairs of mails in one thread and the share of right parents, of all mails and of
those without In-Reply-To and References; and the inclusive mails against an oracle that compares
the true segments of all pairs of mails.

A second oracle looks through every found thread by brute force: every segment of every mail must be
in an inclusive mail. The last form does only that, on mails that somebody else wrote, and prints
some threads for reading. Exits with 1 if a segment is missing.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from mail_corpus import CLIENTS, Mail, corpus

from indexer.mail.build_threads import Thread, build_threads
from indexer.mail.message import read_message
from indexer.mail.segment_words import segment_words
from indexer.operations.threads import similarity, threads

Label = tuple[str, int]


def labelled_words(parts: Iterable[object]) -> list[tuple[str, Label]]:
    """Return the words of segments in order, each with the kind and depth of its segment."""
    return [
        (word, (part.kind, part.depth))  # type: ignore[attr-defined]
        for part in parts
        for word in segment_words(part.text)  # type: ignore[attr-defined]
    ]


def right_words(truth: list[tuple[str, Label]], answer: list[tuple[str, Label]]) -> int:
    """Return how many words of the truth have their label in the answer, words aligned."""
    if [word for word, _ in truth] == [word for word, _ in answer]:
        return sum(a == b for a, b in zip(truth, answer, strict=True))
    matcher = SequenceMatcher(None, truth, answer, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())


def uncovered(thread: Thread) -> list[tuple[str, str]]:
    """Return the segments of a thread that no inclusive mail has, by brute force.

    The words of a segment must stand in a row in the text of an inclusive mail, in one segment or
    in the segments of one message in it, or in its attributions.
    """
    texts = []
    for mail in thread.inclusive:
        regions: dict[int, list[str]] = defaultdict(list)
        for part in mail.segments:
            texts.append(segment_words(part.text))
            if part.kind != "attribution":
                regions[part.region] += segment_words(part.text)
        contents: dict[int, list[str]] = defaultdict(list)
        for part in mail.segments:
            if part.kind in ("reply", "quoted", "forwarded"):
                contents[part.region] += segment_words(part.text)
        above = "\n".join(part.text for part in mail.segments if part.kind == "attribution")
        texts += [*regions.values(), *contents.values(), segment_words(above)]
    joined = [f" {' '.join(text)} " for text in texts]
    missing = []
    for mail in thread.mails:
        for part in mail.segments:
            words = f" {' '.join(segment_words(part.text))} "
            if not any(words in text for text in joined):
                missing.append((mail.message.id, part.text))
    return missing


def lost_attachments(thread: Thread) -> int:
    """Return how many attachments of a thread no inclusive mail has."""
    held = {item.sha256 for mail in thread.inclusive for item in mail.message.attachments}
    everything = {item.sha256 for mail in thread.mails for item in mail.message.attachments}
    return len(everything - held)


def true_inclusive(mails: Sequence[Mail]) -> set[str]:
    """Return the keys of the mails of a true thread that no later one holds whole.

    By the truth alone: all texts of a mail without signatures and notices, and its attachments, are
    among those that a mail below it in the tree quotes.
    """

    def texts(mail: Mail, least: int) -> dict[int, str]:
        found: dict[int, list[str]] = defaultdict(list)
        for part in mail.parts:
            if part.kind in ("reply", "quoted", "forwarded") and part.depth >= least:
                found[part.depth] += segment_words(part.text)
        return {depth: f" {' '.join(words)} " for depth, words in found.items()}

    keys = set()
    for mail in mails:
        below = [other for other in mails if is_below(other, mail)]
        own = texts(mail, 0)
        is_held = any(
            all(any(text in inner for inner in texts(other, 1).values()) for text in own.values())
            and {data for _, data in mail.attachments} <= {data for _, data in other.attachments}
            for other in below
        )
        if not is_held:
            keys.add(mail.key)
    return keys


def is_below(lower: Mail, upper: Mail) -> bool:
    here = lower.parent
    while here is not None and here is not upper:
        here = here.parent
    return here is upper


def pairs(groups: Iterable[Sequence[str]]) -> set[tuple[str, str]]:
    return {
        (min(a, b), max(a, b))
        for group in groups
        for place, a in enumerate(group)
        for b in group[place + 1 :]
    }


def measure(count: int, seed: int) -> dict[str, object]:
    mails = corpus(count, seed)
    by_key = {mail.key: mail for mail in mails}
    messages = [read_message(mail.bytes(), mail.key, mail.key) for mail in mails]
    start = time.perf_counter()
    found = build_threads(messages, similarity)
    seconds = time.perf_counter() - start
    segments = {mail.message.id: mail.segments for thread in found for mail in thread.mails}
    parents = {mail.message.id: mail.parent for thread in found for mail in thread.mails}
    inclusive = {mail.message.id for thread in found for mail in thread.inclusive}
    by_true_thread: dict[int, list[Mail]] = defaultdict(list)
    for mail in mails:
        by_true_thread[mail.thread].append(mail)
    oracle = {key for group in by_true_thread.values() for key in true_inclusive(group)}
    true_pairs = pairs([[mail.key for mail in group] for group in by_true_thread.values()])
    found_pairs = pairs([[mail.message.id for mail in thread.mails] for thread in found])
    lost = {mail.key for mail in mails if mail.parent and not mail.has_fields}
    answers = [mail for mail in mails if mail.parent]
    endings = Counter(
        reason
        for thread in found
        for mail in thread.mails
        if mail.message.id not in oracle
        for reason in mail.reasons
    )
    return {
        "mails": len(mails),
        "threads": len(by_true_thread),
        "seconds": round(seconds, 2),
        "clients": {client: segment_figures(mails, segments, client) for client in CLIENTS},
        "forms": {
            form: segment_figures([mail for mail in mails if mail.form == form], segments)
            for form in ("plain", "both", "html")
        },
        "pairs": precision_recall(found_pairs, true_pairs),
        "links_without_fields": {
            "mails": len(lost),
            "linked": sum(parents[key] is not None for key in lost),
            "right": sum(parents[key] == by_key[key].parent.key for key in lost),  # type: ignore[union-attr]
            "same_thread": sum(
                parents[key] is not None and by_key[parents[key]].thread == by_key[key].thread
                for key in lost
            ),
        },
        "right_parents": sum(parents[m.key] == m.parent.key for m in answers if m.parent)
        / len(answers),
        "inclusive": precision_recall(inclusive, oracle) | {"share": len(inclusive) / len(mails)},
        "not_in_oracle_because": dict(endings),
        "changed_quotes": changed_figures(mails, inclusive),
        "dropped_attachments": dropped_figures(mails, inclusive),
        "uncovered_segments": sum(len(uncovered(thread)) for thread in found),
        "lost_attachments": sum(lost_attachments(thread) for thread in found),
    }


def segment_figures(
    mails: Sequence[Mail], segments: dict[str, tuple[object, ...]], client: str = ""
) -> dict[str, float]:
    words = right = depths = whole = own = own_right = count = 0
    for mail in mails:
        if client and mail.client != client:
            continue
        truth = labelled_words(mail.parts)
        answer = labelled_words(segments[mail.key])
        matched = right_words(truth, answer)
        count += 1
        words += len(truth)
        right += matched
        depths += right_words(without_kinds(truth), without_kinds(answer))
        whole += truth == answer
        true_own = [word for word, label in truth if label == ("reply", 0)]
        answer_own = [word for word, label in answer if label == ("reply", 0)]
        own += len(true_own)
        own_right += right_words(
            [(word, ("", 0)) for word in true_own], [(word, ("", 0)) for word in answer_own]
        )
    return {
        "mails": count,
        "words_right": right / words,
        "depths_right": depths / words,
        "mails_right": whole / count,
        "own_words_found": own_right / own,
    }


def without_kinds(items: list[tuple[str, Label]]) -> list[tuple[str, Label]]:
    """Return words with the depth alone: of which message they are, not what part of it."""
    return [(word, ("", depth)) for word, (_, depth) in items]


def changed_figures(mails: Sequence[Mail], inclusive: set[str]) -> dict[str, int]:
    """Count quotes that lack a `not`, and the originals and changed mails of which all are held."""
    changed = [mail for mail in mails if mail.is_changed]
    lost = [
        mail
        for mail in changed
        if mail.parent
        and mail.parent.key not in inclusive
        and not any(other.parent is mail.parent and not other.is_changed for other in mails)
    ]
    return {"mails": len(changed), "originals_hidden_by_a_change": len(lost)}


def dropped_figures(mails: Sequence[Mail], inclusive: set[str]) -> dict[str, int]:
    """Count mails whose attachments no mail below them has, and those that are not inclusive."""
    dropped = [
        mail
        for mail in mails
        if mail.attachments
        and not any(
            is_below(other, mail)
            and {data for _, data in mail.attachments} <= {data for _, data in other.attachments}
            for other in mails
            if other.thread == mail.thread
        )
    ]
    return {
        "mails": len(dropped),
        "not_inclusive": sum(mail.key not in inclusive for mail in dropped),
    }


def precision_recall(found: set[object], truth: set[object]) -> dict[str, float]:
    both = len(found & truth)
    return {
        "precision": both / len(found) if found else 1.0,
        "recall": both / len(truth) if truth else 1.0,
        "found": len(found),
        "true": len(truth),
    }


def peer(count: int, seed: int) -> dict[str, float]:
    """Return the share of own words that mail-parser-reply takes for the sender's, and the share of
    its words that are; for the plain texts alone.
    """
    from mailparser_reply import EmailReplyParser  # type: ignore[import-not-found]

    known = ["en", "de", "fr", "it", "nl", "pl", "sv", "ja", "es", "zh"]
    totals = Counter[str]()
    for mail in corpus(count, seed):
        message = read_message(mail.bytes(), mail.key, mail.key)
        truth = Counter(word for word, label in labelled_words(mail.parts) if label == ("reply", 0))
        try:
            replies = EmailReplyParser(languages=known).read(message.body).replies
            latest = replies[0].body if replies else ""
        except Exception:
            totals["failed"] += 1
            continue
        answer = Counter(segment_words(latest))
        totals["true"] += truth.total()
        totals["found"] += answer.total()
        totals["both"] += (truth & answer).total()
        totals["mails"] += 1
        totals["right"] += truth == answer
    return {
        "own_words_found": totals["both"] / totals["true"],
        "of_what_it_returns": totals["both"] / totals["found"],
        "mails_right": totals["right"] / totals["mails"],
        "failed": totals["failed"],
    }


def own_figures(count: int, seed: int) -> dict[str, float]:
    """Return what `peer` returns, of nearfold."""
    totals = Counter[str]()
    for mail in corpus(count, seed):
        message = read_message(mail.bytes(), mail.key, mail.key)
        [thread] = build_threads([message], similarity)
        labels = labelled_words(thread.mails[0].segments)
        truth = Counter(w for w, label in labelled_words(mail.parts) if label == ("reply", 0))
        answer = Counter(word for word, label in labels if label == ("reply", 0))
        totals["true"] += truth.total()
        totals["found"] += answer.total()
        totals["both"] += (truth & answer).total()
        totals["mails"] += 1
        totals["right"] += truth == answer
    return {
        "own_words_found": totals["both"] / totals["true"],
        "of_what_it_returns": totals["both"] / totals["found"],
        "mails_right": totals["right"] / totals["mails"],
    }


def read_folder(folder: str, show: int, seed: int) -> int:
    """Check the threads of mails in a folder by brute force, and print some to be read."""
    result = threads([folder])
    missing = [item for thread in result.threads for item in uncovered(thread)]
    attachments = sum(lost_attachments(thread) for thread in result.threads)
    print(
        f"{result.mail_count} mails, {len(result.threads)} threads, "
        f"{result.inclusive_count} inclusive, {len(result.failed)} failed, "
        f"{result.others} other files; "
        f"{len(missing)} segments and {attachments} attachments in no inclusive mail"
    )
    longer = [thread for thread in result.threads if len(thread.mails) > 1]
    for thread in random.Random(seed).sample(longer, min(show, len(longer))):
        print(f"\n##### {thread.id}")
        for mail in thread.mails:
            held = mail.held_by or ", ".join(mail.reasons)
            print(f"\n=== {'  ' * mail.depth}{mail.message.path.rpartition('/')[2]} {mail.link}")
            print(f"    {mail.message.sender} | {mail.message.subject} | {held}")
            for part in mail.segments:
                text = part.text.replace("\n", "\n      | ")
                print(f"  [{part.kind} {part.depth}]\n      | {text}")
    return 1 if missing or attachments else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mails", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--read", metavar="FOLDER")
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    if options.read:
        return read_folder(options.read, options.show, options.seed)
    figures = measure(options.mails, options.seed)
    if options.peer:
        figures["peer"] = peer(options.mails, options.seed)
        figures["nearfold"] = own_figures(options.mails, options.seed)
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:24}{value}" if not isinstance(value, dict) else name)
            for key, inner in value.items() if isinstance(value, dict) else ():
                print(f"    {key:30}{shown(inner)}")
    return 1 if figures["uncovered_segments"] or figures["lost_attachments"] else 0


def shown(value: object) -> str:
    if isinstance(value, dict):
        return "  ".join(f"{key} {shown(inner)}" for key, inner in value.items())
    return f"{value:.4f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
