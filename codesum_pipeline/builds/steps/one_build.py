"""One build of one repository, carried out step by step."""

import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.builds.checks.fault_checks import CHECK_FUNCTIONS
from codesum_pipeline.builds.checks.health_checks import find_health
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports import build_values
from codesum_pipeline.builds.reports.report_values import report_values
from codesum_pipeline.builds.steps.digest_steps import DIGEST_STEPS, perform_digest_step, show_digest_step
from codesum_pipeline.builds.steps.known_facts import STAGE_FACTS
from codesum_pipeline.builds.steps.reuse import Step, carry_out
from codesum_pipeline.builds.steps.shows import SHOWS, indexed_files, note_change, show_run
from codesum_pipeline.builds.steps.step_list import REPO_OVERVIEW, STEPS
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, DamagedTable
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.atomic import explain_refused_writes
from codesum_pipeline.foundation.store.repository_record import FOLDER_RECORD, RepositoryRecord
from codesum_pipeline.foundation.store.schemas import BOOKS
from codesum_pipeline.foundation.store.workspace import Connect, Workspace, connect_in_memory
from codesum_pipeline.indexes.publishing.releases import refuse_older_release
from codesum_pipeline.search.evaluation.evaluation_step import EvaluationReport
from codesum_pipeline.texts.summaries.by_model.outages import outages_of_build
from codesum_pipeline.texts.summaries.by_model.plan_prices import describe_held_back

T = TypeVar("T")
# Readers of a home in a bucket see the new version once it is committed.
_PUBLISHING = "published_index"
_STEPS = {step.name: step for step in STEPS}


class Build(Struct, dict=True, eq=False):
    """A build in this process; its caller holds the repository's lease.

    Its workspace is made when it is first asked for, and stays: what the settings and the registry said then holds for
    the whole build.
    """

    home: Home
    key: str
    run_id: str
    options: build_values.BuildOptions
    progress: Progress = no_progress
    new_connection: Connect = connect_in_memory
    record: RepositoryRecord = FOLDER_RECORD
    # How many rows were kept of each table that was damaged, until a step tells it.
    mended: dict[str, int] = {}

    @cached_property
    def workspace(self) -> Workspace:
        """Raises `ConfigurationError` for a key that is missing or disabled, `OlderRelease` where a newer release of
        codesum has published the repository."""
        self.home.check_choices(is_building=True)
        workspace = replace(
            self.home.workspace(
                self.key, run_id=self.run_id, force=self.options.force, is_confirmed=self.options.confirm_llm
            ),
            usd_left=self.options.llm_usd_left,
            new_connection=self.new_connection,
            record=self.record,
        )
        if not workspace.entry.enabled:
            raise ConfigurationError(f"repository {self.key!r} is disabled: `codesum add {self.key}` enables it")
        if not self.options.force:
            refuse_older_release(self.home.layout, self.key)
        return workspace

    def built_from(self) -> str:
        """The fingerprint of the current snapshot under the current settings."""
        (snapshot,) = self.workspace.tables.read_rows("snapshot", self.key, Snapshot)
        return self.workspace.fingerprint(snapshot.commit, snapshot.index_state)

    def perform(self, step: str) -> build_values.StepOutcome:
        """Carry out a step; a step that need not run is `is_reused`."""
        self.workspace.layout.recorded(self.key).unlink(missing_ok=True)
        if step in DIGEST_STEPS:
            return perform_digest_step(step, self.home, self.workspace, built_from=self.built_from())
        outcome = self._with_whole_tables(lambda: self._perform(_STEPS[step]), STEPS.index(_STEPS[step]))
        told, self.mended = {f"{build_values.DAMAGED}{table}": kept for table, kept in self.mended.items()}, {}
        return replace(outcome, values={**outcome.values, **told})

    def _perform(self, step: Step[Any]) -> build_values.StepOutcome:
        ws = self.workspace
        self.record.check()
        before = indexed_files(ws) if step.name == "repo_snapshot" else None
        start = time.perf_counter()
        done = carry_out(step, ws, progress=self.progress)
        if step.name == _PUBLISHING:
            self.record.commit()
        seconds = time.perf_counter() - start
        # The changes as soon as they are known, and the whole run once the index is published.
        notes = note_change(ws, *before) if before else show_run(ws) if step.name == _PUBLISHING else {}
        # Advice for a person who reads the run's log.
        held = step.name == "summary_plan" and describe_held_back(self.home.tables, self.key, self.home.settings)
        return build_values.StepOutcome(
            table_hash=done.report.table_hash,
            built_from=self.built_from(),
            seconds=round(seconds, 3),
            is_reused=done.is_reused,
            rows=ws.tables.count(STAGE_FACTS.get().assets[step.name].table, self.key),
            values={**notes, **report_values(done.report)},
            failures=tuple(done.failures),
            warnings=(f"{held}, or the run's config with resources.request.config.confirm_llm: true",) if held else (),
            findings=tuple(self._findings(step.name, done.report)),
        )

    def _with_whole_tables(self, act: Callable[[], T], done: int) -> T:
        """Do something after so many steps. A table that it finds to be damaged is mended first: the rows of it that
        can be read are kept where they say what they were made from, and the steps make the others anew."""
        mended: set[str] = set()
        while True:
            try:
                for step in STEPS[:done] if mended else ():
                    carry_out(step, self.workspace, progress=self.progress)
                return act()
            except DamagedTable as error:
                if error.table in mended or error.table in BOOKS:
                    raise
                mended.add(error.table)
                home = self.workspace.layout.home
                with explain_refused_writes(home, called=f"the table {error.table} in {home}"):
                    self.mended[error.table] = self.workspace.tables.mend(error.table, self.key)

    def show(self, step: str) -> build_values.Values:
        """The preview of a step's table; nothing for a step without a table of its own."""
        if step in DIGEST_STEPS:
            return show_digest_step(step, self.workspace)
        show = SHOWS.get(step)
        if show is None:
            return {}
        return self._with_whole_tables(lambda: show(self.workspace), STEPS.index(_STEPS[step]) + 1)

    def check(self, name: str) -> list[build_values.CheckFinding]:
        """The findings of a check."""
        (step,) = (step for step, check in build_values.CHECKED_AFTER.items() if check == name)
        done = STEPS.index(_STEPS[step]) + 1
        return self._with_whole_tables(lambda: CHECK_FUNCTIONS[name](self.workspace), done)

    def _findings(self, step: str, report: Any) -> Iterator[build_values.CheckFinding]:
        if step == "retrieval_evaluation":
            yield self._gate(report)
        if step == _PUBLISHING:
            counts = {"documents": report.documents, "versions_kept": report.versions_kept}
            yield build_values.CheckFinding(build_values.AT_HEAD, passed=True, values=counts, is_warning=True)
            yield self._answered()
        yield from find_health(step, self.workspace, self.home.settings.checks, report)

    def _gate(self, report: EvaluationReport) -> build_values.CheckFinding:
        """Whether the candidate may be published, with the scores of both indexes where they were compared."""
        names = ("compared", "published_score", "candidate_score", "gain_low", "gain_high")
        scores = {name: getattr(report, name) for name in names if report.compared}
        if report.held_because is not None:
            description = "; ".join([report.held_because, *self._outages()])
        elif not self.workspace.settings.evaluation.gate:
            description = "switched off: evaluation.gate is false"
        else:
            description = "" if report.compared else "nothing to compare: too few questions that both indexes answered"
        return build_values.CheckFinding(
            build_values.NOT_WORSE, report.held_because is None, description or None, scores
        )

    def _answered(self) -> build_values.CheckFinding:
        outages = self._outages()
        if not outages:
            return build_values.CheckFinding(build_values.ANSWERED, passed=True)
        # The run fails here, before its last steps; the published version still gets its page and its digests.
        carry_out(REPO_OVERVIEW, self.workspace, progress=self.progress)
        for step in DIGEST_STEPS:
            self.perform(step)
        description = f"the index is up to date with extractive texts instead: {'; '.join(outages)}"
        again = (
            f"`codesum index {self.key}` asks again, for what was answered and could not be used only once a setting "
        )
        return build_values.CheckFinding(
            build_values.ANSWERED,
            passed=False,
            description=f"{description} ({again}or the code has changed, or after a week)",
        )

    def _outages(self) -> list[str]:
        """Why a model gave nothing at a level."""
        found = outages_of_build(self.workspace.layout, self.key, fingerprint=self.built_from())
        return [outage.because for outage in found.values()]
