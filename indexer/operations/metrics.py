"""Figures of a store and of a running site in Prometheus' text format: numbers under names and
labels of ours, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from indexer.errors import StoreBusy
from indexer.jobs.history import JobSummary, job_history
from indexer.jobs.journal import journal_path
from indexer.operations.status import status
from indexer.stores.base import Store
from indexer.system.release import release

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Figures:
    """What is told of a store each time it is asked for; `observe` adds the requests of a site."""

    def __init__(self, store: Store) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_StoreFigures(store))
        into = self._registry
        self._requests = Counter(
            "nearfold_requests", "Requests answered.", ("method", "route", "status"), registry=into
        )
        self._taken = Histogram(
            "nearfold_request_seconds",
            "Seconds they took.",
            ("route",),
            registry=into,
            buckets=_SECONDS,
        )

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._taken.labels(route).observe(seconds)

    def text(self) -> bytes:
        """All figures. Raises `StoreError` when the store cannot be asked."""
        return generate_latest(self._registry)


class _StoreFigures(Collector):
    def __init__(self, store: Store) -> None:
        self._store = store

    def describe(self) -> Iterator[Metric]:
        """Nothing beforehand: the store is asked when the figures are."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """What is in the store, what failed, and the last job of each kind."""
        seen = status(self._store)
        yield _gauge("nearfold_build", "The version that tells this.", {("version", release()): 1})
        by_status = {("status", name): number for name, number in seen.counts.by_status.items()}
        yield _gauge("nearfold_documents", "Documents by status.", by_status)
        yield GaugeMetricFamily("nearfold_parts", "Parts of documents.", seen.counts.parts)
        yield GaugeMetricFamily(
            "nearfold_families", "Families, documents on their own included.", seen.counts.families
        )
        if seen.counts.size_bytes is not None:
            yield GaugeMetricFamily(
                "nearfold_store_bytes", "Size of the store.", seen.counts.size_bytes
            )
        yield GaugeMetricFamily(
            "nearfold_job_running", "Whether a job holds the journal.", int(seen.running)
        )
        if not seen.running:
            yield GaugeMetricFamily(
                "nearfold_failures", "Files that failed and are remembered.", len(seen.failed)
            )
            yield from _jobs(self._store)


def _jobs(store: Store) -> Iterator[Metric]:
    try:
        jobs = job_history(journal_path(store.url))
    except StoreBusy:
        return
    last: dict[str, JobSummary] = {}
    for one in jobs:
        last.setdefault(one.command, one)
    began = {("command", name): one.began for name, one in last.items()}
    yield _gauge(
        "nearfold_last_job_began_timestamp_seconds", "When the last job of a kind began.", began
    )
    taken = {
        ("command", name): one.seconds for name, one in last.items() if one.seconds is not None
    }
    yield _gauge("nearfold_last_job_seconds", "How long it took.", taken)
    well = {("command", name): int(one.outcome == "done") for name, one in last.items()}
    yield _gauge("nearfold_last_job_done", "Whether it came to its end.", well)
    counted = GaugeMetricFamily(
        "nearfold_last_job_counted", "What it counted.", labels=("command", "what")
    )
    for name, one in last.items():
        for what, number in one.counts.items():
            counted.add_metric((name, what), number)
    yield counted


def _gauge(name: str, what: str, values: Mapping[Any, float]) -> GaugeMetricFamily:
    label = next((label for label, _ in values), "status")
    made = GaugeMetricFamily(name, what, labels=(label,))
    for (_, value), number in values.items():
        made.add_metric((value,), number)
    return made
