"""No group is decided blind: members differ from the principal in words that pages name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sample_library import rows, sentence
from starlette.testclient import TestClient

from indexer.comparing.criteria import RULES_VERSION
from indexer.grouping.group import group
from indexer.jobs.status import status
from indexer.model import Mark
from indexer.recipe import DEFAULT
from indexer.review.family_view import (
    MemberComparisons,
    MemberDifferences,
    format_others,
    member_differences,
    serious_marks,
    varying_passages,
)
from indexer.review.serve import review_application
from indexer.stores import open_store
from indexer.stores.journal import known_group_settings

TEXT = "I acknowledge receipt of the notice dated {} March 2024.{} " + sentence(4, 150)
ADVICE = " It is subject to the advice of my lawyer."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """A store of a group of six, of which two have words that the principal lacks."""
    store = open_store(f"sqlite:///{tmp_path}/acks.db")
    store.prepare(DEFAULT)
    plain = {f"ack{day}": TEXT.format(day, "") for day in range(1, 5)}
    texts = {**plain, "adv1": TEXT.format(1, ADVICE), "adv2": TEXT.format(9, ADVICE)}
    assert not any(store.write(rows({**texts, "other": sentence(9, 80)})))
    store.refresh()
    group(store)
    yield store
    store.close()


class Client(TestClient):
    """A client whose forms carry the token."""

    def submit(self, path: str, **fields: Any) -> Any:
        token = self.get("/api/token").json()["token"]
        headers = {"origin": "http://testserver"}
        return self.post(path, data={**fields, "token": token}, headers=headers)


@pytest.fixture
def client(store: Any) -> Client:
    app = review_application(store, frozenset({"testserver"}), labels=["responsive", "privileged"])
    return Client(app)


def principal_of(store: Any) -> str:
    family = store.get(["ack1"])["ack1"].family
    assert {row.family for row in store.scan() if row.id != "other"} == {family}
    return str(family)


def test_members_that_no_page_compares_are_counted(
    client: Client, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(store.get(["ack1"])["ack1"].text)
    monkeypatch.setattr("indexer.review.family_view._MAX_CHARS", 7 * size)
    page = plain(client.get(f"/family?id={principal_of(store)}").text)
    assert "2 more members are not compared with the principal" in page


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_the_page_of_a_group_names_words_that_the_principal_lacks(
    client: Client, store: Any
) -> None:
    id = principal_of(store)
    answer = client.get(f"/api/family/differences?id={id}&wait=20").json()
    assert set(answer["others"]) == {"adv1", "adv2"}
    assert set(answer["members"]["adv2"]["words"]) == {"subject", "advice", "lawyer"}
    page = plain(client.get(f"/family?id={id}&wait=20").text)
    assert "2 of 5 members have words that the principal lacks: " in page
    assert re.search("new words: .*lawyer", page)
    members = client.get(f"/api/family?id={id}").json()["members"]
    similarities = [member["similarity"] for member in members]
    assert similarities == sorted(similarities)


def test_a_key_leaves_the_others_out_and_the_dry_run_shows_what_differs(
    client: Client, store: Any
) -> None:
    id = principal_of(store)
    page = client.get(f"/family?id={id}&wait=20&leave=yes").text
    left = set(re.findall(r'name="leave" value="([^"]+)"', page))
    assert len(left) == 2
    fields = {"id": id, "head": id, "on": "family", "choose": "responsive", "dry_run": "yes"}
    dry_run = client.submit("/label", **fields).text
    everything = plain(dry_run)
    listed = re.findall(r'<tr><td><a href="/document\?id=(\w+)"', dry_run)
    assert (len(listed), set(listed[:2])) == (6, left)
    members = [member["id"] for member in client.get(f"/api/family?id={id}").json()["members"]]
    alike = [member for member in members if member not in left]
    assert listed[2:] == [*alike, id]
    assert "6 documents would change" in everything
    assert "words that the principal lacks" in everything
    planned = client.submit("/label", **fields, leave=sorted(left)).text
    assert "4 documents would change" in plain(planned)
    assert "it was excluded: " in plain(planned)
    plan = re.findall(r'name="plan" value="(\d+)"', planned)[0]
    client.submit("/label/confirm", plan=plan)
    labelled = {row.id for row in store.scan() if row.labels}
    assert labelled == {"ack1", "ack2", "ack3", "ack4"}


def test_words_that_a_member_lacks_are_named_and_leave_it_out(client: Client, store: Any) -> None:
    clause = ", that gifts of cash must always be refused,"
    text = "I confirm of {} March 2024 that the rules apply{} and are known. " + sentence(4, 90)
    texts = {f"all{day}": text.format(day, clause) for day in range(1, 5)}
    texts["without"] = text.format(9, ",")
    counsel = "I have read this letter. It was written at the request of counsel. "
    texts |= {"reason": counsel + sentence(6, 120)}
    texts |= {"copy": sentence(6, 120)}
    assert not any(store.write(rows(texts)))
    group(store)
    answer = client.get("/api/family/differences?id=without&wait=20").json()
    assert answer["others"] == ["without"]
    lacking = answer["members"]["without"]
    assert set(lacking["missing"]) == {"gifts", "cash", "always", "refused"}
    assert re.search("1 date differs.*missing words: .*cash", "; ".join(lacking["sentences"]))
    page = plain(client.get("/family?id=without&wait=20").text)
    assert "1 of 4 members lacks words of the principal: " in page
    leaving = client.get("/family?id=without&wait=20&leave=yes").text
    assert set(re.findall(r'name="leave" value="([^"]+)"', leaving)) == {"without"}
    fields = {"id": "without", "on": "family", "choose": "responsive", "dry_run": "yes"}
    fields["head"] = store.get(["without"])["without"].family
    dry_run = plain(client.submit("/label", **fields).text)
    assert "1 of 4 members lacks words of the principal: " in dry_run
    answer = client.get("/api/family/differences?id=copy&wait=20").json()
    assert answer["others"] == ["copy"]
    assert "clause missing" in answer["members"]["copy"]["sentences"][0]
    assert "lacks words of the principal: " in answer["sentences"][0]
    assert "counsel" in answer["sentences"][0]


def test_the_top_of_a_group_does_not_count_forms_that_its_policy_takes_for_the_same() -> None:
    found = {"b": MemberDifferences((Mark("form"),), ("lawyer",), (), (), True)}
    filled_in = "1 of 1 member is filled in otherwise"
    for policy, counted in (("loose", False), ("standard", True)):
        serious = serious_marks({"policy": policy, "rules": RULES_VERSION})
        assert (filled_in in format_others(found, serious)) == counted


def test_decisions_that_leave_members_out_wait_until_these_are_known(
    client: Client, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MemberComparisons, "find", lambda *_: {})
    id = principal_of(store)
    page = client.get(f"/family?id={id}&leave=yes").text
    assert "decisions that exclude members must wait" in plain(page)
    assert 'action="/label"' not in page
    assert 'action="/label"' in client.get(f"/family?id={id}").text


def test_a_page_compares_some_members_and_the_requests_after_it_the_others(
    client: Client, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.review.family_view._STEP_CHARS", 1)
    id = principal_of(store)
    address = f"/api/family/differences?id={id}&wait=20&whole=no"
    first = client.get(address).json()
    assert (first["ready"], first["done"], first["to_compare"]) == (False, 1, 5)
    assert (len(first["members"]), first["others"], first["sentences"]) == (1, [], [])
    page = plain(client.get(f"/family?id={id}&wait=20").text)
    assert "being compared with the principal ( 2 of 5 ). Look again" in page
    fields = {"id": id, "head": id, "on": "family", "choose": "responsive", "dry_run": "yes"}
    assert "2 of 5 members have words" in plain(client.submit("/label", **fields).text)
    assert client.get(address).json()["ready"]


def test_a_dry_run_is_not_written_before_its_documents_are_compared(
    client: Client, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = principal_of(store)
    fields = {"id": id, "head": id, "on": "family", "choose": "responsive", "dry_run": "yes"}
    with monkeypatch.context() as patched:
        patched.setattr(MemberComparisons, "find", lambda *_: {})
        page = client.submit("/label", **fields).text
        assert "5 documents are still being compared with the principals" in plain(page)
        assert 'action="/label/confirm"' not in page
    size = len(store.get(["ack1"])["ack1"].text)
    monkeypatch.setattr("indexer.review.family_view._MAX_CHARS", 7 * size)
    page = client.submit("/label", **fields).text
    assert "2 more documents are not compared with the principals" in plain(page)
    assert 'action="/label/confirm"' in page


def test_the_difference_view_counts_the_variants_of_each_passage(
    client: Client, store: Any
) -> None:
    id = principal_of(store)
    answer = client.get(f"/api/family/variants?id={id}&wait=20").json()
    first, added = answer["varying"]
    assert (first["what"], first["number"]) == ("date", 1)
    assert first["same"] + sum(len(variant["documents"]) for variant in first["variants"]) == 6
    assert added["number"] == 0
    assert [set(variant["documents"]) for variant in added["variants"]] == [{"adv1", "adv2"}]
    page = client.get(f"/variants?id={id}&wait=20").text
    assert "Passage 1: date, 5 variants: " in plain(page)
    assert "Only in others, 1 variant: 2" in plain(page)
    listed = re.findall(r'<a href="/document[?]id=(\w+)"', page[page.index("<section") :])
    assert set(listed) == set(answer["documents"])


def test_documents_that_are_not_compared_are_counted_also_where_nothing_varies(
    client: Client, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.review.family_view._MAX_PAIRS", 0)
    id = principal_of(store)
    answer = client.get(f"/api/family/variants?id={id}&wait=20").json()
    assert (answer["compared"], answer["varying"], len(answer["documents"])) == (1, [], 6)
    page = plain(client.get(f"/variants?id={id}&wait=20").text)
    assert "1 of 6 documents are compared" in page
    assert "All documents have the same words" not in page


def test_groups_of_other_rules_are_renewed_and_not_counted_by_these(
    store: Any, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = principal_of(store)
    renew = "rules of another version"
    assert renew not in client.get(f"/family?id={id}&wait=20").text + client.get("/dashboard").text
    assert not status(store).other_rules
    monkeypatch.setattr("indexer.grouping.group_options.RULES_VERSION", 0)
    client = Client(review_application(store, frozenset({"testserver"})))
    for page in (f"/family?id={id}&wait=20", "/dashboard"):
        assert renew in client.get(page).text
    assert status(store).other_rules
    form = "Invoice {} of {} for {}: please pay {} euros. " + sentence(4, 150)
    texts = (
        form.format(4711, "2024-05-01", "Acme Ltd", 90),
        form.format(4712, "2024-06-01", "Initech Inc", 75),
    )
    pair = tuple(rows({"a": texts[0], "b": texts[1]}))

    def is_other() -> bool:
        serious = serious_marks(known_group_settings(store.address))
        return member_differences(store, [pair], serious)["b"].is_other

    assert not is_other()
    monkeypatch.undo()
    assert is_other()


def test_a_passage_that_moved_is_neither_lacking_nor_added(tmp_path: Path) -> None:
    clauses = [f"{number}. {sentence(number, 20).capitalize()}." for number in range(1, 8)]
    moved = [clauses[0], *clauses[2:5], clauses[1].replace("2.", "9."), *clauses[5:]]
    twice = [*moved, clauses[1].replace("2.", "9.")]
    found = [
        varying_passages(*rows({"a": "\n\n".join(clauses)}), list(rows({"b": "\n\n".join(other)})))
        for other in (moved, twice)
    ]
    (passage,) = found[0].varying
    (variant,) = passage.variants
    assert (passage.number, variant.behind, variant.documents) == (2, 5, ("b",))
    assert variant.changes == (("moved", clauses[1]),)
    assert [passage.number for passage in found[1].varying] == [2, 0]
