"""The questions that pages and the API ask: each has a name, parameters, and a function from a site
to an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from indexer.errors import StoreBusy
from indexer.grouping.label import label_history
from indexer.operations import status as overview
from indexer.searching import search as results
from indexer.searching import similar as lookup
from indexer.web import document_sets as together
from indexer.web.answers import (
    ComparisonAnswer,
    DocumentAnswer,
    DocumentFacts,
    FailedFile,
    FamilyAnswer,
    Labellings,
    PreviewAnswer,
    Results,
    Similar,
    StoreState,
    SurveyAnswer,
    VersionsAnswer,
    WithoutBoilerplate,
)
from indexer.web.parameters import Parameter, ParameterValues, part_of
from indexer.web.presenters import shown_hit, warnings_of
from indexer.web.site import Site

FACETS = ("content_type", "status", "labels")
TEXT_PART = 60_000
FAILURES_SHOWN = 200
Answer = Callable[[Site, ParameterValues], Any]


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `api` is its path under `/api`, `answer` makes a value of a class of
    `answers`.
    """

    api: str
    summary: str
    parameters: tuple[Parameter, ...]
    answer: Answer
    shape: type


def search(site: Site, asked: ParameterValues) -> Results:
    """A page of folded hits with excerpts and facets; facets are counted again after some seconds,
    not for every page.
    """
    searched = asked["q"], asked["filter"], asked["of"]
    kept = site.facets.get(searched)
    page = results.search(
        site.store,
        asked["q"],
        results.SearchOptions(
            fold=asked["fold"],
            threshold=asked["threshold"],
            filters=results.parse_filters(asked["filter"]),
            sort=asked["sort"],
            limit=asked["limit"],
            page=asked["page"],
            of=asked["of"],
            top=asked["top"],
            facets=() if kept else FACETS,
        ),
    )
    facets = kept or site.facets.put(searched, page.facets)
    rows = site.store.get([hit.id for hit in page.hits]) if page.hits else {}
    return Results(
        query=asked["q"],
        total=page.total,
        families=page.families,
        relation=page.relation,
        page=page.page,
        more=page.more,
        hits=tuple(shown_hit(hit, rows.get(hit.id), asked["q"]) for hit in page.hits),
        facets=dict(facets),
        notes=page.notes,
        measure=page.measure,
    )


def document(site: Site, asked: ParameterValues) -> DocumentAnswer:
    """A document with a part of its text."""
    row = site.row(asked["id"])
    parts = max(1, -(-len(row.text) // TEXT_PART))
    part = part_of(asked, parts)
    return DocumentAnswer(
        document=DocumentFacts.of(row),
        text=row.text[(part - 1) * TEXT_PART : part * TEXT_PART],
        part=part,
        parts=parts,
        metadata=dict(row.metadata),
        extractor=row.extractor,
        warnings=tuple(warnings_of(row)),
        original=site.original(row) is not None,
    )


def similar(site: Site, asked: ParameterValues) -> Similar:
    """The near duplicates of a stored document."""
    row = site.row(asked["id"])
    found = lookup.similar(
        site.store,
        options=lookup.SimilarOptions(threshold=asked["threshold"], limit=asked["limit"]),
        id=row.id,
    )
    return Similar(DocumentFacts.of(row), asked["threshold"], found.matches, found.notes)


def state(site: Site, asked: ParameterValues) -> StoreState:
    """What is in the store now."""
    seen = overview.status(site.store)
    failures = tuple(FailedFile(one.path, one.error) for one in seen.failed[:FAILURES_SHOWN])
    counts = seen.counts
    return StoreState(
        store=seen.store,
        recipe=seen.recipe.name,
        documents=counts.documents,
        families=counts.families,
        size_bytes=counts.size_bytes,
        by_status={str(name): number for name, number in counts.by_status.items()},
        by_content_type=dict(counts.by_content_type),
        running=seen.running,
        failed=len(seen.failed),
        failures=failures,
    )


def labellings(site: Site, asked: ParameterValues) -> Labellings:
    """The last labellings."""
    try:
        jobs = label_history(site.store)
    except StoreBusy:
        return Labellings(True, ())
    return Labellings(False, jobs[: asked["limit"]])


def surveyed(site: Site, asked: ParameterValues) -> SurveyAnswer:
    """What reading the whole store told, or how far it has come."""
    made = site.surveyor.get(asked["wait"])
    told = site.surveyor.progress
    if made is None:
        return SurveyAnswer(False, told.stage, told.done, told.total)
    return SurveyAnswer(
        ready=True,
        stage="done",
        done=made.documents,
        total=made.documents,
        documents=made.documents,
        redundant=made.redundant,
        same_text=made.same_text,
        same_bytes=made.same_bytes,
        provisional=made.provisional,
        sizes=made.sizes,
        similarities=made.similarities,
        labels=made.labels,
        largest=made.largest,
        steps=made.steps,
        measure=made.measure,
        seconds=round(site.surveyor.seconds, 2),
    )


def preview(site: Site, asked: ParameterValues) -> PreviewAnswer:
    """The families that a threshold would make."""
    made = site.surveyor.get()
    if made is None:
        return PreviewAnswer(False, asked["threshold"])
    at = made.at(asked["threshold"])
    numbers = (at.documents, at.families, at.gathered, at.largest, at.moved)
    return PreviewAnswer(True, at.threshold, at.measure, *numbers, at.moves)


_ID = Parameter("id", "a document's id")
_PART = Parameter("part", "which part of a long text, from 1", 1, "integer", low=1, high=1_000_000)
_A, _B = Parameter("a", "the id of one document"), Parameter("b", "the id of the other")
_WAIT = Parameter("wait", "seconds to wait for it", 1.5, "number", low=0, high=30)
_THRESHOLD = Parameter("threshold", "least similarity, from 0 to 1", 0.8, "number", low=0, high=1)

QUESTIONS: Mapping[str, Question] = {
    "search": Question(
        "search",
        "Search title and text, near duplicates folded under the best hit of each group.",
        (
            Parameter(
                "q",
                "words, all required; quoted words stand together; empty for every document",
                "",
            ),
            Parameter(
                "fold",
                "by likeness of the hits, by stored family, by duplicate type of clauses, or not",
                "live",
                choices=("live", "family", "types", "none"),
            ),
            Parameter(
                "of",
                "whole documents, their parts (clauses), or both",
                "documents",
                choices=("documents", "parts", "both"),
            ),
            Parameter(
                "top",
                "with fold=types: hits that are compared",
                results.TOP,
                "integer",
                low=1,
                high=1000,
            ),
            _THRESHOLD,
            Parameter("filter", "FIELD=VALUE; several must all hold", many=True),
            Parameter(
                "sort", "order of the hits", "relevance", choices=("relevance", "path", "modified")
            ),
            Parameter("limit", "hits a page", 10, "integer", low=1, high=100),
            Parameter("page", "which page, from 1", 1, "integer", low=1, high=10_000),
        ),
        search,
        Results,
    ),
    "document": Question(
        "document", "A document with a part of its text.", (_ID, _PART), document, DocumentAnswer
    ),
    "similar": Question(
        "similar",
        "The near duplicates of a stored document, and why.",
        (_ID, _THRESHOLD, Parameter("limit", "most matches", 20, "integer", low=1, high=200)),
        similar,
        Similar,
    ),
    "family": Question(
        "family",
        "The family of a document, by the id of any member.",
        (_ID,),
        together.family,
        FamilyAnswer,
    ),
    "versions": Question(
        "versions",
        "Which document of a family probably came from which, and what changed on the way.",
        (
            _ID,
            Parameter("dates", "go by dates, or by the texts alone", "yes", choices=("yes", "no")),
            Parameter(
                "redline", "spell out the words that came and went", "no", choices=("yes", "no")
            ),
        ),
        together.version_tree,
        VersionsAnswer,
    ),
    "compare": Question(
        "compare",
        "Two documents side by side, by every measure.",
        (
            _A,
            _B,
            Parameter(
                "matching",
                "count repeats, or information",
                "literal",
                choices=("literal", "information"),
            ),
            _PART,
        ),
        together.compare,
        ComparisonAnswer,
    ),
    "discounted": Question(
        "discounted",
        "How alike two documents are without what the texts of the store share; counted by the first who asks.",
        (_A, _B, _WAIT),
        together.discounted,
        WithoutBoilerplate,
    ),
    "status": Question(
        "status", "What is in the store, and whether a job is at work on it.", (), state, StoreState
    ),
    "labellings": Question(
        "labellings",
        "The last labellings, newest first.",
        (Parameter("limit", "most labellings", 20, "integer", low=1, high=1000),),
        labellings,
        Labellings,
    ),
    "survey": Question(
        "survey",
        "Duplicate rate, family sizes and similarities of the whole store; begun by the first who asks.",
        (_WAIT,),
        surveyed,
        SurveyAnswer,
    ),
    "preview": Question(
        "preview",
        "The families that a threshold from .5 on would make; nothing is written.",
        (_THRESHOLD,),
        preview,
        PreviewAnswer,
    ),
}
