"""A table of results as text: Markdown, HTML and LaTeX for people, CSV for machines."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ckgnn.errors import ConfigError, unknown
from ckgnn.settings import INDUCTIVE
from ckgnn.study.compare import Paired
from ckgnn.study.paper import title
from ckgnn.study.summary import Row

NONE = "–"
UNEVEN = ("r52", "ohsumed")  # many classes of very different size, where accuracy says little of the small ones
CSV = (
    "method", "dataset", "split", "rule", "mean", "std", "n", "paper", "kernel_gain", "gain_low", "gain_high",
    "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """A title, columns and cells; the first column is text, the others are numbers."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def render(rows: Sequence[Row], heading: str, form: str) -> str:
    """Return the whole table in one of :data:`FORMS`."""
    if form not in FORMS:
        raise ConfigError(unknown("format", form, FORMS))
    return FORMS[form](rows, heading)


def grids(rows: Sequence[Row], heading: str) -> list[Grid]:
    """Return what people are shown: accuracies, kernel gains, macro-F1 where classes are uneven, times."""
    called, datasets = row_names(rows), list(dict.fromkeys(r.dataset for r in rows))
    lines = {(r.method, r.split, r.rule): called(r) for r in rows}
    at = {(r.method, r.split, r.rule, r.dataset): r for r in rows}
    with_paper = any(r.paper is not None for r in rows)

    def lay_out(show: Callable[[Row | None], list[str]], over: Sequence[str] = datasets) -> list[list[str]]:
        cells = ([text for d in over for text in show(at.get((*line, d)))] for line in lines)
        return [[name, *own] for name, own in zip(lines.values(), cells, strict=True)]

    columns = [c for d in datasets for c in ([d, "paper", "Δ"] if with_paper else [d])]
    gains = [line for line in lay_out(lambda r: [_gain(r)]) if set(line[1:]) != {NONE}]
    by_dataset = ["method", *datasets]
    out = [Grid(heading, ["method", *columns], lay_out(lambda r: _accuracy(r, with_paper)))]
    if gains:
        out.append(Grid("Kernel gain: paired difference to the K = 1 twin, 95 % interval (pairs)", by_dataset, gains))
    if uneven := [d for d in datasets if d.removesuffix(INDUCTIVE) in UNEVEN]:
        macro = lay_out(lambda r: [_macro(r)], uneven)
        out.append(Grid("Macro-F1: the mean over the classes, each counting the same", ["method", *uneven], macro))
    return [*out, Grid("Median processor seconds of a run, one thread", by_dataset, lay_out(lambda r: [_seconds(r)]))]


def footnotes(rows: Sequence[Row]) -> list[str]:
    """Return what a reader must know: cells outside their band, cells not complete, slips of the paper."""
    called = row_names(rows)
    named = [(f"{called(r)} on {r.dataset}", r) for r in rows]
    out = [
        f"{name}: {r.difference:+.1f} points, {r.band} the band around the paper's number."
        for name, r in named
        if r.band in ("below", "above")
    ]
    for what, count in (("Failed", "failed"), ("Not run yet", "missing")):
        out += _counted(what, [(r.dataset, called(r), getattr(r, count)) for r in rows])
    out += _cost(rows)
    remarked = (
        f"{name if remark.of_cell else title(r.method, r.dataset)}: {remark.text}"
        for name, r in named
        if r.n
        for remark in r.remarks
    )
    return [*out, *dict.fromkeys(remarked)]


def _cost(rows: Sequence[Row]) -> list[str]:
    """Return what all runs took together, and the largest of them."""
    runs, peaks = sum(r.n for r in rows), [r.peak_mb for r in rows if r.peak_mb]
    if not runs:
        return []
    largest = f"; the largest needed {max(peaks) / 1000:.1f} GB" if peaks else ""
    return [f"The {runs:,} runs took {sum(r.spent for r in rows) / 3600:.1f} hours of one core{largest}."]


def row_names(rows: Sequence[Row]) -> Callable[[Row], str]:
    """Return what rows are called: by their method and as much more as tells them from the others."""
    several_splits, several_rules = (len({getattr(r, key) for r in rows}) > 1 for key in ("split", "rule"))

    def called(r: Row) -> str:
        more = (f", {r.split}" if several_splits else "") + (f" ({r.rule} rule)" if several_rules else "")
        return title(r.method, r.dataset) + more

    return called


def _counted(what: str, counts: Sequence[tuple[str, str, int]]) -> list[str]:
    """Return a line for each graph: how many runs of which rows."""
    out = []
    for dataset in dict.fromkeys(d for d, *_ in counts):
        by_count: dict[int, list[str]] = {}
        for of, name, count in counts:
            if of == dataset and count:
                by_count.setdefault(count, []).append(name)
        if by_count:
            parts = [f"{count} of {', '.join(names)}" for count, names in by_count.items()]
            out.append(f"{what} on {dataset}: {'; '.join(parts)}.")
    return out


def paired_sentence(ours: Row, theirs: Row, found: Paired | None) -> str:
    """Return a comparison in words."""
    names = f"{title(ours.method, ours.dataset)} against {title(theirs.method, theirs.dataset)} on {ours.dataset}"
    if found is None:
        return f"{names}: no split and seed was run with both."
    if found.low is None or found.high is None or found.p is None:
        return f"{names}: {found.mean:+.2f} points on one pair."
    return (
        f"{names}: {found.mean:+.2f} points over {found.n} pairs, 95 % interval {found.low:+.2f} to {found.high:+.2f}, "
        f"p = {found.p:.3g} (signs flipped)."
    )


def _accuracy(r: Row | None, with_paper: bool) -> list[str]:
    own = NONE
    if r is not None and r.mean is not None:
        own = f"{r.mean:.1f}" + (f" ± {r.std:.1f}" if r.std else "") + f" ({r.n})"
    if not with_paper:
        return [own]
    paper, difference = (None, None) if r is None else (r.paper, r.difference)
    return [own, NONE if paper is None else f"{paper:.1f}", NONE if difference is None else f"{difference:+.1f}"]


def _gain(r: Row | None) -> str:
    if r is None or r.gain is None:
        return NONE
    between = "" if r.gain.low is None else f" [{r.gain.low:+.1f}, {r.gain.high:+.1f}]"
    return f"{r.gain.mean:+.1f}{between} ({r.gain.n})"


def _macro(r: Row | None) -> str:
    return NONE if r is None or r.macro_f1 is None else f"{r.macro_f1:.1f}"


def _seconds(r: Row | None) -> str:
    return NONE if r is None or r.seconds is None else f"{r.seconds:.1f}"


def _markdown(rows: Sequence[Row], heading: str) -> str:
    parts = []
    for grid in grids(rows, heading):
        rule = "| --- |" + " ---: |" * (len(grid.columns) - 1)
        lines = [f"| {' | '.join(cells)} |" for cells in grid.rows]
        parts.append("\n".join([f"**{grid.title}**", "", f"| {' | '.join(grid.columns)} |", rule, *lines]))
    notes = footnotes(rows)
    if notes:
        parts.append("\n".join(f"- {n}" for n in notes))
    return "\n\n".join(parts) + "\n"


def _html(rows: Sequence[Row], heading: str) -> str:
    parts = []
    for grid in grids(rows, heading):
        head = "".join(f"<th>{html.escape(c)}</th>" for c in grid.columns)
        body = "\n".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells) + "</tr>" for cells in grid.rows)
        caption = f"<caption>{html.escape(grid.title)}</caption>"
        parts.append(f"<table>\n{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>")
    notes = footnotes(rows)
    if notes:
        parts.append("<ul>\n" + "\n".join(f"<li>{html.escape(n)}</li>" for n in notes) + "\n</ul>")
    return "\n".join(parts) + "\n"


def _latex(rows: Sequence[Row], heading: str) -> str:
    parts = []
    for grid in grids(rows, heading):
        lines = [" & ".join(map(_escape, cells)) + r" \\" for cells in grid.rows]
        parts.append(
            "\n".join(
                [
                    f"% {grid.title}",
                    rf"\begin{{tabular}}{{l{'r' * (len(grid.columns) - 1)}}}",
                    r"\toprule",
                    " & ".join(map(_escape, grid.columns)) + r" \\",
                    r"\midrule",
                    *lines,
                    r"\bottomrule",
                    r"\end{tabular}",
                ]
            )
        )
    return "\n\n".join(parts) + "\n"


def _escape(text: str) -> str:
    for plain, tex in (("%", r"\%"), ("_", r"\_"), ("&", r"\&"), ("±", r"$\pm$"), ("–", "--"), ("Δ", r"$\Delta$")):
        text = text.replace(plain, tex)
    return text


def _csv(rows: Sequence[Row], heading: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV)
    for r in rows:
        gain = (r.gain.mean, r.gain.low, r.gain.high) if r.gain else (None, None, None)
        numbers = (r.mean, r.std, r.n, r.paper, *gain, r.seconds)
        writer.writerow(
            [r.method, r.dataset, r.split, r.rule]
            + ["" if v is None else v if isinstance(v, int) else f"{v:.4f}" for v in numbers]
        )
    return out.getvalue()


FORMS: dict[str, Callable[[Sequence[Row], str], str]] = {
    "md": _markdown,
    "html": _html,
    "csv": _csv,
    "latex": _latex,
}
