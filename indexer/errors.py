"""The error tree. Every error says what to do; facts are attributes; exit codes stand in
`indexer.cli.exit_codes`.

NearfoldError
├── UsageError                 the caller asked for something that cannot be done as asked
│   ├── UnknownName
│   │   ├── UnknownRecipe
│   │   └── UnknownMeasure
│   ├── NoFeatures             nothing to sketch; a ValueError too
│   ├── SourceNotFound
│   ├── UnknownNumber          a part, a labelling: nothing has that number
│   └── MissingExtra           an optional dependency is not installed
├── StoreError                 the store, the recipe or the index does not fit
│   ├── RecipeMismatch
│   ├── MappingMismatch
│   ├── TextFieldMismatch
│   ├── ReindexInProgress      an index is being filled for another recipe
│   ├── StoreUnreachable
│   ├── StoreAccessDenied      wrong password, missing right
│   ├── StoreBusy              another job holds the journal or the database
│   ├── StoreStopped           no space, read-only, index gone in mid-run: run again to resume
│   ├── SnapshotExpired        the snapshot of a paged search is gone: search again
│   ├── StoreDamaged
│   ├── DocumentNotFound
│   └── UnsupportedOperation   this store cannot do that
└── ExtractionError            one document could not be read; the run goes on
    ├── UnreadableFile         the file itself: gone, no permission, too large, changing
    ├── ExtractionTimeout
    ├── ExtractionMemory
    ├── ExtractionCrash
    └── ExtractorUnavailable   the extractor itself is missing or unreachable: the run stops
"""

from __future__ import annotations

from collections.abc import Iterable


class NearfoldError(Exception):
    """Base of all errors that nearfold raises on purpose. They may be pickled: worker processes
    hand them over.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (type(self), str(self)), self.__dict__


def _rebuilt(kind: type[NearfoldError], message: str) -> NearfoldError:
    """An error of that kind without running its constructor, whose arguments are facts that pickle
    keeps aside.
    """
    return kind.__new__(kind, message)


class UsageError(NearfoldError):
    """The request itself is wrong; nothing was read or written."""


class UnknownName(UsageError):
    """Nothing of that kind (`what`) has that name."""

    def __init__(self, what: str, name: str | None, known: Iterable[str]) -> None:
        self.what, self.name, self.known = what, name, tuple(known)
        super().__init__(f"unknown {what} {name!r}; choose one of: {', '.join(self.known)}")


class UnknownRecipe(UnknownName):
    """No recipe has that name or spelling."""

    def __init__(self, *, name: str, known: Iterable[str]) -> None:
        super().__init__("recipe", name, known)


class UnknownMeasure(UnknownName):
    """No similarity measure has that name."""

    def __init__(self, *, name: str, known: Iterable[str]) -> None:
        super().__init__("measure", name, known)


class NoFeatures(UsageError, ValueError):
    """A text without features was to be sketched."""

    def __init__(self) -> None:
        super().__init__("an empty set of features has no sketch; leave such a text out")


class SourceNotFound(UsageError):
    """A path that was given does not exist."""

    def __init__(self, *, path: str) -> None:
        super().__init__(f"{path} does not exist; check the spelling, or give an absolute path")
        self.path = path


class UnknownNumber(UsageError):
    """Nothing of that kind (`what`) has that number."""

    def __init__(self, *, what: str, number: int, mend: str) -> None:
        super().__init__(f"there is no {what} {number}; {mend}")
        self.what, self.number, self.mend = what, number, mend


class MissingExtra(UsageError):
    """An optional dependency is needed for what was asked."""

    def __init__(self, *, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; run: pip install 'nearfold[{extra}]'")
        self.package, self.extra = package, extra


class StoreError(NearfoldError):
    """The store cannot do what was asked; nothing that was acknowledged is lost."""


class RecipeMismatch(StoreError):
    """The index was built with another recipe."""

    def __init__(self, *, stored: str, wanted: str, difference: tuple[str, ...] = ()) -> None:
        detail = f" ({'; '.join(difference)})" if difference else ""
        super().__init__(
            f"the index was built with recipe {stored}, you asked for {wanted}{detail}; "
            f"pass --recipe {stored}, or give --store another name and index again"
        )
        self.stored, self.wanted, self.difference = stored, wanted, difference


class MappingMismatch(StoreError):
    """An index of that name exists, but its mapping is not nearfold's."""

    def __init__(self, *, index: str, problems: tuple[str, ...]) -> None:
        super().__init__(
            f"index {index} exists with a mapping that nearfold cannot use: {'; '.join(problems)}; "
            "choose another index name in --store, or delete that index if it is yours"
        )
        self.index, self.problems = index, problems


class TextFieldMismatch(StoreError):
    """In an index the texts of another field are signed. `signed`: how many, None for an index of
    nearfold's own.
    """

    def __init__(self, *, index: str, stored: str, wanted: str, signed: int | None) -> None:
        which = (
            "all its texts are there"
            if signed is None
            else f"{signed:,} documents have fingerprints of it"
        )
        super().__init__(
            f"index {index} is signed by its field {stored}, not {wanted}: {which}; give --text-field {stored}, "
            "or read it into another store"
        )
        self.index, self.stored, self.wanted, self.signed = index, stored, wanted, signed


class ReindexInProgress(StoreError):
    """The next version of an index exists, but was begun for another recipe or by somebody else."""

    def __init__(self, *, index: str, recipe: str) -> None:
        begun = (
            f"was begun for recipe {recipe}; finish with --recipe {recipe}"
            if recipe
            else "is not nearfold's; rename it"
        )
        super().__init__(f"index {index} {begun}, or delete {index}, which is not in service")
        self.index, self.recipe = index, recipe


class StoreUnreachable(StoreError):
    """No answer from the store."""

    def __init__(self, *, url: str, reason: str) -> None:
        super().__init__(
            f"no answer from {url} ({reason}); check that the server runs and that the address and port are right"
        )
        self.url, self.reason = url, reason


class StoreAccessDenied(StoreError):
    """The store answered, and refused the credentials or the right."""

    def __init__(self, *, url: str, status: int, reason: str) -> None:
        super().__init__(
            f"{url} refused the request ({status}: {reason}); set NEARFOLD_USER and NEARFOLD_PASSWORD "
            "(or NEARFOLD_API_KEY) to credentials that may read and write this index"
        )
        self.url, self.status, self.reason = url, status, reason


class StoreBusy(StoreError):
    """Another job is working on the same store."""

    def __init__(self, *, what: str, holder: str) -> None:
        super().__init__(f"{what} is in use by {holder}; wait until that job ends, then run again")
        self.what, self.holder = what, holder


class StoreStopped(StoreError):
    """The store stopped taking documents in mid-run; what was acknowledged is safe."""

    def __init__(self, *, reason: str, mend: str) -> None:
        super().__init__(
            f"the store stopped taking documents: {reason}; {mend}, then run the same command again to resume"
        )
        self.reason, self.mend = reason, mend


class SnapshotExpired(StoreError):
    """A search was to go on at a moment that the store no longer keeps."""

    def __init__(self, *, url: str) -> None:
        super().__init__(f"{url} no longer keeps the moment of that search; search again")
        self.url = url


class StoreDamaged(StoreError):
    """A file of the store, or of its journal, cannot be read."""

    def __init__(
        self,
        *,
        path: str,
        reason: str,
        mend: str = "restore a backup, or give --store a new file and index again",
    ) -> None:
        super().__init__(f"{path} cannot be used ({reason}); {mend}")
        self.path, self.reason, self.mend = path, reason, mend


class DocumentNotFound(StoreError):
    """No document with that id is in the store."""

    def __init__(self, *, id: str) -> None:
        super().__init__(
            f"no document {id} in the store; `nearfold search` prints ids, or give a path"
        )
        self.id = id


class UnsupportedOperation(StoreError):
    """This kind of store cannot do that."""

    def __init__(self, *, store: str, what: str, instead: str) -> None:
        super().__init__(f"{store} cannot {what}; {instead}")
        self.store, self.what, self.instead = store, what, instead


class ExtractionError(NearfoldError):
    """One document could not be read."""


class UnreadableFile(ExtractionError):
    """The file could not be read at all; nothing was extracted."""

    def __init__(self, *, reason: str, mend: str) -> None:
        super().__init__(f"{reason}; {mend}")
        self.reason, self.mend = reason, mend


class ExtractionTimeout(ExtractionError):
    """Reading took longer than the limit; the worker was ended."""

    def __init__(self, *, seconds: float) -> None:
        super().__init__(
            f"extraction took longer than {seconds:g} s and was ended; allow more with --timeout, --retry"
        )
        self.seconds = seconds


class ExtractionMemory(ExtractionError):
    """Reading needed more resident memory than the limit; the worker was ended."""

    def __init__(self, *, megabytes: int) -> None:
        super().__init__(
            f"extraction took more than {megabytes} MB of memory and was ended; allow more with --memory, --retry"
        )
        self.megabytes = megabytes


class ExtractionCrash(ExtractionError):
    """What read the document died over it: a worker process (`code` is its exit code), or an
    extraction server (None).
    """

    def __init__(self, *, code: int | None) -> None:
        what = (
            "the extraction server broke off twice"
            if code is None
            else f"the extraction process died (exit code {code})"
        )
        super().__init__(f"{what}; the document is damaged or hostile")
        self.code = code


class ExtractorUnavailable(ExtractionError):
    """The extractor is missing or unreachable: no document can be read."""

    def __init__(self, *, extractor: str, reason: str) -> None:
        super().__init__(
            f"extractor {extractor} is not available ({reason}); choose another by --extractor native|server|plain"
        )
        self.extractor, self.reason = extractor, reason
