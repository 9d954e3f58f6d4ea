"""Which text a document gets that a model may write: the last build's, one of the cache, or a new one."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.llm.cache import KeptText
from codesum_pipeline.model.documents import Cause, ChildPair, Level, TextContext, WrittenBy
from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.settings.llm import BackendName
from codesum_pipeline.store.rows import column_names, from_table
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.contexts import Contexts, changed_by
from codesum_pipeline.summaries.by_model.prompting import TextSource
from codesum_pipeline.summaries.by_model.setup import ModelSetup
from codesum_pipeline.summaries.decide import RequiredDocument
from codesum_pipeline.summaries.neighbours import NeighbourNames, names_of_suspects, said_in


class LastText(Struct, frozen=True):
    """A model's text of the last build, as far as it decides what is kept; `said` must not name a neighbour."""

    id: str
    writer: str
    model: str | None
    parameters: str | None
    written_with: TextContext | None
    own_hash: str
    children: tuple[ChildPair, ...]
    summary_hash: str
    said: str


def last_by_model(workspace: Workspace, level: Level) -> Mapping[str, LastText]:
    """The texts of a level that a model wrote, by id."""
    columns = [*(name for name in column_names(LastText) if name != "said"), "text", "written_by"]
    table: pa.Table = workspace.tables.read_or_empty(texts_table(level), workspace.key, columns=columns)
    rows = table.filter(pc.equal(table.column("written_by"), WrittenBy.LLM.value))
    said = [pc.struct_field(rows.column("text"), name) for name in ("summary", "business_intent")]
    rows = rows.append_column("said", pc.binary_join_element_wise(*said, "\n"))
    return {row.id: row for row in from_table(rows, LastText)}


class Choice(Struct, frozen=True):
    """The text that one document gets.

    `stands`: the last build's text is kept. `had_text`: the last build had a model's text, from this input or another.
    `found` is a text of the cache that fits; without one the model has to be called. `cause` says why a text with
    unchanged hashes is replaced. `leftover` is the last model's text where its input is unchanged: it is kept where
    the model may not be called.
    """

    wanted: RequiredDocument
    context: TextContext | None
    stands: bool
    had_text: bool = False
    found: KeptText | None = None
    cause: tuple[Cause, tuple[str, ...]] | None = None
    leftover: RequiredDocument | None = None


class Chooser:
    """The choices of one level."""

    def __init__(self, workspace: Workspace, setup: ModelSetup, level: Level, contexts: Contexts | None) -> None:
        self._workspace = workspace
        self._setup = setup
        self._level = level
        self._contexts = contexts
        self._cache = setup.cache(workspace)
        self._last: Mapping[str, LastText] = last_by_model(workspace, level)

    def choose(self, sources: Sequence[TextSource], guard: FailureGuard) -> list[Choice]:
        """One choice per source, in their order; none for a failure."""
        choices: list[Choice] = []
        for source in sources:
            with guard.item(source.id):
                choices.append(self._look_back(source))
        choices = self._without_leaks(choices)
        # A recording must hold every answer, so the cache is not used.
        is_recorded = self._setup.llm.backend is BackendName.RECORD
        open_ones = [choice for choice in choices if not choice.stands and not is_recorded]
        keys = {self._setup.keys(one.wanted, self._level, one.context): one for one in open_ones}
        found = self._cache.find_many(list(keys)) if keys else {}
        open_ids = {exact: choice.wanted.id for (exact, _), choice in keys.items()}
        names = names_of_suspects(
            self._workspace,
            [(open_ids[exact], said_in(text.text)) for exact, texts in found.items() for text in texts],
        )
        kept: dict[str, KeptText] = {}
        for (exact, _), choice in keys.items():
            with guard.item(choice.wanted.id):
                fitting = next((text for text in found.get(exact, ()) if self._fits(text, choice, names)), None)
                if fitting:
                    kept[choice.wanted.id] = fitting
        fine = [choice for choice in choices if choice.wanted.id not in guard.failed]
        return [replace(choice, found=kept.get(choice.wanted.id)) for choice in fine]

    def _look_back(self, source: TextSource) -> Choice:
        """Whether the last build's text is kept, or why not."""
        wanted = source.wanted(self._setup.writer(self._level))
        context = self._contexts.of(source.id) if self._contexts else None
        last = self._last.get(source.id)
        if last is None:
            return Choice(wanted, context, stands=False)
        leftover = source.wanted(last.writer)
        if leftover.summary_hash != last.summary_hash:
            return Choice(wanted, context, stands=False, had_text=True)
        cause = self._cause(wanted, context, last)
        stands = cause is None and not self._workspace.force
        return Choice(wanted, context, stands, had_text=True, cause=cause, leftover=leftover)

    def _cause(
        self, wanted: RequiredDocument, context: TextContext | None, last: LastText
    ) -> tuple[Cause, tuple[str, ...]] | None:
        """Why a text with unchanged input is written again; None: it is kept."""
        own = (wanted.id,)
        if last.writer != wanted.writer:
            return Cause.PROMPT, own
        if last.model not in self._setup.models:
            return Cause.MODEL, own
        if last.parameters != self._setup.parameters:
            return Cause.SETTINGS, own
        if context is not None and (came := self._changed(last.written_with, context)):
            return Cause.GRAPH, came
        return None

    def _without_leaks(self, choices: list[Choice]) -> list[Choice]:
        """Keep no text that names a neighbour by now, whatever it was written from."""
        looked_at = [choice.wanted.id for choice in choices if choice.leftover is not None]
        names = names_of_suspects(self._workspace, [(id_, self._last[id_].said) for id_ in looked_at])
        leaking = {id_: found for id_, one in names.items() if (found := one.leaking(self._last[id_].said))}
        return [
            replace(one, stands=False, leftover=None, cause=(Cause.GRAPH, leaking[one.wanted.id]))
            if one.wanted.id in leaking
            else one
            for one in choices
        ]

    def _fits(self, text: KeptText, choice: Choice, names: Mapping[str, NeighbourNames]) -> bool:
        known = names.get(choice.wanted.id)
        if known and known.leaks(said_in(text.text)):
            return False
        return choice.context is None or not self._changed(text.context, choice.context)

    def _changed(self, then: TextContext | None, now: TextContext) -> tuple[str, ...]:
        return changed_by(then or TextContext((), (), (), ()), now, self._workspace.settings)
