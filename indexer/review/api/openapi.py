"""The description of the API in OpenAPI 3.1, derived from its questions and actions."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, Union

from indexer.review.api.endpoints import YES_NO, Action, Parameter, Question
from indexer.review.safety import TOKEN_HEADER

# JSON of answers and the JSON Schema of that JSON, both derived from the answers' classes.

Schema = dict[str, Any]
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def as_json(value: Any) -> Any:
    """Return a value of dataclasses, mappings and sequences in the types that `json` writes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: as_json(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value


def schemas(*kinds: type) -> dict[str, Schema]:
    """Return the schemas of these classes and of every class in their fields, by name."""
    by_name: dict[str, Schema] = {}
    for kind in kinds:
        _schemas_schema(kind, by_name)
    return dict(sorted(by_name.items()))


def reference(kind: type) -> Schema:
    """Return a reference to the schema of a class."""
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _schemas_schema(kind: Any, by_name: dict[str, Schema]) -> Schema:
    if dataclasses.is_dataclass(kind):
        return _class_schema(typing.cast(type, kind), by_name)
    origin = typing.get_origin(kind)
    inner = typing.get_args(kind)
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if kind is type(None):
        return {"type": "null"}
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schemas_schema(option, by_name) for option in inner]}
    if origin is tuple:
        return _tuple_schema(inner, by_name)
    if origin is dict:
        return {"type": "object", "additionalProperties": _schemas_schema(inner[1], by_name)}
    raise TypeError(f"an answer holds {kind!r}, which has no schema")


def _class_schema(kind: type, by_name: dict[str, Schema]) -> Schema:
    if kind.__name__ not in by_name:
        # The name is entered first, so that a class that refers to itself ends.
        by_name[kind.__name__] = {}
        hints = typing.get_type_hints(kind)
        names = [field.name for field in dataclasses.fields(kind)]
        by_name[kind.__name__] = {
            "type": "object",
            "description": " ".join((kind.__doc__ or "").split()),
            "properties": {name: _schemas_schema(hints[name], by_name) for name in names},
            "required": names,
            "additionalProperties": False,
        }
    return reference(kind)


def _tuple_schema(inner: tuple[Any, ...], by_name: dict[str, Schema]) -> Schema:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return {"type": "array", "items": _schemas_schema(inner[0], by_name)}
    items = [_schemas_schema(kind, by_name) for kind in inner]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


_PROBLEM = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "kind": {"type": "string"}},
    "required": ["error", "kind"],
}
_PROBLEMS = {
    "400": "a parameter is wrong, missing or unknown",
    "404": "no such document, part or labelling",
    "409": "the store does not fit, is busy or empty",
    "503": "no answer from the store",
}
_WRITE_PROBLEMS = {**_PROBLEMS, "403": "no token, a wrong one, or another site"}
_PROBLEM_REFERENCE = {"$ref": "#/components/schemas/Problem"}
_DESCRIPTION = (
    "The content of the review pages as JSON. "
    "Ids are parameters, not parts of paths, because they may hold any character."
)


def describe_api(
    version: str, questions: Mapping[str, Question], actions: Mapping[str, Action]
) -> dict[str, Any]:
    """Return the document that `/api/openapi.json` serves."""
    shapes = [question.shape for question in questions.values()]
    shapes += [action.shape for action in actions.values()]
    paths: dict[str, Any] = {"/token": {"get": _token()}}
    for name, question in questions.items():
        paths[f"/{question.api}"] = {"get": _describe_question(name, question)}
    for name, action in actions.items():
        paths[f"/{action.api}"] = {"post": _describe_action(name, action)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "nearfold", "version": version, "description": _DESCRIPTION},
        "servers": [{"url": "/api"}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": _PROBLEM, **schemas(*shapes)},
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": TOKEN_HEADER}},
        },
    }


def _describe_question(name: str, question: Question) -> Mapping[str, Any]:
    return {
        "operationId": name,
        "summary": question.summary,
        "parameters": [_describe_parameter(parameter) for parameter in question.parameters],
        "responses": _responses(question.shape, _PROBLEMS),
    }


def _describe_action(name: str, action: Action) -> Mapping[str, Any]:
    body = {
        "type": "object",
        "properties": {parameter.name: _field(parameter) for parameter in action.parameters},
        "required": [parameter.name for parameter in action.parameters if parameter.required],
        "additionalProperties": False,
    }
    return {
        "operationId": name,
        "summary": action.summary,
        "security": [{"token": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": _responses(action.shape, _WRITE_PROBLEMS),
    }


def _token() -> Mapping[str, Any]:
    shape = {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]}
    answer = {"description": "the token", "content": {"application/json": {"schema": shape}}}
    return {
        "operationId": "token",
        "summary": "The token that writes must carry while this server runs.",
        "responses": {"200": answer},
    }


def _responses(shape: type, problems: Mapping[str, str]) -> Mapping[str, Any]:
    problem = {"application/json": {"schema": _PROBLEM_REFERENCE}}
    answer = {
        "description": "the answer",
        "content": {"application/json": {"schema": reference(shape)}},
    }
    failures = {code: {"description": why, "content": problem} for code, why in problems.items()}
    return {"200": answer, **failures}


def _describe_parameter(parameter: Parameter) -> Mapping[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "required": parameter.required,
        "schema": _schema(parameter),
    }


def _field(parameter: Parameter) -> dict[str, Any]:
    """Return the schema of a field of a JSON object.

    Yes and no are true and false there, and a list of one value may be that value.
    """
    if parameter.choices == YES_NO:
        schema: dict[str, Any] = {"type": "boolean", "default": parameter.default == "yes"}
    else:
        schema = _schema(parameter)
        if parameter.many:
            schema = {"anyOf": [schema, schema["items"]]}
    return {**schema, "description": parameter.description}


def _schema(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.kind}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.pattern:
        schema["pattern"] = parameter.pattern
    if parameter.kind != "string":
        schema |= {"minimum": parameter.low, "maximum": parameter.high}
    if parameter.default is not None:
        schema["default"] = parameter.default
    return {"type": "array", "items": schema} if parameter.many else schema
