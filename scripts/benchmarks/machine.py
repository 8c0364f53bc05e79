"""What a figure belongs to: the machine, and the middle and the spread of repeated measurements."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def described() -> str:
    """Return the machine in one line."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next(
            (line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line), cpu
        )
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50, p95 and p99 of wall times, in milliseconds."""
    if not seconds:
        return {"p50_ms": 0.0, "p95_ms": 0.0, "p99_ms": 0.0}
    p50, p95, p99 = np.percentile(np.array(seconds) * 1000, [50, 95, 99])
    return {"p50_ms": round(float(p50), 2), "p95_ms": round(float(p95), 2), "p99_ms": round(float(p99), 2)}


def share_models(home: Path, models: Path) -> None:
    """Let a home, which is made where there is none, use the models installed elsewhere, where there are any."""
    home.mkdir(parents=True, exist_ok=True)
    if models.is_dir() and not (home / "models").exists():
        (home / "models").symlink_to(models.absolute())
