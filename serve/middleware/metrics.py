"""Prometheus metrics of the service. Labels never contain text of a caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Receive, Scope, Send

from ape.engines import EngineHealth
from ape.engines.protocol import EngineState
from ape.engines.registry_entries import ADAPTER_OUTCOMES, AdapterOutcome
from ape.jobs.job import JobState
from ape.passage.events import AttemptEvent, Event, Listener, ignore_event
from ape.passage.result import Decision, PostEdit
from serve.middleware.admission import AdmissionLimit
from serve.middleware.http_exchange import HttpExchange
from serve.middleware.request_log import problem_name

OTHER_LABEL = "other"
QUARANTINED = "quarantined"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
STATES = get_args(EngineState)
OPENMETRICS = "application/openmetrics-text"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
# The first bucket holds passages that were not changed.
EDIT_RATES = (0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1)


@dataclass(slots=True)
class DraftCounter:
    """A listener that counts drafts and passes events on."""

    listen: Listener = ignore_event
    count: int = 0

    def __call__(self, event: Event) -> None:
        """Handle an event."""
        self.count += isinstance(event, AttemptEvent)
        self.listen(event)


class ServiceMetrics:
    """The metrics of one application. Gauges are read from their sources at each scrape."""

    def __init__(
        self,
        *,
        queue: AdmissionLimit | None = None,
        engine: Callable[[], EngineHealth] | None = None,
        adapters: Callable[[], int] | None = None,
        jobs: Callable[[], Mapping[str, int]] | None = None,
    ) -> None:
        # Not the library's global registry: several applications may run in one process.
        self.registry = registry = CollectorRegistry()
        self._requests = Counter(
            "ape_requests_total",
            "Requests by status; 499: the client disconnected before the end of the response.",
            ["route", "method", "status"],
            registry=registry,
        )
        self._request_seconds = Histogram(
            "ape_request_seconds",
            "Seconds from a request to the end of its response.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self._in_progress = Gauge("ape_requests_in_progress", "Requests in progress.", registry=registry)
        self._passages = Counter(
            "ape_passages_total", "Passages post-edited.", ["model", "decision"], registry=registry
        )
        self._failures = Counter(
            "ape_passage_failures_total", "Passages that failed, by problem type.", ["problem"], registry=registry
        )
        self._passage_seconds = Histogram(
            "ape_passage_seconds",
            "Seconds to post-edit a passage, including the wait for the engine.",
            ["model"],
            buckets=SECONDS,
            registry=registry,
        )
        self._edit_rate = Histogram(
            "ape_edit_rate",
            "Share of the MT that was changed, from 0 to 1.",
            ["model"],
            buckets=EDIT_RATES,
            registry=registry,
        )
        self._findings = Counter(
            "ape_findings_total", "Findings of the guards.", ["guard", "severity"], registry=registry
        )
        self._drafts = Counter("ape_drafts_total", "Drafts of post-edited passages.", ["model"], registry=registry)
        self._tokens = Counter(
            "ape_tokens_total", "Tokens of post-edited passages.", ["model", "kind"], registry=registry
        )
        self._adapters = Counter(
            "ape_adapter_loads_total", "Loads and unloads of adapters by outcome.", ["outcome"], registry=registry
        )
        for outcome in ADAPTER_OUTCOMES:
            self._adapters.labels(outcome)  # a rate needs an initial value of 0
        self._paragraphs = Counter(
            "ape_book_paragraphs_total",
            "Paragraphs of books that were finished or quarantined.",
            ["decision"],
            registry=registry,
        )
        for decision in (*Decision, QUARANTINED):
            self._paragraphs.labels(str(decision))
        registry.register(_ScrapeCollector(queue, engine, adapters, jobs))
        ProcessCollector(registry=registry)

    def record_passage(self, result: PostEdit, seconds: float, *, drafts: int) -> None:
        """Count a post-edited passage."""
        self._passages.labels(result.model, result.decision.value).inc()
        self._passage_seconds.labels(result.model).observe(seconds)
        self._drafts.labels(result.model).inc(drafts)
        self._content(result)

    def record_paragraph(self, result: PostEdit | None) -> None:
        """Count a paragraph of a book; a quarantined one has no result."""
        self._paragraphs.labels(result.decision.value if result else QUARANTINED).inc()
        if result:
            self._content(result)

    def _content(self, result: PostEdit) -> None:
        self._edit_rate.labels(result.model).observe(result.edit_rate)
        self._tokens.labels(result.model, "prompt").inc(result.usage.prompt_tokens)
        self._tokens.labels(result.model, "completion").inc(result.usage.completion_tokens)
        for finding in result.findings:
            self._findings.labels(finding.guard, finding.severity.value).inc()

    def record_failure(self, error: Exception) -> None:
        """Count a failed passage."""
        self._failures.labels(problem_name(error)).inc()

    def record_adapter(self, outcome: AdapterOutcome) -> None:
        """Count a load or unload of an adapter."""
        self._adapters.labels(outcome).inc()

    def middleware(self, app: ASGIApp) -> ASGIApp:
        """Wrap an application so that its requests are counted."""

        async def count(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            exchange = HttpExchange(scope, receive, send)
            with self._in_progress.track_inprogress():
                try:
                    await exchange.run(app)
                finally:
                    self._request(exchange)

        return count

    def _request(self, exchange: HttpExchange) -> None:
        method, route = exchange.scope["method"], _route(exchange.scope)
        self._requests.labels(route, method if method in METHODS else OTHER_LABEL, str(exchange.status)).inc()
        self._request_seconds.labels(route).observe(exchange.seconds)

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """Return the metrics and their content type: OpenMetrics if accepted, else the Prometheus text format."""
        # The encoder does not get the header itself: it fails on odd versions and repeats them in its answer.
        encode, kind = choose_encoder(OPENMETRICS if OPENMETRICS in accept.lower() else "")
        return encode(self.registry), kind


def _route(scope: Scope) -> str:
    """Return the path template; raw paths would be an unbounded label."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) and path else OTHER_LABEL


@dataclass(frozen=True, slots=True, eq=False)
class _ScrapeCollector(Collector):
    """Gauges that are read at each scrape."""

    queue: AdmissionLimit | None
    engine: Callable[[], EngineHealth] | None
    adapters: Callable[[], int] | None
    jobs: Callable[[], Mapping[str, int]] | None

    def collect(self) -> Iterator[Metric]:
        if self.queue:
            yield GaugeMetricFamily("ape_queue_passages", "Passages waiting or in progress.", value=self.queue.admitted)
            yield GaugeMetricFamily(
                "ape_queue_capacity_passages", "The most passages that may be.", value=self.queue.capacity
            )
        if self.engine:
            yield from _engine(self.engine())
        if self.adapters:
            yield GaugeMetricFamily("ape_adapters_loaded", "Adapters that can be used.", value=self.adapters())
        if self.jobs:
            yield _jobs(self.jobs())


def _jobs(numbers: Mapping[str, int]) -> Metric:
    jobs = GaugeMetricFamily("ape_jobs", "Books of this service by the state of their job.", labels=["state"])
    for state in JobState:
        jobs.add_metric([state.value], numbers.get(state.value, 0))
    return jobs


def _engine(health: EngineHealth) -> Iterator[Metric]:
    yield GaugeMetricFamily("ape_engine_up", "1 while the model server is up, else 0.", value=health.state == "up")
    states = GaugeMetricFamily("ape_engine_state", "1 for the current state, 0 for the others.", labels=["state"])
    for state in STATES:
        states.add_metric([state], float(health.state == state))
    yield states
    yield CounterMetricFamily("ape_engine_restarts_total", "Restarts of the model server.", value=health.restarts)
