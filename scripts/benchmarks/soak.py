"""Soak: kills and damage without end, and whether what Helix promised still holds after each of them."""

from __future__ import annotations

import json
import random
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click

from benchmarks.machine import described
from benchmarks.soak_daemon import Ended, Home, Hung, Zygote
from benchmarks.soak_damage import LARGE_FILES, LARGE_LINES, Case, Damage, cases
from benchmarks.soak_judge import JOURNAL, judge
from benchmarks.soak_kills import KINDS, ROUNDS_PER_STORE, SETTINGS, Kills
from benchmarks.soak_ledger import Ledger, Verdict
from benchmarks.soak_load import Retries

COLUMNS = ("rounds", "well", "told", "refused", "lost", "doubled", "silent", "crashed", "hung", "unjudged", "alarms")
_SHOWN = 30
WRITTEN_SECONDS = 1.2
"""How long each state of a store that is damaged is written to."""
BAD = frozenset({"lost", "doubled", "silent", "crashed", "hung", "unjudged"})


@dataclass(slots=True)
class Tally:
    """Rounds by kind and result, the failures with their seeds, and how long starts took."""

    seed: int
    rows: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    seconds: float = 0.0
    acknowledged: int = 0

    def add(self, kind: str, results: Sequence[str], seed: int, detail: Any, evidence: str = "") -> None:
        """Count a round; whatever of its results is bad is a failure."""
        row = self.rows.setdefault(kind, Counter())
        row["rounds"] += 1
        row.update(results)
        if BAD & set(results) or "alarms" in results:
            self.failures.append(
                {"kind": kind, "results": list(results), "seed": seed, "detail": detail, "evidence": evidence}
            )

    @property
    def bad(self) -> int:
        """How many rounds went wrong."""
        return sum(bool(BAD & set(failure["results"])) for failure in self.failures)

    def report(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        rows = {kind: dict(row) for kind, row in self.rows.items()}
        plain = {name: getattr(self, name) for name in ("seed", "seconds", "acknowledged", "starts", "failures", "bad")}
        return {**plain, "rows": rows}

    def table(self) -> str:
        """Return the table by kind, the worst starts and the failures."""
        width = max([len(kind) for kind in self.rows] + [4])
        lines = [" " * width + "".join(f"{name:>9}" for name in COLUMNS)]
        total: Counter[str] = Counter()
        for kind, row in sorted(self.rows.items()):
            total.update(row)
            lines.append(f"{kind:<{width}}" + "".join(f"{row[name] or '':>9}" for name in COLUMNS))
        lines.append(f"{'all':<{width}}" + "".join(f"{total[name] or '':>9}" for name in COLUMNS))
        worst = ", ".join(f"{took:.1f}" for took in sorted(self.starts, reverse=True)[:5])
        lines.append(f"seed {self.seed}, {self.seconds:.0f} s, {self.acknowledged:,} operations acknowledged")
        lines.append(f"starts: {len(self.starts)}, the longest {worst} s")
        for failure in self.failures[:_SHOWN]:
            lines.append(f"{failure['kind']} (seed {failure['seed']}): {json.dumps(failure['detail'])[:400]}")
        return "\n".join(lines)


def results_of(verdict: Verdict) -> list[str]:
    """Return the columns a kill round counts in."""
    found = ["lost"] if verdict.lost or verdict.differs else []
    found += ["doubled"] if verdict.doubled else []
    found += ["silent"] if verdict.silent else []
    return found or (["alarms"] if verdict.alarms else ["well"])


def keep(folder: Path | None, name: str, source: Path, detail: Any) -> str:
    """Pack a store that went wrong, with what was found; return the file's name."""
    if folder is None or not source.exists():
        return ""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}.tar.gz"
    (source / "verdict.json").write_text(json.dumps(detail, indent=1), "utf-8")
    with tarfile.open(target, "w:gz", compresslevel=3) as archive:
        archive.add(source, name, filter=lambda info: None if info.isfifo() else info)
    return str(target)


def kill_rounds(
    tally: Tally, folder: Path, zygote: Zygote, count: int, evidence: Path | None, *, kinds: Sequence[str], large: bool
) -> None:
    """Do the kill rounds; every store that went wrong is kept and left for a new one."""
    kills = Kills(folder, zygote, tally.seed, large=large)
    order = random.Random(tally.seed)
    bag: list[str] = []
    left = 0
    for number in range(count):
        if not left:
            kills.new_store()
            left = ROUNDS_PER_STORE
        if not bag:
            bag = order.sample(kinds, len(kinds))
        kind, seed, left = bag.pop(), tally.seed * 100_000 + number, left - 1
        detail: Any
        try:
            verdict = kills.round(kind, seed)
            results, detail = results_of(verdict), verdict.short()
        except (Ended, Hung) as error:
            results, detail = ["hung" if isinstance(error, Hung) else "crashed"], str(error)
        except Exception as error:  # whatever a broken store makes of the judge is a finding too
            results, detail = ["unjudged"], f"{type(error).__name__}: {error}"
        kept = ""
        if set(results) & BAD:
            zygote.kill_others()
            kept = keep(evidence, f"kill-{kind}-{seed}", kills.home.folder, detail)
            left, kills.running = 0, None
        tally.add(kind, results, seed, detail, kept)
    kills.end_store()
    tally.starts += kills.took
    tally.acknowledged += kills.acknowledged


def damage_rounds(
    tally: Tally, folder: Path, zygote: Zygote, count: int, evidence: Path | None, *, large: bool, seconds: float
) -> None:
    """Do the damage cases; a sixth of them to a store of thousands of rows, which has an image.

    `seconds` is how long each state of a store is written to before it is damaged.
    """
    many = count // 6 if large else 0
    _damage(tally, Damage(folder / "small", zygote, tally.seed), cases(tally.seed, count - many), evidence, seconds)
    if many:
        drawn = cases(tally.seed + 1, many, LARGE_FILES)
        _damage(tally, Damage(folder / "large", zygote, tally.seed, lines=LARGE_LINES), drawn, evidence, seconds)
    zygote.kill_others()


def _damage(tally: Tally, damage: Damage, drawn: Sequence[Case], evidence: Path | None, seconds: float) -> None:
    damage.prepare(seconds)
    for name, verdict in damage.faults:
        tally.add("before damage", results_of(verdict), tally.seed, {"store": name, "found": verdict.short()})
    for case in drawn:
        try:
            outcome = damage.run(case)
            result, detail = outcome.result, outcome.detail
            tally.starts.append(outcome.seconds)
        except Exception as error:  # whatever a broken store makes of the judge is a finding too
            result, detail = "unjudged", f"{type(error).__name__}: {error}"
        told = {"case": asdict(case), "found": detail}
        name = f"damage-{Path(case.file).name}-{case.kind}-{case.seed}"
        kept = keep(evidence, name, damage.home.folder, told) if result in BAD else ""
        tally.add(f"{Path(case.file).name} damaged", [result], case.seed, told, kept)


def kept_store(tally: Tally, folder: Path, zygote: Zygote, archive: Path) -> None:
    """Start a store that was packed as a kill left it, and compare its parts; nobody knows what was acknowledged."""
    home = Home(folder / archive.name.split(".")[0], zygote, SETTINGS)
    with tarfile.open(archive) as packed:
        packed.extractall(home.folder, filter="data")
    store = next(path.parent for path in home.folder.rglob(JOURNAL))
    if store != home.store:
        store.rename(home.store)
    try:
        verdict = judge(home, home.start(), Ledger(), Retries(), random.Random(tally.seed))
        tally.add("kept store", results_of(verdict), tally.seed, {"store": archive.name, "found": verdict.short()})
    except (Ended, Hung) as error:
        result = "hung" if isinstance(error, Hung) else "crashed"
        tally.add("kept store", [result], tally.seed, {"store": archive.name, "found": str(error)})
    finally:
        home.kill()


@contextmanager
def workplace() -> Iterator[tuple[Path, Zygote]]:
    """Yield a folder and a zygote that are gone afterwards, with every process of the run."""
    zygote = Zygote()
    try:
        with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as folder:
            try:
                yield Path(folder), zygote
            finally:
                zygote.kill_others()
    finally:
        zygote.close()


def measure(
    seed: int,
    kills: int,
    damages: int,
    evidence: Path | None,
    *,
    kinds: Sequence[str] = KINDS,
    large: bool = True,
    kept: Sequence[Path] = (),
    seconds: float = WRITTEN_SECONDS,
) -> Tally:
    """Do both and return what came of them."""
    tally, started = Tally(seed), time.monotonic()
    with workplace() as (folder, zygote):
        if kills:
            kill_rounds(tally, folder / "kills", zygote, kills, evidence, kinds=kinds, large=large)
        for archive in kept:
            kept_store(tally, folder, zygote, archive)
        if damages:
            damage_rounds(tally, folder / "damage", zygote, damages, evidence, large=large, seconds=seconds)
    tally.seconds = time.monotonic() - started
    return tally


@click.command()
@click.option("--kills", type=click.IntRange(0), default=100, show_default=True, help="Rounds that end in SIGKILL.")
@click.option("--damage", type=click.IntRange(0), default=0, show_default=True, help="Files that are damaged.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of everything that is drawn.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only rounds of this kind.")
@click.option("--store", "evidence", type=click.Path(path_type=Path), help="Folder for stores that went wrong.")
@click.option("--kept", multiple=True, type=click.Path(path_type=Path, exists=True), help="Packed store to start too.")
@click.option("--json", "as_json", is_flag=True, help="Print nothing but JSON.")
def soak(
    kills: int,
    damage: int,
    seed: int,
    kinds: tuple[str, ...],
    evidence: Path | None,
    kept: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Kill and damage stores, and look for anything lost, doubled or called healthy that is not."""
    tally = measure(seed, kills, damage, evidence, kinds=kinds or KINDS, kept=kept)
    report = {"machine": described(), **tally.report()}
    if evidence is not None:
        evidence.mkdir(parents=True, exist_ok=True)
        (evidence / f"soak-{seed}.json").write_text(json.dumps(report, indent=1), "utf-8")
    click.echo(json.dumps(report, indent=1) if as_json else tally.table())
    if tally.bad:
        raise SystemExit(1)
