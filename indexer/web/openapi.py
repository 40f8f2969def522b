"""The API described as OpenAPI 3.1, from the questions themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.web.actions import ACTIONS, YES_NO, Action
from indexer.web.parameters import Parameter
from indexer.web.questions import QUESTIONS, Question
from indexer.web.safety import TOKEN_HEADER
from indexer.web.schemas import reference, schemas

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
_PROBLEM_REFERENCE = {"$ref": "#/components/schemas/Problem"}


def description(version: str) -> dict[str, Any]:
    """The document that `/api/openapi.json` serves."""
    shapes = [*(one.shape for one in QUESTIONS.values()), *(one.shape for one in ACTIONS.values())]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "nearfold",
            "version": version,
            "description": "What the review pages show, as JSON. Ids are given as parameters, for they may hold any character.",
        },
        "servers": [{"url": "/api"}],
        "paths": {
            "/token": {"get": _token()},
            **{f"/{one.api}": {"get": _operation(name, one)} for name, one in QUESTIONS.items()},
            **{f"/{one.api}": {"post": _writing(name, one)} for name, one in ACTIONS.items()},
        },
        "components": {
            "schemas": {"Problem": _PROBLEM, **schemas(*shapes)},
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": TOKEN_HEADER}},
        },
    }


def _operation(name: str, question: Question) -> Mapping[str, Any]:
    return {
        "operationId": name,
        "summary": question.summary,
        "parameters": [_parameter(one) for one in question.parameters],
        "responses": _responses(question.shape, _PROBLEMS),
    }


def _writing(name: str, action: Action) -> Mapping[str, Any]:
    body = {
        "type": "object",
        "properties": {
            one.name: {**_field(one), "description": one.description} for one in action.parameters
        },
        "required": [one.name for one in action.parameters if one.default is None and not one.many],
        "additionalProperties": False,
    }
    return {
        "operationId": name,
        "summary": action.summary,
        "security": [{"token": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": _responses(
            action.shape, {**_PROBLEMS, "403": "no token, a wrong one, or another site"}
        ),
    }


def _token() -> Mapping[str, Any]:
    shape = {"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]}
    answer = {"description": "the token", "content": {"application/json": {"schema": shape}}}
    return {
        "operationId": "token",
        "summary": "The token that writes must carry in this run.",
        "responses": {"200": answer},
    }


def _responses(shape: type, problems: Mapping[str, str]) -> Mapping[str, Any]:
    problem = {"application/json": {"schema": _PROBLEM_REFERENCE}}
    return {
        "200": {
            "description": "the answer",
            "content": {"application/json": {"schema": reference(shape)}},
        },
        **{code: {"description": why, "content": problem} for code, why in problems.items()},
    }


def _parameter(one: Parameter) -> Mapping[str, Any]:
    required = one.default is None and not one.many
    return {
        "name": one.name,
        "in": "query",
        "description": one.description,
        "required": required,
        "schema": _schema(one),
    }


def _field(one: Parameter) -> dict[str, Any]:
    """A field of a JSON object: yes and no are true and false there, and a list of one may be that
    one.
    """
    if one.choices == YES_NO:
        return {"type": "boolean", "default": one.default == "yes"}
    schema = _schema(one)
    return {"anyOf": [schema, schema["items"]]} if one.many else schema


def _schema(one: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": one.kind}
    if one.choices:
        schema["enum"] = list(one.choices)
    if one.kind != "string":
        schema |= {"minimum": one.low, "maximum": one.high}
    if one.default is not None:
        schema["default"] = one.default
    return {"type": "array", "items": schema} if one.many else schema
