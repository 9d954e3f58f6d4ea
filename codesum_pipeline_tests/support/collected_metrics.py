"""What a server's page for Prometheus says, read by Prometheus' own parser."""

from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families

from codesum_pipeline.foundation.settings.operation_settings import MetricsSettings
from codesum_pipeline.ways_in.metrics.server_metrics import ServerMetrics
from codesum_pipeline_tests.support.settings import changed

Series = Mapping[frozenset[tuple[str, str]], float]
PROMETHEUS = {"CODESUM_METRICS__EXPORTERS": '["prometheus"]'}


def read_exposition(text: str) -> Mapping[str, Series]:
    """The value of each series, by its labels, by the name of its sample."""
    found: dict[str, dict[frozenset[tuple[str, str]], float]] = {}
    for family in text_string_to_metric_families(text):
        for each in family.samples:
            found.setdefault(each.name, {})[frozenset(each.labels.items())] = each.value
    return found


def labelled(series: Series, label: str) -> dict[str, float]:
    """The values by one label."""
    return {dict(labels)[label]: value for labels, value in series.items()}


def started(**settings: object) -> ServerMetrics:
    """Metrics of a server, with Prometheus as exit."""
    metrics = ServerMetrics.start(changed(MetricsSettings(exporters=("prometheus",)), **settings), "web")
    assert metrics
    return metrics


def exposed(metrics: ServerMetrics, repositories: set[str] | None = None) -> Mapping[str, Series]:
    """All series, or those of some repositories."""
    content, _ = metrics.exposition("text/plain", repositories)
    return read_exposition(content.decode())
