"""Metrics: what happened is counted, and no client can make the number of series grow."""

from __future__ import annotations

import json

import pytest
from api_server import BEARER, Serve, Served
from prometheus_client.parser import text_string_to_metric_families

from helix.memory.capture.episodes import EpisodeRequest
from helix.operations import capture
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]

STORE = (
    'mutation { store(input: {trigger: "when pip fails", resolution: "make a venv", kind: PATTERN}) { result { id } } }'
)


def metrics(served: Served) -> Series:
    answer = served.request("GET", "/metrics", headers=BEARER)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def value(series: Series, name: str, **labels: str) -> float:
    return series.get((name, frozenset(labels.items())), 0.0)


def test_operations_are_counted_by_outcome(served: Served) -> None:
    served.ask(STORE)
    served.ask('{ recall(query: "pip fails") { mode } }')
    served.post('{ get(nameOrId: "nothing") { id } }')
    series = metrics(served)
    assert value(series, "helix_operations_total", operation="store", type="mutation", code="OK") == 1
    assert value(series, "helix_operations_total", operation="recall", type="query", code="OK") == 1
    assert value(series, "helix_operations_total", operation="get", type="query", code="NOT_FOUND") == 1
    assert value(series, "helix_operation_seconds_count", operation="recall") == 1
    assert [name for name, _ in series if name == "helix_recall_stage_seconds_count"]
    assert value(series, "helix_http_requests_total", route="/graphql", status="200") == 3


def test_the_sizes_of_the_store_are_shown(served: Served) -> None:
    served.ask(STORE)
    series = metrics(served)
    assert value(series, "helix_nodes", label="Memory") == 1
    assert value(series, "helix_journal_rows") >= 1


@pytest.mark.file
def test_the_bytes_of_the_store_s_files_are_shown(served: Served) -> None:
    served.ask(STORE)
    series = metrics(served)
    assert sum(size for (name, _), size in series.items() if name == "helix_disk_bytes") > 0


def test_aliases_operation_names_and_paths_add_no_series(served: Served) -> None:
    before = len(metrics(served))
    for n in range(20):
        served.ask(f"query Name{n} {{ alias{n}: health {{ status }} }}")
        served.request("GET", f"/made/up/{n}", headers=BEARER)
    after = metrics(served)
    # `health` itself and its histogram, and one more route: as many as the first request of each kind adds.
    served.ask("{ health { status } }")
    assert len(metrics(served)) == len(after)
    assert len(after) - before < 30


def test_two_apps_count_apart(served: Served) -> None:
    assert value(metrics(served), "helix_operations_total", operation="store", type="mutation", code="OK") == 0


def test_the_gate_s_outcomes_are_counted_with_their_share(served: Served, helix: Helix) -> None:
    for content in ("Hello there, good morning!", "Remember: always activate the virtual environment first."):
        record = f"mutation {{ recordEpisode(input: {{content: {json.dumps(content)}}}) {{ result {{ reason }} }} }}"
        served.ask(record)
    before = metrics(served)
    assert ("helix_gate_drop_rate", frozenset()) not in before, "nothing was read yet"
    served.ask("mutation { flush { result { id } } }")
    assert helix.worker.settle(20)
    series = metrics(served)
    assert value(series, "helix_gate_episodes_total", outcome="passed") == 1
    assert value(series, "helix_gate_episodes_total", outcome="dropped") == 1
    assert value(series, "helix_gate_drop_rate") == 0.5


def test_the_gate_s_share_starts_anew_with_its_counts(settings: Settings, serve: Serve) -> None:
    for starts in range(2):
        with Helix.open(settings, embedder=HashEmbedder()) as helix:
            if not starts:
                capture.record_episode(helix, EpisodeRequest(content="Hello there, good morning!"))
                helix.worker.flush()
                assert helix.worker.settle(20)
            series = metrics(serve(helix))
            told = ("helix_gate_drop_rate", frozenset()) in series
            assert told is (value(series, "helix_gate_episodes_total", outcome="dropped") == 1) is (not starts)
