"""The metrics of one server: measured by OpenTelemetry, given to Prometheus at `/metrics` or sent by OTLP.

Both exits are off by default, and then nothing of OpenTelemetry is imported. The page is behind the same check as all
others of its server: whoever may not read every repository gets the series of those that they may read, and none that
counts others, too.
"""

import threading
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.extras import way_to_install
from codesum_pipeline.foundation.data_model.installed_version import installed_version
from codesum_pipeline.foundation.settings.operation_settings import MetricsSettings
from codesum_pipeline.ways_in.http_serving.audit_log import AuditedRequest

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from opentelemetry.sdk.metrics.export import MetricReader
    from prometheus_client import CollectorRegistry, Metric

    from codesum_pipeline.ways_in.metrics.fleet_series import FleetSeries

PATH = "/metrics"
REPOSITORY = "repository"
# A repository may have a series for each state, model and level.
_SERIES_OF_REPOSITORY = 20
_LEAST_SERIES = 2_000
# What OTLP sends may be read from records meanwhile.
_COLLECTED_WITHIN_S = 120.0
# From a look-up to a search of everything, in seconds.
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class RequestSeries:
    """How long requests took and how they ended, whether searches found what fits, and what answers cost a reader."""

    def __init__(self, meter: "Meter", entrance: str) -> None:
        self._entrance = entrance
        self._duration = meter.create_histogram(
            "codesum.request.duration",
            unit="s",
            description="Time to answer a request, by tool or page and by how it ended",
            explicit_bucket_boundaries_advisory=_BUCKETS,
        )
        self._searches = meter.create_counter(
            "codesum.searches", description="Searches that were answered, by whether any hit fits the question"
        )
        self._tokens = meter.create_counter(
            "codesum.answer.tokens", description="Estimated tokens of answers, by tool or page"
        )

    def measure(self, request: AuditedRequest, duration_s: float) -> None:
        """Count a request that has ended."""
        asked = {"entrance": self._entrance, "asked": request.kind}
        self._duration.record(duration_s, {**asked, "outcome": request.outcome})
        if request.fits is not None:
            self._searches.add(1, {"entrance": self._entrance, "fits": str(request.fits).lower()})
        if request.tokens:
            self._tokens.add(request.tokens, asked)


class ServerMetrics(Struct, frozen=True):
    """What one process measures; without a `registry`, Prometheus is no exit."""

    meter: "Meter"
    requests: RequestSeries
    settings: MetricsSettings
    registry: "CollectorRegistry | None"
    _fleets: "list[FleetSeries]"
    _lock: threading.Lock

    @classmethod
    def start(cls, settings: MetricsSettings, entrance: str) -> "ServerMetrics | None":
        """None where the settings name no exit; raises `ConfigurationError` if packages are missing."""
        if not settings.exporters:
            return None
        try:
            from opentelemetry.sdk.metrics import MeterProvider
            from opentelemetry.sdk.resources import Resource
            from prometheus_client import CollectorRegistry

            registry = CollectorRegistry() if "prometheus" in settings.exporters else None
            readers = list(_readers(settings, registry))
        except ImportError as error:
            raise ConfigurationError(
                f"metrics.exporters is set, and {error.name} is not installed: {way_to_install('metrics')}"
            ) from None
        named = {"service.name": f"codesum-{entrance}", "service.version": installed_version()}
        provider = MeterProvider(metric_readers=readers, resource=Resource.create(named))
        meter = provider.get_meter("codesum_pipeline")
        return cls(meter, RequestSeries(meter, entrance), settings, registry, [], threading.Lock())

    def measure_fleet(self, catalogue: IndexCatalogue) -> None:
        """Measure the state of the repositories of a catalogue, too."""
        # It imports what builds need, which a server without metrics does not wait for.
        from codesum_pipeline.ways_in.metrics.fleet_series import FleetSeries

        fleet = FleetSeries(catalogue, self.settings.max_repositories)
        fleet.register(self.meter)
        self._fleets.append(fleet)

    def exposition(self, accepted: str, repositories: Collection[str] | None) -> tuple[bytes, str]:
        """All series in a format that a client accepts, and its content type; of some `repositories` these alone."""
        from prometheus_client.exposition import choose_encoder

        assert self.registry is not None
        encode, content_type = choose_encoder(accepted)
        # A reader hands on what it has collected last.
        with self._lock:
            for each in self._fleets:
                each.refresh()
            return encode(self.registry if repositories is None else _OfSome(self.registry, repositories)), content_type


class _OfSome(Struct, frozen=True):
    """A registry with the series of some repositories alone."""

    registry: "CollectorRegistry"
    repositories: Collection[str]

    def collect(self) -> "Iterator[Metric]":
        for family in self.registry.collect():
            family.samples = [each for each in family.samples if each.labels.get(REPOSITORY) in self.repositories]
            if family.samples:
                yield family


class MetricsPage(Struct, frozen=True):
    """The page for Prometheus, for whoever `catalogue` is for. `hosts` are the names under which it is shown; without,
    under any: a monitor reaches each container by an address of its own, and gives a token."""

    metrics: ServerMetrics
    catalogue: IndexCatalogue
    hosts: Collection[str] = ()

    def show(self, request: Request) -> Response:
        if self.hosts and request.headers.get("host", "").lower() not in self.hosts:
            return PlainTextResponse("This server is not known under that name.\n", 421)
        may_read = None
        if self.catalogue.token_scope is not None:
            may_read = {entry.key for entry in self.catalogue.entries(lambda _: None)}
        content, content_type = self.metrics.exposition(request.headers.get("accept", ""), may_read)
        return Response(content, headers={"Content-Type": content_type, "Cache-Control": "no-store"})


def _readers(settings: MetricsSettings, registry: "CollectorRegistry | None") -> "Iterator[MetricReader]":
    from opentelemetry.sdk.metrics import Counter, Histogram, ObservableCounter, ObservableGauge

    most = max(_LEAST_SERIES, _SERIES_OF_REPOSITORY * settings.max_repositories)
    limits: Any = dict.fromkeys((Counter, Histogram, ObservableCounter, ObservableGauge), most)
    if registry is not None:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader

        yield PrometheusMetricReader(registry=registry, scope_info_enabled=False, cardinality_limits=limits)
    if "otlp" in settings.exporters:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

        # Where to and with which headers, its own variables say.
        yield PeriodicExportingMetricReader(
            OTLPMetricExporter(),
            export_timeout_millis=_COLLECTED_WITHIN_S * 1000.0,
            cardinality_limits=limits,
        )
