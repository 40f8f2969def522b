"""The thread of a stored mail on every store."""

from dataclasses import replace

import pytest
from sample_library import rows, sentence

from indexer.documents.base import message_hash
from indexer.jobs import threads
from indexer.jobs.threads import stored_thread

NAMES = {  # own Message-ID, those referred to; d names only what it answers, and that is b
    "a": ("1", ""),
    "b": ("2", "1"),
    "c": ("3", "1 2"),
    "d": ("4", "2"),
    "e": ("5", "4"),
    "f": ("6", ""),
    "g": ("2", "1"),
    "h": ("8", "7"),
}


def metadata(own: str, line: str) -> dict[str, str]:
    ids = [f"<{name}@x>" for name in line.split()]
    return {
        "message_id": f"<{own}@x>",
        "references": " ".join(ids),
        "thread": message_hash(ids[0] if ids else f"<{own}@x>"),
        "from": f"{own}@x",
        "created": f"2024-02-0{own}T10:00:00Z",
    }


@pytest.fixture
def mails(store):
    """A store with mails of three threads, a copy (g), and a document that is none (n)."""
    stored = {row.id: row for row in rows({id: sentence(n) for n, id in enumerate("abcdefghn")})}
    written = [replace(stored[id], metadata=metadata(*names)) for id, names in NAMES.items()]
    store.write([*written, stored["n"]])
    store.refresh()
    return store


def tree(store, id):
    thread = stored_thread(store, store.get([id])[id])
    return thread and [(row.id, mail.depth, mail.parent) for mail, row in thread.mails]


@pytest.mark.parametrize("id", "abcdeg")
def test_any_mail_of_a_thread_leads_to_all_of_it(mails, id):
    assert tree(mails, id) == [
        ("a", 0, None),
        ("b", 1, "a"),
        ("g", 1, "a"),
        ("c", 2, "b"),
        ("d", 2, "b"),
        ("e", 3, "d"),
    ]


def test_a_mail_alone_and_a_document_that_is_none(mails):
    assert tree(mails, "f") == [("f", 0, None)]
    assert tree(mails, "h") == [("h", 0, None)]
    assert tree(mails, "n") is None


def test_facts_of_a_thread(mails):
    thread = stored_thread(mails, mails.get(["e"])["e"])
    assert (thread.id, thread.is_complete) == (message_hash("<1@x>"), True)
    [copy] = [mail for mail, _ in thread.mails if mail.copy_of]
    assert (copy.message.id, copy.copy_of, copy.message.sender) == ("g", "b", "2@x")
    assert all(row.text == "" for _, row in thread.mails)


@pytest.mark.parametrize("limit", ["MAX_SEARCHES", "MAX_MAILS"])
def test_limits_are_said(mails, monkeypatch, limit):
    monkeypatch.setattr(threads, limit, 2)
    thread = stored_thread(mails, mails.get(["a"])["a"])
    assert not thread.is_complete
    assert 1 <= len(thread.mails) <= 6
