"""Dagster's records in Postgres.

`dagster-postgres` calls functions that only psycopg 2 has, and assumes that `postgresql://` means that driver. Since
SQLAlchemy 2.1 it means psycopg 3. Here the driver is named, whatever the address says.
"""

from dagster_postgres import DagsterPostgresStorage
from dagster_postgres.utils import pg_url_from_config

from codesum_pipeline.builds.dagster.private_names import ConfigurableClassData, PostgresStorageConfig
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.operation_settings import POSTGRES_VARIABLE

_DRIVER = "postgresql+psycopg2"
_CONNECT_S = 10
_SAME = ("postgres", "postgresql", _DRIVER)


class PostgresRecords(DagsterPostgresStorage):
    """Runs, events and schedules in one database."""

    @classmethod
    def from_config_value(  # type: ignore[override]
        cls, inst_data: ConfigurableClassData | None, config_value: PostgresStorageConfig
    ) -> "PostgresRecords":
        return cls(
            inst_data=inst_data,
            postgres_url=with_time_limit(with_driver(pg_url_from_config(config_value))),
        )


def with_time_limit(url: str) -> str:
    """The address with a limit on how long a connection may take, unless it has one: without, a firewall that drops
    packets stops a command for minutes."""
    if "connect_timeout=" in url:
        return url
    return f"{url}{'&' if '?' in url else '?'}connect_timeout={_CONNECT_S}"


def with_driver(url: str) -> str:
    """The address with its driver named; raises `ConfigurationError`, without the address, for another driver."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in _SAME:
        raise ConfigurationError(
            f"{POSTGRES_VARIABLE}: Dagster needs psycopg 2: write postgresql+psycopg2://USER@HOST/NAME"
        )
    return f"{_DRIVER}://{rest}"
