"""One HTML file about a whole store, for people who were not there: numbers, figures, the largest
groups, what is missing.

It needs nothing but itself, runs no script, and nothing of a document can act in it: text is
escaped, control characters are spelled out, and a policy inside the file forbids scripts and
requests. Near duplicates are called groups in it, for to many of its readers a family is an e-mail
with its attachments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape

from indexer.exports.audit_section import audit_section
from indexer.exports.figures import columns, curve, share_bar
from indexer.exports.report_style import STYLE, figure
from indexer.grouping.family_view import Family, family
from indexer.grouping.survey import BINS, Survey, survey
from indexer.model import Row, Status
from indexer.operations.status import Overview, status
from indexer.statistics.strata import Audit
from indexer.stores.base import Store
from indexer.system.progress_callback import Progress, no_progress
from indexer.system.release import release
from indexer.text.visible import visible

MEMBERS, FAILURES, TYPES = 25, 50, 12
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_MEANINGS: dict[Status, str] = {
    "complete": "read whole, and compared",
    "truncated": "cut at a limit; compared by what was read",
    "empty": "no text was found, as in a scan without a text layer; never in a group",
    "too_short": "too few words to compare; never in a group",
    "numbers_only": "numbers alone; never in a group",
    "unsigned": "arrived in the cluster and could not be signed; never in a group",
}


@dataclass(frozen=True, slots=True)
class Report:
    """A page, and how many documents it is about."""

    html: str
    documents: int


def report(
    store: Store,
    date: str | None = None,
    progress: Progress = no_progress,
    audit: Audit | None = None,
) -> Report:
    """Make the report of a store as the last `group` left it. `date`: what stands at its top;
    today's in UTC when None.

    `audit`: what `group` misses of the pairs that there are, if somebody has looked.

    For the same documents and the same date it is the same, byte for byte. The whole store is read
    once, and again the texts of up to 20,000 pairs, for what other thresholds would give. Raises
    `StoreError` when nothing was indexed yet.
    """
    seen, made = status(store), survey(store, progress)
    largest = [family(store, one.id) for one in made.largest]
    day = date if date is not None else datetime.now(timezone.utc).date().isoformat()
    body = "\n".join(
        (
            f"<header>{_head(made, seen, day)}</header>\n<main>",
            _numbers(made, seen),
            _figures(made),
            _types(seen),
            _groups(largest),
            audit_section(audit),
            _failures(seen),
            _reading(made),
            _settings(seen, made),
            f"</main>\n<footer>Made by nearfold {escape(release())} for {_shown(day)}.</footer>",
        )
    )
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>Near-duplicate report, {_shown(day)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n"
    )
    return Report(f"{head}{body}\n</body>\n</html>\n", made.documents)


def _shown(text: str) -> str:
    """Any text of a document, safe inside an element or a quoted attribute."""
    return escape(visible(text))


def _share(part: int, whole: int) -> str:
    """A share in words; never 0 % or 100 % for what is neither."""
    if not whole:
        return "0 %"
    return (
        "under 1 %"
        if 0 < part < whole / 100
        else "over 99 %"
        if whole * 99 / 100 < part < whole
        else f"{100 * part / whole:.0f} %"
    )


def _head(made: Survey, seen: Overview, day: str) -> str:
    kept = made.documents - made.redundant
    finding = f"{made.documents:,} documents were read, and none of them repeats another."
    if made.redundant:
        finding = (
            f"Of {made.documents:,} documents, <strong>{made.redundant:,} ({_share(made.redundant, made.documents)})</strong> "
            f"repeat another one, exactly or nearly. Whoever reads one document of each group reads <strong>{kept:,}</strong>."
        )
    warning = ""
    if made.provisional:
        warning = (
            f'<p class="warn">{made.provisional:,} documents came after the last <code>nearfold group</code>; '
            "their place in a group is provisional.</p>"
        )
    return (
        f'<p class="soft">{_shown(day)}</p><h1>Near-duplicate report</h1><p class="soft"><code>{_shown(seen.store)}</code></p>'
        f'<p class="finding">{finding}</p>{warning}'
    )


def _numbers(made: Survey, seen: Overview) -> str:
    groups = sum(number for name, number in made.sizes if name != "1")
    gathered = made.documents - dict(made.sizes)["1"]
    numbers = (
        ("documents read", made.documents),
        ("groups of near duplicates", groups),
        ("documents in a group", gathered),
        ("to read, one of each group", made.documents - made.redundant),
        ("largest group", max((one.documents for one in made.largest), default=0)),
        ("repeat a text word for word", made.same_text),
        ("repeat a file byte for byte", made.same_bytes),
        ("files that could not be read", len(seen.failed)),
    )
    return f'<dl class="numbers">{"".join(f"<div><dt>{name}</dt><dd>{number:,}</dd></div>" for name, number in numbers)}</dl>'


def _figures(made: Survey) -> str:
    first = next((place for place, number in enumerate(made.similarities) if number), BINS // 2)
    bins = [
        (f"{100 * place // BINS}", made.similarities[place])
        for place in range(min(first, BINS // 2), BINS)
    ]
    drawn = [
        figure(
            "How many documents a group has",
            columns("How many documents a group has", made.sizes, root=True),
            "Documents that resemble no other stand under 1. Heights go by the square root, so that rare sizes are seen.",
        ),
        figure(
            "How similar members are to their principal",
            columns("Similarity to the principal, in per cent", bins),
            "From this per cent up to the next; the last column holds 95 to 100.",
        ),
    ]
    if made.steps:
        gathered = [(step.threshold, step.gathered) for step in made.steps]
        groups = [(step.threshold, step.families) for step in made.steps]
        drawn += [
            figure(
                "What another threshold would gather",
                curve(
                    "Share of documents in a group, by threshold",
                    gathered,
                    made.documents,
                    shares=True,
                ),
                "Share of all documents that would be in a group, by the least similarity that is asked for.",
            ),
            figure(
                "How many groups there would be",
                curve(
                    "Number of groups, by threshold", groups, max(number for _, number in groups)
                ),
                "A lower threshold makes groups larger, and at last merges them; a higher one breaks them up.",
            ),
        ]
    return f'<h2>Groups</h2><div class="figures">{"".join(drawn)}</div>'


def _types(seen: Overview) -> str:
    """What kinds of documents there are, and how far they could be read."""
    kinds = sorted(seen.counts.by_content_type.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(number for _, number in kinds[TYPES:])
    shown = [(name, number, "") for name, number in kinds[:TYPES]] + (
        [("all others", rest, "")] if rest else []
    )
    states = [
        (name.replace("_", " "), number, _MEANINGS[name])
        for name, number in sorted(seen.counts.by_status.items())
    ]
    return f"<h2>Documents</h2>{_counted('Content type', shown)}{_counted('How they could be read', states)}"


def _counted(title: str, rows: Sequence[tuple[str, int, str]]) -> str:
    whole = sum(number for _, number, _ in rows)
    lines = "".join(
        f'<tr><td class="name">{_shown(name)}{f"<br><span class=soft>{meaning}</span>" if meaning else ""}</td>'
        f'<td class="bar-cell">{share_bar(number / whole)}</td><td class="number">{number:,}</td>'
        f'<td class="number">{_share(number, whole)}</td></tr>'
        for name, number, meaning in rows
    )
    return f'<div class="card wide"><table><caption>{title}</caption><tbody>{lines}</tbody></table></div>'


def _groups(largest: Sequence[Family]) -> str:
    if not largest:
        return "<h2>Largest groups</h2><p>No two documents are near duplicates of each other.</p>"
    lines = "".join(
        f'<tr><td class="number">{place}</td><td class="name"><a href="#group-{place}">{_shown(_called(one))}</a></td>'
        f'<td class="number">{one.size:,}</td><td class="number">{_least(one.members)}</td></tr>'
        for place, one in enumerate(largest, 1)
    )
    return (
        '<h2 id="groups">Largest groups</h2><div class="card wide"><table><thead><tr><th class="number">no.</th>'
        '<th>led by</th><th class="number">documents</th><th class="number">similarity from</th></tr></thead>'
        f"<tbody>{lines}</tbody></table></div>{''.join(_group(place, one) for place, one in enumerate(largest, 1))}"
    )


def _called(one: Family) -> str:
    return one.principal.path or one.id if one.principal else one.id


def _least(members: Iterable[Row]) -> str:
    least = min((row.similarity for row in members if row.similarity is not None), default=None)
    return "" if least is None else f"{100 * least:.1f} %"


def _group(place: int, one: Family) -> str:
    """One group: who leads it, its members with their similarity, and what is not in order."""
    title = f"<p>{_shown(one.principal.title)}</p>" if one.principal and one.principal.title else ""
    warnings = "".join(f'<p class="warn">{_shown(warning)}</p>' for warning in one.warnings)
    rows = "".join(map(_member, one.members[:MEMBERS]))
    more = one.size - 1 - len(one.members[:MEMBERS])
    return (
        f'<section class="card" id="group-{place}"><h3>{place}. {_shown(_called(one))}</h3>{title}'
        f'<p class="soft">leads {one.size:,} documents <code>{_shown(one.id)}</code> {_labels(one.principal)}</p>{warnings}'
        f'<div class="wide"><table><tbody>{rows}</tbody></table></div>'
        f"{f'<p class=soft>… and {more:,} more; an export of families lists all</p>' if more > 0 else ''}"
        '<p><a href="#groups">to the list of groups</a></p></section>'
    )


def _member(row: Row) -> str:
    told = "" if row.similarity is None else f"{100 * row.similarity:.1f} %"
    cut = ' <span class="tag">cut</span>' if row.status == "truncated" else ""
    return (
        f'<tr><td class="name">{_shown(row.path or row.id)} {_labels(row)}{cut}</td>'
        f'<td class="bar-cell">{share_bar(row.similarity or 0.0)}</td><td class="number">{told}</td>'
        f'<td class="number">{row.words:,} words</td></tr>'
    )


def _labels(row: Row | None) -> str:
    return " ".join(
        f'<span class="tag">{_shown(label)}</span>' for label in (row.labels if row else ())
    )


def _failures(seen: Overview) -> str:
    if seen.running:
        return "<h2>What could not be read</h2><p>A job was at work, and its failures were not known yet.</p>"
    if not seen.failed:
        return "<h2>What could not be read</h2><p>Every file could be read and stored.</p>"
    lines = "".join(
        f'<tr><td class="name">{_shown(one.path)}</td><td class="name">{_shown(one.error)}</td></tr>'
        for one in seen.failed[:FAILURES]
    )
    more = len(seen.failed) - FAILURES
    rest = (
        f'<p class="soft">… and {more:,} more; <code>nearfold status --failures</code> lists all</p>'
        if more > 0
        else ""
    )
    return (
        f"<h2>What could not be read</h2><p>{len(seen.failed):,} files are in no number above. They may repeat others, or not: "
        'nobody has looked.</p><div class="card wide"><table><thead><tr><th>file</th><th>why</th></tr></thead>'
        f"<tbody>{lines}</tbody></table></div>{rest}"
    )


def _reading(made: Survey) -> str:
    known = (
        "the texts"
        if made.measure == "jaccard"
        else "sketches of the texts, which are accurate to some per cent"
    )
    return f"""<h2>How to read this</h2>
<p>A <strong>group</strong> is one document, the principal, and those that are each similar enough <em>to it</em>. Members
are not chained: two members of a group may differ from each other more than either does from the principal.</p>
<p>The <strong>similarity</strong> of a member is the share of short runs of characters that it has in common with the
principal, of all runs that either has; 100&nbsp;% means the same runs, not always the same meaning. One changed word (a
<em>not</em>, a sum, a date) hardly lowers it: compare documents before relying on either. The curve over thresholds goes by
{known}.</p>
<p><strong>Word for word</strong> means the same text once upper case, spacing and forms of letters are set aside, as in a
PDF and its source; <strong>byte for byte</strong> means the same file. Paraphrases and translations are no near duplicates,
and pictures without a text layer have no text to compare.</p>"""


def _settings(seen: Overview, made: Survey) -> str:
    facts = (
        ("store", seen.store),
        ("recipe", f"{seen.recipe.name} ({seen.recipe.id})"),
        ("least similarity in a group", _bottom(made)),
        ("provisional documents", f"{made.provisional:,}"),
        ("nearfold", release()),
    )
    return f'<h2>Settings</h2><dl class="settings">{"".join(f"<dt>{a}</dt><dd>{_shown(b)}</dd>" for a, b in facts)}</dl>'


def _bottom(made: Survey) -> str:
    first = next((place for place, number in enumerate(made.similarities) if number), None)
    return "no group" if first is None else f"{100 * first // BINS} % or more"
