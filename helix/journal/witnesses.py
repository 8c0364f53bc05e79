"""Witnesses: what knows how far the journal had come, asked before it is opened.

The mark is written with every transaction, the image now and then. Where one of them knows more than the journal, what
was acknowledged is lost: that is written down in the store's folder until a person takes note, and whatever may still
hold it is put aside before anything is opened, which would write over it. Of a journal that a server keeps, each
process that was its home has a mark.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from helix.errors import DiskFullError, HelixError
from helix.journal.backend import Backend
from helix.journal.log import Journal
from helix.journal.mark import MarkFile, Reach, Stamp, reached
from helix.model.loss import Loss, keep, losses, losses_of, text_of

log = logging.getLogger(__name__)

KNOWS_MORE = ".knows-more-"
"""Between the name of a file and the second at which it was put aside."""
NOTED = "losses"
"""Under which a server's journal tells of its losses: a folder beside it is one home's alone."""
_LOGS = ("-wal", "-shm", ".wal")


def examine_witnesses(
    journal: Path, mark: MarkFile, image_file: Path, stamp: Stamp | None, graph: Path, at: int
) -> Loss | None:
    """Compare a store's journal with what its witnesses know; where it lost something, note that and put aside what
    may hold it. Return what was lost, or None. `stamp` is what the image says of itself, `at` is now, in microseconds.

    Raises StoreCorruptError where SQLite cannot read the journal, and DiskFullError without room for what is kept.
    """
    witnesses = dict(_witnesses(mark, stamp))
    found = reached(journal, [reach.seq for reach in witnesses.values()])
    held, chains = found or (Reach(store="", seq=0, chain="", commits=0), {})
    behind = {name: reach for name, reach in witnesses.items() if _knows_more(reach, held, chains)}
    if found is None and not behind and graph.is_file() and graph.stat().st_size:
        behind = {"the graph beside an empty journal": Reach(store="", seq=0, chain="")}
    if not behind:
        return None
    same = [reach for reach in behind.values() if reach.store == held.store]
    second = at // 1_000_000
    loss = Loss(
        found_at=at,
        store=next(iter(behind.values())).store,
        held=held.seq if same else 0,
        known=max(reach.seq for reach in behind.values()),
        commits=max(reach.commits for reach in behind.values()) - held.commits if same else -1,
        witnesses=tuple(behind),
        kept=tuple(name for path in (journal, image_file, graph) for name in put_aside(path, second, path == journal)),
    )
    keep(journal.parent, [*losses(journal.parent), loss])
    log.error("acknowledged changes are lost", extra={"loss": loss.sentence, "kept": list(loss.kept)})
    return loss


def set_aside(journal: Path, mark: MarkFile, image_file: Path, stamp: Stamp | None, graph: Path, at: int) -> Loss:
    """Put a store's journal that cannot be opened aside with its witnesses, and note the loss of what it held.

    The next start makes an empty store, which `helix recover` fills. For the owner of the lock.
    """
    witnesses = dict(_witnesses(mark, stamp))
    second = at // 1_000_000
    loss = Loss(
        found_at=at,
        store=next((reach.store for reach in witnesses.values()), ""),
        held=0,
        known=max((reach.seq for reach in witnesses.values()), default=0),
        witnesses=("a journal that cannot be opened", *witnesses),
        kept=tuple(f"{path.name}{KNOWS_MORE}{second}{end}" for path, end in _present(journal, image_file, graph)),
    )
    # First: killed after it, the start tells of the loss, and doing it again finds what is still to be put aside.
    keep(journal.parent, [*losses(journal.parent), loss])
    log.error("the journal cannot be opened and was set aside", extra={"kept": list(loss.kept)})
    for path in (graph, image_file, journal):
        for _ in put_aside(path, second):
            continue
    mark.suspend()
    return loss


def _present(*paths: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file and log that there is and that holds something: the file's path, and how the log's name ends."""
    for path in paths:
        for end in ("", *_LOGS):
            file = path.with_name(path.name + end)
            if file.is_file() and file.stat().st_size and end != "-shm":
                yield path, end


def note_loss(journal: Journal, folder: Path, loss: Loss) -> None:
    """Note a loss of rows of the store's journal that something else found, such as a graph that is ahead of it."""
    if any((one.store, one.known) == (loss.store, loss.known) for one in losses(folder)):
        return
    log.error("acknowledged changes are lost", extra={"loss": loss.sentence})
    _tell(journal, folder, [*losses(folder), loss])


def _tell(journal: Journal, folder: Path, found: Sequence[Loss]) -> None:
    keep(folder, found)
    try:
        keep_noted(journal, folder, found)
    except HelixError as error:  # the next opening notes it: where nothing can be written now, it is told from here
        log.warning("a loss is noted in this folder alone", extra={"error": str(error)})


def keep_noted(journal: Journal, folder: Path, found: Sequence[Loss]) -> None:
    """Have a store tell of exactly these losses of its journal; one that a server keeps tells every home of them."""
    if journal.is_served and found:
        journal.set_meta(NOTED, text_of(found))
    elif journal.is_served:
        journal.drop_meta(NOTED)
    keep(folder, found)


def learn_losses(journal: Journal, folder: Path) -> None:
    """Have a store's folder tell of what another home of its journal found to be lost, and the journal of its own."""
    text = journal.meta(NOTED) if journal.is_served else None
    noted = losses_of(text) if text else ()
    known = {(one.store, one.known, one.found_at) for one in noted}
    found = (*noted, *(one for one in losses(folder) if (one.store, one.known, one.found_at) not in known))
    if found != noted and journal.is_served:
        _tell(journal, folder, found)
    elif noted:
        keep(folder, noted)


def examine_served(journal: Journal, mark: MarkFile, graph: Path, at: int) -> None:
    """Note what a server's journal lost of what this process had seen in it, and keep the graph, which may hold that.

    The mark says from then on what there is now. Another store's is of a tenant that had the same number, on a server
    that was turned back.
    """
    known, store = mark.read(), journal.store_id
    if known is not None and known.store == store and known.seq and journal.chain_at(known.seq) != known.chain:
        held, told, kept = journal.last_seq, ("its mark",), tuple(put_aside(graph, at // 1_000_000))
        loss = Loss(found_at=at, store=store, held=held, known=known.seq, witnesses=told, kept=kept)
        note_loss(journal, graph.parent, loss)
    journal.note_reach()


def is_loss_noted(backend: Backend) -> bool:
    """Return whether a server's journal tells of a loss that nobody has acknowledged."""
    with backend.reading() as connection:
        return connection.execute("SELECT value FROM meta WHERE key = ?", (NOTED,)).fetchone() is not None


def note_graph_ahead(journal: Journal, graph: Path, how: str, *, known: int, at: int) -> str:
    """Note that the store's journal lost rows that the graph has, and keep that to recover from; return its new name.

    `how` says in words how the graph knows. Only the graph tells of it where mark and image are gone too. A restore
    removes the graph before it begins.
    """
    kept = tuple(put_aside(graph, at // 1_000_000))
    store, held = journal.store_id, journal.last_seq
    told = (f"the graph, which {how}",)
    note_loss(journal, graph.parent, Loss(found_at=at, store=store, held=held, known=known, witnesses=told, kept=kept))
    return kept[0]


def _witnesses(mark: MarkFile, stamp: Stamp | None) -> Iterator[tuple[str, Reach]]:
    if (reach := mark.read()) is not None:
        yield "its mark", reach
    with suppress(KeyError, TypeError, ValueError):
        if stamp is not None:
            yield (
                "the image of the memory",
                Reach(store=str(stamp["store"]), seq=int(stamp["seq"]), chain=str(stamp["chain"])),
            )


def _knows_more(known: Reach, held: Reach, chains: dict[int, str]) -> bool:
    """Whether a witness knows of what the journal does not hold, or holds otherwise."""
    if known.store != held.store:
        return known.seq > 0
    if known.seq and chains.get(known.seq) != known.chain:
        return True
    return known.commits > held.commits >= 0


def put_aside(path: Path, second: int, copied: bool = False) -> Iterator[str]:
    """Rename a file of the store and its logs, and yield it; the journal stays and is copied, to go on from."""
    aside = path.with_name(f"{path.name}{KNOWS_MORE}{second}")
    for _, end in list(_present(path)):
        file, kept = path.with_name(path.name + end), aside.with_name(aside.name + end)
        if not copied:
            file.rename(kept)
        else:
            if shutil.disk_usage(path.parent).free < 2 * file.stat().st_size:
                raise DiskFullError(
                    f"{path} lost what was acknowledged, and there is no room to keep {file.name} before it is opened",
                    hint="free some space and start again: nothing was changed",
                )
            shutil.copyfile(file, kept)
            kept.chmod(0o600)
        yield kept.name
