"""A loss: what a journal was found to lack of what had been acknowledged, kept until a person has taken note."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

from helix.files import read_text, write_private

LOST_FILE = "journal.lost"
"""Name of the file in a store's folder that lists its losses. It is no part of the journal, which lost them."""

RECOVER_HINT = "`helix recover` takes back what was kept, `helix recover --acknowledge` ends this warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What was found at `found_at` (microseconds): the journal ended at row `held`, and `witnesses` knew of more.

    `known` is the last row that any of them knew. `commits` counts lost transactions, -1 where that is not known;
    `kept` are the files that were put aside and may hold what is lost, `recovered` how many rows were taken back.
    """

    found_at: int
    store: str
    held: int
    known: int
    commits: int = -1
    witnesses: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    recovered: int = 0

    @property
    def sentence(self) -> str:
        """What a person has to know of it."""
        day = datetime.fromtimestamp(self.found_at / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M UTC")
        what = (
            f"rows {self.held + 1:,} to {self.known:,}"
            if self.known > self.held
            else f"{self.commits:,} notes and jobs"
            if self.commits > 0
            else f"the rows up to {self.known:,} are not those that were acknowledged"
        )
        back = f"; {self.recovered:,} changes were taken back" if self.recovered else ""
        told = " and ".join(self.witnesses)
        return f"the journal lost what was acknowledged ({what}; found {day}, told by {told}){back}"


def losses_of(text: str) -> tuple[Loss, ...]:
    """Return the losses of a journal that a text tells of, see `text_of`.

    Raises ValueError, KeyError or TypeError for another text.
    """
    names = [field.name for field in fields(Loss)]
    return tuple(
        Loss(
            **{
                **{name: one[name] for name in names},
                "witnesses": tuple(one["witnesses"]),
                "kept": tuple(one["kept"]),
            }
        )
        for one in json.loads(text)
    )


def text_of(found: Iterable[Loss]) -> str:
    """Return losses of a journal as a text."""
    return json.dumps([asdict(one) for one in found], indent=1)


def losses(store: Path) -> tuple[Loss, ...]:
    """Return the losses of the journal of a store in this folder that nobody has acknowledged, the oldest first."""
    try:
        return losses_of(read_text(store / LOST_FILE, links=False))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError):
        return (Loss(found_at=0, store="", held=0, known=0, witnesses=(f"{LOST_FILE}, which cannot be read",)),)


def keep(store: Path, found: Iterable[Loss]) -> None:
    """Have the store's folder tell of exactly these losses of its journal."""
    told: Sequence[Loss] = tuple(found)
    if not told:
        (store / LOST_FILE).unlink(missing_ok=True)
        return
    write_private(store / LOST_FILE, text_of(told))


def recovered(loss: Loss, rows: int) -> Loss:
    """Return a journal's loss with so many more rows taken back."""
    return replace(loss, recovered=loss.recovered + rows)
