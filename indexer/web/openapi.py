"""The API described as OpenAPI 3.1, from the questions themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.web.asking import Parameter
from indexer.web.questions import QUESTIONS, Question
from indexer.web.schemas import reference, schemas

_PROBLEM = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "kind": {"type": "string"}},
    "required": ["error", "kind"],
}

_PROBLEM_REFERENCE = {"$ref": "#/components/schemas/Problem"}


def description(version: str) -> dict[str, Any]:
    """The document that `/api/openapi.json` serves."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "nearfold",
            "version": version,
            "description": "What the review pages show, as JSON. Ids are given as parameters, for they may hold any character.",
        },
        "servers": [{"url": "/api"}],
        "paths": {f"/{one.api}": {"get": _operation(name, one)} for name, one in QUESTIONS.items()},
        "components": {"schemas": {"Problem": _PROBLEM, **schemas(*(one.shape for one in QUESTIONS.values()))}},
    }


def _operation(name: str, question: Question) -> Mapping[str, Any]:
    problems = {
        "400": "a parameter is wrong",
        "404": "no such document",
        "409": "the store does not fit, is busy or empty",
        "503": "no answer from the store",
    }
    return {
        "operationId": name,
        "summary": question.summary,
        "parameters": [_parameter(one) for one in question.parameters],
        "responses": {
            "200": {"description": "the answer", "content": {"application/json": {"schema": reference(question.shape)}}},
            **{
                code: {
                    "description": why,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
                }
                for code, why in problems.items()
            },
        },
    }


def _parameter(one: Parameter) -> Mapping[str, Any]:
    schema: dict[str, Any] = {"type": one.kind}
    if one.choices:
        schema["enum"] = list(one.choices)
    if one.kind != "string":
        schema |= {"minimum": one.low, "maximum": one.high}
    if one.default is not None:
        schema["default"] = one.default
    if one.many:
        schema = {"type": "array", "items": schema}
    required = one.default is None and not one.many
    return {"name": one.name, "in": "query", "description": one.description, "required": required, "schema": schema}
