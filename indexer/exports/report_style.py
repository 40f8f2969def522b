"""How the report looks: light, dark and on paper. It loads nothing from anywhere."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #ffffff; --ink: #1d2733; --soft: #56616d; --rule: #dedbd3;
  --accent: #0b6b74; --wash: #d9ebec; --warn: #8a4b00; }
@media (prefers-color-scheme: dark) { :root { --paper: #12171c; --card: #1a2128; --ink: #e8ebee; --soft: #a3aeb9;
  --rule: #313b45; --accent: #5cc3cb; --wash: #1d3a3f; --warn: #f0b46a; } }
* { box-sizing: border-box; }
html { font: 17px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
body { margin: 0; background: var(--paper); color: var(--ink); }
main, header, footer { max-width: 60rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 3rem; }
h1 { font-size: 2.1rem; line-height: 1.15; letter-spacing: -.02em; margin: 0 0 .4rem; text-wrap: balance; }
h2 { font-size: 1.3rem; letter-spacing: -.01em; margin: 3rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
p { margin: .5rem 0 .9rem; max-width: 42rem; }
a { color: var(--accent); text-underline-offset: .15em; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.soft, figcaption, th, dt { color: var(--soft); }
.finding { font-size: 1.25rem; line-height: 1.45; max-width: 46rem; margin: 1.2rem 0 1.6rem; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(45%, 12rem), 1fr)); gap: .75rem; margin: 0; }
.numbers div { background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; padding: .8rem .95rem; }
.numbers dt { font-size: .82rem; line-height: 1.3; }
.numbers dd { margin: 0; font-size: 1.65rem; font-weight: 650; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 1rem; }
figure, .card { margin: 0; background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; padding: 1rem 1.1rem; }
.card { margin-bottom: 1rem; }
figcaption { font-size: .86rem; line-height: 1.45; margin-top: .6rem; }
.chart { display: block; width: 100%; height: auto; }
.bar, .line { fill: var(--accent); }
.line { fill: none; stroke: var(--accent); stroke-width: 2.5; stroke-linejoin: round; }
.area, .room { fill: var(--wash); }
.grid, .axis { stroke: var(--rule); fill: none; }
.chart text { fill: var(--soft); font-size: 14px; text-anchor: middle; font-variant-numeric: tabular-nums; }
.chart text.value { fill: var(--ink); font-weight: 600; }
.chart text.tick { text-anchor: end; font-size: 13px; }
.share { display: block; width: 100%; min-width: 4rem; height: .55rem; border-radius: .3rem; }
.wide { overflow-x: auto; }
.dense table td, .dense table th { font-size: .74rem; padding-right: .45rem; } .dense th.number { white-space: normal; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
caption { text-align: left; font-weight: 600; font-size: 1rem; padding-bottom: .3rem; }
th, td { text-align: left; padding: .38rem .7rem .38rem 0; border-bottom: 1px solid var(--rule); vertical-align: baseline; }
th { font-weight: 500; font-size: .82rem; }
tr:last-child > td { border-bottom: 0; }
td.name { overflow-wrap: anywhere; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.bar-cell { width: 22%; }
.tag { display: inline-block; background: var(--wash); border-radius: .3rem; padding: 0 .4rem; font-size: .78rem; }
.warn { color: var(--warn); }
code { font: .86em ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.settings { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.2rem; font-size: .9rem; }
.settings dd { margin: 0; overflow-wrap: anywhere; }
footer { padding-top: 2rem; padding-bottom: 3rem; font-size: .86rem; color: var(--soft); }
@media (max-width: 34rem) { html { font-size: 16px; } header { padding-top: 1.5rem; } h1 { font-size: 1.65rem; }
  .bar-cell { display: none; } .settings { grid-template-columns: 1fr; } .settings dd { margin-bottom: .5rem; } }
@media print { :root { color-scheme: light; --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --rule: #bbb;
  --accent: #0b6b74; --wash: #e4f0f1; --warn: #6b3a00; } html { font-size: 10.5pt; } header { padding-top: 0; }
  main, header, footer { max-width: none; padding-left: 0; padding-right: 0; } a { color: inherit; }
  figure, .card, .numbers div, tr { break-inside: avoid; } h2, h3, caption { break-after: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } @page { margin: 18mm 16mm; } }
""".strip()


def figure(title: str, drawn: str, caption: str) -> str:
    """A picture of a report with its title and caption, all of them HTML already."""
    return f"<figure><h3>{title}</h3>{drawn}<figcaption>{caption}</figcaption></figure>"
