"""One level's texts by a model while they are written: first texts of the cache, then calls."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.composing import ExtractiveText
from codesum_pipeline.evidence.leaks import leaked_names
from codesum_pipeline.foundation.data_model.document import (
    Cause,
    Gate,
    Level,
    PurposeSource,
    TextRow,
    WrittenBy,
)
from codesum_pipeline.foundation.data_model.errors import CallFailure
from codesum_pipeline.foundation.data_model.guard import FailureGuard, work_in_halves
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, AvoidanceReason, LedgerRow
from codesum_pipeline.foundation.settings.llm_settings import BackendName
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.texts.llm.answer_shapes import answer_tool
from codesum_pipeline.texts.llm.backend import AnotherModel
from codesum_pipeline.texts.llm.backends import build_backend
from codesum_pipeline.texts.llm.conversation import UnexpectedFailure, WritingTask
from codesum_pipeline.texts.llm.ledger import Caps, Ledger, open_ledger
from codesum_pipeline.texts.llm.prices import price_of, tokens_upper
from codesum_pipeline.texts.llm.text_cache import KeptText
from codesum_pipeline.texts.llm.writing_run import GAVE_UP, TaskOutcome, write_all
from codesum_pipeline.texts.summaries.by_model.choosing import Choice, Chooser, ModelSetup
from codesum_pipeline.texts.summaries.by_model.gates import (
    call_order,
    caps_left,
    documents_above_unwritten,
    importance_of,
    read_plan,
    rewrites_left,
    trusted_ids,
)
from codesum_pipeline.texts.summaries.by_model.outages import note_outage
from codesum_pipeline.texts.summaries.by_model.predicted_prices import Estimator, LevelCalls, read_meter
from codesum_pipeline.texts.summaries.by_model.prompting import Prompt, Prompter, TextSource
from codesum_pipeline.texts.summaries.by_model.shown_contexts import Contexts, find_context_changes
from codesum_pipeline.texts.summaries.decide import Rewrite
from codesum_pipeline.texts.summaries.level_build import LevelBuild
from codesum_pipeline.texts.summaries.neighbours import NeighbourNames, name_of_document, neighbour_names_of, prose_of
from codesum_pipeline.texts.summaries.outline import DocumentTree

# Gates that a later run may pass.
_PENDING = (Gate.CAP, Gate.NO_CREDENTIALS, Gate.FAILED)
# Documents for which prompts are made beyond those that the caps let through: some take no call.
_MORE_AT_A_TIME = 100


def shown_to(system: str, prompt: Prompt) -> tuple[str, ...]:
    """The texts in which an object is none of the model's own. An example's answer about this very material is one."""
    is_example = bool(prompt.material) and prompt.material in system
    return (prompt.text,) if is_example else (system, prompt.text)


class ModelLevel:
    """A level of a build in which a model writes. What stops documents goes into the gates of the build."""

    def __init__(self, build: LevelBuild, setup: ModelSetup, outline: DocumentTree) -> None:
        workspace, level = build.workspace, build.level
        self.build = build
        self._workspace = workspace
        self._setup = setup
        self._level = level
        self._guard = build.guard
        self._cache = setup.cache(workspace)
        self._importance = importance_of(workspace, outline)
        self._contexts = Contexts(workspace)
        self._chooser = Chooser(workspace, setup, level, self._contexts if level is Level.FUNCTION else None)
        self.prompter = Prompter(setup.templates[level], setup.max_prompt_chars)
        self.planned, self._predicted, self._documented = read_plan(workspace, level)
        # Read from the edges, not from the plan, so that a compiler's index that comes or goes makes the level anew.
        self._trusted = trusted_ids(workspace, outline)
        self._gates = build.stopped
        self._gates.update(self.planned)
        self._can_ask = setup.llm.backend is not BackendName.NOOP and (
            setup.llm.asks_nobody or (setup.llm.max_summaries_per_run > 0 and not workspace.settings.offline)
        )
        self._waiting = documents_above_unwritten(workspace, setup, outline, level) if self._can_ask else set[str]()
        self._outcomes: list[TaskOutcome] = []
        self._found = 0
        self._outline = outline
        # Where the texts of documents were found: the last build's, the cache's, or by calls.
        self._origins: dict[str, AvoidanceReason] = {}
        self._was_over = False

    def prompt_of_function(self, id_: str, qualified_name: str, language: str, source: str) -> Prompt:
        """The prompt about a function, with its neighbours in the current graph."""
        return self.prompter.of_function(qualified_name, language, source, self._contexts.shown(id_))

    def choose(self, sources: Sequence[TextSource]) -> list[Choice]:
        choices = self._chooser.choose(sources, self._guard)
        self._origins.update({choice.id: AvoidanceReason.CUT_OFF for choice in choices if choice.stands})
        return choices

    def open_ones(self, choices: Iterable[Choice]) -> list[Choice]:
        """Those that need another text, which the cache has or a model may be called for as long as the caps last."""
        return [choice for choice in choices if not choice.stands and self._may_be_written(choice)]

    def _may_be_written(self, choice: Choice) -> bool:
        id_ = choice.id
        gate = self.planned.get(id_)
        if not self.is_trusted(id_) or choice.kept_text is not None:
            return self.is_trusted(id_)
        return id_ not in self._waiting and (gate is None or (gate is Gate.CAP and self._can_ask))

    def is_trusted(self, id_: str) -> bool:
        return self._trusted is None or id_ in self._trusted

    def leave_to_later(self, choices: Iterable[Choice]) -> None:
        """Note which documents of a layer wait for one below them, which a later run may write."""
        for choice in choices:
            id_ = choice.id
            gate = self.planned.get(id_)
            if choice.stands and gate in (Gate.CAP, Gate.TESTS, Gate.DOCUMENTED):
                self._gates.pop(id_, None)
            if id_ in self._waiting and gate in (None, Gate.CAP):
                self._gates[id_] = Gate.CAP

    def beyond_the_plan(self) -> list[str]:
        """What the plan leaves to later runs and this run has room for, since the others took less than predicted."""
        if not self._can_ask:
            return []
        with self._ledger() as ledger:
            has_room = caps_left(ledger, self._workspace).documents_left > 0 and not self._is_over(ledger)
        return sorted(id_ for id_, gate in self.planned.items() if gate is Gate.CAP) if has_room else []

    def write(
        self, choices: Sequence[Choice], rewrites: Mapping[str, Rewrite], prompt_of: Callable[[str], Prompt]
    ) -> dict[str, TextRow]:
        """Write documents as long as the caps last, and return their rows by id.

        A prompt is made only where a call is needed.
        """
        kept = {choice.id: choice.kept_text for choice in choices if choice.kept_text}
        carried = {choice.id for choice in choices if choice.has_other_hash}
        open_ones = [choice for choice in choices if choice.id not in kept]
        ranks, told = self._importance, self._documented
        open_ones.sort(
            key=lambda one: call_order(one.id, one.id in told, ranks.get(one.id, 0.0), is_new=not one.had_text)
        )
        allowed = self._without_unconfirmed(open_ones, rewrites)
        outcomes = {outcome.id: outcome for outcome in self._ask(allowed, prompt_of)}
        outcomes |= {one.id: TaskOutcome(one.id, None, gate=Gate.CAP) for one in open_ones if one.id not in outcomes}
        self._outcomes += outcomes.values()
        self._found += len(kept)
        self._guard.add(outcome.unforeseen for outcome in outcomes.values() if outcome.unforeseen)
        self._note(choices, outcomes)
        if kept:
            self._cache.put_many([found for id_, found in kept.items() if id_ in carried])
            self._cache.touch(list(kept.values()))
        written = {row.id: row for row in self._rows(choices, rewrites, kept, outcomes)}
        self._chooser.note(written.values())
        self.build.rewrites.extend(rewrites[id_] for id_ in written)
        self.build.written.append(to_table([*written.values()], TextRow))
        for id_ in written.keys() - self._waiting:
            self._gates.pop(id_, None)
        stopped = {outcome.id: outcome.gate for outcome in outcomes.values() if outcome.gate}
        self._gates.update(stopped)
        self.build.failures.update({one.id: one.failure for one in outcomes.values() if one.failure})
        self._waiting |= self._outline.all_above(id_ for id_, gate in stopped.items() if gate is Gate.CAP)
        return written

    def _rows(
        self,
        choices: Sequence[Choice],
        rewrites: Mapping[str, Rewrite],
        kept: Mapping[str, KeptText],
        outcomes: Mapping[str, TaskOutcome],
    ) -> Iterator[TextRow]:
        """The rows of the texts that were found or written; a row that no table can hold is left out."""
        before, rows = self.build.rows_before([choice.id for choice in choices]), list[TextRow]()
        for choice in choices:
            found, outcome = kept.get(choice.id), outcomes.get(choice.id)
            with self._guard.item(choice.id):
                if found:
                    text, model, context, cost_usd = found.text, found.model, found.context, 0.0
                elif outcome and outcome.text:
                    text, model = outcome.text, outcome.model or self._setup.llm.model
                    context, cost_usd = outcome.written_with, outcome.cost_usd
                else:
                    continue
                written = ExtractiveText(text, PurposeSource.MODEL)
                row = self.build.stamp.make_row(
                    written, choice.wanted, rewrites[choice.id], before.get(choice.id), cost_usd=cost_usd
                )
                digest, parameters = self._setup.templates[self._level].digest, self._setup.parameters
                rows.append(
                    replace(row, model=model, prompt_version=digest, parameters=parameters, written_with=context)
                )
        stored = work_in_halves(rows, lambda some: to_table(some, TextRow), guard=self._guard, name=lambda row: row.id)
        return (row for some, _ in stored for row in some)

    def _without_unconfirmed(self, choices: Sequence[Choice], rewrites: Mapping[str, Rewrite]) -> list[Choice]:
        """The documents without those rewrites beyond the plan that are more than was confirmed."""
        beyond = [
            one.id
            for one in choices
            if self.planned.get(one.id) is Gate.CAP and one.had_text and rewrites[one.id].cause is not Cause.CHILD
        ]
        if not beyond or self._workspace.is_confirmed:
            return [*choices]
        with self._ledger() as ledger:
            left = rewrites_left(ledger, self._workspace) - sum(one.id not in self.planned for one in choices)
        unconfirmed = set(beyond[max(0, left) :])
        return [one for one in choices if one.id not in unconfirmed]

    def _note(self, choices: Sequence[Choice], outcomes: Mapping[str, TaskOutcome]) -> None:
        """Note for the meter which documents took a call, and where the texts of others were found."""
        for choice in choices:
            found, outcome = choice.kept_text, outcomes.get(choice.id)
            if found:
                own = self._setup.all_keys(choice.wanted, self._level, choice.context)
                is_same = found.exact_key not in {exact for exact, _ in own}
            elif outcome and outcome.from_cache:
                is_same = outcome.is_same_body
            else:
                if outcome and outcome.calls:
                    self._origins[choice.id] = AvoidanceReason.NOT_AVOIDED
                continue
            self._origins[choice.id] = AvoidanceReason.SAME_BODY if is_same else AvoidanceReason.CACHE

    def finish(self, texts: pa.Table) -> LevelCalls:
        """The report of all calls; where all failed, and not as in earlier runs, that is noted as an outage."""
        workspace = self._workspace
        written = [outcome for outcome in self._outcomes if outcome.text]
        failed = {
            outcome.id: outcome.failure
            for outcome in self._outcomes
            if outcome.gate is Gate.FAILED and not outcome.unforeseen
        }
        gates = Counter(self._gates.values())
        with self._ledger() as ledger:
            rows = [row for row in ledger.rows(workspace.run_id) if row.level == self._level]
            is_news = AnotherModel.kind in failed.values() or self._is_news(failed, texts, ledger)
            # A store of its own: the ledger's table is no output by which the step is reused.
            ledger.compact(workspace.tables.without_base(), workspace.key)
        # Where the backend is `noop`, that no answer comes was chosen.
        has_backend = self._setup.llm.backend is not BackendName.NOOP
        is_outage = failed and not written and not self._found and not self._was_over and is_news and has_backend
        note_outage(workspace, self._level, because=self._describe_outage(failed, rows) if is_outage else None)
        estimator = Estimator(self._setup, self._level)
        called = {id_ for id_, seen in self._origins.items() if seen is AvoidanceReason.NOT_AVOIDED}
        predicted = sum(usd for id_, usd in self._predicted.items() if id_ in called)
        return LevelCalls(
            pending=sum(count for gate, count in gates.items() if gate in _PENDING) if self._can_ask else 0,
            gates=dict(sorted(gates.items())),
            avoided=read_meter(workspace, self._level, self._outline, estimator, texts, self._origins),
            texts=len(written),
            found=self._found,
            predicted_usd=predicted,
            predicted_usd_with_cache=predicted - estimator.spared_usd(len(called)),
            secrets_masked=dict(sorted(self.prompter.masked.items())),
        ).with_attempts(rows)

    def _describe_outage(self, failed: Mapping[str, str | None], rows: Sequence[LedgerRow]) -> str:
        id_, kind = min(failed.items())
        detail = next((row.error for row in reversed(rows) if row.error), None) or f"{id_}: {kind}"
        return f"none of {len(failed)} {self._level} texts could be had of {self._setup.llm.model}: {detail}"

    def _is_news(self, failed: Collection[str], texts: pa.Table, ledger: Ledger) -> bool:
        """Whether the provider or a setting may be at fault: the model wrote no text of the level, or a document fails
        that did not fail in earlier runs.

        A document that fails again and again, beside others' texts, must not keep the whole index from being built.
        """
        by_model = pc.any(pc.equal(texts.column("written_by"), WrittenBy.LLM.value)).as_py()
        earlier = (row for row in ledger.rows() if row.run_id != self._workspace.run_id) if failed and by_model else ()
        return not {row.id for row in earlier if row.outcome is not AttemptOutcome.GOOD}.issuperset(failed)

    def _ask(self, jobs: Sequence[Choice], prompt_of: Callable[[str], Prompt]) -> list[TaskOutcome]:
        """Call the model for documents; prompts are made for about as many at a time as the caps allow."""
        outcomes: list[TaskOutcome] = []
        while jobs:
            with self._ledger() as ledger:
                if over := self._is_over(ledger):
                    self._was_over = self._was_over or not (self._outcomes or outcomes)
                    gate, failure = over
                    return outcomes + [TaskOutcome(job.id, None, gate=gate, failure=failure) for job in jobs]
                caps = caps_left(ledger, self._workspace)
                if not caps.documents_left and not self._setup.llm.asks_nobody:
                    return outcomes + [TaskOutcome(job.id, None, gate=Gate.CAP) for job in jobs]
                some = len(jobs) if self._setup.llm.asks_nobody else caps.documents_left + _MORE_AT_A_TIME
                outcomes += self._ask_some(jobs[:some], prompt_of, ledger, caps)
            jobs = jobs[some:]
        return outcomes

    def _ask_some(
        self, jobs: Sequence[Choice], prompt_of: Callable[[str], Prompt], ledger: Ledger, caps: Caps
    ) -> list[TaskOutcome]:
        llm = self._setup.llm
        # Documents for which no prompt can be made have an outcome at once.
        guard = FailureGuard()
        tasks: list[WritingTask] = []
        names = neighbour_names_of(self._workspace, [job.id for job in jobs])
        for job in jobs:
            with guard.item(job.id):
                tasks.append(self._task(job, prompt_of(job.id), names[job.id]))
        untold = [
            TaskOutcome(failure.item, None, gate=Gate.FAILED, failure=UnexpectedFailure.kind, unforeseen=failure)
            for failure in guard.failures
        ]
        return untold + write_all(
            tasks,
            new_backend=lambda: build_backend(llm, self._setup.templates),
            ledger=ledger,
            cache=self._cache,
            caps=caps,
            price_of=lambda model: price_of(model, llm),
            settings=llm,
            accepts=self._accepts,
            progress=self.build.progress,
        )

    def _ledger(self) -> AbstractContextManager[Ledger]:
        workspace = self._workspace
        state = workspace.layout.state(workspace.key)
        return open_ledger(state, run_id=workspace.run_id, now=workspace.now, record=workspace.record)

    def _is_over(self, ledger: Ledger) -> tuple[Gate, str | None] | None:
        """What stopped an earlier level or layer of the run, and stops this one too."""
        failures = {row.failure for row in ledger.rows(self._workspace.run_id)}
        if CallFailure.CREDENTIALS in failures:
            return Gate.NO_CREDENTIALS, None
        if AnotherModel.kind in failures:
            return Gate.FAILED, AnotherModel.kind
        is_given_up = ledger.failed_in_a_row() >= self._setup.llm.give_up_after
        return (Gate.FAILED, GAVE_UP) if is_given_up else None

    def _task(self, job: Choice, prompt: Prompt, names: NeighbourNames) -> WritingTask:
        template = self._setup.templates[self._level]
        exact_key, body_key = self._setup.keys(job.wanted, self._level, job.context)
        return WritingTask(
            id=job.id,
            level=self._level,
            template_blake3=template.digest,
            prompt=prompt.text,
            bounds=replace(
                prompt.bounds,
                hidden_names=tuple(sorted(names.neighbours)),
                own_names=frozenset(names.own),
                name=name_of_document(job.id),
                head_names=names.head,
                receivers=names.receivers,
                shown=shown_to(template.system, prompt),
            ),
            exact_key=exact_key,
            body_key=body_key,
            context=job.context,
            prompt_tokens_upper=tokens_upper(
                template.system, answer_tool(self._level).schema_bytes.decode(), prompt.text
            ),
        )

    def _accepts(self, task: WritingTask, kept: KeptText) -> bool:
        if self._setup.llm.backend is BackendName.RECORD:
            return False
        if leaked_names([prose_of(kept.text)], task.bounds.hidden_names, task.bounds.own_names):
            return False
        if task.context is None or kept.context is None:
            return task.context is None
        return not find_context_changes(kept.context, task.context, self._workspace.settings)
