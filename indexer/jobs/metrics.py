"""Metrics of a store and of a running site in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from indexer.errors import StoreBusy
from indexer.jobs.status import status
from indexer.stores.abilities import MaintainedStore
from indexer.stores.journal import JobSummary, job_history, journal_path
from indexer.system.release import release

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Statistics:
    """Metrics of a store, read at each scrape; `observe` adds the requests of a site."""

    def __init__(self, store: MaintainedStore) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_StoreStatistics(store))
        self._requests = Counter(
            "nearfold_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "nearfold_request_seconds",
            "Seconds to handle a request.",
            ("route",),
            registry=self._registry,
            buckets=_SECONDS,
        )

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Return all metrics. Raises `StoreError` when the store cannot be read."""
        return generate_latest(self._registry)


class _StoreStatistics(Collector):
    """Metrics of a store, read when they are collected."""

    def __init__(self, store: MaintainedStore) -> None:
        self._store = store

    def describe(self) -> Iterator[Metric]:
        """Describe nothing in advance: the store is read when metrics are collected."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Yield the counts, the failures, and the last job of each kind."""
        overview = status(self._store)
        yield _gauge("nearfold_build", "Version of nearfold.", {("version", release()): 1})
        by_status = {("status", name): number for name, number in overview.counts.by_status.items()}
        yield _gauge("nearfold_documents", "Documents by status.", by_status)
        yield GaugeMetricFamily("nearfold_parts", "Parts of documents.", overview.counts.parts)
        yield GaugeMetricFamily(
            "nearfold_families",
            "Groups, including documents on their own; in engines within 1 % beyond 10,000.",
            overview.counts.families,
        )
        yield GaugeMetricFamily(
            "nearfold_waiting_documents",
            "Documents that clients sent to an engine and that are in no near-duplicate group yet.",
            overview.waiting,
        )
        if overview.counts.size_bytes is not None:
            yield GaugeMetricFamily(
                "nearfold_store_bytes", "Size of the store.", overview.counts.size_bytes
            )
        yield GaugeMetricFamily(
            "nearfold_job_running",
            "1 while a job holds the journal, else 0.",
            int(overview.running),
        )
        if not overview.running:
            yield GaugeMetricFamily(
                "nearfold_failures", "Files that failed in the last jobs.", len(overview.failed)
            )
            yield from _jobs(self._store)


def _jobs(store: MaintainedStore) -> Iterator[Metric]:
    try:
        jobs = job_history(journal_path(store.address))
    except StoreBusy:
        return
    last: dict[str, JobSummary] = {}
    for job in jobs:
        last.setdefault(job.command, job)
    yield _gauge(
        "nearfold_last_job_began_timestamp_seconds",
        "Start of the last job of each command.",
        {("command", name): job.began for name, job in last.items()},
    )
    seconds = {("command", name): job.seconds for name, job in last.items()}
    yield _gauge(
        "nearfold_last_job_seconds",
        "Duration of the last job of each command.",
        {label: value for label, value in seconds.items() if value is not None},
    )
    yield _gauge(
        "nearfold_last_job_done",
        "1 when the last job of a command was completed, else 0.",
        {("command", name): int(job.outcome == "done") for name, job in last.items()},
    )
    counts = GaugeMetricFamily(
        "nearfold_last_job_counted",
        "Counts of the last job of each command.",
        labels=("command", "what"),
    )
    for name, job in last.items():
        for what, number in job.counts.items():
            counts.add_metric((name, what), number)
    yield counts


def _gauge(name: str, description: str, values: Mapping[Any, float]) -> GaugeMetricFamily:
    label = next((label for label, _ in values), "status")
    gauge = GaugeMetricFamily(name, description, labels=(label,))
    for (_, value), number in values.items():
        gauge.add_metric((value,), number)
    return gauge
