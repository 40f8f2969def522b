"""Comparisons on a terminal: legible without colour at any width, safe from control characters."""

import io
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from indexer.cli.side_by_side import MAX_ROWS, print_side_by_side
from indexer.comparing.compare import compare
from indexer.recipe import DEFAULT, DEFAULT_V1, Recipe
from indexer.wording import visible

ANY_TEXT = st.text(
    st.characters(codec=None) | st.sampled_from("\x1b\x07\x9b\u202e\u2066\u200b\ud800\n\t \ufeffab")
)
SGR = re.compile(r"\x1b\[[0-9;]*m")
START = "It is important to review drafts."
A = f"{START} He is an expert on ediscovery."
B = "It is important to review drafts! She has six years of experience."


def shown(
    a: str,
    b: str,
    width: int = 100,
    *,
    colour: bool = False,
    matching: str = "literal",
    whole: bool = False,
    recipe: Recipe = DEFAULT,
) -> str:
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=colour, color_system="truecolor" if colour else None
    )
    print_side_by_side(
        compare(a, b, recipe, names=("a.txt", "b.txt"), matching=matching), console, whole=whole
    )
    return file.getvalue()


def body(printed: str) -> list[str]:
    """Return the lines below the table of measures, without padding."""
    lines = [line.rstrip() for line in printed.splitlines()]
    return lines[lines.index("", lines.index("") + 1) + 1 :]


@pytest.mark.parametrize("matching", ["literal", "information"])
def test_only_a_whole_share_is_printed_as_100_per_cent(matching: str) -> None:
    words = [f"word{place}" for place in range(5_000)]
    printed = shown(" ".join(words), " ".join([*words, "more"]), matching=matching)
    shares = {line.split()[0]: line.split()[1] for line in printed.splitlines() if "%" in line}
    assert {
        shares[name] for name in ("overlap", "jaccard_words", "resemblance", "terminology")
    } == {"99.9%"}
    assert "100.0% / 99.9%" in printed


@given(ANY_TEXT)
def test_shown_text_cannot_control_the_terminal(text: str) -> None:
    printed = visible(text)
    assert all(unicodedata.category(sign) not in ("Cc", "Cs", "Zl", "Zp") for sign in printed)
    assert all(
        unicodedata.bidirectional(sign)
        not in ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")
        for sign in printed
    )
    assert visible(printed) == printed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exe\u202etxt", "exe⟨RLO⟩txt"),
        ("\x1b[31m\x07\x7f\x9b", "␛[31m␇␡⟨U+009B⟩"),
        ("a\nb\tc\r", "a␊b␉c␍"),
        ("\ufeffze\u200bro\u00ad", "⟨U+FEFF⟩ze⟨U+200B⟩ro"),
        ("\ud800", "\ufffd"),
        ("نص שלום 近似 naïve", "نص שלום 近似 naïve"),
    ],
)
def test_hidden_characters_are_written_out(text: str, expected: str) -> None:
    assert visible(text) == expected


@pytest.mark.long
@given(ANY_TEXT, ANY_TEXT, st.sampled_from([20, 79, 80, 200]))
def test_any_two_texts_can_be_shown(a: str, b: str, width: int) -> None:
    printed = SGR.sub("", shown(a, b, width, colour=True))
    assert all(unicodedata.category(sign) not in ("Cc", "Cs") for sign in printed if sign != "\n")
    assert all(
        cell_len(line) <= max(width, len("A  a.txt  1000 words")) for line in printed.splitlines()
    )


def test_two_columns_say_what_differs_without_colour() -> None:
    lines = body(shown(A, B))
    assert re.fullmatch(r"A +B", lines[0])
    assert re.fullmatch(
        r"\[1 It is important to review drafts\. 1\] +\[1 It is important to review drafts! 1\]",
        lines[1],
    )
    assert re.fullmatch(
        r"He is an expert on ediscovery\. +\| She has six years of experience\.", lines[2]
    )
    assert lines[-1] == "1 shared passage, 6 words, numbered in the order of A"


@pytest.mark.parametrize(("a", "b", "sign"), [(A, START, "<"), (START, A, ">")])
def test_a_sign_tells_which_text_has_more(a: str, b: str, sign: str) -> None:
    assert sign in body(shown(a, b))[2].split()


@pytest.mark.parametrize(("width", "tail"), [(60, ""), (79, ""), (100, " שלום")])
def test_narrow_terminals_and_right_to_left_texts_show_shared_text_once(
    width: int, tail: str
) -> None:
    lines = body(shown(A + tail, B + tail, width))
    assert sum("important" in line for line in lines) == 1
    assert [line.split()[0] for line in lines[:3]] == ["=", "A", "B"]


def test_measures_are_named_and_explained() -> None:
    printed = shown(A, B, recipe=DEFAULT_V1)
    for name in (
        "jaccard",
        "estimate",
        "lcs",
        "grown",
        "lcs_misread",
        "overlap",
        "jaccard_words",
        "resemblance",
        "terminology",
        "containment",
        "hamming",
        "containment_words",
    ):
        assert re.search(rf"^{name} +[0-9.]+%", printed, re.MULTILINE)


def test_a_missing_sketch_is_no_similarity_of_zero() -> None:
    assert re.search(r"^estimate +no sketch", shown("yes", "no"), re.MULTILINE)


def test_long_stretches_are_abridged_and_the_whole_is_shown_on_request() -> None:
    common = " ".join(f"word{place}" for place in range(500))
    own = " ".join(f"own{place}" for place in range(400))
    brief, complete = shown(f"{common} {own}", common), shown(f"{common} {own}", common, whole=True)
    assert "… 476 words …" in " ".join(brief.split())
    assert "… 320 words …" in " ".join(brief.split())
    assert "word250" not in brief
    assert "own399" in brief
    assert "word250" in complete
    assert "own200" in complete


def test_an_endless_word_is_abridged() -> None:
    printed = shown("x" * 1_000_000, "y")
    assert len(printed) < 5200
    assert "characters …" in " ".join(printed.split())


def test_many_rows_are_cut_with_their_number() -> None:
    pages = [" ".join(f"w{page}x{place}" for place in range(6)) for page in range(300)]
    printed = shown(" a ".join(pages), " b ".join(pages))
    assert f"… {599 - MAX_ROWS} more rows" in printed


def test_markup_and_emoji_codes_of_a_document_stay_text() -> None:
    assert "[bold]:smile:[/bold]" in shown("[bold]:smile:[/bold]", "nothing")


def test_moved_passages_and_repeats_are_explained() -> None:
    first, second = "alpha beta gamma delta epsilon.", "one two three four five six."
    printed = shown(f"{first} {second}", f"{second} {first}")
    assert "[~1 alpha beta gamma delta epsilon. 1~]" in printed
    assert "~ marks" in printed
    assert "5 and 5 words counted" in shown(first, f"{first} {first}", matching="information")


@pytest.mark.parametrize(
    ("a", "b", "line"),
    [
        (A, A.upper(), "the same words"),
        (A, "something else", "no passage"),
        ("", A, "without words shares nothing"),
    ],
)
def test_the_last_line_says_what_is_shared(a: str, b: str, line: str) -> None:
    assert line in shown(a, b)
