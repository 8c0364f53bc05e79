"""Metrics in Prometheus text: operations and their outcome, stages of recall, requests, and the store's sizes."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from helix.model.recall import RecallAnswer
from helix.model.reports import BackgroundStatus, StatusReport
from helix.model.strand import SYNC_PATH
from helix.model.usage import ModelUsage
from helix.model.work_item import EPISODES_HELD_BACK, EPISODES_READ

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_ROUTES = ("/graphql", "/healthz", "/metrics", "/open/", "/static/", f"{SYNC_PATH}/")


class Meters:
    """The counters of one app. Labels come from closed sets only, so that no client can make their number grow."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._operations = Counter(
            "helix_operations", "Operations by outcome", ["operation", "type", "code"], registry=self._registry
        )
        self._durations = Histogram(
            "helix_operation_seconds",
            "Wall time of operations",
            ["operation"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._stages = Histogram(
            "helix_recall_stage_seconds",
            "Wall time of recall's stages",
            ["stage"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._requests = Counter(
            "helix_http_requests", "HTTP requests by route and status", ["route", "status"], registry=self._registry
        )

    def operation(self, name: str, kind: str, code: str, seconds: float) -> None:
        """Count one operation asked of the API; `kind` is query or mutation, `code` OK, CANCELLED or an error's."""
        self._operations.labels(name, kind, code).inc()
        self._durations.labels(name).observe(seconds)

    def answer(self, answer: object) -> None:
        """Note the stage times of an API answer, where it is one of recall."""
        if isinstance(answer, RecallAnswer):
            for stage, milliseconds in answer.timings_ms.items():
                self._stages.labels(stage).observe(milliseconds / 1000)

    def request(self, path: str, status: int) -> None:
        """Count one HTTP request to the API by the route it asked for."""
        route = next(
            (known for known in _ROUTES if path == known or (known[-1] == "/" and path.startswith(known))), "other"
        )
        self._requests.labels(route, str(status)).inc()

    def text(self, status: StatusReport) -> bytes:
        """Return all of the API's metrics in Prometheus text, with the store's sizes as `status` has them."""
        sizes = CollectorRegistry()
        sizes.register(_Sizes(status))
        return generate_latest(self._registry) + generate_latest(sizes)

    def families(self, status: StatusReport) -> Iterator[Metric]:
        """Yield all of the API's metrics, not yet written out."""
        yield from self._registry.collect()
        yield from _Sizes(status).collect()


class RequestMeter:
    """ASGI middleware that counts HTTP requests."""

    def __init__(self, app: ASGIApp, *, meters: Meters) -> None:
        self._app = app
        self._meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._meters.request(scope["path"], message["status"])
            await send(message)

        await self._app(scope, receive, counted)


class _Sizes(Collector):
    """The sizes of a store at one moment."""

    def __init__(self, status: StatusReport) -> None:
        self._status = status

    def collect(self) -> Iterator[Metric]:
        status = self._status
        for name, help_text, value in (
            ("helix_edges", "Edges of the graph", status.edges),
            ("helix_journal_rows", "Rows of the journal", status.journal_rows),
            ("helix_journal_bytes_week", "Growth of the journal in the last week", status.journal_bytes_week),
            ("helix_refused", "Changes that the graph does not take", status.refused),
            ("helix_memory_bytes", "Resident memory of the daemon", status.memory_bytes),
            ("helix_paused", "1 while capture is paused", int(status.paused)),
            ("helix_warnings", "Things that are not as they should be", len(status.warnings)),
            (
                "helix_start_time_seconds",
                "When the daemon started, in seconds since the epoch",
                status.started_at.timestamp(),
            ),
        ):
            yield GaugeMetricFamily(name, help_text, value=value)
        yield from _of_background(status.background)
        yield from _of_models(status.models)
        disk = GaugeMetricFamily("helix_disk_bytes", "Bytes on disk", labels=["part"])
        for part, size in status.disk_bytes.items():
            disk.add_metric([part], size)
        yield disk
        nodes = GaugeMetricFamily("helix_nodes", "Nodes of the graph", labels=["label"])
        for label, count in status.nodes.items():
            nodes.add_metric([label], count)
        yield nodes


def _of_background(background: BackgroundStatus | None) -> Iterator[Metric]:
    """Yield what waits in the background, what its jobs have come to, and what the gate let through and dropped."""
    if background is None:
        return
    for name, help_text, value in (
        ("helix_work_queued", "Pieces of background work that wait", background.queued),
        ("helix_work_failed", "Pieces of background work that have failed", background.failed),
        ("helix_work_paused", "1 while background work is paused", int(background.paused)),
        ("helix_passages_without_vector", "Passages that words alone find", background.lacking_vectors),
        ("helix_importance_waiting", "Importance of what waits to be consolidated", background.importance),
    ):
        yield GaugeMetricFamily(name, help_text, value=value)
    done = CounterMetricFamily("helix_work", "What background work came to", labels=["kind", "what"])
    for kind, counts in background.totals.items():
        for what, count in counts.items():
            done.add_metric([kind, what], count)
    yield done
    gate = CounterMetricFamily("helix_gate_episodes", "Episodes that consolidations read", labels=["outcome"])
    read = sum(counts.get(EPISODES_READ, 0) for counts in background.totals.values())
    dropped = sum(counts.get(EPISODES_HELD_BACK, 0) for counts in background.totals.values())
    gate.add_metric(["passed"], read - dropped)
    gate.add_metric(["dropped"], dropped)
    yield gate
    if read:
        told = "Share of the episodes read that the gate dropped, by helix_gate_episodes_total"
        yield GaugeMetricFamily("helix_gate_drop_rate", told, value=dropped / read)


def _of_models(models: ModelUsage | None) -> Iterator[Metric]:
    """Yield what language models were asked and what it cost, by month and provider."""
    if models is None:
        return
    yield GaugeMetricFamily("helix_model_token_budget", "Tokens of a month that may be paid for", value=models.budget)
    yield CounterMetricFamily("helix_model_cache_hits", "Questions answered from the cache", value=models.cache_hits)
    spend = {
        what: CounterMetricFamily(f"helix_model_{what}", f"Language models: {what}", labels=["month", "provider"])
        for what in ("calls", "failures", "tokens_in", "tokens_out", "cost")
    }
    for one in models.spend:
        for what, metric in spend.items():
            metric.add_metric([one.month, one.provider], getattr(one, what))
    yield from spend.values()
