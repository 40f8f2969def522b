"""The file of a document: saved, and shown in a frame of a page.

What strangers wrote is in a frame without scripts, forms and addresses, whose origin is nobody's;
only pdf.js, which comes with the package, runs scripts, and pictures are pictures alone.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from indexer.model import Row
from indexer.review.api.endpoints import (
    Attachment,
    DocumentId,
    number_meta,
    parse_parameters,
    text_meta,
)
from indexer.review.http import query_texts
from indexer.review.originals import files
from indexer.review.originals.files import (
    MAX_DISPLAYED,
    AttachedFile,
    Kind,
    MailPart,
    OriginalUnavailable,
    OriginalView,
    check_displayable,
    kind_of_original,
    picture_type,
)
from indexer.review.rendering import (
    STATIC,
    environment,
    found_words,
    link,
    marked_html,
    name,
    render,
)

if TYPE_CHECKING:
    from indexer.review.site import Site


PDFJS = Path(__file__).parent / "pdfjs"
PDFJS_VERSION = "6.5.438"
_PDFJS_ADDRESS = f"/pdfjs/{PDFJS_VERSION}"
_STYLE = (STATIC / "original.css").read_text(encoding="utf-8")
_STYLE_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_FRAMED = "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
_SHEET = (
    f"default-src 'none'; img-src data:; style-src 'sha256-{_STYLE_DIGEST}'; sandbox; {_FRAMED}"
)
_PICTURE = f"default-src 'none'; img-src 'self'; style-src 'self'; {_FRAMED}"
_VIEWER = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; "
    f"style-src 'self'; img-src 'self'; font-src 'self'; {_FRAMED}; "
    "require-trusted-types-for 'script'; trusted-types nearfold-pdf"
)
_BYTES = "default-src 'none'; sandbox; frame-ancestors 'none'"
POLICIES = frozenset({_SHEET, _PICTURE, _VIEWER, _BYTES})
"""The policies of this module's responses, which `Safety` leaves in place."""
_PIECE = 1 << 20
_MAX_SEARCHED = 200_000  # documents of a store in which those with the bytes of a part are found


@dataclass(frozen=True, slots=True)
class _File:
    """A file that is shown: a document's own, or an attachment of it."""

    name: str
    data: bytes
    kind: Kind


def original_routes(site: Site, static: str) -> list[BaseRoute]:
    """Return the routes of files, of the frames that show them, and of pdf.js.

    `static` is the address of the static files.
    """
    frames = _Frames(site, static)
    return [
        Route("/original", frames.save),
        Route("/original/page", frames.page),
        Route("/original/picture", frames.picture),
        Mount(_PDFJS_ADDRESS, _Unchanging(directory=PDFJS)),
    ]


def original_view(site: Site, row: Row, attachment: int = 0) -> OriginalView:
    """Return how the file of a document is shown, or why it is not."""
    try:
        whole = _whole(site, row)
        attachments = tuple(_attached_files(site, whole))
    except OriginalUnavailable as error:
        return OriginalView("none", str(error))
    try:
        file = _part(site, whole, attachment)
        check_displayable(file.kind)
    except OriginalUnavailable as error:
        return OriginalView("none", str(error), attachments)
    return OriginalView(file.kind, "", attachments)


class _Unchanging(StaticFiles):
    """Files under an address that names their version."""

    async def get_response(self, path: str, scope: Any) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


class _FileParameters(DocumentId, frozen=True):
    """The file of a document, or an attachment in it."""

    attachment: Attachment = 0


class _FrameParameters(_FileParameters, frozen=True):
    """The file of a document as it is shown."""

    q: Annotated[str, text_meta("the query whose words are highlighted")] = ""


class _PictureParameters(_FileParameters, frozen=True):
    """A page of a picture."""

    page: Annotated[int, number_meta("page of a TIFF, from 1", 1, 1000)] = 1


class _Frames:
    """The endpoints of files."""

    def __init__(self, site: Site, static: str) -> None:
        self._site, self._static = site, static
        self._templates = environment()

    def save(self, request: Request) -> Response:
        """Respond with a file to save, never to show."""
        values = parse_parameters(_FileParameters, query_texts(request))
        row = self._site.document_row(values.id)
        headers = {"content-security-policy": _BYTES}
        if values.attachment:
            file = _part(self._site, _whole(self._site, row), values.attachment)
            headers["content-disposition"] = _disposition("attachment", file.name)
            return Response(file.data, media_type="application/octet-stream", headers=headers)
        stream = self._site.originals.open(row)
        headers["content-disposition"] = _disposition("attachment", name(row.path))
        return StreamingResponse(
            _pieces(stream), media_type="application/octet-stream", headers=headers
        )

    def page(self, request: Request) -> Response:
        """Respond with the page of a frame that shows a file, or says why it cannot."""
        values = parse_parameters(_FrameParameters, query_texts(request))
        row = self._site.document_row(values.id)
        try:
            file = _part(self._site, _whole(self._site, row), values.attachment)
            check_displayable(file.kind)
            return self._display(file, values)
        except OriginalUnavailable as error:
            view = {"title": name(row.path), "note": str(error), "content": "", "hits": 0}
            return self._html("original_sheet.html", view, _SHEET, 404)

    def picture(self, request: Request) -> Response:
        """Respond with a picture; one in TIFF as PNG."""
        values = parse_parameters(_PictureParameters, query_texts(request))
        row = self._site.document_row(values.id)
        file = _part(self._site, _whole(self._site, row), values.attachment)
        data, kind = file.data, picture_type(file.data)
        if file.kind == "tiff":
            data, kind = _rendered(self._site, file, str(values.page)), "image/png"
        if not kind:
            raise OriginalUnavailable("the file is not a picture; open it with /original/page")
        headers = {
            "content-security-policy": _BYTES,
            "content-disposition": _disposition("inline", file.name),
        }
        return Response(data, media_type=kind, headers=headers)

    def _display(self, file: _File, values: _FrameParameters) -> Response:
        address = {"id": values.id, "attachment": values.attachment or None}
        view: dict[str, Any] = {"title": file.name, "note": "", "static": self._static}
        terms = {term.text: term.color for term in self._site.review.terms()}
        words = found_words(values.q, terms)
        if file.kind == "pdf":
            found = json.dumps(words.for_scripts())
            view |= {"file": link("/original", **address), "pdfjs": _PDFJS_ADDRESS, "found": found}
            return self._html("original_pdf.html", view, _VIEWER)
        if file.kind in ("picture", "tiff"):
            pages = int(_rendered(self._site, file)) if file.kind == "tiff" else 1
            positions = [
                link("/original/picture", page=page if page > 1 else None, **address)
                for page in range(1, pages + 1)
            ]
            return self._html("original_picture.html", {**view, "pictures": positions}, _PICTURE)
        content, hits = marked_html(_rendered(self._site, file).decode(), words)
        return self._html("original_sheet.html", {**view, "content": content, "hits": hits}, _SHEET)

    def _html(
        self, template: str, values: dict[str, Any], policy: str, status: int = 200
    ) -> Response:
        html = render(self._templates, template, {"style": _STYLE, **values})
        return Response(
            html.encode("utf-8", "replace"),
            status,
            media_type="text/html; charset=utf-8",
            headers={"content-security-policy": policy},
        )


def _whole(site: Site, row: Row) -> _File:
    """Return the file of a document, of at most 64 MB. Raises `OriginalUnavailable`."""
    with site.originals.open(row) as stream:
        data = stream.read(MAX_DISPLAYED + 1)
    if len(data) > MAX_DISPLAYED:
        raise OriginalUnavailable(
            f"it has more than {MAX_DISPLAYED >> 20} MB, and is not shown; save it to see it"
        )
    return _File(name(row.path), data, kind_of_original(data, row.path, row.content_type))


def _part(site: Site, whole: _File, attachment: int) -> _File:
    """Return an attachment of a mail by its number, for 0 the mail itself."""
    if not attachment:
        return whole
    for part in _mail_parts(site, whole):
        if part.number == attachment:
            data = _rendered(site, whole, "part", str(attachment))
            return _File(part.name, data, kind_of_original(data, part.name, part.content_type))
    raise OriginalUnavailable(f"it has no attachment {attachment}")


def _mail_parts(site: Site, whole: _File) -> Sequence[MailPart]:
    """Return the attachments of a mail; none for other files."""
    if whole.kind != "mail":
        return ()
    return files.parts_of(_rendered(site, whole, "parts"))


def _attached_files(site: Site, whole: _File) -> Iterator[AttachedFile]:
    """Yield the attachments of a mail, with the documents of their bytes; none for other files."""
    parts = _mail_parts(site, whole)
    documents: dict[str, str] = {}
    if parts and site.store.counts().documents <= _MAX_SEARCHED:
        digests = sorted({part.sha256 for part in parts})
        documents = {raw: id for id, raw in site.store.families.members("raw", digests)}
    for part in parts:
        document = documents.get(part.sha256)
        yield AttachedFile(part.number, part.name, part.content_type, part.size, document)


def _rendered(site: Site, file: _File, *more: str) -> bytes:
    """Return the view of a file; small results are cached for a while."""
    key = hashlib.sha256(file.data).digest(), file.kind, more
    result = site.rendered.get(key)
    if result is None:
        result = files.render(file.kind, file.data, *more)
        if len(result) <= _PIECE:
            site.rendered.put(key, result)
    return result


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    with stream:
        while piece := stream.read(_PIECE):
            yield piece


def _disposition(kind: str, name: str) -> str:
    """Return the header for a name of any characters (RFC 6266)."""
    plain = "".join(char if char.isascii() and char.isalnum() else "_" for char in name[-100:])
    encoded = quote(name, safe="", errors="replace")
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{encoded}"
