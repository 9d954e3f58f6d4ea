"""Before anything is spent: which texts a model would write, what stops the others, and at what price."""

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from functools import partial

from msgspec import Struct

from codesum_pipeline.evidence.extractive.extractive_parents import author_opening, author_opening_of_function
from codesum_pipeline.evidence.inputs import TextFileInput, UpperInput
from codesum_pipeline.foundation.data_model.document import Gate, Level, TextRow
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.hashing import canonical_json
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.symbols.parsing.testing import is_among_tests
from codesum_pipeline.texts.summaries.by_model.choosing import Choice, Chooser, ModelSetup, read_last_by_model
from codesum_pipeline.texts.summaries.by_model.gates import (
    CallCandidate,
    choose_within_caps,
    gate_of,
    importance_of,
    needs_confirmation,
    tests_of,
    trusted_ids,
)
from codesum_pipeline.texts.summaries.by_model.predicted_prices import Estimate, Estimator
from codesum_pipeline.texts.summaries.by_model.prompting import (
    Prompt,
    Prompter,
    TextSource,
    function_source,
    model_metadata,
    upper_source,
)
from codesum_pipeline.texts.summaries.by_model.shown_contexts import Contexts
from codesum_pipeline.texts.summaries.decide import RequiredDocument, Rewrite
from codesum_pipeline.texts.summaries.function_texts import docstrings_of
from codesum_pipeline.texts.summaries.outline import DocumentTree

# A document without a call.
NOTHING = Estimate(1)
# From the bottom up.
_LEVELS = tuple(Level)


class Decision(Struct, frozen=True):
    """What a model does for one document.

    With `wanted` it has a model's text after the build; `stays`: that of the last build. Without `wanted` it has
    another writer's. `estimate` is of the call that it takes, or would take if `gate` did not stop it.
    """

    wanted: RequiredDocument | None
    stays: bool = False
    gate: Gate | None = None
    rewrite: Rewrite | None = None
    estimate: Estimate = NOTHING
    is_documented: bool = False


class ModelPlanner:
    """Decides for each document of a build, level after level, children first.

    All levels share the caps, so the plan is made twice: first as if there were none, then, after `share_out_caps`,
    within them.
    """

    def __init__(self, workspace: Workspace, setup: ModelSetup, outline: DocumentTree) -> None:
        self._workspace = workspace
        self._setup = setup
        self._outline = outline
        self._trusted = trusted_ids(workspace, outline)
        self._importance = importance_of(workspace, outline)
        self._contexts = Contexts(workspace)
        self._tests: Set[str] = tests_of(workspace, outline) if not setup.llm.tests else frozenset()
        self._callers: dict[tuple[Level, str], CallCandidate] = {}
        self._room: set[Hashable] | None = None
        self._waiting: set[Hashable] = set()
        self._is_held = False
        self._last: dict[Level, Mapping[str, TextRow]] = {}
        self._estimators = {level: Estimator(setup, level) for level in Level}
        self._prompters = {level: Prompter(setup.templates[level], setup.max_prompt_chars) for level in Level}
        self._estimates: dict[str, Estimate] = {}
        self._chosen: dict[Level, dict[str, Choice]] = {}
        # A document that fails is planned as any other: the step that writes fails on it too, and counts it.
        self._guard = FailureGuard()
        self._documented: dict[str, bool] = {}

    def decide_functions(self, functions: Mapping[str, tuple[str, str, str]]) -> dict[str, Decision]:
        """What a model does for each function, given by id with qualified name, language and canonical source."""
        level = Level.FUNCTION
        sources = {id_: function_source(id_, *function) for id_, function in functions.items()}
        choices = self._choose(level, [*sources.values()])
        unread = [id_ for id_, c in choices.items() if not (c.stands or c.kept_text or id_ in self._documented)]
        for id_, language, name, docstring in docstrings_of(self._workspace, unread) if unread else ():
            self._is_documented(id_, partial(author_opening_of_function, docstring, language, name))
        failed = {id_: Decision(sources[id_].wanted(self.writer(level))) for id_ in sources.keys() - choices.keys()}
        return failed | self._decide_all(
            level, choices, lambda prompter, id_: prompter.of_function(*functions[id_], self._contexts.shown(id_))
        )

    def decide_texts(self, files: Sequence[TextFileInput]) -> dict[str, Decision]:
        """What a model does for files that are shown as text only."""
        inputs = {file.id: file for file in files}
        sources: list[TextSource] = []
        for file in files:
            with self._guard.item(file.id):
                sources.append(upper_source(file, ()))
        choices = self._choose(Level.FILE, sources)
        for id_ in choices:
            self._is_documented(id_, partial(author_opening, inputs[id_]))
        return self._decide_all(Level.FILE, choices, lambda prompter, id_: prompter.of_upper(Level.FILE, inputs[id_]))

    def decide_upper(self, level: Level, head: UpperInput, *, is_new: bool, if_below: bool, layer: int) -> Decision:
        """The decision for a document whose children may still change, with an upper bound of the price.

        `if_below`: its text is kept unless a child's text changes. `layer` counts from the bottom of its level.
        """
        estimate = self._estimate(head.id, lambda: self._estimate_of_parts(level, head))
        is_documented = self._is_documented(head.id, partial(author_opening, head))
        gate = self._gate(
            level,
            head.id,
            has_text=False,
            is_new=is_new,
            estimate=estimate,
            is_documented=is_documented,
            if_below=if_below,
            layer=layer,
        )
        return Decision(None, gate=gate, estimate=estimate, is_documented=is_documented)

    def is_trusted(self, id_: str) -> bool:
        return self._trusted is None or id_ in self._trusted

    def is_caller(self, level: Level, id_: str) -> bool:
        """Whether it would need a call if there were no caps."""
        return (level, id_) in self._callers

    def is_waiting(self, level: Level, id_: str) -> bool:
        """Whether it waits for a later run, which has to write something in it first."""
        return (level, id_) in self._waiting and self.is_caller(level, id_)

    def writer(self, level: Level) -> str:
        return self._setup.writer(level)

    def is_current(self, level: Level, id_: str) -> bool:
        """Whether the last text of a document is by the model, template and parameters that would write it now."""
        if level not in self._last:
            self._last[level] = read_last_by_model(self._workspace, level)
        last = self._last[level].get(id_)
        return last is not None and self._setup.is_of_now(level, last)

    def share_out_caps(self, existing: int) -> None:
        """Share out the caps: from here on only documents that fit them get a call. `existing` texts are there."""
        llm = self._setup.llm
        self._room = choose_within_caps(
            self._callers.values(), most=llm.max_summaries_per_run, most_usd=llm.max_cost_usd_per_run
        )
        chosen = [caller for name, caller in self._callers.items() if name in self._room]
        others = (caller for name, caller in self._callers.items() if name not in self._room)
        self._waiting = {above for caller in others for above in caller.above}
        is_held = needs_confirmation(chosen, existing, self._workspace.settings.max_rewrite_fraction)
        self._is_held = is_held and not self._workspace.is_confirmed

    def _is_documented(self, id_: str, opening: Callable[[], str]) -> bool:
        """Whether its author documented a document: its documentation has an opening, which is read once."""
        if id_ not in self._documented:
            self._documented[id_] = False
            with self._guard.item(id_):
                self._documented[id_] = bool(opening())
        return self._documented[id_]

    def _estimate(self, id_: str, make: Callable[[], Estimate]) -> Estimate:
        """The estimate of a document, which is made once for both passes; nothing for one that fails."""
        if id_ not in self._estimates:
            self._estimates[id_] = NOTHING
            with self._guard.item(id_):
                self._estimates[id_] = make()
        return self._estimates[id_]

    def _estimate_of_parts(self, level: Level, head: UpperInput) -> Estimate:
        below = self._outline.children.get(head.id, ())
        prompt = self._prompters[level].of_upper(level, head).text
        return self._estimators[level].of_parts(canonical_json(model_metadata(head)), prompt, below)

    def _choose(self, level: Level, sources: Sequence[TextSource]) -> dict[str, Choice]:
        """The texts of the last build and of the cache, looked up once for both passes."""
        chosen = self._chosen.setdefault(level, {})
        missing = [source for source in sources if source.id not in chosen]
        contexts = self._contexts if level is Level.FUNCTION else None
        if missing:
            chooser = Chooser(self._workspace, self._setup, level, contexts)
            chosen.update({choice.id: choice for choice in chooser.choose(missing, self._guard)})
        return {source.id: chosen[source.id] for source in sources if source.id in chosen}

    def _decide_all(
        self, level: Level, choices: Mapping[str, Choice], prompt_of: Callable[[Prompter, str], Prompt]
    ) -> dict[str, Decision]:
        """The decisions about documents whose whole input is known; prompts are made for the prices of calls."""
        prompter, estimator = self._prompters[level], self._estimators[level]

        def estimate_of(id_: str) -> Estimate:
            return estimator.of_prompt(prompt_of(prompter, id_).text)

        decisions = {}
        for id_, choice in choices.items():
            has_text = choice.stands or choice.kept_text is not None
            cost = NOTHING if has_text else self._estimate(id_, partial(estimate_of, id_))
            is_documented = self._documented.get(id_, False)
            gate = self._gate(
                level, id_, has_text=has_text, is_new=not choice.had_text, estimate=cost, is_documented=is_documented
            )
            if gate is None:
                decisions[id_] = Decision(choice.wanted, choice.stands, None, choice.rewrite, cost, is_documented)
            elif gate is not Gate.TRUST and choice.leftover is not None:
                decisions[id_] = Decision(choice.leftover, True, gate, estimate=cost, is_documented=is_documented)
            else:
                decisions[id_] = Decision(None, gate=gate, estimate=cost, is_documented=is_documented)
        return decisions

    def _gate(
        self,
        level: Level,
        id_: str,
        *,
        has_text: bool,
        is_new: bool,
        estimate: Estimate,
        is_documented: bool,
        if_below: bool = False,
        layer: int = 0,
    ) -> Gate | None:
        name = (level, id_)
        llm = self._setup.llm
        is_left_out_test = not has_text and is_among_tests(self._tests, id_)
        is_left_to_author = not has_text and is_documented and not llm.documented
        # Answers of a recording are no calls; which requests it holds is seen when the level is written.
        has_text = has_text or llm.asks_nobody
        gate = gate_of(
            is_offline=self._workspace.settings.offline,
            is_trusted=self.is_trusted(id_),
            is_left_out_test=is_left_out_test,
            is_left_to_author=is_left_to_author,
            has_text=has_text,
            is_within_cap=self._room is None or name in self._room,
            is_confirmed=not self._is_held,
        )
        if gate is None and not has_text and self._room is None:
            worth = self._importance.get(id_, 0.0)
            self._callers[name] = CallCandidate(
                name,
                worth,
                is_new,
                estimate.usd,
                tuple((self._outline.levels[above], above) for above in self._outline.above(id_)),
                if_below,
                (_LEVELS.index(level), layer),
                is_documented,
            )
        return gate
