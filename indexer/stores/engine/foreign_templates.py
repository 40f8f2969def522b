"""Index templates of other programs that an engine applies to an index of nearfold's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from indexer.errors import UsageError
from indexer.stores.engine.index_requests import IndexPlace, Requests
from indexer.stores.engine.mapping_facts import is_shared
from indexer.stores.engine.source_gaps import leaf_fields

# settings that change what is stored, or who may find it
_BINDING = ("default_pipeline", "final_pipeline", "lifecycle", "mode", "search", "sort")
_RULES = ("_source", "_routing")


def rivals(requests: Requests, place: IndexPlace) -> list[str]:
    """Return the names of other programs' templates for the same index, of any priority.

    Legacy templates count: an engine passes them over where there is a newer one.
    """
    answer = requests.call("GET", "_index_template")
    names = [
        template["name"]
        for template in answer.get("index_templates", [])
        if template["name"] != f"nearfold-{place.index}"
        and _is_among(place.index, template["index_template"]["index_patterns"])
    ]
    legacy = [f"{name} (legacy)" for name, _ in _legacy_templates(requests, place.index)]
    return sorted([*names, *legacy])


def require_no_additions(requests: Requests, index: str, body: Mapping[str, Any]) -> None:
    """Raise `UsageError` where templates would add something to a new index beside its body.

    Only what has consequences for documents counts: aliases, pipelines and the like, rules of the
    mapping, and fields in an index of nearfold's own. `body` has settings, mappings and aliases.
    """
    additions = sorted(
        addition
        for template in _templates_of(requests, index)
        for addition in _additions(template, body)
    )
    if additions:
        raise UsageError(
            f"an index template of another program would add {', '.join(additions)} to {index}; "
            f"give it patterns that do not match {index}, or take these out of it, and run again"
        )


def _templates_of(requests: Requests, index: str) -> Iterator[Mapping[str, Any]]:
    """Yield the template of a new index, or else its legacy templates; none to whoever may not ask
    for them.
    """
    answer = requests.send("POST", f"_index_template/_simulate_index/{index}")
    template = (answer.body or {}).get("template") if answer.status == 200 else None
    if template:
        yield template
    else:
        yield from (body for _, body in _legacy_templates(requests, index))


def _legacy_templates(requests: Requests, index: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and body of the legacy templates that match; none to whoever may not ask."""
    answer = requests.send("GET", "_template")
    if answer.status == 200 and isinstance(answer.body, dict):
        for name, body in answer.body.items():
            if _is_among(index, body.get("index_patterns", [])):
                yield name, body


def _is_among(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _additions(template: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a template has and a body lacks, in words."""
    for name in template.get("aliases", {}):
        if name not in body["aliases"]:
            yield f"alias {name}"
    settings = template.get("settings", {}).get("index", {})
    for name in _BINDING:
        if name in settings and name not in body["settings"]["index"]:
            yield f"index.{name}"
    mapping = template.get("mappings", {})
    for name in _RULES:
        if name in mapping and name not in body["mappings"]:
            yield f"`{name}`"
    if is_shared(body["mappings"]):
        return
    fields = dict(leaf_fields(body["mappings"]))
    yield from (f"field {name}" for name, _ in leaf_fields(mapping) if name not in fields)
