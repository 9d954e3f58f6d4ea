"""What a manifest says of the language models whose texts are in an index."""

from typing import Any

import pyarrow.compute as pc

from codesum_pipeline.llm.model_list import listed
from codesum_pipeline.llm.pins import Parameters, blake3_of
from codesum_pipeline.model.documents import WrittenBy
from codesum_pipeline.model.hashing import canonical_json
from codesum_pipeline.store.workspace import Workspace

_COLUMNS = ["written_by", "model", "prompt_version"]


def model_fields(ws: Workspace) -> dict[str, Any]:
    """Null where no model wrote anything.

    Texts of several models or prompt versions stand side by side where one
    failed, or a cap left some over: models are listed, and the hash covers all
    versions. There is no seed: no provider promises one.
    """
    documents = ws.tables.read("documents", ws.key, columns=_COLUMNS)
    texts = documents.filter(pc.equal(documents.column("written_by"), WrittenBy.LLM.value))
    models, versions = (sorted(pc.unique(texts.column(name)).to_pylist()) for name in _COLUMNS[1:])
    return {
        "prompt_template_hash": blake3_of(canonical_json(versions)) if versions else None,
        "summary_llm_provider": ", ".join(sorted({_provider(model) for model in models})) or None,
        "summary_llm_model": ", ".join(models) or None,
        "summary_llm_temperature": Parameters().temperature if models else None,
        "summary_llm_seed": None,
    }


def _provider(model: str) -> str:
    """As LiteLLM names it."""
    prefix, slash, _ = model.partition("/")
    return prefix if slash else str((listed(model) or {}).get("litellm_provider", "unknown"))
