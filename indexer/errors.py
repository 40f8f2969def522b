"""The error hierarchy.

Every message says what is wrong and what to do; the facts are attributes. The exit codes are in
`indexer.cli.output`.

NearfoldError
├── UsageError                 the request is wrong: an option, a name, a path
│   ├── QueryError             a query cannot be parsed; the message shows where
│   ├── UnknownName
│   │   ├── UnknownRecipe
│   │   └── UnknownMeasure
│   ├── NoFeatures             nothing to sketch; also a ValueError
│   ├── SourceNotFound
│   ├── UnknownNumber          no part or labelling has that number
│   └── MissingExtra           an optional dependency is not installed
├── StoreError                 the store, the recipe or the index does not fit
│   ├── IndexMissing           nothing was indexed at this address yet
│   ├── RecipeMismatch
│   ├── MissingSketch          the recipe makes none of the kind that a measure compares
│   ├── MappingMismatch
│   ├── PartialSource          a change of a document would lose what `_source` lacks
│   ├── LimitedView            security hides a part of the index from these credentials
│   ├── TextFieldMismatch
│   ├── ReindexInProgress      an index is being filled for another recipe
│   ├── UnsupportedEngine      another engine than the URL says, or a version out of range
│   ├── StoreUnreachable
│   │   └── StoreNotReady      it answered before, or is overloaded; run again later
│   ├── StoreAccessDenied      wrong password, or a missing permission
│   ├── StoreBusy              another job has locked the journal or the database
│   ├── StoreStopped           no space, read-only, or index deleted; run again to resume
│   │   ├── RestoredIndex      a snapshot was restored over the index, or it was made again
│   │   └── ExpiredCredentials those that it accepted before; run again with new ones
│   ├── SnapshotExpired        the snapshot of a paged search has expired; search again
│   ├── StoreDamaged
│   ├── DocumentNotFound
│   └── UnsupportedOperation   this store cannot do that
└── ExtractionError            one document could not be read; the run goes on
    ├── UnreadableFile         the file itself: deleted, no permission, too large, changing
    ├── ExtractionTimeout
    ├── ExtractionMemory
    ├── ExtractionCrash
    └── ExtractorUnavailable   the extractor is missing or unreachable; the run stops
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


class NearfoldError(Exception):
    """Base class of all errors that nearfold raises on purpose.

    Errors can be pickled, because worker processes pass them on.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), str(self)), self.__dict__


def _rebuild(kind: type[NearfoldError], message: str) -> NearfoldError:
    """Return an error of that kind without calling its constructor; pickle restores attributes."""
    return kind.__new__(kind, message)


class UsageError(NearfoldError):
    """The request itself is wrong; nothing was read or written."""


class QueryError(UsageError):
    """A query cannot be parsed: `fault` says why, `column` where, from 0."""

    def __init__(self, query: str, column: int, fault: str) -> None:
        self.query, self.column, self.fault = query, column, fault
        line = " ".join(query.splitlines())
        pad = "".join(_blank(character) for character in line[:column])
        super().__init__(f"{fault}\n  {line}\n  {pad}^")


def _blank(character: str) -> str:
    """Return a blank as wide as a character."""
    return "\u3000" if unicodedata.east_asian_width(character) in "WF" else " "


class UnknownName(UsageError):
    """No `what` (a recipe, a measure, ...) has the name `name`; `known` are the valid names.

    `advice` says where others are listed.
    """

    def __init__(self, what: str, name: str | None, known: Iterable[str], advice: str = "") -> None:
        self.what, self.name, self.known = what, name, tuple(known)
        names = ", ".join(self.known)
        super().__init__(f"unknown {what} {name!r}; choose one of: {names}{advice}")


class UnknownRecipe(UnknownName):
    """No recipe has that name."""

    def __init__(self, *, name: str, known: Iterable[str]) -> None:
        super().__init__("recipe", name, known, " (docs/schemes.md lists all names)")


class UnknownMeasure(UnknownName):
    """No similarity measure has that name."""

    def __init__(self, *, name: str, known: Iterable[str]) -> None:
        super().__init__("measure", name, known)


class NoFeatures(UsageError, ValueError):
    """An empty set of features cannot be sketched."""

    def __init__(self) -> None:
        super().__init__("an empty set of features has no sketch; leave such a text out")


class SourceNotFound(UsageError):
    """A path does not exist."""

    def __init__(self, *, path: str) -> None:
        super().__init__(f"{path} does not exist; check the spelling, or give an absolute path")
        self.path = path


class UnknownNumber(UsageError):
    """No `what` (a part, a labelling) has that number."""

    def __init__(self, *, what: str, number: int, remedy: str) -> None:
        super().__init__(f"there is no {what} {number}; {remedy}")
        self.what, self.number, self.remedy = what, number, remedy


class MissingExtra(UsageError):
    """The request needs an optional dependency that is not installed."""

    def __init__(self, *, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'nearfold[{extra}]'")
        self.package, self.extra = package, extra


class StoreError(NearfoldError):
    """The store cannot do what was requested; nothing that was acknowledged is lost."""


class IndexMissing(StoreError):
    """Nothing was indexed at this address yet."""

    def __init__(self, *, url: str) -> None:
        super().__init__(
            f"there is no index at {url} yet; run `nearfold index PATH --store {url}` first"
        )
        self.url = url


class RecipeMismatch(StoreError):
    """The index was built with another recipe; `difference` lists the settings that differ."""

    def __init__(self, *, stored: str, requested: str, difference: tuple[str, ...] = ()) -> None:
        detail = f" ({'; '.join(difference)})" if difference else ""
        is_same_recipe = len(difference) == 1 and difference[0].startswith("left_out:")
        remedy = (
            "leave --leave-out out or give the list of the index, or run reindex with another list"
            if is_same_recipe
            else f"pass --recipe {stored}, or give --store another name and index again"
        )
        super().__init__(
            f"the index was built with recipe {stored}, not with {requested}{detail}; {remedy}"
        )
        self.stored, self.requested, self.difference = stored, requested, difference


class MissingSketch(StoreError):
    """The recipe of the index makes no sketch of the kind that a measure compares."""

    def __init__(self, *, recipe: str, sketch: str, measure: str, remedy: str) -> None:
        super().__init__(
            f"recipe {recipe} makes no {sketch}, which {measure} compares; choose another "
            f"measure, or run nearfold reindex --recipe {remedy}, which makes one"
        )
        self.recipe, self.sketch, self.measure = recipe, sketch, measure


class MappingMismatch(StoreError):
    """An index of that name exists, but its mapping is not one of nearfold.

    `remedy`: what to do besides choosing another name. `can_install`: False where `install` refuses
    the name, since it stands for several indices or for a data stream.
    """

    def __init__(
        self,
        *,
        index: str,
        problems: tuple[str, ...],
        remedy: str = "",
        can_install: bool = True,
    ) -> None:
        super().__init__(
            f"index {index} exists with a mapping that nearfold cannot use: {'; '.join(problems)}; "
            f"nothing was changed; {remedy}choose another index name in --store"
        )
        self.index, self.problems, self.can_install = index, problems, can_install


class PartialSource(StoreError):
    """An index holds more of its documents than `_source`; `gap` says what is missing there.

    An engine makes a changed document from `_source`, so that a change would delete the rest.
    """

    def __init__(self, *, index: str, gap: str) -> None:
        super().__init__(
            f"index {index} {gap}; nearfold reads and changes documents by their `_source`, and a "
            "change would delete the rest from the index; nothing was changed: "
            "send the documents to an index that keeps the whole `_source`, and give it to --store"
        )
        self.index, self.gap = index, gap


class LimitedView(StoreError):
    """Security shows these credentials a part of the documents or fields of an index."""

    def __init__(self, *, index: str) -> None:
        super().__init__(
            f"index {index} has documents, fields or values that are hidden from these "
            "credentials (document-level security, field-level security or masking), and a change "
            "could delete them; nothing was changed: use credentials of a role without such limits"
        )
        self.index = index


class TextFieldMismatch(StoreError):
    """The fingerprints in the index come from another text field.

    `signed`: how many documents have fingerprints; None for an index of nearfold's own.
    """

    def __init__(
        self, *, index: str, stored: str, requested: str, fingerprinted: int | None
    ) -> None:
        extent = (
            "all its texts are there"
            if fingerprinted is None
            else f"documents with its fingerprints: {fingerprinted:,}"
        )
        super().__init__(
            f"index {index} is fingerprinted by its field {stored}, not {requested}: {extent}; "
            f"give --text-field {stored}, or read it into another store"
        )
        self.index, self.stored, self.requested = index, stored, requested
        self.signed = fingerprinted


class ReindexInProgress(StoreError):
    """The next version of an index exists, for another `recipe` or made by another program ("")."""

    def __init__(self, *, index: str, recipe: str) -> None:
        problem = (
            f"was begun for recipe {recipe}; finish with --recipe {recipe}"
            if recipe
            else "was not made by nearfold; rename it"
        )
        super().__init__(f"index {index} {problem}, or delete {index}, which is not in service")
        self.index, self.recipe = index, recipe


class UnsupportedEngine(StoreError):
    """The server is not the engine of the store's URL, or of a version that is not supported.

    `engine` is product and version of the server; `requested` the product that the URL names, and
    `supported` its versions.
    """

    def __init__(self, *, url: str, engine: str, requested: str, supported: str) -> None:
        super().__init__(
            f"{url} is {engine}; nearfold supports {requested} {supported} there: "
            + (
                "upgrade the server, or nearfold where the server is newer"
                if engine.startswith(f"{requested} ")
                else "begin the URL with the name of the engine that the server is"
            )
        )
        self.url, self.engine = url, engine
        self.requested, self.supported = requested, supported


class StoreUnreachable(StoreError):
    """The store does not respond."""

    def __init__(
        self,
        *,
        url: str,
        reason: str,
        remedy: str = "check that the server runs and that the address and port are right",
    ) -> None:
        super().__init__(f"no response from {url} ({reason}); {remedy}")
        self.url, self.reason = url, reason


class StoreNotReady(StoreUnreachable):
    """The store has answered, but does not do so any more, or not for now."""

    def __init__(self, *, url: str, reason: str) -> None:
        StoreError.__init__(
            self,
            f"{url} stopped answering ({reason}); wait until it has recovered, then run the same "
            "command again",
        )
        self.url, self.reason = url, reason


class StoreAccessDenied(StoreError):
    """The store refused the credentials, or they lack a permission; `status` is the HTTP status."""

    def __init__(self, *, url: str, status: int, reason: str) -> None:
        super().__init__(
            f"{url} refused the request ({status}: {reason}); "
            "set NEARFOLD_USER and NEARFOLD_PASSWORD (or NEARFOLD_API_KEY) "
            "to credentials that may read and write this index"
        )
        self.url, self.status, self.reason = url, status, reason


class StoreBusy(StoreError):
    """Another job, `holder`, is working on the same store or journal (`what`)."""

    def __init__(self, *, what: str, holder: str) -> None:
        super().__init__(f"{what} is in use by {holder}; wait until that job ends, then run again")
        self.what, self.holder = what, holder


class StoreStopped(StoreError):
    """The store stopped accepting documents during a run; what was acknowledged is safe."""

    def __init__(self, *, reason: str, remedy: str) -> None:
        super().__init__(
            f"the store stopped taking documents: {reason}; "
            f"{remedy}, then run the same command again to resume"
        )
        self.reason, self.remedy = reason, remedy


class RestoredIndex(StoreStopped):
    """An index is not the one that a job has read, though it has its name."""

    def __init__(self, *, index: str) -> None:
        super().__init__(
            reason=f"{index} was restored from a snapshot, or made again, since the job began",
            remedy="wait until the restore has finished",
        )
        self.index = index


class ExpiredCredentials(StoreStopped):
    """The store no longer accepts credentials that it accepted before."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(
            reason=f"it no longer accepts the credentials ({reason})",
            remedy="set NEARFOLD_API_KEY, or NEARFOLD_USER and NEARFOLD_PASSWORD, to new ones",
        )


class SnapshotExpired(StoreError):
    """The store no longer keeps the snapshot that a paged search reads."""

    def __init__(self, *, url: str) -> None:
        super().__init__(f"{url} no longer keeps the snapshot of that search; search again")
        self.url = url


class StoreDamaged(StoreError):
    """A file of the store, or of its journal, cannot be read."""

    def __init__(
        self,
        *,
        path: str,
        reason: str,
        remedy: str = "restore a backup, or give --store a new file and index again",
    ) -> None:
        super().__init__(f"{path} cannot be used ({reason}); {remedy}")
        self.path, self.reason, self.remedy = path, reason, remedy


class DocumentNotFound(StoreError):
    """No document with that id is in the store."""

    def __init__(self, *, id: str) -> None:
        super().__init__(
            f"no document {id} in the store, by its id or path; `nearfold search` prints both"
        )
        self.id = id


class UnsupportedOperation(StoreError):
    """Raised when a kind of store does not support an operation.

    `operation` completes "the store cannot ..."; `alternative` is what to do instead, in the
    imperative.
    """

    def __init__(self, *, store: str, operation: str, alternative: str) -> None:
        super().__init__(f"{store} cannot {operation}; {alternative}")
        self.store = store
        self.operation = operation
        self.alternative = alternative


class ExtractionError(NearfoldError):
    """One document could not be read."""


class UnreadableFile(ExtractionError):
    """The file could not be read at all; nothing was extracted."""

    def __init__(self, *, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason, self.remedy = reason, remedy

    @classmethod
    def too_large(cls, max_bytes: int, size: int | None = None) -> UnreadableFile:
        """Return the error of a document of more than `max_bytes`; `size` is None when unknown."""
        limit = f"more than the limit of {_size(max_bytes)}"
        reason = f"it has {limit}" if size is None else f"the file has {_size(size)}, {limit}"
        return cls(reason=reason, remedy="split it, or allow more by `index --max-bytes`")


def _size(octets: int) -> str:
    """Return a number of bytes, in MB from ten of them on."""
    return f"{octets / 2**20:,.0f} MB" if octets >= 10 << 20 else f"{octets:,} bytes"


class ExtractionTimeout(ExtractionError):
    """Reading took longer than the limit; the worker was ended."""

    def __init__(self, *, seconds: float) -> None:
        super().__init__(
            f"extraction took longer than {seconds:g} s and was ended; "
            "allow more with --timeout, --retry"
        )
        self.seconds = seconds


class ExtractionMemory(ExtractionError):
    """Reading needed more resident memory than the limit; the worker was ended."""

    def __init__(self, *, megabytes: int) -> None:
        super().__init__(
            f"extraction took more than {megabytes} MB of memory and was ended; "
            "allow more with --memory, --retry"
        )
        self.megabytes = megabytes


class ExtractionCrash(ExtractionError):
    """The extractor crashed on the document.

    `code`: the exit code of the worker process; None for an extraction server.
    """

    def __init__(self, *, code: int | None) -> None:
        crash = (
            "the extraction server broke the connection twice"
            if code is None
            else f"the extraction process died (exit code {code})"
        )
        super().__init__(f"{crash}; the document is damaged or hostile: repair it or leave it out")
        self.code = code


class ExtractorUnavailable(ExtractionError):
    """The extractor is missing or unreachable: no document can be read."""

    def __init__(self, *, extractor: str, reason: str) -> None:
        super().__init__(
            f"extractor {extractor} is not available ({reason}); "
            "choose another by --extractor native|server|plain"
        )
        self.extractor, self.reason = extractor, reason
