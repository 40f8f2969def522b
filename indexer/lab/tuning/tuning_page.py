"""The report of a tuning as one HTML file that needs nothing but itself and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from indexer.exports.report_style import STYLE, figure
from indexer.lab.tuning.choice import CLOSE, ENOUGH
from indexer.lab.tuning.judgement import ExperimentScores, KindScores, Point
from indexer.lab.tuning.tune import TuneResult
from indexer.lab.tuning.tuning_charts import key, lines, separation
from indexer.statistics.precision_recall import Counts
from indexer.system.release import release
from indexer.text.visible import visible

SHOWN, CURVES = 12, 5
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_OWN = """
.similar { fill: var(--accent); } .different { fill: var(--warn); opacity: .8; }
.mark { stroke: var(--ink); stroke-dasharray: 4 3; fill: none; } .key { width: 2.6rem; height: .5rem; vertical-align: middle; }
.line-1 { stroke: var(--warn); } .line-2 { stroke: var(--ink); } .line-3 { stroke: var(--soft); }
.swatch { display: inline-block; width: .8rem; height: .8rem; border-radius: .15rem; vertical-align: -.05rem; }
.wide td.name:first-child { min-width: 11rem; } .figures.one figure { max-width: 36rem; }
.swatch.s { background: var(--accent); } .swatch.d { background: var(--warn); }
""".strip()


def page(made: TuneResult) -> str:
    """The page. For the same pairs and recipes the same, but for the seconds that signing took."""
    ranked = sorted(made.results, key=lambda one: (-(one.fair.f1 or 0.0), one.recipe))
    chosen = next(one for one in ranked if one.recipe == made.choice.recipe)
    body = "\n".join(
        (
            f"<header>{_head(made, chosen)}</header>\n<main>",
            _evidence(chosen, made),
            _kinds(chosen),
            _table(ranked),
            _curves(ranked, chosen),
            _separations(ranked),
            _layouts(made),
            _reading(made),
            f"</main>\n<footer>Made by nearfold {escape(release())}.</footer>",
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>Recipes and thresholds</title>\n<style>\n{STYLE}\n{_OWN}\n</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _shown(text: str) -> str:
    return escape(visible(text))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _head(made: TuneResult, chosen: ExperimentScores) -> str:
    low, high = made.choice.thresholds
    weight = (
        f", <code>--false-negative-weight {made.choice.weight:g}</code>"
        if made.choice.weight is not None
        else ""
    )
    similar = sum(one.pairs for one in chosen.kinds if one.best.right + one.best.missed)
    return (
        f"<h1>Recipes and thresholds</h1>"
        f'<p class="finding">Use <strong>{_shown(made.choice.recipe)}</strong> with threshold '
        f"<strong>{made.choice.threshold:g}</strong>{weight}.</p>"
        f"<p>{_shown(made.choice.reason)}. Thresholds from {low:g} to {high:g} cost at most {CLOSE:g} of F1.</p>"
        f'{_caution(made)}<p class="soft">{made.documents:,} documents, {made.pairs:,} pairs, {similar:,} of them duplicates; '
        f"{len(made.results):,} recipes.{' What is contained in another counts as different.' if made.strict else ''}</p>"
    )


def _caution(made: TuneResult) -> str:
    return (
        f'<p><strong class="warn">Caution</strong>: {escape(made.caution)}.</p>'
        if made.caution
        else ""
    )


def _evidence(chosen: ExperimentScores, made: TuneResult) -> str:
    curve = [(one.threshold, one.counts.f1 or 0.0) for one in chosen.curve]
    figures = (
        figure(
            "How far similar and different pairs lie apart",
            separation(
                "Pairs by similarity", chosen.similar, chosen.different, chosen.best.threshold
            ),
            f"{_legend()} Pairs by their similarity; the upright scale is logarithmic. The dashed line is the threshold.",
        ),
        figure(
            "F1 by threshold",
            lines("F1 by threshold", [("F1", curve)], chosen.best.threshold),
            f"F1 is highest at {chosen.best.threshold:g}; at the recipe's own threshold, {chosen.usual.threshold:g}, it is "
            f"{_number(chosen.usual.counts.f1)}.",
        ),
    )
    return f'<h2>{_shown(made.choice.recipe)}</h2><div class="figures">{"".join(figures)}</div>'


def _legend() -> str:
    return '<span class="swatch s"></span> similar <span class="swatch d"></span> different.'


def _kinds(chosen: ExperimentScores) -> str:
    head = (
        "kind",
        "type",
        "pairs",
        f"found at {chosen.best.threshold:g}",
        f"found at {chosen.usual.threshold:g}",
    )
    return f"<h2>Kind by kind</h2>{_card(head, [_kind(one) for one in chosen.kinds], names=2)}"


def _kind(one: KindScores) -> tuple[str, ...]:
    shares = (f"{found / one.pairs:.1%}" for found in (one.found, one.found_usually))
    return (_shown(one.kind), _shown(one.type), f"{one.pairs:,}", *shares)


def _table(ranked: Sequence[ExperimentScores]) -> str:
    head = (
        "recipe", "fair F1", "95 %", "threshold", "precision", "recall", "F1", "own threshold", "precision", "recall", "F1",
        "F1 by sketch", "ROC area", "unsigned", "ms", "bits",
    )  # fmt: skip
    return (
        "<h2>Every recipe</h2><p>By F1 on pairs that the threshold was not chosen by. Then the best threshold on all pairs, "
        f"and the one that the recipe is planned for.</p>{_card(head, [_row(one) for one in ranked], names=1, dense=True)}"
    )


def _row(one: ExperimentScores) -> tuple[str, ...]:
    made = one.experiment
    interval = "–" if one.interval is None else f"{one.interval[0]:.3f}–{one.interval[1]:.3f}"
    speed = f"{1000 * made.seconds / max(1, made.texts):.2f}"
    area, unsigned, bits = (
        f"{one.area:.4f}",
        f"{made.unsigned:,}",
        f"{made.bits:,}" if made.bits else "–",
    )
    points = (*_point(one.best), *_point(one.usual))
    return (
        _shown(one.recipe),
        _number(one.fair.f1),
        interval,
        *points,
        _number(one.by_sketch.counts.f1),
        area,
        unsigned,
        speed,
        bits,
    )


def _point(one: Point) -> tuple[str, ...]:
    return (f"{one.threshold:.3g}", *map(_number, _figures(one.counts)))


def _figures(counts: Counts) -> tuple[float | None, float | None, float | None]:
    return counts.precision, counts.recall, counts.f1


def _card(
    head: Sequence[str], rows: Sequence[Sequence[str]], names: int, dense: bool = False
) -> str:
    def cells(tag: str, values: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="{"name" if at < names else "number"}">{one}</{tag}>'
            for at, one in enumerate(values)
        )

    lines_ = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    kind = "card wide dense" if dense else "card wide"
    return f'<div class="{kind}"><table><thead><tr>{cells("th", head)}</tr></thead><tbody>{lines_}</tbody></table></div>'


def _curves(ranked: Sequence[ExperimentScores], chosen: ExperimentScores) -> str:
    shown = [chosen, *(one for one in ranked if one is not chosen)][:CURVES]
    named = [(one.recipe, _precision_by_recall(one)) for one in shown]
    legend = " ".join(f"{key(place)} {_shown(name)}<br>" for place, (name, _) in enumerate(named))
    drawn = lines("Precision by recall", named)
    framed = figure("Precision upwards, recall to the right", drawn, legend)
    return f'<h2>Precision by recall</h2><div class="figures one">{framed}</div>'


def _precision_by_recall(one: ExperimentScores) -> list[tuple[float, float]]:
    return [
        (p.counts.recall or 0.0, 1.0 if p.counts.precision is None else p.counts.precision)
        for p in one.curve
    ]


def _separations(ranked: Sequence[ExperimentScores]) -> str:
    figures = "".join(
        figure(
            _shown(one.recipe),
            separation(
                f"Pairs by similarity under {one.recipe}",
                one.similar,
                one.different,
                one.best.threshold,
            ),
            f"fair F1 {_number(one.fair.f1)}, ROC area {one.area:.4f}",
        )
        for one in ranked[:SHOWN]
    )
    return f'<h2>Separation</h2><p>{_legend()} The {len(ranked[:SHOWN])} best recipes.</p><div class="figures">{figures}</div>'


def _layouts(made: TuneResult) -> str:
    if not made.choice.layouts:
        return ""
    layouts = made.choice.layouts
    rows = [
        (f"{one.weight:g}", f"{one.bands} x {one.rows}", f"{one.recall:.2%}", f"{one.burden:.3%}")
        for one in layouts
    ]
    head = ("weight", "bands x rows", "duplicates that meet", "different pairs that meet")
    return (
        f"<h2>Bands</h2><p>Bands for threshold {layouts[0].threshold:g}, of those that are tried the nearest to "
        f"{made.choice.threshold:g}, under weights of false negatives. To be used is the lowest weight that lets {ENOUGH:.0%} "
        f"of the duplicates above the threshold meet, else the highest.</p>{_card(head, rows, names=1)}"
    )


def _reading(made: TuneResult) -> str:
    left = "".join(f"<li>{_shown(name)}: {_shown(why)}</li>" for name, why in made.left_out.items())
    return f"""<h2>How to read this</h2>
<p><strong>Fair F1</strong>: the pairs were divided into two halves, related documents together; each half was judged by the
threshold that is best for the other. Its interval comes from drawing groups of related documents again.
<strong>Precision</strong> depends on how many different pairs there are for each duplicate, here as in no real collection:
compare recipes by it, and do not expect it.</p>
<p>Recipes with MinHash are judged by the features they sketch, as look-ups are; <em>F1 by sketch</em> goes by slots or bits
alone. Pairs of which one text contains the other {"count as different" if made.strict else "count for neither side"}.
<strong>Unsigned</strong> texts have no sketch (too short), and so no near duplicates.</p>
{f"<p>Not tried:</p><ul>{left}</ul>" if left else ""}"""
