"""The index itself: asking an engine, reading what an index is, making one."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from indexer.errors import MappingMismatch, RecipeMismatch, StoreError, StoreUnreachable, UsageError
from indexer.recipe import Recipe
from indexer.stores.engine import bodies
from indexer.stores.engine.link import PASSING, Answer, IndexMissing, Link, error_of, is_missing
from indexer.stores.engine.sender import RetryPolicy
from indexer.system.keyed_recipes import with_key
from indexer.system.logs import event

_NO_PARAMETERS: Mapping[str, str] = {}
FIRST_SECONDS, SECONDS = 5.0, 30.0
_NAME_SECONDS = 0.2
_PATIENCE = RetryPolicy(first=0.2, longest=2.0, attempts=3)
_MADE_BY_ANOTHER = "resource_already_exists_exception"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The words in which the engines differ: a field type, how a point in time is opened and
    closed, and search pipelines.

    `roles` is where the security API keeps roles.
    """

    metadata_type: str
    open_pit: str
    pit_field: str
    close_pit: str
    close_body: Callable[[str], bodies.Body]
    search_pipelines: bool
    roles: str


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """An index, and how it is made when it is missing; None leaves the number to the engine or the
    mapping.
    """

    url: str
    index: str
    shards: int | None = None
    replicas: int | None = None

    @property
    def write_alias(self) -> str:
        """Where writes go: an engine makes an index that it misses, but never an alias."""
        return f"{self.index}-write"


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What is known of an index that exists; `index` is its own name where the URL gives an
    alias.
    """

    index: str
    recipe: Recipe
    mapping: Mapping[str, Any]
    writes: str | None  # the alias through which this very index is written; None when it has none
    parts: str | None = None  # how its documents are divided


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests to one engine that are not bulk writes. `patience` None: a few more tries, and none
    when no answer comes.
    """

    link: Link
    url: str
    patience: RetryPolicy | None = None

    def ask(
        self,
        method: str,
        path: str,
        body: bodies.Body | Sequence[bodies.Body] | None = None,
        params: Mapping[str, str] = _NO_PARAMETERS,
        seconds: float = SECONDS,
    ) -> Answer:
        """The answer, whatever its status; asked again while the engine is overloaded or not ready.

        Several bodies are sent one a line.
        """
        lines = [body] if isinstance(body, dict) else body or []
        data = b"\n".join(json.dumps(line).encode() for line in lines) + b"\n" if lines else None
        patience = self.patience or _PATIENCE
        for attempt in range(patience.attempts):
            answer = Answer(0, None)
            with contextlib.suppress(*([StoreUnreachable] if self.patience else [])):
                answer = self.link.request(method, path, data, params, seconds)
            if answer.status and answer.status not in PASSING:
                return answer
            patience.pause(attempt, answer.retry_after)
        return self.link.request(method, path, data, params, seconds)

    def get(
        self,
        method: str,
        path: str,
        body: bodies.Body | Sequence[bodies.Body] | None = None,
        params: Mapping[str, str] = _NO_PARAMETERS,
        seconds: float = SECONDS,
    ) -> bodies.Body:
        """The JSON object of a successful answer; any other raises what it means."""
        answer = self.ask(method, path, body, params, seconds)
        if method == "POST" and is_missing(
            answer
        ):  # another index may be taking the name at this moment
            time.sleep(_NAME_SECONDS)
            answer = self.ask(method, path, body, params, seconds)
        if not 200 <= answer.status < 300:
            raise error_of(self.url, answer, f"{method} {path}")
        if not isinstance(answer.body, dict):
            raise StoreError(
                f"{self.url} did not answer with JSON; check that a search engine listens there"
            )
        return answer.body


def version_name(index: str, number: int) -> str:
    """The name of one version of an index, which is an alias of the one in service.

    >>> version("papers", 2)
    'papers-000002'
    """
    return f"{index}-{number:06}"


def read_facts(requests: Requests, place: IndexPlace) -> IndexFacts | None:
    """Read an index; None when there is none. Raises `MappingMismatch` for an index that nearfold
    did not make.
    """
    try:
        found = requests.get("GET", place.index, seconds=FIRST_SECONDS)
    except IndexMissing:
        return None
    name, index = only_index(place, found)
    mapping = index.get("mappings", {})
    known = mapping.get("_meta", {}).get("nearfold")
    if known is None:
        raise MappingMismatch(index=place.index, problems=bodies.mapping_problems(mapping, ""))
    if not isinstance(known.get("format"), int) or not isinstance(known.get("recipe"), dict):
        raise MappingMismatch(
            index=place.index, problems=("what `_meta.nearfold` should say is missing",)
        )
    if known["format"] > bodies.FORMAT:
        raise StoreError(
            f"{place.url} was written by a newer nearfold "
            f"(format {known['format']}, this one knows {bodies.FORMAT}); "
            "upgrade nearfold, or give --store another index"
        )
    aliases = index.get("aliases", {})
    writes = next((alias for alias in write_aliases(place, name) if alias in aliases), None)
    return IndexFacts(
        name, with_key(Recipe(**known["recipe"])), mapping, writes, known.get("parts")
    )


def only_index(place: IndexPlace, found: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The one index that an engine answers with. Raises `MappingMismatch` for several, `UsageError`
    for a data stream.
    """
    if any("data_stream" in one for one in found.values()):
        raise UsageError(
            f"{place.index} is a data stream, and --store takes an index; documents of a data "
            "stream are signed when its own template names the pipeline that `nearfold install` "
            "makes for any index"
        )
    if len(found) != 1:
        raise MappingMismatch(
            index=place.index, problems=(f"the name stands for {len(found)} indices",)
        )
    return next(iter(found.items()))


def write_aliases(place: IndexPlace, name: str) -> tuple[str, str]:
    """Return the aliases that an index may be written by: that of its version, then the URL's."""
    return f"{name}-write", place.write_alias


def give_alias(requests: Requests, place: IndexPlace, known: IndexFacts) -> IndexFacts:
    """Give an index an alias for writes where it has none."""
    if known.writes is not None:
        return known
    requests.get("PUT", f"{known.index}/_alias/{place.write_alias}")
    return replace(known, writes=place.write_alias)


def current_index(requests: Requests, place: IndexPlace) -> tuple[str, str] | None:
    """The index that the name stands for at this moment, and the id of its recipe; None when that
    is not told.

    A small question, for those who know the index already.
    """
    field = "*.mappings._meta.nearfold.recipe_id"
    answer = requests.ask("GET", place.index, params={"filter_path": field}, seconds=FIRST_SECONDS)
    found = (
        list(answer.body.items()) if answer.status == 200 and isinstance(answer.body, dict) else []
    )
    return (
        (found[0][0], found[0][1]["mappings"]["_meta"]["nearfold"]["recipe_id"])
        if len(found) == 1
        else None
    )


def prepare(requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe) -> None:
    """Make the index and its write alias where they are missing; refuse an index that does not
    fit.
    """
    known = read_facts(requests, place) or _create(requests, place, dialect, recipe)
    if known is None:
        return
    if field := known.mapping["_meta"]["nearfold"].get("text_field"):
        raise StoreError(
            f"index {place.index} has its texts in the field {field}; "
            f"`nearfold index {place.url} --text-field {field} --store {place.url}` signs them "
            "there; put other documents into another store"
        )
    mapping = _with_later_fields(requests, known)
    if problems := bodies.mapping_problems(mapping, dialect.metadata_type):
        raise MappingMismatch(index=place.index, problems=problems)
    if known.recipe.id != recipe.id:
        raise RecipeMismatch(
            stored=known.recipe.name,
            requested=recipe.name,
            difference=known.recipe.difference(recipe),
        )
    give_alias(requests, place, known)


def _with_later_fields(requests: Requests, known: IndexFacts) -> Mapping[str, Any]:
    """The mapping of an index, with the fields added that an earlier nearfold did not know."""
    properties: Mapping[str, Any] = known.mapping.get("properties", {})
    if not (late := bodies.later_fields(properties)):
        return known.mapping
    requests.get("PUT", f"{known.index}/_mapping", {"properties": late})
    event("store_upgraded", counts={"fields": len(late)})
    return {**known.mapping, "properties": {**properties, **late}}


def _create(
    requests: Requests, place: IndexPlace, dialect: Dialect, recipe: Recipe
) -> IndexFacts | None:
    """Make the index; what another process made in the meantime is returned instead.

    An engine without its analysis-common module refuses our analysis; it gets what every
    distribution carries.
    """
    for core_analysis in (False, True):
        body = bodies.index(
            recipe, dialect.metadata_type, core_analysis, place.shards, place.replicas
        )
        answer = requests.ask("PUT", place.index, {**body, "aliases": {place.write_alias: {}}})
        if 200 <= answer.status < 300:
            return None
        if answer.kind == _MADE_BY_ANOTHER:
            return read_facts(requests, place)
        if answer.status != 400 or "nearfold_" not in answer.reason:
            break
    raise error_of(place.url, answer, f"PUT {place.index}")
