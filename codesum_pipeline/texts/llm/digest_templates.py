"""Templates of digests: read once for each, and filled for a digest or for a roll-up of digests.

`{history}` has a value in a roll-up alone. Both turns of a digest are read
before any call, so an unusable template costs nothing.
"""

from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import TemplateRenderError
from codesum_pipeline.texts.llm.templates import (
    HISTORY,
    PLACEHOLDERS,
    TemplateKind,
    fill_template,
    load_template,
    used_placeholders,
)

# Ends the names of roll-ups' templates, beside the template of an intent: one template cannot do for both, since
# `{history}` has no value in a digest.
ROLLUP_SUFFIX = "-history"


class DigestTemplate(Struct, frozen=True):
    """A template of `digest_system` or `digest_instruction`, as it is written."""

    kind: TemplateKind
    name: str
    text: str

    @property
    def has_history(self) -> bool:
        """Whether a roll-up's digests would be in it."""
        return HISTORY in used_placeholders(self.kind, self.name, self.text)

    def for_digest(self, **fields: str) -> str:
        """The turn of one digest: `language`, or `intent_text` and `articles`.

        Raises `TemplateRenderError` if it has `{history}`.
        """
        if self.has_history:
            raise TemplateRenderError(
                f"template {self.kind}/{self.name}: {{{HISTORY}}} has a value in a roll-up alone: have the intent use "
                "a template without it"
            )
        return fill_template(self.kind, self.name, self.text, {**fields, HISTORY: ""})

    def for_rollup(self, *, history: str, **fields: str) -> str:
        """The turn of a roll-up: `language`, or `intent_text`; `history` is put where `has_history` says so."""
        empty = dict.fromkeys(PLACEHOLDERS[self.kind], "")
        return fill_template(self.kind, self.name, self.text, {**empty, **fields, HISTORY: history})


def load_digest_template(prompts_dir: Path | None, kind: TemplateKind, name: str) -> DigestTemplate:
    """A template by name; raises `TemplateNotFound`, or `TemplateRenderError` for one that cannot be used."""
    return DigestTemplate(kind, name, load_template(prompts_dir, kind, name))
