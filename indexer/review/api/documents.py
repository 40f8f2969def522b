"""Endpoints that find documents: search, one document, its near duplicates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

from indexer.comparing.criteria import Criteria
from indexer.comparing.reasons import format_differences
from indexer.defaults import FOLD, OVERLAP, REVIEW
from indexer.documents.base import PARENT
from indexer.documents.mail.threads import ThreadMail
from indexer.jobs.review_file import with_labels
from indexer.jobs.threads import StoredThread, stored_thread
from indexer.model import Facet, Query, Row, unpack_embedded
from indexer.review import family_view
from indexer.review.api.endpoints import (
    WAIT_SECONDS,
    Attachment,
    DocumentId,
    Item,
    Original,
    Parameters,
    Part,
    ReadEndpoint,
    Wait,
    YesNo,
    about,
    count_parts,
    described_pattern,
    number_meta,
    text_meta,
)
from indexer.review.api.responses import (
    DifferingFacts,
    DocumentFacts,
    DocumentResponse,
    FactsResponse,
    Results,
    Similar,
    ThreadMailResponse,
    ThreadResponse,
    hit_response,
)
from indexer.review.caches import ReadProgress
from indexer.review.compared_documents import stored_original
from indexer.review.originals.pages import original_view
from indexer.searching.fold_hits import WITH_THRESHOLD, Fold
from indexer.searching.search import (
    FACTS,
    FAMILIES_MADE_BY,
    TOP,
    SearchOptions,
    parse_filters,
)
from indexer.searching.similar import SimilarOptions
from indexer.searching.stored_texts import StoredTexts
from indexer.stores.fields import metadata_label, rows_of
from indexer.stores.query_syntax import CONDITION_FORM
from indexer.stores.requirements import require_recipe
from indexer.wording import format_marks

if TYPE_CHECKING:
    from indexer.review.site import Site


# parameters that are filters
OWN_FILTERS = ("folder", "date_from", "date_to", "modified_from", "modified_to")
FACETS = ("content_type", "status", "labels", "custodian", "year", "extractor")
_MAX_RANKED = 20_000  # matches that are ranked for the first page of a search
_COMPARED_CHARS = 150_000  # of clauses that are compared by type for a page
_ATTACHMENTS = 100  # of a mail that its page lists
_COPIES = 100  # whose custodians its page names
_CHARS_A_PART = 60_000  # of a text that one response holds
_MATCH_CHARS, _MIN_MATCHES = 80_000, 4  # near duplicates next to a document, of these characters


class SearchParameters(Parameters, frozen=True):
    """A search: the query, how its hits are folded, filtered and ordered, and the page."""

    q: Annotated[
        str,
        text_meta(
            "words, all of which must match; AND OR NOT ( ), a w/5 b, a|b, -word, "
            '"words together", word* beginnings, from: to: cc: custodian: subject: sent: type: '
            "label: path:; empty for every document"
        ),
    ] = ""
    join: Annotated[
        Literal["all", "any"],
        about("all of the words must match; or any, with +word required, and without operators"),
    ] = "all"
    fold: Annotated[
        Literal["", "live", "family", "threads", "types", "none"],
        about(
            "by similarity of the hits, by stored near-duplicate group, by thread of "
            "mails, by duplicate type of clauses, or not; empty: by group where `nearfold group` "
            "has run and no threshold, policy or measure is given, else by similarity"
        ),
    ] = ""
    of: Annotated[
        Literal["documents", "parts", "both"],
        about("whole documents, their parts (clauses), or both"),
    ] = "documents"
    top: Annotated[int, number_meta("with fold=types: hits that are compared", 1, 1000)] = TOP
    ranking: Annotated[
        Literal["whole", "first"],
        about(
            "rank all matches, or at first some thousand of them, those written last, "
            "where ranking all takes long"
        ),
    ] = "whole"
    chars: Annotated[
        int,
        number_meta(
            "with fold=types: characters that are compared together; hits whose texts do not fit "
            "in are not folded",
            1,
            100_000_000,
        ),
    ] = _COMPARED_CHARS
    threshold: (
        Annotated[
            float,
            number_meta(
                "minimum similarity of folded hits, from 0 to 1; with fold=types the minimum "
                f"terminology that fuzzy duplicates share; without it {FOLD}, and {OVERLAP} with "
                "fold=types",
                0,
                1,
            ),
        ]
        | None
    ) = None
    policy: Annotated[
        Literal["", "strict", "standard", "loose"],
        about(
            "with fold=live, what folded hits may differ in: strict (words, no fact), standard (no "
            "negation, parties, form or message; the default), loose (templates and drafts too)"
        ),
    ] = ""
    measure: Annotated[
        Literal["", "lcs", "grown"],
        about(
            "with fold=live, the similarity of folded hits: lcs, words in the same order relative "
            "to the longer text (the default), or grown, relative to the shorter text"
        ),
    ] = ""
    filter: Annotated[
        # A filter without = is refused by the search, with what to write instead.
        tuple[Annotated[Item, described_pattern("^[^=]+=")], ...],
        about("FIELD=VALUE; several must all hold"),
    ] = ()
    folder: Annotated[str, text_meta("documents in this folder or below it")] = ""
    date_from: Annotated[
        str,
        text_meta("documents of this day or later, such as 2024-01-31, by when they were sent"),
    ] = ""
    date_to: Annotated[str, text_meta("documents of this day or before")] = ""
    modified_from: Annotated[str, text_meta("files changed on this day or later")] = ""
    modified_to: Annotated[str, text_meta("files changed on this day or before")] = ""
    sort: Annotated[
        Literal["relevance", "path", "newest", "oldest", "modified"],
        about("order of the hits; newest and oldest by their dates, modified by their files"),
    ] = "relevance"
    show: Annotated[
        str,
        text_meta(
            "the hit that is shown for a group is the first by this field, such as date:desc, "
            "path or size:desc; empty for the best by rank"
        ),
    ] = ""
    limit: Annotated[int, number_meta("hits per page", 1, 100)] = 10
    page: Annotated[int, number_meta("number of the page, from 1", 1, 10_000)] = 1
    facts: Annotated[
        int, number_meta("folded hits of each hit whose facts are compared with it", 0, FACTS)
    ] = FACTS
    wait: Annotated[float, number_meta("with fold=types: seconds to wait for it", 0, 30)] = 30


class DocumentParameters(DocumentId, frozen=True):
    """A part of a stored document, and its file next to it."""

    part: Part = 1
    original: Original = "no"
    attachment: Attachment = 0


class FactsParameters(DocumentId, frozen=True):
    """Documents whose facts are compared with the facts of one."""

    other: Annotated[
        tuple[Item, ...], about(f"ids of other documents; the first {FACTS} are compared")
    ] = ()


class SimilarParameters(DocumentId, frozen=True):
    """The near duplicates of a stored document."""

    threshold: Annotated[float, number_meta("minimum similarity, from 0 to 1", 0, 1)] = REVIEW
    limit: Annotated[int, number_meta("most matches", 1, 200)] = 20
    whole: Annotated[YesNo, about("as many, or of a long text a few")] = "yes"
    wait: Wait = WAIT_SECONDS


_LABEL = re.compile(CONDITION_FORM.format("label"), re.IGNORECASE)
_MAX_NOTED = 3


def _notes_on_labels(site: Site, text: str) -> Iterator[str]:
    """Yield a sentence for each of up to three labels of a query that no document has."""
    for match in islice(_LABEL.finditer(text), _MAX_NOTED):
        name = match["quoted"] or match["word"]
        is_exact = bool(name) and not (match["word"] and name.endswith("*"))
        if is_exact and not site.store.search(Query(f'label:"{name}"', (), "path")).total:
            yield f"no document has the label {name!r}; case matters in labels"


def search(site: Site, values: SearchParameters) -> Results:
    """Return a page of folded hits with excerpts and facets.

    Facets are counted at most every 20 seconds for one search, not for each of its pages.
    """
    query = with_labels(values.q, site.coding())
    facets_key = query, values.join, filter_texts(values), values.of
    cached_facets = site.facets.get(facets_key)
    options = search_options(site, values, not cached_facets)
    if options.fold == "types":
        options = replace(options, facets=FACETS)
        folded, progress = site.folded_by_type(query, options, values.wait)
        if folded is None:
            return _not_ready(values, progress)
        page = folded
    else:
        page = site.search(query, options)
    if site.search_log:
        site.search_log.add(values.q, page, options.fold)
    facets = cached_facets or site.facets.put(facets_key, page.facets)
    rows = site.store.get([hit.id for hit in page.hits]) if page.hits else {}
    return Results(
        query=values.q,
        total=page.total,
        families=page.families,
        relation=page.relation,
        page=page.page,
        more=page.more,
        hits=tuple(hit_response(hit, rows.get(hit.id)) for hit in page.hits),
        facets=dict(facets),
        notes=(
            *_notes_on_threshold(values),
            *_notes_on_labels(site, query),
            *filter(_is_note_of_pages, page.notes),
        ),
        measure=page.measure,
        threshold=page.threshold,
        passed_over=page.passed_over,
        unranked=page.unranked,
        policy=page.policy,
        fold=options.fold,
    )


def _not_ready(values: SearchParameters, progress: ReadProgress) -> Results:
    """Return a search that is still folded by type, without hits."""
    return Results(
        query=values.q,
        total=0,
        families=0,
        relation="gte",
        page=values.page,
        more=False,
        hits=(),
        facets={},
        notes=(),
        measure="terminology",
        threshold=OVERLAP if values.threshold is None else values.threshold,
        ready=False,
        done=progress.done,
        to_compare=progress.total,
        fold="types",
    )


def search_options(site: Site, values: SearchParameters, with_facets: bool) -> SearchOptions:
    """Return the options of a search by its parameters."""
    fold = values.fold or _default_fold(site, values)
    has_threshold = fold in WITH_THRESHOLD
    # a fold by type is waited for, whatever its page
    is_bounded = values.ranking == "first" and fold != "types"
    return SearchOptions(
        fold=fold,
        threshold=values.threshold if has_threshold else None,
        measure=values.measure or None if fold == "live" else None,
        filters=parse_filters(filter_texts(values)),
        join=values.join,
        sort=values.sort,
        criteria=Criteria(policy=values.policy or None if fold == "live" else None),
        limit=values.limit,
        page=values.page,
        of=values.of,
        top=values.top,
        most_chars=values.chars,
        most_ranked=_MAX_RANKED if is_bounded else None,
        facts=FACTS if fold == "types" else values.facts,
        show=values.show or None if fold in ("live", "family") else None,
        facets=FACETS if with_facets else (),
    )


def _default_fold(site: Site, values: SearchParameters) -> Fold:
    """Return how hits are folded by parameters that do not name a way."""
    has_own = values.threshold is not None or bool(values.policy or values.measure)
    has_own = has_own or values.of != "documents"
    return "live" if has_own or not site.is_grouped else "family"


def filter_texts(values: SearchParameters) -> tuple[str, ...]:
    """Return the filters of a search as `FIELD=VALUE`, with the filters of their own parameters."""
    own = (f"{name}={getattr(values, name)}" for name in OWN_FILTERS if getattr(values, name))
    return (*values.filter, *own)


def _is_note_of_pages(note: str) -> bool:
    """Return False for the options of `group`, of which pages show the threshold and the policy."""
    return not note.startswith(FAMILIES_MADE_BY)


def _notes_on_threshold(values: SearchParameters) -> Iterator[str]:
    """Yield a sentence where the form was sent with the threshold of another way of folding."""
    if values.threshold is not None and values.fold not in ("", *WITH_THRESHOLD):
        yield "the threshold is left out: it belongs to folding by similarity or by type"


def document(site: Site, values: DocumentParameters) -> DocumentResponse:
    """Return a document with a part of its text."""
    row = site.row(values.id)
    original = stored_original(row)
    attachments = tuple(_attachments(site, row))
    part = values.part
    parts = count_parts(len(row.text), _CHARS_A_PART, part)
    return DocumentResponse(
        document=DocumentFacts.of(row),
        text=row.text[(part - 1) * _CHARS_A_PART : part * _CHARS_A_PART],
        part=part,
        parts=parts,
        metadata=dict(original.metadata),
        extractor=row.extractor,
        warnings=original.warnings,
        original=site.originals.is_available(row),
        original_gone=site.originals.is_gone(row),
        attachment=values.attachment,
        view=original_view(site, site.document_row(row.id), values.attachment)
        if values.original == "yes"
        else None,
        mail=_mail_of(site, row),
        attachments=attachments,
        unread_attachments=_unread(row, attachments),
        grouped=len(list(islice(site.store.families.members("family", [row.family]), 2))) > 1,
        custodians=_custodians(site, row),
        copies=_copies(site, row),
    )


def _mail_of(site: Site, row: Row) -> DocumentFacts | None:
    """Return the mail that a document is attached to."""
    name = row.metadata.get(PARENT)
    mail = site.store.get([name]).get(name) if name else None
    return None if mail is None else DocumentFacts.of(mail)


def _attachments(site: Site, row: Row) -> Iterator[DocumentFacts]:
    """Yield the attachments of a mail, which lie below its path."""
    if metadata_label("created", row.content_type) != "sent":
        return
    below = Query("", (("folder", f"{row.path}!"),), "path", expected=_ATTACHMENTS)
    ids = [hit.id for hit in islice(site.store.search(below).hits, _ATTACHMENTS)]
    for attached in rows_of(site.store, ids):
        if attached.metadata.get(PARENT) == row.id:
            yield DocumentFacts.of(attached)


def _unread(row: Row, attachments: Sequence[DocumentFacts]) -> tuple[str, ...]:
    """Return the names of the attachments of a mail that are no documents: none was read."""
    if metadata_label("created", row.content_type) != "sent" or len(attachments) >= _ATTACHMENTS:
        return ()
    files = unpack_embedded(row.embedded)
    names = Counter(file.name for file in files if file.kind == "attachment")
    missing = names.total() - len(attachments)
    names.subtract(Counter(each.path.rpartition("!/")[2] for each in attachments))
    return tuple(sorted((+names).elements()))[: max(0, missing)]


def _custodians(site: Site, row: Row) -> tuple[Facet, ...]:
    """Return the custodians of the near-duplicate group of a document that has one."""
    if not row.custodian:
        return ()
    group = Query("", (("family", row.family),), "path", facets=("custodian",))
    return site.store.search(group).facets["custodian"]


def _copies(site: Site, row: Row) -> Mapping[str, tuple[str, ...]]:
    """Return exact copies of a document by custodian, its own left out."""
    if not row.custodian or not row.words:
        return {}
    members = site.store.families.members("exact", [row.exact])
    copies: dict[str, tuple[str, ...]] = {}
    for copy in rows_of(site.store, sorted(id for id, _ in islice(members, _COPIES))):
        if copy.custodian not in ("", row.custodian):
            copies[copy.custodian] = (*copies.get(copy.custodian, ()), copy.id)
    return copies


def similar(site: Site, values: SimilarParameters) -> Similar:
    """Return the near duplicates of a stored document."""
    row = site.row(values.id)
    some = max(_MIN_MATCHES, _MATCH_CHARS // (len(row.text) or 1))
    limit = values.limit if values.whole == "yes" else min(values.limit, some)
    options = SimilarOptions(threshold=values.threshold, limit=limit)
    result = site.near_duplicates(row, options, values.wait)
    if result is None:
        return Similar(DocumentFacts.of(row), values.threshold, (), (), limit, ready=False)
    reasons = {
        copy.id: copy.reason for copy in family_view.near_copies(site.store, row, result.matches)
    }
    return Similar(
        DocumentFacts.of(row),
        values.threshold,
        result.matches,
        result.notes,
        limit,
        reasons=reasons,
    )


def facts(site: Site, values: FactsParameters) -> FactsResponse:
    """Return in which facts others differ from a document, in sentences."""
    row = site.row(values.id)
    others = values.other[:FACTS]
    texts = StoredTexts(site.store, require_recipe(site.store))
    return FactsResponse(
        row.id,
        tuple(
            DifferingFacts(
                other,
                format_marks(differences.marks),
                tuple(format_differences(differences.facts)),
            )
            for other, differences in zip(others, texts.differences(row.id, others), strict=True)
        ),
    )


def thread(site: Site, values: DocumentId) -> ThreadResponse:
    """Return the thread of a stored mail."""
    row = site.row(values.id)
    tree = stored_thread(site.store, row)
    if tree is None:
        return ThreadResponse(DocumentFacts.of(row), "", (), ())
    mails = tuple(_thread_mail(mail, stored_row, tree) for mail, stored_row in tree.mails)
    notes = {_MANY_MAILS: tree.is_complete, _LONG_MAILS: tree.is_judged}
    missing = tuple(note for note, holds in notes.items() if not holds)
    return ThreadResponse(DocumentFacts.of(row), tree.id, mails, missing)


def _thread_mail(mail: ThreadMail, row: Row, tree: StoredThread) -> ThreadMailResponse:
    message = mail.message
    near = tree.near.get(row.id)
    is_near = near is not None and near.principal != row.id
    return ThreadMailResponse(
        id=row.id,
        path=row.path,
        title=message.subject,
        sender=message.sender,
        date=message.date,
        parent=mail.parent,
        depth=mail.depth,
        copy_of=mail.copy_of,
        labels=row.labels,
        inclusive=mail.is_inclusive if tree.is_judged else None,
        reasons=mail.reasons if tree.is_judged else (),
        held_by=mail.held_by if tree.is_judged else None,
        near=near.principal if near and is_near else None,
        similarity=near.similarity if near and is_near else None,
    )


_MANY_MAILS = (
    "the thread has many mails; replies that name no other mail than the one they reply to may be "
    "missing here"
)
_LONG_MAILS = (
    "the mails have more than two million characters, so that it is not known which are inclusive"
)
DOCUMENT_READS: Mapping[str, ReadEndpoint] = {
    "search": ReadEndpoint(
        "search",
        "Search title and text, near duplicates folded under the best hit of each group.",
        SearchParameters,
        search,
        Results,
    ),
    "document": ReadEndpoint(
        "document",
        "A document with a part of its text.",
        DocumentParameters,
        document,
        DocumentResponse,
    ),
    "thread": ReadEndpoint(
        "thread",
        "The thread of a stored mail, as a tree by its Message-IDs.",
        DocumentId,
        thread,
        ThreadResponse,
    ),
    "facts": ReadEndpoint(
        "facts",
        "The facts in which documents differ from one, as for the folded hits of a search.",
        FactsParameters,
        facts,
        FactsResponse,
    ),
    "similar": ReadEndpoint(
        "similar",
        "The near duplicates of a stored document, and why.",
        SimilarParameters,
        similar,
        Similar,
    ),
}
