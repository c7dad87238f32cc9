"""The report's charts, as SVG with text that stays text."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "pg_snowid", "font.family": "sans-serif", "font.size": 10,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "figure.facecolor": "white",
})
from matplotlib import pyplot

OURS, OTHERS = "#2563a8", "#b4b8bf"
LIMIT = "#c0392b"


def ours(name):
    return any(name.startswith(start) for start in ("next_id", "id_", "snowflake", "decode"))


def save(figure, file):
    figure.savefig(file, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def cost(file, costs):
    """A bar a call, in ns on a logarithmic scale."""
    figure, axes = pyplot.subplots(figsize=(8, 0.3 * len(costs) + 0.8))
    names = [name for name, _ in costs]
    values = [max(ns, 1) for _, ns in costs]
    axes.barh(names, values, color=[OURS if ours(name) else OTHERS for name in names])
    for at, (_, ns) in enumerate(costs):
        axes.text(max(ns, 1) * 1.08, at, f"{ns:,.0f}", va="center", fontsize=9)
    axes.set_xscale("log")
    axes.set_xlabel("ns a call, net of the loop (logarithmic)")
    axes.invert_yaxis()
    save(figure, file)


def sessions(file, series):
    """ids a ms against sessions, with the layouts' limits drawn in."""
    figure, axes = pyplot.subplots(figsize=(8, 5))
    styles = iter(["-o", "--o", ":o"])
    marks = iter("sD^vPX")
    greys = iter(["#555555", "#888888", "#aaaaaa", "#c08040", "#60a060", "#8060a0"])
    for name, points in series.items():
        x, y = zip(*points)
        if ours(name):
            axes.plot(x, y, next(styles), color=OURS, label=name)
        else:
            axes.plot(x, y, "-" + next(marks), color=next(greys), label=name, markersize=5)
    for limit, name in ((1024, "limit of a shard, 1024"), (4096, "limit of a worker, 4096")):
        axes.axhline(limit, color=LIMIT, linewidth=0.8, linestyle="--")
        axes.text(1, limit * 1.05, name, color=LIMIT, fontsize=8)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    axes.set_xlabel("sessions")
    axes.set_ylabel("ids a ms, loop included (logarithmic)")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=9)
    save(figure, file)


def insert(file, names, ratios):
    """Time, index size and WAL against bigserial."""
    figure, all_axes = pyplot.subplots(1, len(ratios), figsize=(10, 0.35 * len(names) + 0.8), sharey=True)
    for axes, (what, values) in zip(all_axes, ratios.items()):
        axes.barh(names, values, color=[OURS if ours(name) else OTHERS for name in names])
        for at, value in enumerate(values):
            axes.text(value + 0.03, at, f"{value:.2f}", va="center", fontsize=9)
        axes.axvline(1, color=LIMIT, linewidth=0.8, linestyle="--")
        axes.set_title(f"{what}, bigserial = 1", fontsize=10)
        axes.set_xlim(0, max(values) * 1.2)
    all_axes[0].invert_yaxis()
    save(figure, file)
