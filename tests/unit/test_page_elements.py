"""Elements of pages whose end tags are missing, as those of most paragraphs."""

from __future__ import annotations

import pytest

from indexer.documents.packages import page_files


class Looked(bytes):
    """A page that counts how often something is looked for in it."""

    times = 0

    def lower(self) -> Looked:
        return Looked(bytes.lower(self))

    def find(self, *what: object) -> int:
        Looked.times += 1
        return bytes.find(self, *what)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "tag",
    [
        b'<p style="color:#333">',
        b'<p class="gone">',
        b"<P hidden>",
        b"<s>",
        b'<td bgcolor="#000" color="black">',
    ],
)
def test_an_end_tag_that_is_missing_is_looked_for_once(tag: bytes) -> None:
    style = b"<style>.gone { display: none }</style>"
    Looked.times = 0
    assert list(page_files(Looked(style + (tag + b"The ferry leaves.\n") * 500))) == []
    assert 1 <= Looked.times <= 3  # hidden, marked by class, coloured


def test_the_first_end_tag_ends_an_element() -> None:
    [closed] = page_files(b"<p hidden>one</P><p hidden>left open")
    [alone] = page_files(b"<p hidden>one</p>")
    assert closed == alone
