"""Dagster's records in Postgres.

`dagster-postgres` calls functions that only psycopg 2 has, and assumes that `postgresql://` means that driver. Since
SQLAlchemy 2.1 it means psycopg 3. Here the driver is named, whatever the address says.
"""

from dagster_postgres import DagsterPostgresStorage
from dagster_postgres.utils import pg_url_from_config
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

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
        return cls(inst_data=inst_data, postgres_url=with_driver(pg_url_from_config(config_value)))


def with_driver(address: str) -> str:
    """The address with its driver named, and a limit on how long a connection may take, unless it has one: without, a
    firewall that drops packets stops a command for minutes.

    Raises `ConfigurationError`, without the address, for what is no address and for another driver.
    """
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        url = None
    if url is None or url.drivername not in _SAME:
        raise ConfigurationError(
            f"{POSTGRES_VARIABLE} is no address, or one of another driver than psycopg 2, which Dagster needs: write "
            "postgresql+psycopg2://USER@HOST:PORT/NAME"
        )
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(_CONNECT_S)})
    return url.set(drivername=_DRIVER).render_as_string(hide_password=False)
