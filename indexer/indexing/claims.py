"""Documents of which one is new though they are checked at the same time, in a store whose writers
do not wait for each other.

A row is stored first, as a claim, and then decided on. Whoever finds a similar claim that is not
decided, and whose id comes first, decides that one before its own; of one whose id comes later it
changes the version, so that nobody decides on that by what was read before. Nothing depends on a
clock, and no process waits for another: docs/decisions/024-check.md has the proof.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from indexer.errors import StoreBusy
from indexer.grouping.delete import repair_families, repair_strays
from indexer.grouping.family_options import DEFAULT_FAMILIES, FamilyOptions, last_options
from indexer.indexing.make_rows import with_labels_of
from indexer.indexing.verdicts import CheckOptions, Judgement, Verdict, are_similar, judge
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.stores.abilities import Claim, Claims, FullStore

ABANDONED_SECONDS = 60.0  # after which a claim is decided by whoever sees it
_DECIDED_ELSEWHERE = "another check that ran at the same time decided it"


@dataclass(slots=True)
class ClaimedCheck:
    """A check of one row that is stored as a claim.

    `drop`: a duplicate is not stored.
    """

    store: FullStore
    claims: Claims
    recipe: Recipe
    row: Row
    options: CheckOptions
    drop: bool
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    _judgements: dict[str, Judgement] = field(default_factory=dict)
    _seen: list[Claim] = field(default_factory=list)

    def run(self) -> tuple[Judgement | None, bool]:
        """Return the verdict, and whether the row is stored for it.

        The verdict is None for a document that is stored already, with the same text.
        """
        id = self.row.id
        while True:
            claim = self.claims.get(id)
            if claim is None:
                judgement = self._judge_dropped()
                if judgement is not None:
                    return judgement, False
                self.claims.create(self.row, self._note())
            elif claim.note and not claim.outcome:
                self._decide(id)
            elif self._is_own(claim):
                self._decide_abandoned()
                return self._judgement(claim), True
            elif self._holds_same_text():
                return None, False
            else:
                self._replace(claim)

    def _judge_dropped(self) -> Judgement | None:
        """Return the verdict on a duplicate that is not to be stored, None for other documents."""
        if not self.drop:
            return None
        without: set[str] = set()
        while True:
            judgement = judge(self.store, self.recipe, self.row, self.options, without)
            if judgement.of is None or self._is_decided(judgement.of):
                return judgement if judgement.verdict == "duplicate" else None
            without.add(judgement.of)

    def _decide(self, id: str) -> None:
        """Decide on a claim, whoever made it; nothing if that is done, or the row is gone."""
        while True:
            own = self.claims.get(id)
            if own is None or own.outcome or not own.note:
                return
            self._seen = [claim for claim in self.claims.undecided() if claim.id != id]
            others = {claim.id: claim for claim in self._seen}
            rows = self.store.get([id, *others])
            note = json.loads(own.note)
            options = CheckOptions(**note["options"])
            alike = self._alike(id, others, rows, options)
            earlier = [claim for claim in alike if claim.id < id]
            for claim in earlier:
                self._decide(claim.id)
            if earlier or id not in rows or not all(map(self.claims.touch, alike)):
                continue
            judgement = judge(self.store, self.recipe, rows[id], options, {id, *others})
            if judgement.of is not None and not self._is_decided(judgement.of):
                continue
            if self._record(own, judgement, note):
                return

    def _is_decided(self, id: str) -> bool:
        """Return whether a row is stored and no claim. Nothing is judged beside others: a row that
        was stored after the claims were read may be a duplicate of this one, or be gone again.
        """
        claim = self.claims.get(id)
        return claim is not None and (not claim.note or bool(claim.outcome))

    def _alike(
        self, id: str, others: Mapping[str, Claim], rows: Mapping[str, Row], options: CheckOptions
    ) -> list[Claim]:
        """Return the claims that are not decided and of which this one is perhaps a duplicate."""
        row = rows.get(id)
        return [
            claim
            for name, claim in others.items()
            if row and name in rows and are_similar(row, rows[name], options, self.recipe)
        ]

    def _record(self, claim: Claim, judgement: Judgement, note: Mapping[str, Any]) -> bool:
        """Record a verdict, or remove a duplicate; return False if the row changed meanwhile."""
        if note["drop"] and judgement.verdict == "duplicate":
            removed = self.claims.remove(claim)
            if removed:
                options = self._families().documents
                repair_strays(self.store, self.recipe, [claim.id], options)
            return removed
        similarity = "" if judgement.similarity is None else f"{judgement.similarity:.4f}"
        words = judgement.verdict, note["token"], similarity, judgement.of or ""
        self._judgements[claim.id] = judgement
        return self.claims.decide(claim, " ".join(words))

    def _families(self) -> FamilyOptions:
        """Return the options of the last `group`, the defaults while a job works on the store."""
        try:
            return last_options(self.store)
        except StoreBusy:
            return DEFAULT_FAMILIES

    def _judgement(self, claim: Claim) -> Judgement:
        """Return the verdict that was recorded, with its reasons where this process knows them."""
        verdict, _, similarity, of = claim.outcome.split(" ", 3)
        known = self._judgements.get(claim.id)
        if known and (known.verdict, known.of or "") == (verdict, of):
            return known
        value = float(similarity) if similarity else None
        reasons = (_DECIDED_ELSEWHERE,)
        return Judgement(cast(Verdict, verdict), of or None, None, value, reasons)

    def _decide_abandoned(self) -> None:
        """Decide on the claims of processes that ended before they could, of those that this one
        saw.
        """
        for claim in self._seen:
            if json.loads(claim.note)["at"] < time.time() - ABANDONED_SECONDS:
                self._decide(claim.id)

    def _is_own(self, claim: Claim) -> bool:
        return claim.outcome.split(" ", 2)[1:2] == [self.token]

    def _holds_same_text(self) -> bool:
        stored = self.store.get([self.row.id]).get(self.row.id)
        return stored is not None and stored.text == self.row.text

    def _replace(self, claim: Claim) -> None:
        """Store the row in place of another text of its id, with the labels of that."""
        stored = self.store.get([self.row.id])
        options = last_options(self.store).documents
        repair_families(self.store, self.recipe, stored, options)
        row = with_labels_of(stored.get(self.row.id), self.row)
        self.claims.replace(row, self._note(), claim)

    def _note(self) -> str:
        return json.dumps(
            {
                "token": self.token,
                "at": time.time(),
                "drop": self.drop,
                "options": asdict(self.options),
            }
        )
