"""Manual pages: recognised by content, read as what they print, within bounds."""

import gzip
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexer.documents.base import CUT, Limits
from indexer.documents.extractors import document_or_task
from indexer.documents.plain_text import plain_document
from indexer.documents.roff import is_manual_page, manual_page
from indexer.jobs import stages
from indexer.jobs.index import IndexOptions, index
from indexer.model import Document
from indexer.stores import open_store

LIMITS = Limits()
MAN = r"""'\" t
.\" Copyright: nobody reads this.
.de Sp \" a little space
.if t .sp .5v
.if n .sp
..
.ie n \{\
.ds L" ``
.\}
.el .ds L" ""
.TH GREP 1 "2026-11-01" "tool 3.8" "User Commands"
.hy 0
.SH NAME
grep \- print \fIlines\fP that match \*(L"patterns
.SH SYNOPSIS
.B grep
.RI [ OPTION ]...\& " " PATTERNS
.PP
Words of one paragraph
stand on one line.\" not this
.TP
.BR \-i ", " \-\-ignore\-case
Ignore case; see
.BR regex (7).
.IP \(bu 2
na\(:ive caf\[u00E9]\~\(em \(dqx\(dq
.nf
$ grep \e. file
  two
.fi
.UR https://example.org
the site
.UE .
.unknown dropped
.TS
tab(:) allbox;
l l.
Name:Value
T{
alpha
beta
T}:1
_
.TE
"""
MAN_TEXT = """\
NAME
grep - print lines that match ``patterns

SYNOPSIS
grep [OPTION]... PATTERNS

Words of one paragraph stand on one line.

-i, --ignore-case
Ignore case; see regex(7).

• naïve café — "x"
$ grep \\. file
two
the site ⟨https://example.org⟩.
Name\tValue
alpha beta 1"""
MDOC = r""".Dd November 1, 2026
.Dt MOUNT 8
.Os
.Sh NAME
.Nm mount
.Nd attach file systems
.Sh SYNOPSIS
.Nm
.Op Fl a | Fl t Ar type
.Op Ar node Ns : Ns Pa /dir
.In sys/mount.h
.Sh DESCRIPTION
.Nm
calls
.Xr fstab 5 ,
.Fn mount "const char *source" "int flags"
and
.Do quoted Dc
.Pq Em once .
.Bl -tag -width indent
.It Fl a
All.
.El
.Ex -std
"""
MDOC_TEXT = """\
NAME
mount – attach file systems

SYNOPSIS
mount [-a | -t type] [node:/dir] #include <sys/mount.h>

DESCRIPTION
mount calls fstab(5), mount(const char *source, int flags) and “quoted” (once).
-a
All.
The mount utility exits 0 on success, and >0 if an error occurs."""


def page(source: str, name: str = "x.1") -> Document:
    document = plain_document(source.encode(), name, LIMITS)
    assert document is not None
    return document


@pytest.mark.parametrize(
    ("source", "title", "text"),
    [(MAN, "GREP(1)", MAN_TEXT), (MDOC, "MOUNT(8)", MDOC_TEXT)],
    ids=["man", "mdoc"],
)
def test_a_page_is_read_as_what_it_prints(source: str, title: str, text: str) -> None:
    document = page(source)
    assert document.text == text
    assert (document.title, document.content_type) == (title, "text/troff")
    assert (document.extractor, document.truncated) == ("roff/1", False)


@pytest.mark.parametrize("name", ["ls.1", "Foo.3pm", "ls", "mount.8.in"])
def test_a_page_is_known_by_its_content_not_by_its_name(name: str) -> None:
    assert page(MAN, name).extractor == "roff/1"
    assert page(MAN.replace(".TH", ".XX"), name).extractor == "plain/4"


def test_markup_in_a_text_file_is_text() -> None:
    assert page(MAN, "grep.txt").text == MAN


def test_a_compressed_page_is_unpacked() -> None:
    document = document_or_task("", gzip.compress(MAN.encode()), "grep.1.gz", LIMITS)
    assert isinstance(document, Document) and document.text == MAN_TEXT


@pytest.mark.parametrize(
    "source",
    [
        "Text first.\n.TH LS 1\n",
        ".gitignore\n.hidden\n",
        ".TH { color: red }\n",
        ".TH\n",
        ".so many words\nfollow\n",
        "",
    ],
)
def test_other_texts_are_no_manual_pages(source: str) -> None:
    assert not is_manual_page(source)


def test_a_page_that_refers_to_another_has_the_reference_as_its_text() -> None:
    assert page('.\\" a comment of any length\n.so man2/ioctl_tty.2\n').text == "man2/ioctl_tty.2"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (".de Hd\n.B \\\\$1\n(\\\\$2)\n..\n.Hd name 3 unused", "name (3)"),
        (".de URL\n\\\\$2 <\\\\$1>\\\\$3\n..\n.als MTO URL\n.MTO a@b A .", "A <a@b>."),
        (".ig\nnothing\n..\nsomething", "something"),
        (".if t typeset\n.if n terminal\n.if !n paper", "terminal"),
        (".if '\\*x'a' one\n.if \\n(.g&(2>1) two\n.ie 0 three\n.el four", "two four"),
        (".if t \\{\\\n.if n a\nb \\{\n.\\}\n.\\}\nc", "c"),
        (".nr rF 1\n.if \\n(rF==1 yes\n.nr rF -1\n.if \\n(rF no", "yes"),
        (".ds x \\fBbold\\fP\n.as x ly\na \\*x b", "a boldly b"),
        (".tr \\(*W-\na\\(*Wb", "a-b"),
        ("a\\c\nb\n1.\\h'+01'\\c\nc", "ab 1. c"),
        ("\\s-1SMALL\\s0 \\f(CWcode\\fR \\N'65' \\e \\[nothing] \\u\\d\\0.", "SMALL code A \\   ."),
        (".OP \\-x file\n.MR ls 1 .", "[-x file] ls(1)."),
        (".SY cmd\n.YS\n.MT a@b\n.ME ,", "cmd\n⟨a@b⟩,"),
        ('.B "two ""quoted"" words" \\"comment', 'two "quoted" words'),
        ("a line that \\\ngoes on", "a line that goes on"),
    ],
)
def test_requests_and_escapes_print_what_roff_prints(lines: str, text: str) -> None:
    assert manual_page(f".TH X 1\n{lines}\n").text == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (".Fl", "-"),
        (".Ar", "file ..."),
        (".Oo Fl x Oc Ns Ar y", "[-x]y"),
        (".Pf ( Em a ) b", "(a) b"),
        (".Bx 4.4 , Fx 2.0 , At v7", "4.4BSD, FreeBSD 2.0, Version 7 AT&T UNIX"),
        (".St -p1003.1-2008", "IEEE Std 1003.1-2008"),
        (".Lk https://example.org here", "here: https://example.org"),
        (".Fo f\n.Fa a\n.Fc", "f(a)"),
        (".Rv -std f", "The f() function returns the value 0 if successful; otherwise"),
        (".%A An Author", "An Author"),
        (".An -split\n.An Name Aq Mt a@b", "Name <a@b>"),
    ],
)
def test_macros_of_mdoc_print_what_mandoc_prints(line: str, text: str) -> None:
    assert manual_page(f".Dd today\n{line}\n").text.startswith(text)


def test_text_beyond_the_limit_is_cut() -> None:
    source = f".TH X 1\n{'word ' * 30}"
    document = plain_document(source.encode(), "x.1", Limits(chars=20))
    assert document is not None
    assert (document.text, document.truncated) == ("word word word word ", True)
    assert document.warnings == (CUT,)
    assert plain_document(source.encode(), "x.1", Limits(chars=149)).truncated is False


ROFF = st.text(st.sampled_from(list("abn.'\\\"{}()[]*$fdi e1\n\t")), max_size=200)
PIECES = st.sampled_from(
    [".de x", "..", ".x x", ".als x y", ".ds s ", "\\*s", ".if n \\{", ".\\}", ".ie t ", ".el ",
     ".TS", "l l.", "T{", ".TE", ".Nm ", ".Op Fl ", ".TP", "\\\\$1", "\\$@", ".nr a +1", "\\n(a"]
)  # fmt: skip


@given(st.lists(ROFF | PIECES | st.text(max_size=20)).map("\n".join))
@example(".de x\n.x \\\\$1\\\\$1\n.x \\\\$1\n..\n.x aaaaaaaa")
@example(".als x y\n.als y x\n.x\n.de z\n\\\\$[99999999]\\N'99999999999'\n..\n.z")
@example(".ds s \\*s\\*s\\*s\\*s\n\\*s")
def test_no_source_is_too_strange_and_texts_are_bounded(source: str) -> None:
    for title in ("", ".TH X 1\n", ".Dd now\n"):
        whole = title + source
        assert len(manual_page(whole).text) <= 4 * len(whole) + 1000


@given(st.lists(st.text("abc xyz", min_size=1).filter(str.strip), min_size=1))
def test_every_line_of_text_stays(lines: list[str]) -> None:
    source = "\n.unknown request\n".join(lines)
    words = " ".join(lines).split()
    assert manual_page(f".TH X 1\n{source}\n").text.split() == words


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    ["\\[", "\\h'", "\\*[", ".if n ", "\\\\", "\\s'", '"', ".B a\n", ".as s x\n", ".am m\nx\n..\n",
     ".UE\n", "No Nm ", "Op ", ".TP\n", "a\\c\n", ".TS\n", ".Nm\n", ".\\}\n", ".el \\{ \n", "\\\n"],
)  # fmt: skip
def test_time_is_linear_in_the_length(piece: str) -> None:
    start = f".Dd now\n.Nm {'n' * 1000}\n.UR {'u' * 1000}\n.No "

    def seconds(times: int) -> float:
        source = start + piece * times
        before = time.process_time()
        manual_page(source)
        return time.process_time() - before

    assert seconds(20_000) < 8 * seconds(5_000) + 0.2


def test_refresh_reads_again_what_an_older_reader_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = tmp_path / "pages", f"sqlite:///{tmp_path}/x.db"
    folder.mkdir()
    (folder / "grep.1").write_text(MAN)
    (folder / "notes.txt").write_text("Only a few words of text.")

    def older(item: stages.Pending, _: Limits) -> Document:
        return Document(item.payload.data.decode(), extractor="plain/1")

    def stored() -> dict[str, tuple[str, str]]:
        with closing(open_store(url)) as store:
            return {Path(row.path).name: (row.extractor, row.text) for row in store.scan()}

    def outcomes(options: IndexOptions) -> tuple[int, int]:
        with closing(open_store(url)) as store:
            account = index([str(folder)], store, options)
            return account.indexed, account.unchanged

    options = IndexOptions(extractor="plain")
    with monkeypatch.context() as patched:
        patched.setattr(stages, "_document_or_task", older)
        assert outcomes(options) == (2, 0)
    assert stored()["grep.1"] == ("plain/1", MAN)
    assert outcomes(options) == (0, 2)
    refreshed = IndexOptions(extractor="plain", refresh=True)
    assert outcomes(refreshed) == (2, 0)
    assert stored()["grep.1"] == ("roff/1", MAN_TEXT)
    assert stored()["notes.txt"] == ("plain/4", "Only a few words of text.")
    assert outcomes(refreshed) == (0, 2)
