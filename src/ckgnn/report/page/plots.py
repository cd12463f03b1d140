"""The two plots one can touch: the map of the nodes, and the neighbourhood of one of them.

Drawn by Bokeh, chosen among the libraries that make plots for offline pages: its core script is 1.3 MB (Plotly's Python
package ships 4.8 MB, which leaves nothing of 5) and comes with the package, so that nothing is downloaded; it brings no
data frame library, and it needs no ``eval``, so that the page can forbid that. Both plots leave here empty; the page's
own script fills them from the data it holds anyway.
"""

from __future__ import annotations

from typing import Any

from ckgnn.errors import ConfigError

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#B8A800")
HEIGHT = 460


def colours(count: int) -> list[str]:
    """Return one colour per class: told apart by everyone up to seven, then as many hues as it takes."""
    if count <= len(OKABE_ITO):
        return list(OKABE_ITO[:count])
    from bokeh.palettes import Category10, Category20, turbo

    if count <= 20:
        return list((Category10[10] if count <= 10 else Category20[20])[:count])
    return list(turbo(count))


def script() -> str:
    """Return BokehJS, its core only."""
    resources = _bokeh().resources.Resources(mode="inline", components=["bokeh"], log_level="warn")
    return "\n".join(resources.js_raw)


def plots() -> dict[str, Any]:
    """Return both plots as Bokeh's JSON items, without data."""
    embed = _bokeh().embed
    return {"map": embed.json_item(_map()), "around": embed.json_item(_around())}


def _map() -> Any:
    from bokeh.models import ColumnDataSource, HoverTool, Range1d, TapTool

    hover = HoverTool(
        tooltips=[("", "@name"), ("predicted", "@predicted (@p{0.0 %})"), ("known", "@known")],
        point_policy="snap_to_data",
        attachment="vertical",
    )
    tap = TapTool()
    figure = _figure(tools=[tap, hover, "pan", "wheel_zoom", "box_zoom", "reset"])
    figure.x_range, figure.y_range = Range1d(start=-0.03, end=1.03), Range1d(start=-0.05, end=1.05)
    source = ColumnDataSource(
        {key: [] for key in ("x", "y", "fill", "line", "name", "predicted", "p", "known")}, name="nodes"
    )
    dots = figure.scatter(
        "x",
        "y",
        source=source,
        size=7,
        fill_color="fill",
        line_color="line",
        fill_alpha=0.75,
        line_width=1.2,
        nonselection_fill_alpha=0.5,
        nonselection_line_alpha=0.5,
    )
    hover.renderers = tap.renderers = [dots]
    here = ColumnDataSource({key: [] for key in ("x", "y", "line")}, name="here")
    figure.scatter("x", "y", source=here, size=17, fill_color=None, line_color="line", line_width=3)
    return figure


def _around() -> Any:
    from bokeh.models import ColumnDataSource, HoverTool, Range1d, TapTool

    figure = _figure(tools=["pan", "wheel_zoom", "reset"], match_aspect=True)
    figure.x_range, figure.y_range = Range1d(start=-1.75, end=1.75), Range1d(start=-1.35, end=1.35)
    lines = ColumnDataSource({key: [] for key in ("x0", "y0", "x1", "y1", "width", "colour", "dash")}, name="lines")
    figure.segment(
        "x0", "y0", "x1", "y1", source=lines, line_width="width", line_color="colour", line_dash="dash", line_alpha=0.7
    )
    keys = ("x", "y", "fill", "line", "name", "predicted", "k", "size")
    ends = ColumnDataSource({key: [] for key in keys}, name="ends")
    dots = figure.scatter("x", "y", source=ends, size="size", fill_color="fill", line_color="line", line_width=1.5)
    dots.nonselection_glyph = None
    words = ColumnDataSource({key: [] for key in ("x", "y", "text", "align", "colour")}, name="words")
    figure.text(
        "x", "y", "text", source=words, text_align="align", text_baseline="middle", text_font_size="12px",
        text_color="colour",
    )  # fmt: skip
    figure.add_tools(
        HoverTool(tooltips=[("", "@name"), ("predicted", "@predicted"), ("k_hat", "@k")], renderers=[dots]),
        TapTool(renderers=[dots]),
    )
    return figure


def _figure(**kw: Any) -> Any:
    from bokeh.plotting import figure

    out = figure(
        height=HEIGHT,
        sizing_mode="stretch_width",
        toolbar_location="above",
        active_drag=None,
        active_scroll=None,
        background_fill_alpha=0,
        border_fill_alpha=0,
        outline_line_color=None,
        **kw,
    )
    out.axis.visible = False
    out.grid.visible = False
    out.toolbar.logo = None
    return out


def _bokeh() -> Any:
    try:
        import bokeh.embed
        import bokeh.resources
    except ImportError:
        raise ConfigError("a page needs Bokeh, which is not installed: pip install bokeh") from None
    return bokeh
