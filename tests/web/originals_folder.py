"""A folder of originals of every kind that pages show, with attacks on the browser in them."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import docx
from PIL import Image, ImageDraw
from reportlab.pdfgen.canvas import Canvas
from sample_library import sentence

from web.hostile import ELSEWHERE, PAYLOADS

HOSTILE = (
    f'<p id="main" onclick="alert(1)">Dear <b>Ben</b>, see <a href="{ELSEWHERE}/a">this</a>.</p>'
    f'<img src="cid:stamp@x" alt="stamp"><img src="{ELSEWHERE}/pixel.gif">'
    f"<style>@import url({ELSEWHERE}/b.css); p {{ background: url({ELSEWHERE}/c.png) }}</style>"
    f'<div style="background: url({ELSEWHERE}/d.png)">styled</div>' + "".join(PAYLOADS)
)


def picture(kind: str, words: str, pages: int = 1) -> bytes:
    sheets = []
    for page in range(1, pages + 1):
        sheet = Image.new("RGB", (400, 300), "white")
        ImageDraw.Draw(sheet).text((40, 40), f"{words} {page}", fill="black")
        sheets.append(sheet)
    out = io.BytesIO()
    more = {"save_all": True, "append_images": sheets[1:]} if kind == "TIFF" else {}
    sheets[0].save(out, kind, **more)
    return out.getvalue()


def pdf(words: str, pages: int = 3) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, invariant=True)
    for page in range(1, pages + 1):
        canvas.setFont("Helvetica", 14)
        canvas.drawString(72, 720, f"{words} page {page}")
        canvas.drawString(72, 700, "Both keep to the agree-")
        canvas.drawString(72, 680, "ment of March.")
        canvas.rect(72, 300, 300, 300, fill=1)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def word(words: str) -> bytes:
    document = docx.Document()
    document.add_heading("Lease", 1)
    document.add_paragraph(words)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "rent", "<script>alert(1)</script>"
    document.add_picture(io.BytesIO(picture("PNG", "seal")))
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def mail(attached: dict[str, bytes]) -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "Ann <ann@a.example>", "Ben <ben@b.example>"
    message["Subject"], message["Message-ID"] = "The <i>lease</i> of März", "<1@a.example>"
    message.set_content(f"The plain one. {sentence(5)}")
    message.add_alternative(HOSTILE, subtype="html")
    message.get_payload()[1].add_related(  # type: ignore[union-attr]
        picture("PNG", "stamp"), "image", "png", cid="<stamp@x>"
    )
    for name, data in attached.items():
        message.add_attachment(data, "application", "octet-stream", filename=name)
    return message.as_bytes()


def write_originals(folder: Path) -> None:
    """Write the files."""
    text = sentence(7, 60).encode()
    files = {
        "lease.pdf": pdf("Lease of 2024"),
        "lease.docx": word(sentence(1)),
        "lease.png": picture("PNG", "scan"),
        "lease.jpg": picture("JPEG", "scan"),
        "lease.tif": picture("TIFF", "scan", pages=2),
        "note.txt": text,
        "page.html": f"<html><body>{HOSTILE}<p>{sentence(2)}</p></body></html>".encode(),
        "letter.eml": mail({"note.txt": text, "lease.pdf": pdf("Lease"), "x.bin": b"\0\1"}),
        "broken.pdf": b"%PDF-1.4\nnothing",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with zipfile.ZipFile(folder / "box.zip", "w") as box:
        box.writestr("inside.docx", word(sentence(3)))
    (folder / "box.mbox").write_bytes(b"From a@x Mon Jan  1 00:00:00 2024\n" + mail({}) + b"\n")
