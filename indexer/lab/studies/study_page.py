"""The report of a study as one HTML file that needs nothing but itself and runs no script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

from indexer.exports.report_style import STYLE
from indexer.lab.studies.collisions import CollisionSimilarity
from indexer.lab.studies.findings import leaving, sentences
from indexer.lab.studies.methods import (
    METHODS,
    NAMED,
    PUBLISHED_COLLISIONS,
    PUBLISHED_METHODS,
    PUBLISHED_SECONDS,
)
from indexer.lab.studies.study import StudyResult
from indexer.lab.studies.study_figures import (
    PROJECTIONS,
    PUBLISHED,
    SETTLING,
    SHARED,
    STATISTICS,
    UNIQUE,
)
from indexer.system.release import release
from indexer.text.visible import visible

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_OWN = """.chart text.key, .chart text.tick, .chart text.label { font-size: 13px; } .chart text.key { text-anchor: start; }
.figures { margin-bottom: 1rem; }"""
_CAPTIONS = {
    UNIQUE: "Figure 1. Share of the studied documents: 100 % is a signature of its own for every document.",
    PUBLISHED: "The study's own figure for its 90,000 documents, from its Table 2. Copies and texts without content are in it.",
    SHARED: "What is missing from 100 % in Figure 1: documents beyond the first of their signature, logarithmic.",
    PROJECTIONS: "The weights of TopSig with the votes of SHAKE256 in place of random vectors: the study left this open.",
    STATISTICS: "How many documents statistics need: the first n in an accidental order are counted, and all are signed.",
    SETTLING: "Signatures that stay within 3 of 64 bits of those by the statistics of all documents.",
}
Cell = Callable[[str, int], str]
Published = Mapping[int, Sequence[tuple[float, float]]]


def page(made: StudyResult, drawn: Mapping[str, str]) -> str:
    """The page. For the same texts the same, but for the seconds."""
    body = "\n".join(
        (
            f"<header><h1>Signatures of this collection</h1>{_head(made)}</header>\n<main>",
            f"<h2>Findings</h2><ul>{''.join(f'<li>{escape(one)}</li>' for one in sentences(made))}</ul>",
            "<h2>Unique signatures</h2>",
            _figures(drawn, (UNIQUE, PUBLISHED, SHARED)),
            _table("Table 1. Seconds a document", made, _seconds(made), PUBLISHED_SECONDS),
            _table("Table 2. Documents a signature", made, _collisions(made), PUBLISHED_COLLISIONS),
            _alike(made),
            _near(made, drawn),
            "<h2>What the study left open</h2>",
            _figures(drawn, (STATISTICS, SETTLING, PROJECTIONS)),
            _READING,
            f"</main>\n<footer>Made by nearfold {escape(release())}.</footer>",
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>Signatures of this collection</title>\n<style>\n{STYLE}\n{_OWN}\n</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _head(made: StudyResult) -> str:
    account = made.account
    told = (
        ("documents", account.documents),
        ("could not be read", account.failed),
        ("without text", account.empty),
        ("copies of another's text", account.copies),
        ("of numbers alone", account.numbers_only),
        ("under four characters", account.too_short),
        ("studied", account.studied),
        ("distinct features", made.features),
    )
    where = f'<p class="soft"><code>{escape(visible(made.source))}</code></p>'
    return f'{where}<dl class="numbers">{"".join(f"<div><dt>{name}</dt><dd>{number:,}</dd></div>" for name, number in told)}</dl>'


def _figures(drawn: Mapping[str, str], names: Iterable[str]) -> str:
    shown = "".join(
        f"<figure>{drawn[name]}<figcaption>{escape(_CAPTIONS.get(name) or _caption(name))}</figcaption></figure>"
        for name in names
    )
    return f'<div class="figures">{shown}</div>'


def _caption(name: str) -> str:
    number, bits = name.split("-")[1:]
    within = "1 bit" if number == "2" else "3 bits"
    return (
        f"Figure {number}. Documents by the number of their neighbours within {within}, signatures of {bits} bits; the upright "
        "scale is logarithmic."
    )


def _seconds(made: StudyResult) -> Cell:
    by = {(one.method, one.bits): f"{one.mean:.4f} ({one.deviation:.4f})" for one in made.seconds}
    speed = {(one.method, one.bits): f"{one.megabytes_a_second:.2f} MB/s" for one in made.seconds}
    return lambda method, bits: (
        f"{by[method, bits]}<br>{speed[method, bits]}" if (method, bits) in by else "–"
    )


def _collisions(made: StudyResult) -> Cell:
    by = {
        (one.method, one.bits): f"{one.collisions:.4f} ({one.deviation:.3f})"
        for one in made.spreads
    }
    return lambda method, bits: by.get((method, bits), "–")


def _table(title: str, made: StudyResult, cell: Cell, published: Published) -> str:
    """Mean and deviation of every method at every length, the published ones below."""
    rows = []
    for bits in made.bits:
        cells = [
            f'<td class="number">{cell(one.name, bits)}{_published(published, one.name, bits)}</td>'
            for one in METHODS
        ]
        rows.append(f'<tr><td class="number">{bits:,}</td>{"".join(cells)}</tr>')
    return _card(f"{title}: mean (standard deviation); as published in italics", rows)


def _card(title: str, rows: Sequence[str]) -> str:
    """A table with a column for every method."""
    head = "".join(f'<th class="number">{escape(one.label)}</th>' for one in METHODS)
    return (
        f'<div class="card wide dense"><table><caption>{title}</caption>'
        f'<thead><tr><th class="number">bits</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _published(published: Published, method: str, bits: int) -> str:
    if method not in PUBLISHED_METHODS or bits not in published:
        return ""
    mean, deviation = published[bits][PUBLISHED_METHODS.index(method)]
    return f'<br><em class="soft">{mean:,.3f} ({deviation:,.3f})</em>'


def _alike(made: StudyResult) -> str:
    """How much pairs that share a signature have in common."""
    told = {(one.method, one.bits): one for one in made.alike if one.mean is not None}
    rows = []
    for bits in sorted({one.bits for one in made.alike}):
        cells = [
            f'<td class="number">{_common(told.get((one.name, bits)))}</td>' for one in METHODS
        ]
        rows.append(f'<tr><td class="number">{bits}</td>{"".join(cells)}</tr>')
    return _card(
        "How alike documents with one signature are: mean Jaccard similarity; share of pairs under one half",
        rows,
    )


def _common(one: CollisionSimilarity | None) -> str:
    return (
        "–"
        if one is None
        else f"{one.mean:.2f}; {one.unlike:.0%}<br>{one.pairs} pair{'s' * (one.pairs != 1)}"
    )


def _near(made: StudyResult, drawn: Mapping[str, str]) -> str:
    """Nothing when no length was studied that neighbours are counted of."""
    if not made.near:
        return ""
    names = [name for name in drawn if name.startswith(("figure-2", "figure-3"))]
    return f"<h2>Neighbours</h2>{_figures(drawn, names)}{_leaving(made)}"


def _leaving(made: StudyResult) -> str:
    rows = "".join(
        f'<tr><td>{escape(NAMED[one.method].label)}</td><td class="number">{one.bits:,}</td>'
        f'<td class="number">{one.within_1:,}</td><td class="number">{one.within_3:,}</td>'
        f'<td class="number">{one.leave:,}</td></tr>'
        for one in leaving(made)
    )
    return (
        '<div class="card wide"><table><caption>Documents without a neighbour</caption><thead><tr><th>method</th>'
        '<th class="number">bits</th><th class="number">within 1 bit</th><th class="number">within 3 bits</th>'
        f'<th class="number">have one at 3, not at 1</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


_READING = """<h2>How to read this</h2>
<p>Every studied text is another one: copies were set apart. A <strong>collision</strong> is two different texts with the same
signature; the number of documents of a signature includes the document itself, so 1 is the least. Few collisions are
not a merit by themselves: two drafts of one contract should be near each other. What is wrong is documents together that
resemble nothing of each other, and that is what many collisions at few bits are.</p>
<p><strong>Seconds</strong> are those of one processor, for the whole way from a text to its signature; corpus statistics
are counted before. MinHash of the study is four least hashes, cut and put side by side; that of nearfold has one bit of each of
as many slots as there are bits. SHA-512 has no more than 512 bits.</p>"""
