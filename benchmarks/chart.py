"""Figures that belong to a series, as a chart: throughput by batch size."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure


def draw(figures: Sequence[Figure], file: Path) -> None:
    """Writes an image in the format of the file's ending; needs matplotlib, which is in the extra `bench`."""
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("agg")
    # The same figures give the same file.
    matplotlib.rcParams.update({"svg.hashsalt": "baohuang", "svg.fonttype": "none"})
    pyplot: Any = importlib.import_module("matplotlib.pyplot")
    series: dict[str, list[Figure]] = {}
    for each in figures:
        if each.series is not None:
            series.setdefault(each.series, []).append(each)
    if not series:
        raise SystemExit("--chart: none of these benchmarks has a series to draw")
    canvas, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for (name, members), marker in zip(series.items(), "os^Dv*" * len(series), strict=False):
        members.sort(key=lambda each: each.at)
        places, medians = [each.at for each in members], [each.median for each in members]
        axes.plot(places, medians, marker=marker, label=name)
        axes.fill_between(
            places, [each.least for each in members], [each.most for each in members], alpha=0.2
        )
    axes.set(xscale="log", yscale="log", xlabel="games at once", ylabel="actions a second, one core")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    canvas.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    pyplot.close(canvas)
