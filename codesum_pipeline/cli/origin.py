"""Who wrote a document, and what kept a model from it."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from codesum_pipeline.model.documents import Gate, Level, WrittenBy
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.settings.models import Settings

_PUBLISHED = ("written_by", "model", "prompt_version", "gate")
_IN_TABLES = ("failure", "cost_usd")


def telling(warehouse: Path, key: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """What is published of that and, of the same text in the tables, why calls failed and what it cost."""
    return {name: document[name] for name in _PUBLISHED} | failure_and_price(warehouse, key, document)


def failure_and_price(warehouse: Path, key: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing where no model was asked, or where the tables hold another text than the published one."""
    if document["written_by"] != WrittenBy.LLM and document["gate"] != Gate.FAILED:
        return {}
    # Arrow takes longer to load than to show a document, and most are shown without it.
    import pyarrow.compute as pc

    from codesum_pipeline.store.schemas import texts_table
    from codesum_pipeline.store.tables import TableStore

    table = texts_table(Level(document["type"]))
    texts = TableStore(warehouse).read_or_empty(table, key, columns=["id", "text_hash", *_IN_TABLES])
    rows = texts.filter(pc.equal(texts.column("id"), document["id"])).to_pylist()
    same = [row for row in rows if row["text_hash"] == document["text_hash"]]
    return {name: row[name] for row in same for name in _IN_TABLES}


def templates_named(settings: Settings, document: Mapping[str, Any]) -> list[str] | None:
    """The templates that a model wrote a document with; None where no model did, or they have changed since.

    A template that cannot be used now counts as changed, so that it keeps no document from being shown.
    """
    if not document["prompt_version"]:
        return None
    # Most documents are shown without what reads a template.
    from codesum_pipeline.llm.templates import resolve, resolve_short

    level, folder = Level(document["type"]), settings.prompts_dir
    for read in (resolve, resolve_short):
        with suppress(ConfigurationError):
            found = read(folder, level, language=settings.llm.language)
            if found and found.digest == document["prompt_version"]:
                return list(found.names)
    return None


def readable(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a person; what was free says no price."""
    named = {name.replace("_", " "): value for name, value in values.items() if name != "cost_usd"}
    return named | ({"price": f"${values['cost_usd']:.4f}"} if values.get("cost_usd") else {})
