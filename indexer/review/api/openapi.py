"""The description of the API in OpenAPI 3.1, derived from the models of its endpoints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from indexer.review.api.endpoints import Parameters, ReadEndpoint, WriteEndpoint, choices
from indexer.review.safety import TOKEN_HEADER

Schema = dict[str, Any]
_REFERENCE = "#/components/schemas/{name}"
_PROBLEM = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "kind": {"type": "string"}},
    "required": ["error", "kind"],
}
_PROBLEMS = {
    "400": "a parameter is wrong, missing or unknown",
    "404": "no such document, part or labelling",
    "409": "the store does not fit, is busy or empty",
    "503": "no response from the store",
}
_WRITE_PROBLEMS = {**_PROBLEMS, "403": "no token, a wrong one, or another site"}
_DESCRIPTION = (
    "The content of the review pages as JSON. "
    "Ids are parameters, not parts of paths, because they may hold any character."
)


def as_json(value: Any) -> Any:
    """Return a value of dataclasses, mappings and sequences in the types that `json` writes."""
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_encode)


def _encode(value: Any) -> Any:
    """Return a mapping, a text or a number of another class in the class that `json` writes."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (str, float)):
        return str(value) if isinstance(value, str) else float(value)
    raise NotImplementedError(f"a response holds {value!r}")


def describe_api(
    version: str, reads: Mapping[str, ReadEndpoint], writes: Mapping[str, WriteEndpoint]
) -> dict[str, Any]:
    """Return the document that `/api/openapi.json` serves."""
    responses = [read.response for read in reads.values()]
    responses += [write.response for write in writes.values()]
    paths: dict[str, Any] = {"/token": {"get": _token()}}
    for name, read in reads.items():
        paths[f"/{read.path}"] = {"get": _describe_read(name, read)}
    for name, write in writes.items():
        paths[f"/{write.path}"] = {"post": _describe_write(name, write)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "nearfold", "version": version, "description": _DESCRIPTION},
        "servers": [{"url": "/api"}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": _PROBLEM, **_response_schemas(responses)},
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": TOKEN_HEADER}},
        },
    }


def _parameter_schemas(model: type[Parameters]) -> dict[str, Schema]:
    """Return the schema of each parameter by name; without `default` where there is none."""
    schema = msgspec.json.schema_components([model])[1][model.__name__]
    schemas = {name: _parameter_schema(field) for name, field in schema["properties"].items()}
    for name, described in schemas.items():
        if names := choices(model, name):
            described |= {"type": "string", "enum": list(names)}
    return schemas


def _parameter_schema(field: Schema) -> Schema:
    """Return the schema of a field, of an optional one the schema of what may be given."""
    description = field.get("description", "")
    for option in field.get("anyOf", ()):
        if option.get("type") != "null":
            return {**option, "description": option.get("description", description)}
    if field.get("type") == "array":
        return {name: value for name, value in field.items() if name != "default"}
    return field


def _required(model: type[Parameters]) -> set[str]:
    fields = msgspec.structs.fields(model)
    return {field.name for field in fields if field.required}


def describe_parameters(model: type[Parameters]) -> list[Schema]:
    """Return the parameters of a model as the parameters of an address."""
    required = _required(model)
    return [
        {
            "name": name,
            "in": "query",
            "description": schema.pop("description"),
            "required": name in required,
            "schema": schema,
        }
        for name, schema in _parameter_schemas(model).items()
    ]


def _describe_read(name: str, endpoint: ReadEndpoint) -> Mapping[str, Any]:
    return {
        "operationId": name,
        "summary": endpoint.summary,
        "parameters": describe_parameters(endpoint.parameters),
        "responses": _responses(endpoint.response, _PROBLEMS),
    }


def _describe_write(name: str, endpoint: WriteEndpoint) -> Mapping[str, Any]:
    schemas = _parameter_schemas(endpoint.parameters)
    body = {
        "type": "object",
        "properties": {field: _body_field(schema) for field, schema in schemas.items()},
        "required": [field for field in schemas if field in _required(endpoint.parameters)],
        "additionalProperties": False,
    }
    return {
        "operationId": name,
        "summary": endpoint.summary,
        "security": [{"token": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": _responses(endpoint.response, _WRITE_PROBLEMS),
    }


def _body_field(schema: Schema) -> Schema:
    """Return the schema of a parameter as a field of a JSON object.

    Yes and no are true and false there, and a list of one value may be that value.
    """
    description = schema.pop("description")
    if set(schema.get("enum", ())) == {"yes", "no"}:
        schema = {"type": "boolean", "default": schema["default"] == "yes"}
    elif schema["type"] == "array":
        schema = {"anyOf": [schema, schema["items"]]}
    return {**schema, "description": description}


def _token() -> Mapping[str, Any]:
    schema = {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]}
    response = {"description": "the token", "content": {"application/json": {"schema": schema}}}
    return {
        "operationId": "token",
        "summary": "The token that writes must carry while this server runs.",
        "responses": {"200": response},
    }


def _responses(kind: type, problems: Mapping[str, str]) -> Mapping[str, Any]:
    def content(name: str) -> Schema:
        return {"application/json": {"schema": {"$ref": _REFERENCE.format(name=name)}}}

    failures = {
        code: {"description": why, "content": content("Problem")} for code, why in problems.items()
    }
    return {"200": {"description": "the response", "content": content(kind.__name__)}, **failures}


def _response_schemas(kinds: Iterable[type]) -> dict[str, Schema]:
    """Return the schemas of these classes and of the classes in their fields, by name.

    A response has every field, whether or not its class has a default, and no other field.
    """
    schemas = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)[1]
    for schema in schemas.values():
        schema["required"] = list(schema["properties"])
        schema["additionalProperties"] = False
        schema["description"] = " ".join(schema.get("description", "").split())
        for field in schema["properties"].values():
            field.pop("default", None)
    return dict(sorted(schemas.items()))
