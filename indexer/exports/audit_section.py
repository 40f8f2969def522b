"""What an audit found, as a section of the report: sentences, and the strata that they come
from.
"""

from __future__ import annotations

from html import escape

from indexer.statistics.strata import Audit, Stratum, describe_audit


def audit_section(made: Audit | None) -> str:
    """The section; a word on how to get one when nothing was audited."""
    if made is None:
        return (
            "<h2>What is missed</h2><p>Nobody has looked for near duplicates that grouping did not see; "
            "<code>nearfold export --format html --audit 300</code> verifies a sample.</p>"
        )
    told = (sentence.removeprefix("audit: ") for sentence in describe_audit(made))
    sentences = "".join(f"<p>{escape(one[:1].upper() + one[1:])}.</p>" for one in told)
    rows = "".join(map(_row, made.strata))
    return (
        "<h2>What is missed</h2><p>Of pairs of different texts. Listed are those that groups are made from, whether or not the "
        f"two came into one group.</p>{sentences}"
        '<div class="card wide"><table><thead><tr><th>pairs of texts</th><th class="number">there are</th>'
        '<th class="number">verified</th><th class="number">of these near duplicates</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(one: Stratum) -> str:
    numbers = "".join(
        f'<td class="number">{number:,}</td>' for number in (one.size, one.drawn, one.found)
    )
    return f'<tr><td class="name">{escape(one.name)}</td>{numbers}</tr>'
