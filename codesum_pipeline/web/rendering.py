"""Pages from templates: all values are escaped, but for HTML that this room made."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined

from codesum_pipeline.model.ids import SEPARATOR, without_suffix
from codesum_pipeline.model.printable import clean, one_line
from codesum_pipeline.tools.answers import DocumentRow
from codesum_pipeline.tools.read import DEFAULT_LINES

_PLURALS = {"function": "functions", "class": "classes", "file": "files", "module": "modules"}
_WORDS = {
    "part_of": "Part of",
    "members": "Holds",
    "callers": "Called by",
    "callees": "Calls",
    "bases": "Built on",
    "subclasses": "Extended by",
    "imports": "Imports",
    "imported_by": "Imported by",
    "external": "From outside",
    "similar": "Similar",
}


def render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


def address(path: str, /, **query: object) -> str:
    """A link within this server; empty values are left out."""
    kept = [(name, value) for name, value in query.items() if value not in ("", None, [])]
    # Names of repositories may hold bytes that are no UTF-8.
    asked = urlencode(kept, doseq=True, errors="surrogateescape")
    return f"{path}?{asked}" if asked else path


def document_address(row: DocumentRow) -> str:
    return address("/document", repo=row.repo, id=row.id)


def line_address(row: DocumentRow, line: int) -> str:
    """The address of a line: on the document's page where it shows the line, else on a page that begins there."""
    is_near = line < (row.start_line or 1) + DEFAULT_LINES
    page = document_address(row) if is_near else address("/document", repo=row.repo, id=f"{row.path}:{line}")
    return f"{page}#L{line}"


def title_of(row: DocumentRow) -> str:
    """The name of a definition, or the path of a file or folder."""
    name = without_suffix(row.id).partition(SEPARATOR)[2].replace(SEPARATOR, ".")
    return one_line(name) or ("the whole repository" if row.id == "." else one_line(row.path))


def said_of(row: DocumentRow) -> str:
    """The text of a row without the name."""
    return re.sub(rf"^{re.escape(title_of(row))}(: |$)", "", row.text)


def folder_name(row: DocumentRow) -> str:
    """The last name of a folder, for a list below its parent."""
    return title_of(row).rstrip("/").rpartition("/")[2] + ("" if row.id == "." else "/")


def levels_counted(levels: Mapping[str, int]) -> str:
    """`3 functions, 1 class`; levels without documents are left out."""
    return ", ".join(
        f"{count:,} {level if count == 1 else _PLURALS[level]}" for level, count in levels.items() if count
    )


def without_lead(facts: Mapping[str, str]) -> dict[str, str]:
    """The facts of a document without its summary and signature."""
    return {name: said for name, said in facts.items() if name not in ("summary", "signature")}


def usd(amount: float) -> str:
    """Dollars, with as many digits as a small sum needs."""
    return f"${amount:,.2f}" if amount >= 0.1 or not amount else f"${amount:,.4f}"


def relation_name(relation: str) -> str:
    return _WORDS.get(relation, relation)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("codesum_pipeline.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clean": clean,
        "one_line": one_line,
        "title": title_of,
        "said": said_of,
        "relation": relation_name,
        "folder_name": folder_name,
        "levels": levels_counted,
        "without_lead": without_lead,
        "number": lambda number: f"{number:,}",
        "usd": usd,
    }
    environment.globals |= {"address": address, "document_address": document_address, "line_address": line_address}
    return environment
