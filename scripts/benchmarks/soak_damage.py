"""Damage: every file of a store that was stopped or killed, damaged in every way, then started and judged."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import soak_files
from benchmarks.soak_api import Api, Doubt, Refused
from benchmarks.soak_daemon import MARK, ROOT, START_LIMIT, Ended, Home, Hung, Running, Zygote, within
from benchmarks.soak_judge import judge, settled
from benchmarks.soak_kills import SETTINGS
from benchmarks.soak_ledger import Facts, Ledger, Verdict
from benchmarks.soak_load import Retries, Writer, words
from benchmarks.soak_parts import copied, end

JOURNAL_FILES = ("store/journal.db", "store/journal.db-wal", "store/journal.db-shm")
FILES = (
    *JOURNAL_FILES,
    *("store/graph.kuzu", "store/graph.kuzu.wal", "store/memory.image"),
    *("store/token", "store/hook-token", "store/port", "store/daemon.json", "store/lock", "store/starting"),
    *("store/socket", "store/logs/helix.log", "config.toml", "backups/base.db"),
)
LARGE_FILES = ("store/memory.image", "store/graph.kuzu", "store/graph.kuzu.wal", "store/journal.db-wal")
LARGE_LINES = 5_200
"""A store of so many has an image; some of the damage is done to one."""
BY_CLIENT = ("store/token", "store/port", "store/daemon.json", "store/lock", "store/starting", "store/socket")
"""Files that clients read before a daemon does: these are started by the command, as a person would."""
_WRITERS = 3


@dataclass(frozen=True, slots=True)
class Case:
    """One damage: to which file of the store in which state, how, and the seed of its randomness."""

    file: str
    kind: str
    state: str
    seed: int


@dataclass(slots=True)
class Outcome:
    """What a case came to. `result` is well, told, refused, lost, doubled, silent, crashed or hung."""

    result: str
    detail: str
    seconds: float


def cases(seed: int, count: int, files: tuple[str, ...] = FILES) -> list[Case]:
    """Return that many different cases, the same for a seed; each file comes about as often as the others."""
    rng = random.Random(seed)
    kinds = [*(kind.__name__ for kind in soak_files.KINDS), "older", "other"]
    queues = []
    for file in files:
        named = [*kinds, "triggers"] if file.endswith(".db") else kinds
        every = [(kind, state) for kind in named for state in ("killed", "stopped")]
        rng.shuffle(every)
        queues.append([(file, *each) for each in every])
    drawn = [
        queue[n] for n in range(max(map(len, queues))) for queue in rng.sample(queues, len(queues)) if n < len(queue)
    ]
    return [Case(*drawn[n % len(drawn)], seed * 100_000 + n) for n in range(count)]


class Damage:
    """The stores that are damaged, and what was acknowledged of them."""

    def __init__(self, folder: Path, zygote: Zygote, seed: int, lines: int = 0) -> None:
        """`lines` are ingested first: of a store of more than 5,000 nodes an image is made."""
        self.lines = lines
        self.folder = folder
        self.zygote = zygote
        self.seed = seed
        self.home = Home(folder / "home", zygote, SETTINGS)
        self.facts: dict[str, Facts] = {}
        self.faults: list[tuple[str, Verdict]] = []

    def prepare(self, seconds: float) -> None:
        """Make the stores: `older`, `stopped` and `killed` are one store later and later, `other` is another."""
        self._grow("other", seconds / 2, backup=False)
        shutil.rmtree(self.home.folder)
        self.home.folder.mkdir()
        (self.home.folder / "backups").mkdir()
        (self.home.folder / "config.toml").write_text('log_level = "warning"\n', "utf-8")
        self.ledger, self.retries = Ledger(), Retries()
        self._grow("older", seconds, backup=True)
        self._grow("stopped", seconds, backup=False)
        for attempt in range(5):
            self._grow("killed", seconds, backup=False, kill=True)
            verdict = self._judged(self._begin(), "killed")
            self.home.kill()
            if verdict.clean:
                return
            self.faults.append(("killed", verdict))
            self._lay("stopped")
            self.ledger.facts = copy.deepcopy(self.facts["stopped"])
            self.seed += 1 + attempt

    def _grow(self, name: str, seconds: float, *, backup: bool, kill: bool = False) -> None:
        if name == "other":
            self.ledger, self.retries = Ledger(), Retries()
        running = self.home.start()
        if name == "older" and self.lines:
            self._fill(running)
        writers = [
            Writer(running, self.home, self.ledger, self.retries, _WRITERS * self.seed + n) for n in range(_WRITERS)
        ]
        for writer in writers:
            writer.start()
        time.sleep(seconds)
        if not kill:
            end(writers)
            self._whole(name, running)
        if backup:
            api = Api(running)
            target = self.home.folder / "backups" / "base.db"
            api.call("backup", path=str(target))
            settled(api)
            api.close()
            self.facts["backup"] = self.ledger.snapshot()
        if kill:
            self.home.kill()
            end(writers)
        else:
            self.home.stop()
        self.facts[name] = self.ledger.snapshot()
        copied(self.home.folder, self.folder / name)

    def _fill(self, running: Running) -> None:
        """Ingest so much that an image is made of the store."""
        path, rng, api = self.home.folder / "lines.jsonl", random.Random(self.seed), Api(running)
        tokens = [self.ledger.token() for _ in range(self.lines)]
        lines = (json.dumps({"id": token, "text": f"{token} {words(rng, 8)}"}) for token in tokens)
        path.write_text("\n".join(lines), "utf-8")
        api.call("ingestBulk", path=str(path))
        settled(api)
        api.close()
        self.ledger.facts.episodes.update(dict.fromkeys(tokens, "a line of a bulk import"))

    def _whole(self, name: str, running: Running) -> None:
        """Note what is wrong before anything was damaged, and have it made good: damage is what is judged here."""
        verdict = judge(self.home, running, self.ledger, self.retries, random.Random(self.seed))
        if not verdict.clean:
            self.faults.append((name, verdict))
            api = Api(running)
            api.call("rebuild")
            settled(api)
            api.close()

    def _lay(self, name: str) -> None:
        copied(self.folder / name, self.home.folder)

    def run(self, case: Case) -> Outcome:
        """Damage, start, judge; nothing of it is running afterwards."""
        self._lay(case.state)
        victim = self.home.folder / "victim"
        self._hurt(case)
        started = time.monotonic()
        try:
            outcome = self._started(case)
        except Hung as error:
            outcome = Outcome("hung", str(error), time.monotonic() - started)
        finally:
            with suppress(Hung):
                self.home.kill()
        if victim.exists() and victim.read_text("utf-8", "replace") != "not yours":
            outcome = Outcome("lost", "a file outside the store was written to by a link", outcome.seconds)
        return outcome

    def _hurt(self, case: Case) -> None:
        path, rng = self.home.folder / case.file, random.Random(case.seed)
        if case.kind in ("older", "other"):
            soak_files.replaced(path, self.folder / case.kind / case.file)
            return
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"left over")
        getattr(soak_files, case.kind)(path, rng)

    def _begin(self) -> Running:
        return self.home.start()

    def _started(self, case: Case) -> Outcome:
        begun = time.monotonic()
        try:
            running = self._by_client() if case.file in BY_CLIENT else self._begin()
        except Ended as ended:
            return _refusal(case, ended, time.monotonic() - begun)
        took = time.monotonic() - begun
        if case.file.startswith("backups/"):
            return self._restored(case, running, took)
        verdict = self._judged(running, case.state)
        outcome = _outcome(case, verdict, took)
        if outcome.result == "told" and case.file in JOURNAL_FILES:
            self.home.stop()
            again = self._judged(self._begin(), case.state)
            if again.silent:
                return Outcome("silent", f"said at the first start only: {verdict.short()}", took)
        return outcome

    def _judged(self, running: Running, state: str) -> Verdict:
        ledger = Ledger()
        ledger.facts = copy.deepcopy(self.facts[state])
        return judge(self.home, running, ledger, Retries(), random.Random(self.seed))

    def _by_client(self) -> Running:
        """Have the command start the daemon; it is judged like any other."""
        path = os.pathsep.join((str(ROOT / "scripts"), str(ROOT)))
        environment = {**os.environ, **self.home.environment(), MARK: self.zygote.mark, "PYTHONPATH": path}
        environment["HELIX_EMBEDDING_MODEL"] = "none"
        command = [sys.executable, "-m", "helix.cli.main", "--json", "stats"]
        words = self.home.folder / "client"
        begun = time.monotonic()
        with words.open("w") as file:
            child = subprocess.Popen(
                command, env=environment, cwd=self.home.folder, stdout=file, stderr=file, stdin=subprocess.DEVNULL
            )
            try:
                code = child.wait(within(START_LIMIT) + 30)
            except subprocess.TimeoutExpired as error:
                child.kill()
                child.wait()
                raise Hung("the command does not come back") from error
        if code:
            raise Ended(code, words.read_text("utf-8", "replace"))
        record = json.loads((self.home.store / "daemon.json").read_text("utf-8"))
        token = (self.home.store / "token").read_text("ascii").strip()
        self.home.pid = 0
        return Running(record["pid"], record["url"], token, time.monotonic() - begun)

    def _restored(self, case: Case, running: Running, took: float) -> Outcome:
        """A damaged backup is refused, or what it gives back is what was in it."""
        api = Api(running)
        try:
            job = api.call("restoreBackup", path=str(self.home.folder / case.file))["id"]
            settled(api)
            state = api.call("job", id=job)
        except Refused as error:
            return Outcome("refused", str(error), took)
        except Doubt as error:
            return Outcome("crashed", str(error), took)
        finally:
            api.close()
        if state["state"] != "DONE":
            verdict = self._judged(running, case.state)
            outcome = _outcome(case, verdict, took)
            return Outcome("refused", state["error"], took) if outcome.result in ("well", "told") else outcome
        if case.kind == "other":
            return Outcome("well", "a backup of another store was put in place, as asked", took)
        return _outcome(case, self._judged(running, "backup"), took)


def _refusal(case: Case, ended: Ended, took: float) -> Outcome:
    """A start may be refused by words that name the file."""
    if ended.code < 0:
        return Outcome("crashed", str(ended), took)
    error: dict[str, Any] = {}
    with suppress(ValueError, KeyError, IndexError):
        error = json.loads(ended.words.splitlines()[-1])["error"]
    said = f"{error.get('message')} {error.get('hint')}"
    plain = error and "unexpected" not in said and "without a word" not in said and "Traceback" not in said
    named = Path(case.file).name.split("-")[0] in said or (Path(case.file).parent.name == "logs" and "logs" in said)
    return Outcome("refused" if plain and named and error.get("hint") else "crashed", ended.words[-500:], took)


def _outcome(case: Case, verdict: Verdict, took: float) -> Outcome:
    told = json.dumps(verdict.short())
    if verdict.clean:
        return Outcome("told" if verdict.alarms else "well", told, took)
    if verdict.silent:
        return Outcome("silent", told, took)
    if case.file in JOURNAL_FILES:
        return Outcome("told", told, took)
    return Outcome("doubled" if verdict.doubled else "lost", told, took)
