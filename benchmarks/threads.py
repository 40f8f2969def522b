"""Mail threads: how well segments, threads and inclusive mails are found, and the oracle.

    python benchmarks/threads.py [--mails 5000] [--seed 0] [--json]
    python benchmarks/threads.py --peer        also mail-parser-reply, where it is installed
    python benchmarks/threads.py --read FOLDER [--show 20] [--seed 0]

The first writes the corpus of `tests/synthetic_mail.py`, whose threads and segments are known,
reads it back from the bytes of its mails, and prints, by client: the fraction of words whose kind
and depth are right, the fraction whose depth is (which says of which message they are), the
fraction of mails that are right to the last word, and the fraction of own words that are taken for
the sender's. Then precision and recall of the pairs of mails in one thread and the fraction of
right parents, of all mails and of those without In-Reply-To and References; and the inclusive mails
against an oracle that compares the true segments of all pairs of mails.

A second oracle looks through every found thread by brute force: every segment of every mail must be
in an inclusive mail. The last form does only that, on mails that somebody else wrote, and prints
some threads for reading. Exits with 1 if a segment is missing.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any

from harness import arguments
from mail_oracle import (
    Labelled,
    has_attachments,
    is_below,
    labelled_words,
    lost_attachments,
    true_inclusive,
    uncovered,
)
from synthetic_mail import CLIENTS, Mail, corpus

from indexer.documents.mail.message import read_message
from indexer.documents.mail.quote_headings import segment_words
from indexer.documents.mail.threads import build_threads
from indexer.jobs.threads import similarity, threads

Figures = dict[str, Any]
OWN = ("reply", 0)


def right_words(truth: Labelled, answer: Labelled) -> int:
    """Return how many words of the truth have their label in the answer, words aligned."""
    if [word for word, _ in truth] == [word for word, _ in answer]:
        return sum(a == b for a, b in zip(truth, answer, strict=True))
    matcher = SequenceMatcher(None, truth, answer, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())


def pairs(groups: Iterable[Iterable[str]]) -> set[tuple[str, str]]:
    return {pair for group in groups for pair in combinations(sorted(group), 2)}


def precision_recall(found: set[Any], truth: set[Any]) -> Figures:
    both = len(found & truth)
    rates = {"precision": both / max(1, len(found)), "recall": both / max(1, len(truth))}
    return rates | {"found": len(found), "true": len(truth)}


def measure(mails: list[Mail]) -> Figures:
    by_key = {mail.key: mail for mail in mails}
    messages = [read_message(mail.bytes(), mail.key, mail.key) for mail in mails]
    start = time.perf_counter()
    found = build_threads(messages, similarity)
    seconds = time.perf_counter() - start
    threaded = {mail.message.id: mail for thread in found for mail in thread.mails}
    inclusive = {mail.message.id for thread in found for mail in thread.inclusive}
    by_thread: dict[int, list[Mail]] = defaultdict(list)
    for mail in mails:
        by_thread[mail.thread].append(mail)
    oracle = {key for group in by_thread.values() for key in true_inclusive(group)}
    true_pairs = pairs([mail.key for mail in group] for group in by_thread.values())
    found_pairs = pairs([mail.message.id for mail in thread.mails] for thread in found)
    answers = [mail for mail in mails if mail.parent]
    right = {mail.key for mail in answers if threaded[mail.key].parent == mail.parent.key}
    lost = [mail for mail in answers if not mail.has_fields]
    parents = [(mail, by_key.get(threaded[mail.key].parent)) for mail in lost]
    extra = (mail for id, mail in threaded.items() if id not in oracle)
    clients = {name: [mail for mail in mails if mail.client == name] for name in CLIENTS}
    forms = {
        name: [mail for mail in mails if mail.form == name] for name in ("plain", "both", "html")
    }
    return {
        "mails": len(mails),
        "threads": len(by_thread),
        "seconds": round(seconds, 2),
        "clients": {name: segment_figures(of, threaded) for name, of in clients.items()},
        "forms": {name: segment_figures(of, threaded) for name, of in forms.items()},
        "pairs": precision_recall(found_pairs, true_pairs),
        "links_without_fields": {
            "mails": len(lost),
            "linked": sum(parent is not None for _, parent in parents),
            "right": sum(mail.key in right for mail in lost),
            "same_thread": sum(p is not None and p.thread == mail.thread for mail, p in parents),
        },
        "right_parents": len(right) / len(answers),
        "inclusive": precision_recall(inclusive, oracle) | {"share": len(inclusive) / len(mails)},
        "not_in_oracle_because": dict(Counter(reason for mail in extra for reason in mail.reasons)),
        "changed_quotes": changed_figures(mails, inclusive),
        "dropped_attachments": dropped_figures(by_thread, inclusive),
        "uncovered_segments": sum(len(uncovered(thread)) for thread in found),
        "lost_attachments": sum(lost_attachments(thread) for thread in found),
    }


def segment_figures(mails: Sequence[Mail], threaded: dict[str, Any]) -> Figures:
    """Return the fractions of words and mails whose segments are right."""
    sums: Counter[str] = Counter()
    for mail in mails:
        truth, answer = labelled_words(mail.parts), labelled_words(threaded[mail.key].segments)
        own, found = ([word for word in of if word[1] == OWN] for of in (truth, answer))
        sums["words"] += len(truth)
        sums["own"] += len(own)
        sums["words_right"] += right_words(truth, answer)
        sums["depths_right"] += right_words(*map(without_kinds, (truth, answer)))
        sums["mails_right"] += truth == answer
        sums["own_words_found"] += right_words(own, found)
    of = {"words_right": sums["words"], "depths_right": sums["words"], "mails_right": len(mails)}
    of["own_words_found"] = sums["own"]
    return {"mails": len(mails)} | {name: sums[name] / total for name, total in of.items()}


def without_kinds(words: Labelled) -> Labelled:
    """Return words with the depth alone: of which message they are, not which part of it."""
    return [(word, ("", depth)) for word, (_, depth) in words]


def changed_figures(mails: Sequence[Mail], inclusive: set[str]) -> Figures:
    """Count quotes that lack a `not`, and the originals that such a quote alone holds."""
    changed = [mail for mail in mails if mail.is_changed]
    held = {mail.parent.key for mail in mails if mail.parent and not mail.is_changed}
    lost = {mail.parent.key for mail in changed if mail.parent} - inclusive - held
    return {"mails": len(changed), "originals_hidden_by_a_change": len(lost)}


def dropped_figures(threads: dict[int, list[Mail]], inclusive: set[str]) -> Figures:
    """Count mails whose attachments no mail below them has, and those that are not inclusive."""
    dropped = [
        mail.key
        for mails in threads.values()
        for mail in mails
        if mail.attachments
        and not any(is_below(other, mail) and has_attachments(other, mail) for other in mails)
    ]
    return {"mails": len(dropped), "not_inclusive": sum(key not in inclusive for key in dropped)}


def own_words(mails: Sequence[Mail], parse: Callable[[Any], list[str]]) -> Figures:
    """Return the fraction of own words that a parser takes for the sender's, and the fraction of
    its words that are; mails that it fails on are counted apart.
    """
    sums: Counter[str] = Counter()
    for mail in mails:
        truth = Counter(word for word, label in labelled_words(mail.parts) if label == OWN)
        try:
            answer = Counter(parse(read_message(mail.bytes(), mail.key, mail.key)))
        except Exception:
            sums["failed"] += 1
            continue
        both = (truth & answer).total()
        sums.update(true=truth.total(), found=answer.total(), both=both, mails=1)
        sums["right"] += truth == answer
    return {
        "own_words_found": sums["both"] / sums["true"],
        "of_what_it_returns": sums["both"] / sums["found"],
        "mails_right": sums["right"] / sums["mails"],
        "failed": sums["failed"],
    }


def nearfold(message: Any) -> list[str]:
    [thread] = build_threads([message], similarity)
    return [word for word, label in labelled_words(thread.mails[0].segments) if label == OWN]


def mail_parser_reply(message: Any) -> list[str]:
    from mailparser_reply import EmailReplyParser

    known = ["en", "de", "fr", "it", "nl", "pl", "sv", "ja", "es", "zh"]
    replies = EmailReplyParser(languages=known).read(message.body).replies
    return segment_words(replies[0].body if replies else "")


def read_folder(folder: str, show: int, seed: int) -> int:
    """Check the threads of mails in a folder by brute force, and print some to be read."""
    result = threads([folder])
    missing = sum(len(uncovered(thread)) for thread in result.threads)
    attachments = sum(lost_attachments(thread) for thread in result.threads)
    print(f"{result.mail_count} mails, {len(result.threads)} threads,", end=" ")
    print(f"{result.inclusive_count} inclusive, {len(result.failed)} failed,", end=" ")
    print(f"{result.others} other files;", end=" ")
    print(f"{missing} segments and {attachments} attachments in no inclusive mail")
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


def shown(value: object) -> str:
    if isinstance(value, dict):
        return "  ".join(f"{key} {shown(inner)}" for key, inner in value.items())
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--mails", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--read", metavar="FOLDER")
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    if options.read:
        return read_folder(options.read, options.show, options.seed)
    mails = corpus(options.mails, options.seed)
    figures = measure(mails)
    if options.peer:
        figures["peer"] = own_words(mails, mail_parser_reply)
        figures["nearfold"] = own_words(mails, nearfold)
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:24}{shown(value)}" if not isinstance(value, dict) else name)
            for key, inner in value.items() if isinstance(value, dict) else ():
                print(f"    {key:30}{shown(inner)}")
    return 1 if figures["uncovered_segments"] or figures["lost_attachments"] else 0


if __name__ == "__main__":
    sys.exit(main())
