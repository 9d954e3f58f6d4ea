"""`codesum sql`: one SELECT over the tables of all repositories."""

import csv
import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.tables import TableStore, tables_of
from codesum_pipeline.foundation.store.workspace import connect_in_memory, create_views
from codesum_pipeline.notifications.digests.sql_tables import read_sql_tables
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import (
    escape_text,
    is_on_terminal,
    make_table,
    print_json,
    safe_json_of,
    show_parts,
    write_note,
)

if TYPE_CHECKING:
    import pyarrow as pa

# A terminal is no place for more; pipes and files get every row.
_ROWS_ON_A_TERMINAL = 500
_CONFINE = """
SET allowed_directories = ['{folder}'];
SET enable_external_access = false;
SET lock_configuration = true;
"""


def sql(invocation: Invocation, query: str, as_json: bool = False, as_csv: bool = False) -> None:
    """Query every table with SQL; nothing can be changed.

    Each table holds the rows of all repositories and a column [bold]repo[/]:

    codesum sql "SELECT repo, type, count(*) FROM documents GROUP BY ALL ORDER BY ALL"
    """
    layout = invocation.layout
    # Those that the query may read: their names are words of it.
    words = set(re.findall(r"\w+", query.lower()))
    layout.files.bring_tables_of_all([name for name in TABLES if name in words])
    columns, rows = _select(tables_of(layout), read_sql_tables(layout.digests, query=query), query)
    if as_json:
        print_json(*(_plain(dict(zip(columns, row, strict=True))) for row in rows))
    elif as_csv:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([columns, *([_flat(value) for value in row] for row in rows)])
        # Files and other programs get the values as they are: CSV knows no escapes.
        typer.echo(escape_text(text.getvalue()) if is_on_terminal() else text.getvalue(), nl=False)
    else:
        shown = rows[:_ROWS_ON_A_TERMINAL] if is_on_terminal() else rows
        values = list(zip(*shown, strict=True)) or [()] * len(columns)
        numbers = [
            name for name, column in zip(columns, values, strict=True) if column and all(map(_is_number, column))
        ]
        show_parts(make_table(columns, ([_flat(value) for value in row] for row in shown), right=numbers))
        if len(shown) < len(rows):
            write_note(f"{len(rows) - len(shown):,} more rows: narrow the query, or use --csv or --json")


def _select(store: TableStore, more: "Mapping[str, pa.Table]", query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Run one SELECT (SHOW, DESCRIBE and SUMMARIZE count as one) that can read the warehouse, the tables `more` and
    nothing else."""
    import duckdb

    with connect_in_memory() as connection:
        create_views(connection, store)
        for name, rows in more.items():
            connection.register(name, rows)
        connection.execute(_CONFINE.format(folder=f"{store.root}/".replace("'", "''")))
        try:
            kinds = [statement.type.name for statement in connection.extract_statements(query)]
            if kinds != ["SELECT"]:
                found = ", ".join(kinds) or "nothing"
                raise ConfigurationError(f"`codesum sql` answers one SELECT, this is {found}: nothing was run")
            result = connection.execute(query)
            return [column[0] for column in result.description], result.fetchall()
        except duckdb.Error as error:
            # Without DuckDB's drawing of the line.
            reason = str(error).partition("\n\nLINE ")[0]
            raise ConfigurationError(f"this query cannot be answered: {reason}") from error


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _flat(value: Any) -> Any:
    """Lists and structures as JSON; everything else as it is."""
    return safe_json_of(_plain(value)) if isinstance(value, (list, dict)) else value


def _plain(value: Any) -> Any:
    """A value of DuckDB in a form that JSON can hold."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
