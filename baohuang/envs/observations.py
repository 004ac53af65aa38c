"""Observations: what a seat may know, as numbers. `PLANES` says what stands where."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from baohuang.arena.kernels.observe import PLANES, Plane


def split(observation: NDArray[np.int8], planes: tuple[Plane, ...] = PLANES) -> dict[str, NDArray[np.int8]]:
    """The planes of an observation by name, as views: … × width for observations of any … × size."""
    parts, start = {}, 0
    for plane in planes:
        parts[plane.name] = observation[..., start : start + plane.width]
        start += plane.width
    return parts


def bounds(planes: tuple[Plane, ...]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """The least and the most that each number of an observation can be."""
    widths = [plane.width for plane in planes]
    least = np.repeat(np.array([plane.least for plane in planes], np.int8), widths)
    return least, np.repeat(np.array([plane.most for plane in planes], np.int8), widths)
