"""What is fixed for a build in which a model writes, and which text a document gets: the last build's, one of the
cache, or a new one."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Cause, Level, TextContext, TextRow, WrittenBy
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import BackendName
from codesum_pipeline.foundation.settings.stage_settings import GraphPolicy
from codesum_pipeline.foundation.store.rows import from_table
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.llm.answer_shapes import answer_tool
from codesum_pipeline.texts.llm.budgets import (
    FAIR_MATERIAL_CHARS,
    LEAST_MATERIAL_CHARS,
    chars_left,
    least_prompt_chars,
    prompt_chars,
)
from codesum_pipeline.texts.llm.marking import MASKING_VERSION
from codesum_pipeline.texts.llm.pins import blake3_of
from codesum_pipeline.texts.llm.prices import Price, price_of
from codesum_pipeline.texts.llm.templates import (
    SHORT_NAME,
    ResolvedTemplate,
    TemplateKind,
    resolve_short_template,
    resolve_template,
)
from codesum_pipeline.texts.llm.text_cache import AnswerCache, KeptText
from codesum_pipeline.texts.summaries.by_model.prompting import TextSource
from codesum_pipeline.texts.summaries.by_model.shown_contexts import Contexts, find_context_changes, hash_of_shown
from codesum_pipeline.texts.summaries.by_model.unchanged import UnchangedCode
from codesum_pipeline.texts.summaries.decide import RequiredDocument, Rewrite
from codesum_pipeline.texts.summaries.neighbours import NeighbourNames, names_of_suspects, prose_of

# The first one stands for all, and is the one that most texts of earlier versions were kept under.
_FORMS_IN_KEYS = ("tool", "json_schema", "json_text")


class ModelSetup:
    """A build with a model, as its settings and the templates on disk say.

    `max_prompt_chars` is how long a prompt may be; the number, so that another setting with the same effect changes no
    key. `parameters` is a hash of what an answer depends on besides messages, templates and model. The form in which a
    server makes the model answer is not in it: nobody pays again since a server was changed. `same_parameters` are
    those of texts that stand for the same: earlier versions had the form in them.
    """

    def __init__(self, settings: Settings, templates: Mapping[Level, ResolvedTemplate]) -> None:
        self.settings = settings
        self.templates = templates
        self.llm = llm = settings.llm
        self.max_prompt_chars = prompt_chars(llm)
        self.parameters, *others = (
            hash_of([0.0, llm.max_tokens, form, self.max_prompt_chars, llm.max_attempts, MASKING_VERSION])
            for form in _FORMS_IN_KEYS
        )
        self.same_parameters = (self.parameters, *others)

    @classmethod
    def of(cls, workspace: Workspace) -> "ModelSetup | None":
        """None if no model writes."""
        settings = workspace.settings
        return cls(settings, templates_of(settings)) if settings.llm.enabled else None

    @property
    def models(self) -> tuple[str, ...]:
        """The models whose texts are kept: the first one, and those that are called where it fails."""
        return (self.llm.model, *self.llm.fallback_models)

    @property
    def price(self) -> Price:
        """The price of the first model; raises `ConfigurationError` if it is unknown. A recording costs nothing."""
        if self.llm.asks_nobody:
            return Price(0.0, 0.0, 0.0, 0.0)
        return price_of(self.llm.model, self.llm)

    def writer(self, level: Level) -> str:
        """The template that writes a level's texts: system, instruction and the shape of the answer."""
        return writer_of(self.templates[level])

    def is_of_now(self, level: Level, text: TextRow) -> bool:
        """Whether a text of the last build is by the model, template and parameters that would write it now."""
        is_same_way = text.writer == self.writer(level) and text.parameters in self.same_parameters
        return is_same_way and text.model in self.models

    def keys(self, wanted: RequiredDocument, level: Level, context: TextContext | None) -> tuple[str, str]:
        """The keys of a text in the cache: with the document's id, and without it."""
        return self.all_keys(wanted, level, context)[0]

    def all_keys(
        self, wanted: RequiredDocument, level: Level, context: TextContext | None
    ) -> Sequence[tuple[str, str]]:
        """The keys that a text is kept under, and those that earlier versions kept it under."""
        shown = (
            [hash_of_shown(context)] if self.settings.graph_policy is GraphPolicy.STRICT and context is not None else []
        )
        bodies = (
            [wanted.summary_hash, level, self.llm.model, parameters, self.llm.language, *shown]
            for parameters in self.same_parameters
        )
        return [(hash_of([wanted.id, body]), hash_of(body)) for body in bodies]

    def cache(self, workspace: Workspace) -> AnswerCache:
        bucket, shared = workspace.layout.bucket, None
        if bucket:
            # A home in a folder does without the code of buckets.
            from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES

            shared = OPENED_HOMES.objects(bucket)
        return AnswerCache(self.settings.summary_cache_dir, now=workspace.now, shared=shared)


def templates_of(settings: Settings) -> dict[Level, ResolvedTemplate]:
    """The templates of all levels as they are now; raises `ConfigurationError` if one cannot be used."""
    llm = settings.llm
    return fitting_templates(settings.prompts_dir, Level, language=llm.language, max_prompt_chars=prompt_chars(llm))


def writer_of(template: ResolvedTemplate) -> str:
    """A writer's name: it changes with the template and with the shape of the answer."""
    digest = blake3_of(f"{template.digest}\n{answer_tool(template.level).schema_blake3}")
    return f"{WrittenBy.LLM}/{digest.removeprefix('blake3:')[:16]}"


def read_last_by_model(workspace: Workspace, level: Level) -> Mapping[str, TextRow]:
    """The last build's texts of a level that a model wrote, by id."""
    table: pa.Table = workspace.tables.read_or_empty(texts_table(level), workspace.key)
    rows = table.filter(pc.equal(table.column("written_by"), WrittenBy.LLM.value))
    return {row.id: row for row in from_table(rows, TextRow)}


class Choice(Struct, frozen=True):
    """The text that one document gets.

    `stands`: the last build's text is kept. `had_text`: the last build had a model's text, of this input or another.
    `kept_text` is a text of the cache that fits; without one the model has to be called. `rewrite` says why a text with
    unchanged hashes is replaced. `leftover` is the last model's text where its input is unchanged: it is kept where
    the model may not be called. With `has_other_hash` that text is of the same code under another hash, and is
    `kept_text`.
    """

    wanted: RequiredDocument
    context: TextContext | None
    stands: bool
    had_text: bool = False
    kept_text: KeptText | None = None
    rewrite: Rewrite | None = None
    leftover: RequiredDocument | None = None
    has_other_hash: bool = False

    @property
    def id(self) -> str:
        return self.wanted.id


class Chooser:
    """The choices of one level."""

    def __init__(self, workspace: Workspace, setup: ModelSetup, level: Level, contexts: Contexts | None) -> None:
        self._workspace = workspace
        self._setup = setup
        self._level = level
        self._contexts = contexts
        self._cache = setup.cache(workspace)
        self._last: Mapping[str, TextRow] = read_last_by_model(workspace, level)
        self._unchanged = UnchangedCode(workspace, level)

    def note(self, rows: Iterable[TextRow]) -> None:
        """Take in texts of the level that the model wrote in this build."""
        self._unchanged.note({row.id: row.text_hash for row in rows})

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
        keys = {pair: one for one in open_ones for pair in self._setup.all_keys(one.wanted, self._level, one.context)}
        found = self._cache.find_many(list(keys)) if keys else {}
        open_ids = {exact: choice.id for (exact, _), choice in keys.items()}
        names = names_of_suspects(
            self._workspace,
            [(open_ids[exact], prose_of(text.text)) for exact, texts in found.items() for text in texts],
        )
        kept = self._of_same_code(choices)
        for (exact, _), choice in keys.items():
            with guard.item(choice.id):
                fitting = next((text for text in found.get(exact, ()) if self._fits(text, choice, names)), None)
                if fitting:
                    kept.setdefault(choice.id, fitting)
        fine = [choice for choice in choices if choice.id not in guard.failed]
        return [replace(choice, kept_text=kept.get(choice.id)) for choice in fine]

    def _look_back(self, source: TextSource) -> Choice:
        """Whether the last build's text is kept, or why not."""
        wanted = source.wanted(self._setup.writer(self._level))
        context = self._contexts.of(source.id) if self._contexts else None
        last = self._last.get(source.id)
        if last is None:
            return Choice(wanted, context, stands=False)
        leftover = source.wanted(last.writer)
        is_same = leftover.summary_hash == last.summary_hash
        if not is_same and not self._unchanged.still_describes(source, last.children):
            return Choice(wanted, context, stands=False, had_text=True)
        rewrite = self._rewrite(wanted, context, last)
        is_kept = rewrite is None and not self._workspace.force
        if is_kept and not is_same:
            rewrite = Rewrite(wanted.id, Cause.SETTINGS, (wanted.id,))
        return Choice(wanted, context, is_kept and is_same, True, None, rewrite, leftover, is_kept and not is_same)

    def _of_same_code(self, choices: Sequence[Choice]) -> dict[str, KeptText]:
        """The last build's texts that stand under another hash, as if the cache had them."""
        wanted = {choice.id: choice for choice in choices if choice.has_other_hash}
        found = {}
        for id_, choice in wanted.items():
            row, keys = self._last[id_], self._setup.keys(choice.wanted, self._level, choice.context)
            model, version = row.model or self._setup.llm.model, row.prompt_version or ""
            found[id_] = KeptText(*keys, row.text, row.written_with, model, version, row.cost_usd, row.written_at)
        return found

    def _rewrite(self, wanted: RequiredDocument, context: TextContext | None, last: TextRow) -> Rewrite | None:
        """Why a text with unchanged input is written again; None: it is kept."""
        others = {
            Cause.PROMPT: last.writer != wanted.writer,
            Cause.MODEL: last.model not in self._setup.models,
            Cause.SETTINGS: last.parameters not in self._setup.same_parameters,
        }
        for cause, is_other in others.items():
            if is_other:
                return Rewrite(wanted.id, cause, (wanted.id,))
        came = find_context_changes(last.written_with, context, self._workspace.settings) if context is not None else ()
        return Rewrite(wanted.id, Cause.GRAPH, came) if came else None

    def _without_leaks(self, choices: list[Choice]) -> list[Choice]:
        """Keep no text that names a neighbour by now, whatever it was written from."""
        looked_at = [choice.id for choice in choices if choice.leftover is not None]
        prose = {id_: prose_of(self._last[id_].text) for id_ in looked_at}
        names = names_of_suspects(self._workspace, prose.items())
        leaking = {id_: found for id_, one in names.items() if (found := one.leaking(prose[id_]))}
        rewrites = {id_: Rewrite(id_, Cause.GRAPH, found) for id_, found in leaking.items()}
        return [
            replace(one, stands=False, leftover=None, has_other_hash=False, rewrite=rewrites[one.id])
            if one.id in rewrites
            else one
            for one in choices
        ]

    def _fits(self, text: KeptText, choice: Choice, names: Mapping[str, NeighbourNames]) -> bool:
        known = names.get(choice.id)
        if known and known.leaks(prose_of(text.text)):
            return False
        return choice.context is None or not find_context_changes(
            text.context, choice.context, self._workspace.settings
        )


def fitting_templates(
    prompts_dir: Path | None, levels: Iterable[Level], *, language: str, max_prompt_chars: int
) -> dict[Level, ResolvedTemplate]:
    """The templates of levels under this bound: a short one is read and used only where the full one does not fit.

    Raises `ConfigurationError` if neither can be used; the error names a bound that fits all of the levels.
    """
    found: dict[Level, ResolvedTemplate] = {}
    too_long: list[tuple[ResolvedTemplate, ...]] = []
    for level in levels:
        full = resolve_template(prompts_dir, level, language=language)
        needs_short = chars_left(max_prompt_chars, full.characters) < FAIR_MATERIAL_CHARS
        short = resolve_short_template(prompts_dir, level, language=language) if needs_short else None
        choices = (full, short) if short else (full,)
        # The full one before the short one, and one that leaves fair room before one that leaves little.
        for least in (FAIR_MATERIAL_CHARS, LEAST_MATERIAL_CHARS):
            for template in choices:
                if chars_left(max_prompt_chars, template.characters) >= least:
                    found.setdefault(level, template)
        if level not in found:
            too_long.append(choices)
    if too_long:
        raise ConfigurationError(_too_long(max(too_long, key=_least_chars), max_prompt_chars))
    return found


def _least_chars(choices: Iterable[ResolvedTemplate]) -> int:
    """The smallest prompt that one of these can be used in."""
    return least_prompt_chars(min(template.characters for template in choices))


def _too_long(choices: Sequence[ResolvedTemplate], max_prompt_chars: int) -> str:
    """What does not fit, and the ways out; of several levels, of the one that takes most."""
    named = " and ".join(f"{one.names[0]} ({one.characters:,} characters with its instruction)" for one in choices)
    # The short one of the package never stands for one of your own.
    saving = f"save a short one (`codesum prompts save {TemplateKind.SYSTEM} {SHORT_NAME} FILE`), or "
    return (
        f"llm.max_prompt_chars, or what the model takes, is {max_prompt_chars:,} characters. Of the templates for "
        f"level {choices[0].level.value}, {named} take too much: {saving if len(choices) == 1 else ''}take a model, or "
        f"a setting, of at least {_least_chars(choices):,}"
    )
