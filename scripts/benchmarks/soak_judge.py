"""The judge: holds journal, graph, words, vectors, counts and what Helix says of itself against each other."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.soak_api import Api, Doubt, Refused
from benchmarks.soak_daemon import Home, Hung, Running, within
from benchmarks.soak_journal import TOKEN, Picture, holds, read
from benchmarks.soak_ledger import Ledger, Verdict, compare, gone_from
from benchmarks.soak_load import Retries

SETTLE_LIMIT = 90.0
"""Seconds that jobs of a start may take: opening a graph, or building it anew."""
JOURNAL = "journal.db"
_LOOKS = 6
_BUILDING = "GRAPH_UNAVAILABLE"
_SAMPLE = 10
_SERVED = ("MATCH (n) RETURN label(n), n.id", "MATCH (a)-[r]->(b) RETURN label(r), label(a), a.id, label(b), b.id")
_PROPS = "MATCH (n:Memory) RETURN n.id, n.status, n.helped, n.failed, n.trigger"
_BESIDE = ("Meta", "SchemaMigration", "Passage")
_ROWS = 100_000


def settled(api: Api, limit: float = SETTLE_LIMIT) -> list[Mapping[str, Any]]:
    """Wait until no job runs; return the jobs."""
    until = time.monotonic() + within(limit)
    while True:
        jobs: list[Mapping[str, Any]] = [one["node"] for one in api.client.run("jobs")["jobs"]["edges"]]
        if not any(job["state"] == "RUNNING" for job in jobs):
            return jobs
        if time.monotonic() > until:
            raise Hung(f"a job is still running after {limit:g} s: {jobs[0]['kind']}")
        time.sleep(0.02)


def judge(home: Home, running: Running, ledger: Ledger, retries: Retries, rng: random.Random) -> Verdict:
    """Return what is wrong with the store of a daemon that has just started. Nobody else writes meanwhile."""
    verdict = Verdict()
    api = Api(running, timeout=60.0)
    try:
        settled(api)
        retries.send(api, ledger)
        api.call("pauseWorker", on=True)
        picture = _still(home, api, verdict)
        verdict.differs += picture.faults
        compare(ledger.facts, picture, verdict)
        _search(api, picture, verdict, rng)
        _erased(home.store, ledger, verdict)
        _honest(api, picture, verdict)
        api.call("pauseWorker", on=False)
    except Refused as error:
        verdict.differs.append(f"refused: {error}")
    except Doubt as error:
        verdict.differs.append(f"no answer: {error}")
    finally:
        api.close()
    return verdict


def _still(home: Home, api: Api, verdict: Verdict) -> Picture:
    """Return the journal at a moment at which graph and journal were compared and nothing was written between."""
    looks, until = 0, time.monotonic() + SETTLE_LIMIT
    while True:
        picture = read(home.store / JOURNAL)
        found = graph(api, picture)
        building = any(_BUILDING in each for each in found) and time.monotonic() < until
        looks += not building
        if not found or looks == _LOOKS or (not building and _seq(home.store / JOURNAL) == picture.seq):
            break
        time.sleep(0.05)
    verdict.differs += found
    return picture


def _seq(path: Path) -> int:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    try:
        return int(connection.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()[0])
    finally:
        connection.close()


def _rows(api: Api, query: str) -> list[list[Any]]:
    answer = api.call("cypher", query=query, limit=_ROWS, timeoutMs=20_000)
    rows: list[list[Any]] = answer["rows"]
    return rows


def graph(api: Api, picture: Picture) -> list[str]:
    """Compare every node, edge and vector of the graph with the journal, and what memories say."""
    try:
        nodes, edges, props = (_rows(api, query) for query in (*_SERVED, _PROPS))
    except Refused as error:
        return [f"graph: {error}"]
    except Doubt as error:  # busy for longer than a question may take: asked again, until it had time enough
        return [f"graph: {_BUILDING}: {error}"]
    state, found = picture.state, []
    served = {(label, key) for label, key in nodes if label not in _BESIDE}
    found += _lacks("nodes", set(state.nodes), served)
    found += _lacks("edges", set(state.edges), {tuple(edge) for edge in edges})
    if any(label == "Passage" for label, _ in nodes):
        indexed = {key for label, key in nodes if label == "Passage" and key}
        embedded = {key for key, row in state.passages.items() if row[0] in picture.vectors}
        found += _lacks("vectors", embedded, indexed)
    kept = {
        key: (p.get("status"), p.get("helped"), p.get("failed"), p.get("trigger"))
        for (label, key), p in state.nodes.items()
        if label == "Memory"
    }
    other = [row[0] for row in props if row[0] in kept and tuple(row[1:]) != kept[row[0]]]
    return found + ([f"graph: {len(other)} memories say something else, as {other[0]}"] if other else [])


def _lacks(what: str, kept: set[Any], served: set[Any]) -> list[str]:
    lacking, stray = kept - served, served - kept
    if not lacking and not stray:
        return []
    one = sorted(map(str, lacking or stray))[0]
    return [
        f"graph: {what}: journal {len(kept)}, graph {len(served)}, lacks {len(lacking)}, too many {len(stray)}: {one}"
    ]


def _search(api: Api, picture: Picture, verdict: Verdict, rng: random.Random) -> None:
    """Look for what is active by its words and by its vector."""
    texts = [(key, props, min(found)) for key, props, found in picture.texts() if props.get("status") == "active"]
    fresh, older = texts[-_SAMPLE:], texts[:-_SAMPLE]
    for key, props, token in [*fresh, *rng.sample(older, min(_SAMPLE, len(older)))]:
        if key[0] not in ("Memory", "Episode") or (key[0] == "Episode" and props.get("role") == "store"):
            continue
        if not _finds(api, token, "bm25", lambda item, token=token: token in item):
            verdict.differs.append(f"words: {key} is not found by {token}")
    embedded = [key for key, row in picture.state.passages.items() if row[0] in picture.vectors and key.endswith("#0")]
    for passage in rng.sample(embedded, min(4, len(embedded))):
        _, label, owner, text = picture.state.passages[passage]
        props = picture.state.nodes.get((label, owner), {})
        words = TOKEN.findall(text)
        if props.get("status") != "active" or props.get("role") == "store" or not words:
            continue
        if not _finds(api, text[:300], "vector", lambda item, word=words[0]: word in item):
            verdict.differs.append(f"vectors: {passage} is not found by its own text")


def _finds(api: Api, query: str, recipe: str, fits: Any) -> bool:
    document = (
        "query Q($q: String!, $r: String) "
        "{ recall(query: $q, recipe: $r, limit: 8, expand: NONE, deep: true, everything: true) "
        "{ items { text node { ... on Memory { trigger resolution } ... on Episode { content } } } } }"
    )
    answer = api.client.execute(document, {"q": query, "r": recipe})["recall"]["items"]
    return any(fits(f"{item['text']} {item['node']}") for item in answer)


def _erased(store: Path, ledger: Ledger, verdict: Verdict) -> None:
    """Look for erased words in every file of the store and of its backups."""
    words = ledger.facts.erased
    if not words:
        return
    files = [path for folder in (store, store.parent / "backups") for path in folder.rglob("*") if path.is_file()]
    gone_from(words, {path.name: holds(path, words) for path in files if not path.is_symlink()}, verdict)


def _honest(api: Api, picture: Picture, verdict: Verdict) -> None:
    """Hold what health and doctor say against what was found."""
    health, doctor = api.client.run("health")["health"], _doctor(api)
    held = {one["name"]: one["value"] for one in health["stats"]}
    counts = {label.lower(): 0 for label in held}
    for label, _ in picture.state.nodes:
        counts[label.lower()] = counts.get(label.lower(), 0) + 1
    if counts != held:
        verdict.differs.append(f"catalogue: memory holds {held}, the journal {counts}")
    backlog = len(picture.state.passages) > len(picture.vectors)
    complaints = [f for f in doctor if not f["ok"] and not (backlog and f["check"] == "embedding space")]
    told = [*health["issues"], *(f"{f['check']}: {f['detail']}" for f in complaints)]
    if not verdict.clean and not told:
        verdict.silent.append("health and doctor call it healthy")
    elif not verdict.clean and not health["issues"]:
        verdict.silent.append(f"health calls it {health['status']}, and doctor does not: {told[0]}")
    if verdict.clean:
        verdict.alarms += told


def _doctor(api: Api) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.client.execute("{ doctor { findings { check ok detail } } }")["doctor"][
        "findings"
    ]
    return found
