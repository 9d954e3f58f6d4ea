"""What a model wrote of a repository, as far as its page repeats it.

The page asks no model. The root folder's text is one of the summaries: planned, priced, gated, recorded and kept as any
other, and written anew only where what it rests on changed. What names code that the repository does not have is left
out, and told.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from codesum_pipeline.llm.leaks import code_names, looks_like_code, names_in
from codesum_pipeline.model.documents import WrittenBy
from codesum_pipeline.store.workspace import Workspace

_COLUMNS = ["id", "written_by", "summary", "responsibilities"]


@dataclass(frozen=True, slots=True)
class ModelWords:
    """Nothing where no model wrote. `unknown_names` are those for which sentences were left out."""

    is_by_model: bool = False
    summary: str = ""
    responsibilities: tuple[str, ...] = ()
    unknown_names: tuple[str, ...] = ()


NO_WORDS = ModelWords()


def model_words(ws: Workspace, root: str, *, readme: str) -> ModelWords:
    """Of the root folder's document; `readme` is a text whose names are known, too."""
    parts = ws.tables.read_parts("documents", ws.key, columns=_COLUMNS, having=("id", root))
    row = next((row for part in parts for row in part.to_pylist() if row["written_by"] == WrittenBy.LLM), None)
    if row is None:
        return NO_WORDS
    known = _KnownNames(ws, readme)
    unknown = {said: tuple(known.lacking(said)) for said in (row["summary"], *row["responsibilities"])}
    return ModelWords(
        is_by_model=True,
        summary="" if unknown[row["summary"]] else row["summary"],
        responsibilities=tuple(said for said in row["responsibilities"] if not unknown[said]),
        unknown_names=tuple(sorted({name for names in unknown.values() for name in names})),
    )


@dataclass(frozen=True)
class _KnownNames:
    """The names of a repository: of its documents, of what it uses from outside, and of its README."""

    ws: Workspace
    readme: str

    def lacking(self, text: str) -> Iterator[str]:
        """The names in a text that look like code and are none of these."""
        for found in code_names(text):
            name = found.group().removesuffix("()")
            is_code = looks_like_code(name) or name != found.group()
            if is_code and not names_in(name) <= self._own and not names_in(name) <= self._used:
                yield name

    @cached_property
    def _own(self) -> frozenset[str]:
        return names_in(self.readme, *self._column("documents", "id"))

    @cached_property
    def _used(self) -> frozenset[str]:
        return self._own | names_in(*self._column("edges", "dst"))

    def _column(self, table: str, column: str) -> Iterator[str]:
        for part in self.ws.tables.read_parts(table, self.ws.key, columns=[column]):
            yield from part.column(column).to_pylist()
