"""Endpoints of a whole store: its state, statistics, other thresholds, and a new `group`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Annotated, TypeAlias

from indexer.errors import StoreBusy, UsageError
from indexer.jobs.label import LabelJob, label_history
from indexer.jobs.status import status
from indexer.model import CountRelation
from indexer.review.access import Login
from indexer.review.api.endpoints import (
    WAIT_SECONDS,
    NoParameters,
    Parameters,
    ReadEndpoint,
    Wait,
    Waiting,
    WriteEndpoint,
    number_meta,
    text_meta,
)
from indexer.review.rendering import names_by_path
from indexer.review.site import Site, checked_threshold
from indexer.review.store_statistics import (
    FamilyChanges,
    FamilySize,
    LessSimilar,
    Move,
    NearPair,
    Step,
)


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
    `matter`: the name of what is reviewed, as `serve --matter` gives it. `other_rules`: the last
    `group` was made by the rules of another version.
    """

    store: str
    recipe: str
    documents: int
    families: int
    families_relation: CountRelation
    size_bytes: int | None
    by_status: dict[str, int]
    by_content_type: dict[str, int]
    running: bool
    failed: int
    failures: tuple[FailedFile, ...]
    regrouping: str = ""
    matter: str = ""
    other_rules: bool = False


@dataclass(frozen=True, slots=True)
class Labellings:
    """The labellings of a store, newest first, undone ones among them.

    `busy`: a job is running on the store, and `jobs` is empty.
    """

    busy: bool
    jobs: tuple[LabelJob, ...]


@dataclass(frozen=True, slots=True)
class GroupStatisticsResponse:
    """Figures of the stored groups; until they are read, `ready` is False and they are empty.

    `redundant`: documents of a group other than its principal. `similarities`: documents by
    similarity to their principal, in twenty steps of .05. `threshold` is that of the last group; if
    it is not known here, `grouped` is False, and measure and threshold are the default ones. `at`:
    the time when the store was read, ISO 8601 in UTC; labels that these pages wrote since are in.
    `stale`: documents or groups have changed since.
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
class ThresholdStatisticsResponse:
    """The groups of other thresholds; until they are read, `ready` is False.

    `steps` are by `measure`; those below `measured_from` are estimated. `threshold`, `grouped`,
    `at` and `stale` are as in `GroupStatisticsResponse`. `less_similar`: while not `ready`, how
    many documents would leave their principal at higher thresholds, as soon as the statistics are
    read. `asks_first`: the store is so large that it is read only after `POST /api/survey/refresh`.
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
class RegroupResponse:
    """Changes that `group` at a threshold would make; until these are known, `ready` is False.

    `survey_ready`: the store is read, of which they are. `before`: the threshold of the stored
    groups, None if it is not recorded. `moved`: documents that would be in another group than
    now. `estimated`: the number comes from sketches; `group` measures texts. `stale` and
    `asks_first` are explained by `ThresholdStatisticsResponse`. `seen`: the state of the store to
    which all this belongs.
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
class PreviewResponse:
    """The groups that a threshold would make; nothing is written.

    `moved` counts documents that would be in another group than now. `measure` names what decides,
    `estimated` if it is estimated from sketches. `ready` is False until the store is read.
    `names` are distinct names of the groups in `moves` and `near_pairs` by path. `separated`: pairs
    of texts that are similar enough, and that the rules of `group` keep out of one group;
    `near_pairs` are the most similar of them, at any threshold.
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
    separated: int = 0
    near_pairs: tuple[NearPair, ...] = ()
    names: dict[str, str] = field(default_factory=dict)


_MAX_FAILURES = 200  # failed files that one response holds


Threshold: TypeAlias = Annotated[float, number_meta("minimum similarity, from 0 to 1", 0, 1)]


class LabellingsParameters(Parameters, frozen=True):
    """The last labellings."""

    limit: Annotated[int, number_meta("most labellings", 1, 1000)] = 20


class PreviewParameters(Parameters, frozen=True):
    """The groups of a threshold."""

    threshold: (
        Annotated[
            float,
            number_meta(
                "minimum similarity, from 0 to 1; without it that of the stored near-duplicate "
                "groups",
                0,
                1,
            ),
        ]
        | None
    ) = None
    wait: Wait = WAIT_SECONDS


class RegroupParameters(Parameters, frozen=True):
    """The groups that another threshold changes."""

    threshold: Threshold
    wait: Wait = WAIT_SECONDS


class StartGroupParameters(Parameters, frozen=True):
    """The threshold of a new `group`."""

    threshold: Threshold
    seen: Annotated[
        str,
        text_meta(
            "`seen` of the response of regroup: nothing starts if the store has changed since",
        ),
    ] = ""


def state(site: Site, values: NoParameters) -> StoreState:
    """Return the current contents of the store."""
    current = status(site.store)
    failed = current.failed[:_MAX_FAILURES]
    counts = current.counts
    return StoreState(
        store=current.store,
        recipe=current.recipe.name,
        documents=counts.documents,
        families=counts.families,
        families_relation=counts.families_relation,
        size_bytes=counts.size_bytes,
        by_status={str(name): number for name, number in counts.by_status.items()},
        by_content_type=dict(counts.by_content_type),
        running=current.running,
        failed=len(current.failed),
        failures=tuple(FailedFile(file.path, file.error) for file in failed),
        regrouping=site.regrouping.state,
        matter=site.matter,
        other_rules=current.other_rules,
    )


def labellings(site: Site, values: LabellingsParameters) -> Labellings:
    """Return the last labellings, newest first; none while a job runs."""
    try:
        jobs = label_history(site.store)
    except StoreBusy:
        return Labellings(True, ())
    return Labellings(False, jobs[: values.limit])


def threshold_statistics(site: Site, values: Waiting) -> ThresholdStatisticsResponse:
    """Return the statistics of the whole store, or the progress of reading it."""
    dated = site.threshold_statistics(values.wait)
    progress = site.threshold_reader.progress
    if dated is None:
        read = site.statistics(0.0)
        less_similar = read.statistics.less_similar if read and read.statistics.is_grouped else ()
        return ThresholdStatisticsResponse(
            False,
            progress.stage,
            progress.done,
            progress.total,
            less_similar,
            asks_first=site.requires_confirmation,
        )
    result = dated.statistics
    return ThresholdStatisticsResponse(
        ready=True,
        stage="done",
        done=result.documents,
        total=result.documents,
        documents=result.documents,
        steps=result.steps,
        measure=result.measure,
        threshold=result.threshold,
        grouped=result.is_grouped,
        measured_from=result.measured_from,
        stale=site.is_stale(dated),
        at=_iso_time(site.threshold_reader.began),
        seconds=round(site.threshold_reader.seconds, 2),
    )


def group_statistics(site: Site, values: Waiting) -> GroupStatisticsResponse:
    """Return the statistics of the stored groups, or the progress of reading them."""
    dated = site.statistics(values.wait)
    reader = site.statistics_reader
    if dated is None:
        return GroupStatisticsResponse(
            False, reader.progress.stage, reader.progress.done, reader.progress.total
        )
    result = dated.statistics
    return GroupStatisticsResponse(
        ready=True,
        stage="done",
        done=result.documents,
        total=result.documents,
        documents=result.documents,
        redundant=result.redundant,
        same_text=result.same_text,
        same_bytes=result.same_bytes,
        provisional=result.provisional,
        sizes=result.sizes,
        similarities=result.similarities,
        labels=result.labels,
        largest=result.largest,
        measure=result.measure,
        threshold=result.threshold,
        grouped=result.is_grouped,
        stale=site.is_stale(dated),
        at=_iso_time(reader.began),
        seconds=round(reader.seconds, 2),
    )


def preview(site: Site, values: PreviewParameters) -> PreviewResponse:
    """Return the groups that a threshold would make."""
    previewed = site.preview(values.threshold, values.wait)
    if previewed is None:
        return PreviewResponse(False, values.threshold or 0.0)
    families = previewed.families
    near_pairs = previewed.dated.statistics.near_pairs
    moved = ((move.before_path, move.after_path) for move in families.moves)
    paths = [*moved, *((pair.a_path, pair.b_path) for pair in near_pairs)]
    return PreviewResponse(
        ready=True,
        threshold=families.threshold,
        measure=families.measure,
        estimated=families.estimated,
        documents=families.documents,
        families=families.families,
        gathered=families.gathered,
        largest=families.largest,
        moved=families.moved,
        moves=families.moves,
        separated=families.separated,
        near_pairs=near_pairs,
        names=names_by_path(path for ends in paths for path in ends),
    )


def regroup(site: Site, values: RegroupParameters) -> RegroupResponse:
    """Return the groups that `group` at a threshold would split or merge."""
    previewed = site.preview(values.threshold, values.wait)
    if previewed is None:
        reader = site.threshold_reader
        return RegroupResponse(
            ready=False,
            threshold=values.threshold,
            survey_ready=reader.result is not None,
            stage=reader.progress.stage,
            done=reader.progress.done,
            total=reader.progress.total,
            asks_first=site.requires_confirmation,
        )
    dated, families = previewed.dated, previewed.families
    statistics = dated.statistics
    return RegroupResponse(
        ready=True,
        threshold=families.threshold,
        survey_ready=True,
        stage="done",
        done=statistics.documents,
        total=statistics.documents,
        measure=statistics.measure,
        before=statistics.threshold if statistics.is_grouped else None,
        estimated=families.estimated,
        moved=families.moved,
        changes=previewed.changes,
        stale=site.is_stale(dated),
        seen=dated.state,
    )


def start_group(site: Site, values: StartGroupParameters, login: Login) -> GroupStart:
    """Start `group` at a threshold, unless the store is not as it was shown."""
    dated = site.threshold_statistics()
    if dated is None or site.is_stale(dated) or values.seen not in ("", dated.state):
        return GroupStart(False, values.threshold)
    if dated.statistics.measure == "none":
        raise UsageError("the recipe of this store stores no slots to group by")
    threshold = checked_threshold(dated.statistics, values.threshold)
    site.regrouping.start(replace(dated.statistics.options, threshold=threshold))
    return GroupStart(True, threshold)


def _iso_time(at: float) -> str:
    return datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="seconds")


START_GROUP = WriteEndpoint(
    "group",
    "Start group at a threshold, with the other options of the last group, as a job. It does not "
    "start while another job works on the store, nor if the store has changed (started: false).",
    StartGroupParameters,
    start_group,
    GroupStart,
)
STORE_READS: Mapping[str, ReadEndpoint] = {
    "status": ReadEndpoint(
        "status",
        "The contents of the store, and whether a job is running on it.",
        NoParameters,
        state,
        StoreState,
    ),
    "labellings": ReadEndpoint(
        "labellings",
        "The last labellings, newest first.",
        LabellingsParameters,
        labellings,
        Labellings,
    ),
    "survey": ReadEndpoint(
        "survey",
        "The statistics, and the near-duplicate groups of other thresholds, for which the likely "
        "pairs of the "
        "whole store are compared; the first request starts reading it.",
        Waiting,
        threshold_statistics,
        ThresholdStatisticsResponse,
    ),
    "figures": ReadEndpoint(
        "figures",
        "Duplicate rate, sizes and similarities of the stored near-duplicate groups, and labels; "
        "the first request after a job starts reading them.",
        Waiting,
        group_statistics,
        GroupStatisticsResponse,
    ),
    "preview": ReadEndpoint(
        "preview",
        "The near-duplicate groups that a threshold of 0.5 or more would make, by the measure and "
        "the other "
        "options of the last group; nothing is written.",
        PreviewParameters,
        preview,
        PreviewResponse,
    ),
    "regroup": ReadEndpoint(
        "regroup",
        "The near-duplicate groups that group at another threshold would split or merge; nothing "
        "is written.",
        RegroupParameters,
        regroup,
        RegroupResponse,
    ),
}
