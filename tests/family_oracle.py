"""A brute-force oracle for families and clusters, and the invariants of stored families."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

import numpy as np
from sample_library import similarity

from indexer.comparing.band_plan import min_equal
from indexer.comparing.measures import ComparedText, measure_pair
from indexer.comparing.reasons import copy_key
from indexer.defaults import FOLD, MEASURE
from indexer.fingerprinting.keys import band_keys, unpack_slots
from indexer.grouping.group_options import GroupOptions, quoted_words
from indexer.model import Row
from indexer.recipe import DEFAULT


class Oracle:
    """The definition of families, computed document by document and without optimisation."""

    def __init__(self, rows, threshold, kind, cap, chained=None, measure=MEASURE, recipe=DEFAULT):
        self.measure = measure
        self.threshold, self.chained = threshold, threshold if chained is None else chained
        self.rows = {row.id: row for row in rows}
        self.copy_keys = {id: copy_key(row) for id, row in self.rows.items()}
        self.sides = {id: ComparedText(row.text, recipe) for id, row in self.rows.items()}
        layout = GroupOptions(min(self.threshold, self.chained), measure).band_plan(recipe)
        self.recipe = recipe
        self.slots = {
            id: unpack_slots(row.minhash, recipe.slot_bytes)
            for id, row in self.rows.items()
            if row.minhash
        }
        self.keys = {
            id: band_keys(slots[None], layout.bands, layout.rows)[0]
            for id, slots in self.slots.items()
        }
        before = {
            "central": lambda row: (-row.words,),
            "original": lambda row: (quoted_words(row.text), -row.words),
        }
        first = self.visits(before[kind]) if kind in before else self.order(kind)
        self.near = self.candidates(first, cap)
        self.principal_of = self.families(self.order(kind))

    def visits(self, key):
        def place(name):
            row = self.rows[name]
            return (row.status != "complete", *key(row), name)

        return sorted(self.rows, key=place)

    def order(self, kind):
        if kind == "central":
            return self.visits(lambda row: (-self.weight(row.id),))
        if kind == "original":
            return self.visits(
                lambda row: (quoted_words(row.text), -self.equal_slots(row.id), -row.words)
            )
        keys = {
            "longest": lambda row: (-row.words,),
            "first": lambda row: (row.modified,),
            "modified:desc": lambda row: (-row.modified,),
            "size": lambda row: (row.size,),
        }
        return self.visits(keys[kind])

    def weight(self, id):
        """Return the summed similarity to matches, rounded; the tests have exact ties only."""
        near = [
            self.similarity(id, other_id)
            for other_id in self.rows
            if other_id != id and self.candidate(id, other_id)
        ]
        return round(sum(value for value in near if value >= self.threshold), 9)

    def equal_slots(self, id):
        """Return the summed equal slots of a document with those that it may match."""
        total = 0
        for other_id in self.rows:
            if other_id != id and self.candidate(id, other_id):
                same = self.copy_keys[id] == self.copy_keys[other_id]
                total += self.recipe.slots if same else self.equal(id, other_id)
        return total

    def equal(self, a, b):
        return int(np.count_nonzero(self.slots[a] == self.slots[b]))

    def candidates(self, order, cap):
        """Return the pairs of texts that share a key.

        Of a key that more than `cap` texts carry, those with the first of them.
        """
        carriers = defaultdict(list)
        for id in order:
            for key in self.keys.get(id, ()):
                if self.rows[id].exact not in carriers[key]:
                    carriers[key].append(self.rows[id].exact)
        near = set()
        for exact in carriers.values():
            pairs = (
                combinations(exact, 2)
                if len(exact) <= cap
                else [(exact[0], other_id) for other_id in exact[1:]]
            )
            near |= {frozenset(pair) for pair in pairs}
        return near

    def candidate(self, a, b, threshold=None):
        same = self.copy_keys[a] == self.copy_keys[b]
        if same or a not in self.slots or b not in self.slots:
            return same
        equal = self.equal(a, b)
        least = min_equal(self.measure, threshold or self.threshold, self.recipe)
        return frozenset((self.rows[a].exact, self.rows[b].exact)) in self.near and equal >= least

    def similarity(self, a, b):
        if self.copy_keys[a] == self.copy_keys[b]:
            return 1.0
        return measure_pair(self.measure, self.sides[a], self.sides[b]).similarity

    def families(self, order):
        principals, principal_of = [], {}
        for id in order:
            best = max(
                (
                    (self.similarity(id, head), -place, head)
                    for place, head in enumerate(principals)
                    if self.candidate(id, head)
                ),
                default=(0.0, 0, id),
            )
            if best[0] >= self.threshold:
                principal_of[id] = best[2]
            else:
                principal_of[id] = id
                principals.append(id)
        return principal_of

    def clusters(self):
        near = {id: {id} for id in self.rows}
        for _ in self.rows:
            for a, b in combinations(self.rows, 2):
                if self.candidate(a, b, self.chained) and self.similarity(a, b) >= self.chained:
                    near[a] |= near[b]
                    near[b] = near[a]
        return {frozenset(component) for component in near.values() if len(component) > 1}


def families_of(store):
    return {row.id: row.family for row in store.scan()}


def clusters_of(store):
    members_of = defaultdict(set)
    for row in store.scan():
        if row.cluster is not None:
            members_of[row.cluster].add(row.id)
    assert all(name in members for name, members in members_of.items())
    return {frozenset(members) for members in members_of.values()}


def expected(rows, *args):
    return {row.id: row.id for row in rows} | Oracle(rows, *args).principal_of


def violations(rows: Iterable[Row], threshold: float = FOLD) -> list[str]:
    """Return the violated invariants of stored families, one sentence each."""
    stored = {row.id: row for row in rows}
    problems = []
    for row in stored.values():
        head = stored.get(row.family)
        if head is None:
            problems.append(f"{row.id} is in the family of {row.family}, which does not exist")
        elif row.cluster is not None and row.cluster not in stored:
            problems.append(
                f"{row.id} is in a cluster called after {row.cluster}, which does not exist"
            )
        elif head is not row:
            problems += _wrong(row, head, threshold)
        elif row.similarity is not None:
            problems.append(f"{row.id} is a principal with similarity {row.similarity}")
    return problems


def lone_incomplete_principals(rows: Iterable[Row]) -> list[str]:
    """Return the documents without a complete text that lead a family of themselves alone.

    `group` leaves none; a job that lost power may, until it is run again.
    """
    stored = list(rows)
    joined = {row.family for row in stored if row.family != row.id}
    return [
        row.id
        for row in stored
        if row.principal and row.status != "complete" and row.id not in joined
    ]


def _wrong(row: Row, head: Row, threshold: float) -> list[str]:
    value = 1.0 if copy_key(row) == copy_key(head) else similarity(row.text, head.text)
    wrong = {
        "which is no principal": head.family != head.id or head.principal is False,
        f"which is {head.status}": head.status != "complete" == row.status,
        f"and is {row.status}": row.status not in ("complete", "truncated") and value < 1,
        "and is a principal": row.principal is not False,
        f"to whom it is similar to {value}": value < threshold,
        f"with similarity {row.similarity} instead of {value}": row.similarity is None
        or abs(row.similarity - value) > 1e-6,
    }
    return [
        f"{row.id} is in the family of {head.id}, {what}" for what, holds in wrong.items() if holds
    ]
