"""Tenant metrics: what the tenants of a process count, each series with the name of its tenant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from helix.api.resolver_context import AppRuntime
from helix.operations import upkeep
from helix.server.tenants import Open


def metrics_of(tenants: Iterable[Open]) -> bytes:
    """Return what is counted, in Prometheus text. It looks at each tenant's files and may take a while."""
    registry = CollectorRegistry()
    registry.register(_Merged(list(tenants)))
    return generate_latest(registry)


class _Merged(Collector):
    def __init__(self, tenants: list[Open]) -> None:
        self._tenants = tenants

    def describe(self) -> Iterator[Metric]:
        return iter(())

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("helix_tenants_open", "Tenants that this process has open", value=len(self._tenants))
        merged: dict[str, Metric] = {}
        # A removed tenant is open for a moment beside the one that has its name by now.
        for one in {one.slug: one for one in sorted(self._tenants, key=lambda one: one.number)}.values():
            runtime: AppRuntime = one.app.state.runtime
            for family in runtime.meters.families(upkeep.status(one.helix)):
                into = merged.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                into.samples.extend(
                    Sample(sample.name, {**sample.labels, "tenant": one.slug}, sample.value, sample.timestamp)
                    for sample in family.samples
                )
        yield from merged.values()
