"""Metrics match the traffic, have fixed labels, and read the engine and the queue at each scrape."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping

import httpx2
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from ape.engines import EngineHealth
from ape.engines.registry_entries import ADAPTER_OUTCOMES
from ape.passage.events import AttemptEvent, Event, TokenEvent
from serve.middleware.metrics import DraftCounter, ServiceMetrics
from tests.serve.small_app import EDITED, KEY, MESSAGE, TEXT, UNCHANGED, SmallApp, run_small_app

Until = Callable[..., Awaitable[None]]
Samples = Mapping[tuple[str, frozenset[tuple[str, str]]], float]
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@pytest.fixture
def app() -> Iterator[SmallApp]:
    with run_small_app() as app:
        yield app


def samples(metrics: ServiceMetrics) -> Samples:
    text = metrics.exposition()[0].decode()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in parse_text(text)
        for sample in family.samples
    }


def value(metrics: ServiceMetrics, name: str, **labels: str) -> float | None:
    return samples(metrics).get((name, frozenset(labels.items())))


def requests(metrics: ServiceMetrics) -> dict[tuple[str, str, str], float]:
    """Return the number of requests by route, method and status."""
    counted = {}
    for (name, labels), number in samples(metrics).items():
        if name == "ape_requests_total":
            by_name = dict(labels)
            counted[by_name["route"], by_name["method"], by_name["status"]] = number
    return counted


async def test_requests_are_counted_by_route_method_and_status(app: SmallApp, until: Until) -> None:
    for path in ("/v1/jobs/1", "/v1/jobs/2", "/nowhere", "/never/was", "/busy", "/broken", "/stream", "/stream/full"):
        app.client.get(path)
    app.client.delete("/v1/jobs/1")
    app.client.post("/v1/post-edit", json={})
    expected = {
        ("/v1/jobs/{name}", "GET", "200"): 2,
        ("/v1/jobs/{name}", "DELETE", "405"): 1,
        ("other", "GET", "404"): 2,
        ("/busy", "GET", "429"): 1,
        ("/broken", "GET", "500"): 1,
        ("/stream", "GET", "200"): 1,
        ("/stream/full", "GET", "429"): 1,
        ("/v1/post-edit", "POST", "200"): 1,
    }
    await until(lambda: requests(app.metrics) == expected)
    assert value(app.metrics, "ape_request_seconds_count", route="/v1/jobs/{name}") == 3
    assert value(app.metrics, "ape_requests_in_progress") == 0


async def test_a_stream_is_in_progress_and_on_the_clock_until_its_end(app: SmallApp, until: Until) -> None:
    with app.connect("/stream/forever") as line:
        assert line.recv(8).startswith(b"HTTP/1.1")
        await until(lambda: app.queue.admitted == 1)
        assert value(app.metrics, "ape_requests_in_progress") == 1
        assert requests(app.metrics) == {}
    await until(lambda: requests(app.metrics) == {("/stream/forever", "GET", "499"): 1})
    assert value(app.metrics, "ape_requests_in_progress") == 0
    assert value(app.metrics, "ape_request_seconds_count", route="/stream/forever") == 1
    assert value(app.metrics, "ape_queue_passages") == 0


async def test_a_client_that_hangs_up_before_the_answer_is_499(app: SmallApp, until: Until) -> None:
    with app.connect("/forever"):
        await until(lambda: app.queue.admitted == 1)
        assert value(app.metrics, "ape_queue_passages") == 1
    await until(lambda: requests(app.metrics) == {("/forever", "GET", "499"): 1})
    assert value(app.metrics, "ape_requests_in_progress") == 0


async def test_a_stream_that_breaks_off_by_our_fault_is_500(app: SmallApp, until: Until) -> None:
    with app.client.stream("GET", "/half") as response, pytest.raises(httpx2.RemoteProtocolError):
        response.read()
    await until(lambda: requests(app.metrics) == {("/half", "GET", "500"): 1})
    assert value(app.metrics, "ape_requests_in_progress") == 0


async def test_no_caller_can_make_a_label(app: SmallApp, until: Until) -> None:
    for number in range(30):
        app.client.request(f"METHOD{number}", f"/path/{number}")
        app.client.request(f"METHOD{number}", f"/v1/jobs/{number}", headers={"X-Request-Id": f"id{number}"})
    expected = {("other", "other", "404"): 30, ("/v1/jobs/{name}", "other", "405"): 30}
    await until(lambda: requests(app.metrics) == expected)


def test_passages_are_counted_by_what_became_of_them(app: SmallApp) -> None:
    for _ in range(2):  # each time: two edited by par3, one unchanged by base, two failed
        assert app.client.post("/v1/post-edit", json={"mt": TEXT}).status_code == 200
    metrics = app.metrics
    assert value(metrics, "ape_passages_total", model="par3", decision="edited") == 4
    assert value(metrics, "ape_passages_total", model="base", decision="unchanged") == 2
    assert value(metrics, "ape_passage_failures_total", problem="engine-timeout") == 2
    assert value(metrics, "ape_passage_failures_total", problem="unexpected") == 2
    assert value(metrics, "ape_findings_total", guard="length", severity="reject") == 4
    assert value(metrics, "ape_findings_total", guard="names", severity="warn") == 4
    assert value(metrics, "ape_tokens_total", model="par3", kind="prompt") == 400
    assert value(metrics, "ape_tokens_total", model="base", kind="completion") == 20
    assert value(metrics, "ape_drafts_total", model="par3") == 8
    assert value(metrics, "ape_passage_seconds_sum", model="base") == pytest.approx(0.6)
    assert value(metrics, "ape_passage_seconds_bucket", model="base", le="0.25") == 0
    assert value(metrics, "ape_passage_seconds_bucket", model="base", le="0.5") == 2


def test_what_was_kept_is_apart_from_what_was_edited_little() -> None:
    metrics = ServiceMetrics()
    metrics.record_passage(UNCHANGED, 1, drafts=1)
    metrics.record_passage(EDITED, 1, drafts=1)
    assert value(metrics, "ape_edit_rate_bucket", model="base", le="0.0") == 1
    assert value(metrics, "ape_edit_rate_bucket", model="par3", le="0.0") == 0
    assert value(metrics, "ape_edit_rate_bucket", model="par3", le="0.15") == 1
    assert value(metrics, "ape_edit_rate_sum", model="par3") == 0.12


def test_buckets_reach_from_milliseconds_to_minutes() -> None:
    metrics = ServiceMetrics()
    for seconds in (0.004, 599, 601):
        metrics.record_passage(UNCHANGED, seconds, drafts=1)
    buckets = {
        le: value(metrics, "ape_passage_seconds_bucket", model="base", le=le) for le in ("0.005", "600.0", "+Inf")
    }
    assert buckets == {"0.005": 1, "600.0": 2, "+Inf": 3}


def test_the_engine_is_looked_at_anew_for_each_scrape(app: SmallApp) -> None:
    def engine() -> tuple[float | None, ...]:
        names = ("starting", "up", "down", "stopped")
        states = (value(app.metrics, "ape_engine_state", state=name) for name in names)
        up, restarts = (value(app.metrics, f"ape_engine_{name}") for name in ("up", "restarts_total"))
        return (up, restarts, *states)

    assert engine() == (0, 0, 1, 0, 0, 0)
    app.engine.append(EngineHealth("up"))
    assert engine() == (1, 0, 0, 1, 0, 0)
    app.engine.append(EngineHealth("down", restarts=2))
    assert engine() == (0, 2, 0, 0, 1, 0)


def test_the_queue_is_looked_at_anew_for_each_scrape(app: SmallApp) -> None:
    assert value(app.metrics, "ape_queue_capacity_passages") == 8
    with app.queue.admit(5):
        assert value(app.metrics, "ape_queue_passages") == 5
    assert value(app.metrics, "ape_queue_passages") == 0


def test_adapter_loads_are_there_from_the_start() -> None:
    metrics = ServiceMetrics(adapters=lambda: 3)
    metrics.record_adapter("refused")
    counted = {one: value(metrics, "ape_adapter_loads_total", outcome=one) for one in ADAPTER_OUTCOMES}
    assert counted == {"loaded": 0, "refused": 1, "failed": 0, "unloaded": 0}
    assert value(metrics, "ape_adapters_loaded") == 3


def test_a_service_without_these_parts_says_nothing_of_them() -> None:
    text = ServiceMetrics().exposition()[0].decode()
    assert not any(name in text for name in ("ape_queue", "ape_engine", "ape_adapters_loaded"))


def test_applications_in_one_process_count_apart() -> None:
    one, other = ServiceMetrics(), ServiceMetrics()
    one.record_failure(ValueError())
    assert value(one, "ape_passage_failures_total", problem="unexpected") == 1
    assert value(other, "ape_passage_failures_total", problem="unexpected") is None


def test_the_process_itself_is_measured() -> None:
    assert (value(ServiceMetrics(), "process_resident_memory_bytes") or 0) > 1_000_000


def test_there_is_no_text_and_no_key_in_it(app: SmallApp) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    app.client.post("/v1/post-edit", json={"mt": TEXT}, headers=headers)
    app.client.get("/broken", headers=headers)
    app.client.get(f"/{TEXT}?key={KEY}")
    for accept in ("", OPENMETRICS):
        text = app.client.get("/metrics", headers={"Accept": accept}).text
        assert "ape_passages_total" in text
        assert not any(secret in text for secret in (KEY, TEXT, MESSAGE, "Anna", "Wronskij"))


def test_openmetrics_is_for_whoever_accepts_it(app: SmallApp) -> None:
    app.client.post("/v1/post-edit", json={})
    response = app.client.get("/metrics", headers={"Accept": f"{OPENMETRICS};q=0.75,text/plain;q=0.5"})
    assert response.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert response.text.endswith("# EOF\n")
    names = {family.name for family in parse_openmetrics(response.text)}  # type: ignore[no-untyped-call]
    assert {"ape_requests", "ape_passages", "ape_edit_rate", "ape_engine_restarts"} <= names


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "text/plain;version=0.0.4",
        "text/plain;version=x.y",
        "application/openmetrics-text;version=x",
        "application/openmetrics-text;version=1.0.0.x<script>",
        "application/openmetrics-text;version=;;=,,",
        "né",
    ],
)
def test_an_odd_accept_header_is_answered_and_not_repeated(accept: str, app: SmallApp) -> None:
    response = app.client.get("/metrics", headers={b"Accept": accept.encode()})
    assert response.status_code == 200
    kind = response.headers["content-type"]
    assert "x" not in kind.partition(";")[2].replace("text", "")
    parse = parse_openmetrics if "openmetrics" in kind else parse_text
    assert list(parse(response.text))


def test_every_name_keeps_the_conventions() -> None:
    metrics = ServiceMetrics(engine=lambda: EngineHealth("up"), adapters=lambda: 0)
    metrics.record_passage(EDITED, 1, drafts=1)
    for family in parse_text(metrics.exposition()[0].decode()):
        assert family.name.startswith(("ape_", "process_"))
        assert family.documentation
        if family.type == "counter":
            assert all(sample.name.endswith(("_total", "_created")) for sample in family.samples)


def test_drafts_are_counted_on_their_way_to_a_listener() -> None:
    heard: list[Event] = []
    drafts = DraftCounter(heard.append)
    events: list[Event] = [AttemptEvent(1, 1, 0.0), TokenEvent("a"), AttemptEvent(2, 2, 0.6), TokenEvent("b")]
    for event in events:
        drafts(event)
    assert (drafts.count, heard) == (2, events)
