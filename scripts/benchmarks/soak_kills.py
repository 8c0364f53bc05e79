"""Kills: a daemon under load is killed in the middle of everything it can be in, started again, and judged."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks import soak_brought
from benchmarks.soak_api import Api, Doubt, Refused
from benchmarks.soak_brought import PASSPHRASE, Other, finished
from benchmarks.soak_daemon import PAUSE, START_LIMIT, Home, Running, Zygote, within
from benchmarks.soak_journal import read
from benchmarks.soak_judge import JOURNAL, judge, settled
from benchmarks.soak_ledger import Facts, Ledger, Verdict
from benchmarks.soak_load import Retries, Writer, words
from benchmarks.soak_parts import Closing, check_backup, copied, end, history, joined, undone

WRITERS = 3
ROUNDS_PER_STORE = 24
LARGE_EVERY = 4
_LARGE = 2_000
_ERASE = "query P($n: String!) { erasePlan(nameOrId: $n) { root { id } goes { ref { label id } } } }"
SETTINGS = {"reopen_after": "40", "consolidation_budget": "60", "log_level": "warning", "buffer_pool_mb": "64"}


class Kills:
    """One store after the other, each killed many times. `took` holds the seconds of each start."""

    def __init__(self, folder: Path, zygote: Zygote, seed: int, *, large: bool = True) -> None:
        self.folder = folder
        self.zygote = zygote
        self.seed = seed
        self.large = large
        self.took: list[float] = []
        self.typical: dict[str, float] = {}
        self.stores = 0
        self.acknowledged = 0
        self.home: Home
        self.ledger = Ledger()
        self.retries = Retries()
        self.running: Running | None = None
        self._job = ""
        self._other: Other | None = None
        self._after: list[Callable[[Api], None]] = []

    def new_store(self) -> None:
        """Begin a new store; now and then one with thousands of rows in it."""
        self.end_store()
        self.stores += 1
        self._other = self._other or soak_brought.other(self.folder, self.zygote)
        place = self.folder / f"home{self.stores}"
        self.home, self.ledger, self.retries = Home(place, self.zygote, SETTINGS), Ledger(), Retries()
        (place / "backups").mkdir()
        self._start()
        with self._api() as api:
            api.call("newKey", name="own")  # strands are signed
            api.call("importKey", name="other", public=self._other.public)
        if self.large and self.stores % LARGE_EVERY == 2:
            rng = random.Random(self.seed + self.stores)
            with self._api() as api:
                self._bulk(api, rng, _LARGE)
                settled(api)
                self._noted()

    def end_store(self) -> None:
        """Let go of the present store."""
        self.zygote.kill_others()
        self.acknowledged += self.ledger.counts["acknowledged"]
        if self.stores:
            shutil.rmtree(self.home.folder, ignore_errors=True)

    def _start(self) -> Running:
        running = self.running = self.home.start()
        self.took.append(running.started_in)
        return running

    def _api(self) -> Closing:
        assert self.running is not None
        return Closing(self.running, self.home)

    def round(self, kind: str, seed: int) -> Verdict:
        """Do one round; `as-killed` beside the store holds what the kill left. Raises Ended and Hung."""
        rng = random.Random(seed)
        self._after, self._job = [], ""
        if self.running is None:
            self._start()
        assert self.running is not None
        writers = [
            Writer(self.running, self.home, self.ledger, self.retries, WRITERS * seed + n) for n in range(WRITERS)
        ]
        if kind != "restore":
            for writer in writers:
                writer.start()
            self._written()
        time.sleep(rng.uniform(0.0, 0.3))
        verdict = Verdict()
        try:
            getattr(self, f"_{kind}")(rng, writers)
        except (Doubt, Refused) as error:
            verdict.silent.append(f"before the kill: {error}")
        code = self.home.ended()
        if code is not None and kind not in ("shutdown", "start"):
            verdict.silent.append(f"the daemon died by itself with {code}: {self.home.words()[-400:]}")
        if kind != "alive":
            self.home.kill()
        end(writers)
        if kind == "alive":
            assert self.running is not None
            return joined(verdict, judge(self.home, self.running, self.ledger, self.retries, rng))
        copied(self.home.store, self.home.folder / "as-killed")
        self.running = None
        running = self._start()
        for after in self._after:
            with self._api() as api:
                settled(api)
                after(api)
        return joined(verdict, judge(self.home, running, self.ledger, self.retries, rng))

    def _written(self) -> None:
        """Wait until this store has taken two operations: on a busy machine a first one takes longer than a round."""
        deadline = time.monotonic() + within(START_LIMIT)
        while self.ledger.counts["acknowledged"] < 2 and self.home.ended() is None and time.monotonic() < deadline:
            time.sleep(PAUSE)

    def _wait(self, kind: str, rng: random.Random, api: Api | None = None) -> bool:
        """Sleep a random part of what such a piece of work takes; return whether a job was over by then."""
        typical = self.typical.setdefault(kind, 0.5)
        time.sleep(rng.uniform(0.0, 1.3 * typical))
        if api is None or not self._job:
            return False
        with suppress(Doubt, Refused):
            done = api.call("job", id=self._job)["state"] == "DONE"
            self.typical[kind] = min(6.0, max(0.05, typical * (0.85 if done else 1.15)))
            return bool(done)
        return False

    def _begun(self, kind: str, rng: random.Random, field: str, **given: Any) -> bool:
        with self._api() as api:
            self._job = api.call(field, **given)["id"]
            return self._wait(kind, rng, api)

    def _load(self, rng: random.Random, _: list[Writer]) -> None:
        time.sleep(rng.uniform(0.05, 1.0))

    def _alive(self, rng: random.Random, writers: list[Writer]) -> None:
        """Kill nothing: what is wrong here is wrong in every store that has work to do."""
        time.sleep(rng.uniform(0.2, 1.5))

    def _idle(self, rng: random.Random, writers: list[Writer]) -> None:
        for writer in writers:
            writer.stopped.set()
        time.sleep(rng.uniform(0.3, 3.0))

    def _shutdown(self, rng: random.Random, _: list[Writer]) -> None:
        os.kill(self.home.pid, signal.SIGTERM)
        time.sleep(rng.uniform(0.0, 0.5))

    def _start_up(self, rng: random.Random, writers: list[Writer]) -> None:
        time.sleep(rng.uniform(0.0, 0.4))
        for _ in range(rng.randint(1, 3)):
            self.home.kill()
            self.home.begin()
            time.sleep(rng.uniform(0.02, 0.6))

    def _rebuild(self, rng: random.Random, _: list[Writer]) -> None:
        self._begun("rebuild", rng, "rebuild")

    def _reembed(self, rng: random.Random, _: list[Writer]) -> None:
        self._begun("reembed", rng, "reembed")

    def _scan(self, rng: random.Random, _: list[Writer]) -> None:
        self._begun("scan", rng, "scanSecrets", apply=True)

    def _backup(self, rng: random.Random, _: list[Writer]) -> None:
        target = self.home.folder / "backups" / f"b{rng.getrandbits(40)}.db"
        before = self.ledger.snapshot()
        done = self._begun("backup", rng, "backup", path=str(target))
        self._after.append(lambda _: check_backup(target, before, done))

    def _bulk_import(self, rng: random.Random, _: list[Writer]) -> None:
        with self._api() as api:
            self._bulk(api, rng, rng.choice((40, 400)))
            if self._wait("bulk", rng, api):
                self._noted()

    def _bulk(self, api: Api, rng: random.Random, count: int) -> None:
        path = self.home.folder / f"lines{rng.getrandbits(40)}.jsonl"
        tokens = [self.ledger.token() for _ in range(count)]
        lines = (json.dumps({"id": token, "text": f"{token} {words(rng, 10)}"}) for token in tokens)
        path.write_text("\n".join(lines), "utf-8")
        self._fresh = dict.fromkeys(tokens, "a line of a bulk import")
        self._job = api.call("ingestBulk", path=str(path))["id"]
        self._after.append(lambda api: self._again(api, "ingestBulk", path=str(path)))

    def _again(self, api: Api, field: str, **given: Any) -> None:
        """Send an import again, as a person would: what is in already counts once."""
        finished(api, field, **given)
        self._noted()

    def _noted(self) -> None:
        with self.ledger.lock:
            self.ledger.facts.episodes.update(self._fresh)

    def _git(self, rng: random.Random, _: list[Writer]) -> None:
        place = self.home.folder / f"repo{rng.getrandbits(40)}"
        tokens = [self.ledger.token() for _ in range(25)]
        history(place, [f"Mend {token} {words(rng, 5)}\n\nBecause {words(rng, 9)}." for token in tokens])
        self._fresh = dict.fromkeys(tokens, "a commit")
        given = {"path": str(place), "scope": "global"}
        self._after.append(lambda api: self._again(api, "ingestGit", **given))
        # What a commit says becomes an episode and perhaps memories: the same commit twice shows in its episodes.
        self._begun("git", rng, "ingestGit", **given)

    def _brought(self, rng: random.Random, field: str, write: Callable[..., dict[str, Any]]) -> None:
        tokens = [self.ledger.token() for _ in range(25)]
        given = write(self.home.folder / f"brought{rng.getrandbits(40)}", tokens, rng)
        self._fresh = dict.fromkeys(tokens, field)
        self._after.append(lambda api: self._again(api, field, **given))
        self._begun(field, rng, field, **given)

    def _notes(self, rng: random.Random, _: list[Writer]) -> None:
        self._brought(rng, "ingestNotes", soak_brought.notes)

    def _transcript(self, rng: random.Random, _: list[Writer]) -> None:
        self._brought(rng, "ingestTranscript", soak_brought.transcript)

    def _memories(self, rng: random.Random, _: list[Writer]) -> None:
        self._brought(rng, "importMemories", soak_brought.memories)

    def _merge(self, rng: random.Random, _: list[Writer]) -> None:
        """Another store's strand comes in."""
        assert self._other is not None, "made with the first store"
        self._fresh = dict.fromkeys(self._other.episodes, "of a strand")
        given = {"path": str(self._other.path), "passphrase": PASSPHRASE}
        with self.ledger.lock:
            self.ledger.facts.once.update(self._other.memories, self._other.episodes)
        self._after.append(lambda api: self._again(api, "importStrand", **given))
        self._begun("merge", rng, "importStrand", **given)

    def _strand(self, rng: random.Random, _: list[Writer]) -> None:
        target = self.home.folder / "backups" / f"s{rng.getrandbits(40)}.dna"
        before = self.ledger.snapshot()
        done = self._begun("strand", rng, "exportStrand", path=str(target), passphrase=PASSPHRASE)
        self._after.append(lambda api: self._cloned(api, target, before, done))

    def _cloned(self, api: Api, strand: Path, before: Facts, done: bool) -> None:
        """A strand that has its name is whole: the store that is made of it holds all that was there before."""
        if done and not strand.exists():
            raise Refused("SOAK", f"a strand that was done is not there: {strand.name}")
        if strand.exists():
            clone = strand.with_suffix(".clone")
            finished(api, "cloneStrand", path=str(strand), to=str(clone), passphrase=PASSPHRASE)
            check_backup(next(clone.rglob(JOURNAL)), before, done)

    def _sync(self, rng: random.Random, _: list[Writer]) -> None:
        place = self.home.folder / f"place{rng.randrange(3)}"
        place.mkdir(exist_ok=True)
        given = {"place": str(place), "passphrase": PASSPHRASE}
        before = self.ledger.snapshot()

        def after(api: Api) -> None:
            finished(api, "sync", **given)
            first, *later = sorted(place.rglob("*.dna"))
            if not later:  # it holds the whole store; what is left there later holds what changed since
                self._cloned(api, first, before, done=True)

        self._after.append(after)
        self._begun("sync", rng, "sync", **given)

    def _roll_back(self, rng: random.Random, writers: list[Writer]) -> None:
        with self._api() as api:
            end(writers)
            settled(api)
            target = self.home.folder / "backups" / f"v{rng.getrandbits(40)}.dna"
            before = self.ledger.snapshot()
            version = finished(api, "exportStrand", path=str(target), passphrase=PASSPHRASE)["version"]
            last = self._last(api, rng)
            self._job = api.call("rollBackTo", version=version)["id"]
            done = self._wait("roll_back", rng, api)
        self._after.append(lambda _: self._taken_back(before, last, done))

    def _last(self, api: Api, rng: random.Random) -> str:
        text = f"{self.ledger.token()} {words(rng, 6)}"
        return str(api.call("store", trigger=text, resolution="", kind="FACT")["id"])

    def _child(self, rng: random.Random, _: list[Writer]) -> None:
        with self._api() as api:
            self._bulk(api, rng, 150)
            until = time.monotonic() + 1.0
            while not self.home.kill_child(rng) and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(rng.uniform(0.0, 0.8))
            api.call("health")

    def _consolidate(self, rng: random.Random, _: list[Writer]) -> None:
        said = [words(rng, 5) for _ in range(3)]
        with self._api() as api:
            for number in range(12):
                text = f"always {said[number % 3]} before {words(rng, 1)}"
                api.call(
                    "recordEpisode", content=text, session=f"talk{rng.randrange(10**6)}", role="user", importance=8.0
                )
            api.call("flush")
            kind = rng.choice(("consolidate", "merge_similar", "promote_systemic", "roll_up", "close_gaps", "decay"))
            with suppress(Refused):
                api.call("beginWork", kind=kind, payload={"scope": None} if kind == "consolidate" else {})
            time.sleep(rng.uniform(0.0, 2.0))
        self._after.append(lambda api: undone(api, rng))

    def _erase(self, rng: random.Random, _: list[Writer]) -> None:
        with self._api() as api:
            with self.ledger.lock:
                free = [m for m in self.ledger.facts.memories.values() if not (m.busy or m.maybe)]
                chosen = rng.sample(free, min(len(free), 1))
                for memory in chosen:
                    memory.busy = True
            for memory in chosen:
                plan = api.client.execute(_ERASE, {"n": memory.id})["erasePlan"]
                self._goes({each["ref"]["id"] for each in plan["goes"]} | {memory.id})
                try:
                    self._job = api.call("hardForget", nameOrId=memory.id, confirm=plan["root"]["id"])["id"]
                except Refused:
                    continue
                with self.ledger.lock:
                    self.ledger.facts.erased.add(memory.token)
            self._wait("erase", rng, api)

    def _goes(self, ids: set[str]) -> None:
        facts = self.ledger.facts
        with self.ledger.lock:
            facts.perhaps_erased |= {token for token, one in facts.episodes.items() if one in ids}
            facts.going |= ids  # one of them may be stored already, and not yet be acknowledged

    def _restore(self, rng: random.Random, writers: list[Writer]) -> None:
        target = self.home.folder / "backups" / f"r{rng.getrandbits(40)}.db"
        with self._api() as api:
            self._job = api.call("backup", path=str(target))["id"]
            settled(api)
            before = self.ledger.snapshot()
            for writer in writers:
                writer.start()
            time.sleep(rng.uniform(0.1, 0.4))
            for writer in writers:
                writer.stopped.set()
                writer.join(60.0)
            last = self._last(api, rng)
            self._job = api.call("restoreBackup", path=str(target))["id"]
            done = self._wait("restore", rng, api)
        self._after.append(lambda _: self._taken_back(before, last, done))

    def _taken_back(self, before: Facts, last: str, done: bool) -> None:
        """After a restore that was cut short there is all of the one or all of the other."""
        there = ("Memory", last) in read(self.home.store / JOURNAL).state.nodes
        if done and there:
            raise Refused("SOAK", "a restore said that it was done, and it was not")
        if not there:
            before.erased |= self.ledger.facts.erased
            before.perhaps_erased |= self.ledger.facts.perhaps_erased
            before.going |= self.ledger.facts.going
            before.once |= self.ledger.facts.once
            self.ledger.facts, self.retries = before, Retries()


KINDS = (
    *("load", "start_up", "rebuild", "reembed", "scan", "backup", "bulk_import", "git", "child"),
    *("notes", "transcript", "memories", "merge", "strand", "sync", "roll_back"),
    *("consolidate", "erase", "restore", "idle", "shutdown", "alive"),
)
