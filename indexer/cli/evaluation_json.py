"""An evaluation as JSON, with the command that shows each mistake."""

from __future__ import annotations

import dataclasses
import shlex
from typing import Any

from indexer.lab.evaluation.evaluation_results import Evaluation, Mistake, Result
from indexer.lab.evaluation.judgements import GoldDocument, MeasuredAgreement
from indexer.statistics.kappa import Kappa


def evaluation_json(evaluation: Evaluation, store_url: str) -> dict[str, Any]:
    """Return a whole evaluation as JSON values, with all its mistakes."""
    fields = dataclasses.asdict(dataclasses.replace(evaluation, results=()))
    fields["types"] = dict(evaluation.types)
    if evaluation.assessors:
        for name in ("duplicate", "types"):
            agreement = getattr(evaluation.assessors, name)
            fields["assessors"][name] = _agreement_json(agreement)
    fields["results"] = [_result_json(result, store_url) for result in evaluation.results]
    return fields


def compare_command(mistake: Mistake, store_url: str) -> str:
    """Return the command that shows both texts of a mistake side by side."""
    texts = f"{shlex.quote(_name(mistake.a))} {shlex.quote(_name(mistake.b))}"
    store = f" --store {shlex.quote(store_url)}" if mistake.a.stored or mistake.b.stored else ""
    return f"nearfold compare {texts}{store}"


def _name(document: GoldDocument) -> str:
    return document.key if document.stored else document.path


def _agreement_json(agreement: MeasuredAgreement) -> dict[str, Any]:
    return {
        "pooled": _kappa_json(agreement.pooled),
        "corrected": _kappa_json(agreement.corrected),
        "by_group": dataclasses.asdict(agreement.by_group),
        "cohen": agreement.cohen and _kappa_json(agreement.cohen),
    }


def _kappa_json(kappa: Kappa) -> dict[str, Any]:
    return {**dataclasses.asdict(kappa), "z": kappa.z, "p": kappa.p}


def _result_json(result: Result, store_url: str) -> dict[str, Any]:
    fields = dataclasses.asdict(dataclasses.replace(result, false_positives=(), misses=()))
    fields["agreement"] = _kappa_json(result.agreement)
    for name in ("false_positives", "misses"):
        mistakes = getattr(result, name)
        fields[name] = [_mistake_json(mistake, store_url) for mistake in mistakes]
    return fields


def _mistake_json(mistake: Mistake, store_url: str) -> dict[str, Any]:
    return {
        "a": _name(mistake.a),
        "b": _name(mistake.b),
        "type": mistake.type,
        "kind": mistake.kind,
        "group": mistake.group,
        "similarity": mistake.similarity,
        "why": mistake.why,
        "compare": compare_command(mistake, store_url),
    }
