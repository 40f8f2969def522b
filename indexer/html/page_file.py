"""A page as one HTML file that needs nothing but itself: its styles and scripts stand inside it.

A policy in the file names its style and its script by their digests, so nothing else in it can run,
load or send, whatever the documents say.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from indexer.html.rendering import STATIC, environment, render
from indexer.system.release import release
from indexer.text.phrases import well_formed

if TYPE_CHECKING:
    from jinja2 import Environment

_STYLES = ("base.css", "parts.css", "file.css")
_MODULE_SYNTAX = re.compile(r"^(?:import .*|export (?=function))", re.MULTILINE)


def render_file(
    template: str,
    values: Mapping[str, Any],
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
) -> str:
    """Render a template that extends `file.html`; lone surrogates become U+FFFD.

    `styles` and `scripts` are names in `static/`. Every file has the style of the review pages and
    the one for print; `styles` come between them. Scripts become one module, in their order.
    """
    style, script = _style(tuple(styles)), _script(tuple(scripts))
    shared = {
        "style": style,
        "script": script,
        "policy": _policy(style, script),
        "version": release(),
    }
    html = render(_templates(), template, {**values, **shared})
    return well_formed(html)


@cache
def _templates() -> Environment:
    return environment()


@cache
def _style(names: tuple[str, ...]) -> str:
    screen = "\n".join(map(_static, (*_STYLES, *names)))
    return f"{screen}\n@media print {{\n{_static('print.css')}}}\n"


@cache
def _script(names: tuple[str, ...]) -> str:
    """Join scripts to one module: without imports and exports, each can call those before it."""
    return "\n".join(_MODULE_SYNTAX.sub("", _static(name)) for name in names)


def _static(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    rules = [
        "default-src 'none'",
        f"style-src '{_digest(style)}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if script:
        rules += [
            f"script-src '{_digest(script)}'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    return "; ".join(rules)


def _digest(text: str) -> str:
    """Return the digest by which a policy names a style or a script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
