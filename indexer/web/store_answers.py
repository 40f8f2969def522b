"""Values that pages show, and the API sends as JSON: a store and its grouping."""

from __future__ import annotations

from dataclasses import dataclass, field

from indexer.grouping.label_journal import LabelJob
from indexer.grouping.survey_figures import FamilyChanges, FamilySize, LessSimilar, Move, Step


@dataclass(frozen=True, slots=True)
class FailedFile:
    """A file that could not be read, and the error."""

    path: str
    error: str


@dataclass(frozen=True, slots=True)
class StoreState:
    """The current contents of the store.

    `running`: a job is running on it, and its failures are known when it ends. `regrouping`: how
    far the last `group` is that these pages started, or what became of it; empty without one.
    """

    store: str
    recipe: str
    documents: int
    families: int
    size_bytes: int | None
    by_status: dict[str, int]
    by_content_type: dict[str, int]
    running: bool
    failed: int
    failures: tuple[FailedFile, ...]
    regrouping: str = ""


@dataclass(frozen=True, slots=True)
class Labellings:
    """The labellings of a store, newest first, undone ones among them.

    `busy`: a job is running on the store, and `jobs` is empty.
    """

    busy: bool
    jobs: tuple[LabelJob, ...]


@dataclass(frozen=True, slots=True)
class FiguresAnswer:
    """Figures of the stored families; until they are read, `ready` is False and they are empty.

    `redundant`: documents of a family other than its principal. `similarities`: documents by
    similarity to their principal, in twenty steps of .05. `threshold` is that of the last group; if
    it is not known here, `grouped` is False, and measure and threshold are the default ones. `at`:
    when the store was read, ISO 8601 in UTC; labels that these pages wrote since are in. `stale`:
    documents or families have changed since.
    """

    ready: bool
    stage: str
    done: int
    total: int
    documents: int = 0
    redundant: int = 0
    same_text: int = 0
    same_bytes: int = 0
    provisional: int = 0
    sizes: tuple[tuple[str, int], ...] = ()
    similarities: tuple[int, ...] = ()
    labels: dict[str, int] | None = None
    largest: tuple[FamilySize, ...] = ()
    measure: str = ""
    threshold: float = 0.0
    grouped: bool = False
    stale: bool = False
    at: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SurveyAnswer:
    """The families of other thresholds; until they are read, `ready` is False.

    `steps` are by `measure`; those below `measured_from` are estimated. `threshold`, `grouped`,
    `at` and `stale` are as in `FiguresAnswer`. `less_similar`: while it is not `ready`, how many
    documents would leave their principal at higher thresholds, as soon as the figures are read.
    `asks_first`: the store is so large that it is read after `POST /api/survey/refresh` only.
    """

    ready: bool
    stage: str
    done: int
    total: int
    less_similar: tuple[LessSimilar, ...] = ()
    asks_first: bool = False
    documents: int = 0
    steps: tuple[Step, ...] = ()
    measure: str = ""
    threshold: float = 0.0
    grouped: bool = False
    measured_from: float = 0.0
    stale: bool = False
    at: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RegroupAnswer:
    """Changes that `group` at a threshold would make; until these are known, `ready` is False.

    `survey_ready`: the store is read, of which they are. `before`: the threshold of the stored
    families, None if it is not recorded. `moved`: documents that would be in another family than
    now. `estimated`: by sketches; `group` measures texts. `stale`, `asks_first`: as in
    `SurveyAnswer`. `seen`: the state of the store to which all this belongs.
    """

    ready: bool
    threshold: float
    survey_ready: bool = False
    stage: str = ""
    done: int = 0
    total: int = 0
    measure: str = ""
    before: float | None = None
    estimated: bool = False
    moved: int = 0
    changes: FamilyChanges = field(default_factory=FamilyChanges)
    stale: bool = False
    seen: str = ""
    asks_first: bool = False


@dataclass(frozen=True, slots=True)
class GroupStart:
    """The start of `group` at a threshold; if not `started`, the store has changed: ask again."""

    started: bool
    threshold: float


@dataclass(frozen=True, slots=True)
class PreviewAnswer:
    """The families that a threshold would make; nothing is written.

    `moved` counts documents that would be in another family than now. `measure` names what decides,
    `estimated` if it is estimated from sketches. `ready` is False until the store is read.
    `names` are those of the families in `moves` by path, told apart.
    """

    ready: bool
    threshold: float
    measure: str = ""
    estimated: bool = False
    documents: int = 0
    families: int = 0
    gathered: int = 0
    largest: int = 0
    moved: int = 0
    moves: tuple[Move, ...] = ()
    names: dict[str, str] = field(default_factory=dict)
