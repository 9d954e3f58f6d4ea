"""What the page's and the tools' server measure of requests, and how it leaves them: to Prometheus, and by OTLP."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import anyio
import httpx
import pytest
from mcp import Client
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.operation_settings import MetricsSettings
from codesum_pipeline.ways_in.http_serving.audit_log import AuditedRequest, Auditor
from codesum_pipeline.ways_in.metrics.server_metrics import ServerMetrics
from codesum_pipeline_tests.support.collected_metrics import PROMETHEUS, Series, exposed, read_exposition, started
from codesum_pipeline_tests.support.homes import built_once
from codesum_pipeline_tests.support.serving import served

FILES = {"shop/pay.py": 'def charge(card):\n    """Charge a card."""\n    return card\n'}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a built `home`."""
    return built_once(tmp_path_factory.mktemp("measured"), FILES)


@pytest.fixture(scope="module")
def page(folder: Path) -> Iterator[str]:
    with served(folder / "home", folder, "web", "--port", "0", env=PROMETHEUS) as address:
        yield address


def series(address: str) -> dict[str, Series]:
    found = httpx.get(f"{address}/metrics", timeout=60.0)
    assert found.status_code == 200 and found.headers["content-type"].startswith("text/plain; version=")
    return read_exposition(found.text)


def by(found: Series, *labels: str) -> dict[tuple[str, ...], float]:
    return {tuple(dict(each)[label] for label in labels): value for each, value in found.items()}


def test_the_page_measures_its_requests_and_the_fleet(page: str) -> None:
    for path in ("/hits?q=charge", "/hits?q=zebra+quantum+flux", "/nowhere", "/document?repo=nobody&id=x"):
        httpx.get(page + path, timeout=60.0)
    # Whoever invents methods and paths makes no series of their own.
    for invented in ("BREW", "BREW2"):
        httpx.request(invented, f"{page}/{invented}", timeout=60.0)

    found = series(page)

    counts = by(found["codesum_request_duration_seconds_count"], "asked", "outcome")
    assert counts["GET /hits", "answered"] == 2.0
    assert counts["GET no page", "refused"] == 1.0 and counts["GET /document", "refused"] == 1.0
    assert counts["another method no page", "refused"] == 2.0
    assert by(found["codesum_searches_total"], "fits") == {("true",): 1.0, ("false",): 1.0}
    assert by(found["codesum_index_lag_seconds"], "repository") == {("shop",): 0.0}


def test_a_search_of_the_page_falls_into_a_bucket_of_its_seconds(page: str) -> None:
    httpx.get(f"{page}/hits?q=charge", timeout=60.0)

    buckets = series(page)["codesum_request_duration_seconds_bucket"]
    ours = {dict(each)["le"]: value for each, value in buckets.items() if dict(each)["asked"] == "GET /hits"}

    assert {"0.005", "0.25", "60.0", "+Inf"} <= {*ours} and ours["60.0"] == ours["+Inf"] > 0


def test_without_the_setting_there_is_no_page_of_metrics(folder: Path) -> None:
    with served(folder / "home", folder, "web", "--port", "0", env={}) as address:
        assert httpx.get(f"{address}/metrics", timeout=60.0).status_code == 404
    with served(folder / "home", folder, "mcp", "--http", "0", env={}) as address:
        assert httpx.get(address.removesuffix("/mcp") + "/metrics", timeout=60.0).status_code == 404


def test_the_tools_server_measures_calls_and_the_tokens_of_their_answers(folder: Path) -> None:
    async def ask(address: str) -> None:
        async with Client(address) as client:
            await client.call_tool("search", {"query": "charge"})
            await client.call_tool("search", {"query": "zebra quantum flux"})
            await client.call_tool("read", {"ids": ["nowhere.py"]})

    with served(folder / "home", folder, "mcp", "--http", "0", env=PROMETHEUS) as address:
        anyio.run(ask, address)
        server = address.removesuffix("/mcp")
        found = series(server)
        renamed = httpx.get(f"{server}/metrics", headers={"Host": "evil.example:80"}, timeout=60.0)
        posted = httpx.post(f"{server}/metrics", timeout=60.0)

    counts = by(found["codesum_request_duration_seconds_count"], "entrance", "asked", "outcome")
    assert counts == {("mcp", "search", "answered"): 2.0, ("mcp", "read", "refused"): 1.0}
    assert by(found["codesum_searches_total"], "fits") == {("true",): 1.0, ("false",): 1.0}
    assert by(found["codesum_answer_tokens_total"], "asked")["search",] > 20
    # The name of another host in a browser's address leads to this machine, perhaps.
    assert (renamed.status_code, posted.status_code) == (421, 405)
    assert "codesum_" not in renamed.text


def test_what_is_measured_is_sent_by_otlp(folder: Path, httpserver: HTTPServer) -> None:
    names: set[str] = set()
    has_calls = Event()

    def take(request: Request) -> Response:
        sent = ExportMetricsServiceRequest.FromString(request.get_data())
        names.update(
            each.name for one in sent.resource_metrics for scope in one.scope_metrics for each in scope.metrics
        )
        if "codesum.request.duration" in names:
            has_calls.set()
        return Response(status=200)

    httpserver.expect_request("/v1/metrics", method="POST").respond_with_handler(take)
    env = {
        "CODESUM_METRICS__EXPORTERS": '["otlp"]',
        "OTEL_METRIC_EXPORT_INTERVAL": "1000",
        "OTEL_EXPORTER_OTLP_ENDPOINT": httpserver.url_for("").rstrip("/"),
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
    }
    with served(folder / "home", folder, "web", "--port", "0", env=env) as address:
        httpx.get(f"{address}/hits?q=charge", timeout=60.0)
        assert has_calls.wait(60.0)
        # Without the other exit there is no page.
        assert httpx.get(f"{address}/metrics", timeout=60.0).status_code == 404

    assert {"codesum.request.duration", "codesum.searches", "codesum.index.lag"} <= names


def test_a_collector_that_is_away_keeps_no_answer_back(folder: Path) -> None:
    env = {
        "CODESUM_METRICS__EXPORTERS": '["otlp"]',
        "OTEL_METRIC_EXPORT_INTERVAL": "1000",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
    }
    with served(folder / "home", folder, "web", "--port", "0", env=env) as address:
        for _ in range(3):
            assert httpx.get(f"{address}/hits?q=charge", timeout=60.0).status_code == 200


def test_missing_packages_are_named_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.prometheus", None)

    with pytest.raises(ConfigurationError, match=r"opentelemetry.exporter.prometheus is not installed.*\[metrics\]"):
        ServerMetrics.start(MetricsSettings(exporters=("prometheus",)), "web")


def test_where_nothing_is_measured_nothing_of_it_is_imported() -> None:
    script = (
        "import json, sys\n"
        "from codesum_pipeline.foundation.settings.operation_settings import MetricsSettings\n"
        "from codesum_pipeline.ways_in.metrics.server_metrics import ServerMetrics\n"
        "assert ServerMetrics.start(MetricsSettings(), 'web') is None\n"
        "print(json.dumps([name for name in sys.modules if name.startswith(('opentelemetry', 'prometheus'))]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ}, timeout=120, check=True
    )

    assert json.loads(done.stdout) == []


def test_a_request_that_fails_is_measured_and_none_that_is_not_audited() -> None:
    metrics = started()
    audit = Auditor(None, "web", measure=metrics.requests.measure)

    with pytest.raises(RuntimeError), audit.of_nobody.auditing("GET /") as request:
        assert isinstance(request, AuditedRequest)
        raise RuntimeError("broken")
    with Auditor(None, "web").auditing("GET /"):
        pass

    counts = by(exposed(metrics)["codesum_request_duration_seconds_count"], "asked", "outcome")
    assert counts == {("GET /", "failed"): 1.0}
