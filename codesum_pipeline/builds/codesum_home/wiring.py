"""Settings become adapters: the one place that chooses.

The ways in ask a `Home` for the registry and for workspaces; the stages get workspaces and never see a setting.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from codesum_pipeline.builds.codesum_home.home_folders import layout_of
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.standing_question import Cadence
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.repository_record import FOLDER_RECORD
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.tables import TableStore, tables_of
from codesum_pipeline.foundation.store.workspace import (
    Workspace,
    fingerprint_of,
    identify_input,
    shared_part,
    write_serving_file,
)
from codesum_pipeline.graph.graph_step import GRAPH_VERSION
from codesum_pipeline.indexes.embedders.embedder_choice import check_embedder, embedder_of
from codesum_pipeline.indexes.file_formats.version_folder import INDEX_FILES_VERSION
from codesum_pipeline.indexes.lanes.embedding import discard_kept_vectors
from codesum_pipeline.indexes.lanes.lane_texts import AUTHOR_WORDS_VERSION, LANES_VERSION
from codesum_pipeline.notifications.digests.digest_store import kept_digests
from codesum_pipeline.notifications.intents.intents_file import Intents
from codesum_pipeline.search.evaluation.questions import Question, read_questions
from codesum_pipeline.source.files.path_rules import RULES_VERSION
from codesum_pipeline.source.git.locations import named_locations, slug_of
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline.symbols.parsing.symbols_step import PARSER_VERSION
from codesum_pipeline.symbols.scip.taking import index_state
from codesum_pipeline.texts.llm.budgets import prompt_chars
from codesum_pipeline.texts.llm.ledger import erase_ledger
from codesum_pipeline.texts.llm.marking import MASKING_VERSION
from codesum_pipeline.texts.summaries.by_model.choosing import templates_of, writer_of
from codesum_pipeline.texts.summaries.documents_step import DOCUMENTS_VERSION
from codesum_pipeline.texts.summaries.placeholders import PLACEHOLDER_VERSION
from codesum_pipeline.texts.summaries.wanted_texts import EXTRACTIVE

if TYPE_CHECKING:
    from codesum_pipeline.notifications.digests.desk import DigestDesk
    from codesum_pipeline.source.code_hosts.syncing import Syncer


class Home:
    """One `$CODESUM_HOME` with its settings. What is opened, and the versions, are found out once and stay."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def layout(self) -> HomeLayout:
        return layout_of(self.settings)

    @cached_property
    def registry(self) -> Registry:
        return Registry.of(self.settings, self.layout.files)

    @cached_property
    def tables(self) -> TableStore:
        return tables_of(self.layout)

    @property
    def intents(self) -> Intents:
        """The standing questions."""
        return Intents(self.settings.digests.intents_file, self.layout.files)

    def digest_desk(self, *, now: Callable[[], datetime] = utc_now) -> "DigestDesk":
        """The desk that writes and sends digests; the keys of channels are in this process's environment."""
        # Few commands send anything.
        from codesum_pipeline.notifications.delivery.sending import OutboxSender
        from codesum_pipeline.notifications.digests.desk import DigestDesk

        settings = self.settings
        sender = OutboxSender(settings.home, settings.delivery, now, offline=settings.offline)
        return DigestDesk(self.layout, self.registry, self.intents, settings, sender)

    def syncer(self) -> "Syncer":
        """Syncs the registry with the hosts of its organisations; tokens are in this process's environment."""
        # Few commands ask a host.
        from codesum_pipeline.source.code_hosts.syncing import Syncer

        return Syncer(self.registry, self.settings.hosts, os.environ, utc_now)

    def has_digest_waiting(self, key: str) -> bool:
        """Whether a digest that goes out with the builds of a repository was held, and is to be tried again."""
        with kept_digests(self.layout.digests, now=utc_now) as digests:
            waiting = digests.count_pending(key) if digests else {}
        return bool(waiting) and any(
            intent.enabled and intent.schedule.cadence is Cadence.BUILD and intent.name in waiting
            for intent in self.intents.survey().intents
        )

    @cached_property
    def versions(self) -> dict[str, str]:
        """The version of every algorithm whose change must rebuild something."""
        found = {
            "scan_rules": RULES_VERSION,
            "parser": PARSER_VERSION,
            "graph": GRAPH_VERSION,
            "extractive": EXTRACTIVE,
            "placeholder": PLACEHOLDER_VERSION,
            "documents": DOCUMENTS_VERSION,
            "lanes": LANES_VERSION,
            "index_schema": INDEX_FILES_VERSION,
            "embedder": embedder_of(self.settings).model_id,
        }
        llm = self.settings.llm
        if llm.enabled:
            found |= {
                f"template_{level}": writer_of(template) for level, template in templates_of(self.settings).items()
            }
            found["masking"] = MASKING_VERSION
            found["author_words"] = AUTHOR_WORDS_VERSION
            # A model's values in the list can change with LiteLLM.
            found["prompt_chars"] = str(prompt_chars(llm))
        return found

    @cached_property
    def _questions(self) -> list[Question]:
        """The questions that each build is asked instead of the repository's own."""
        evaluation = self.settings.evaluation
        return read_questions(evaluation.questions) if evaluation.enabled and evaluation.questions else []

    def check_choices(self, *, is_building: bool = False) -> None:
        """Raise `ConfigurationError` now for an embedder or a questions file that a build would fail on at its end.

        Where a build is sure to follow, LiteLLM is looked at too, which takes seconds to import.
        """
        (check_embedder if is_building else embedder_of)(self.settings)
        _ = self._questions

    def _named(self) -> Mapping[str, str]:
        return named_locations(entry.location for entry in self.registry.entries())

    def workspace(
        self,
        repository: str | RepositoryEntry,
        *,
        run_id: str,
        force: bool = False,
        is_confirmed: bool = False,
        now: Callable[[], datetime] = utc_now,
    ) -> Workspace:
        """The workspace of one repository's build. A key is looked up in the registry: raises `UnknownRepository`."""
        entry = self.registry.get(repository) if isinstance(repository, str) else repository
        return Workspace(
            entry=entry,
            layout=self.layout,
            tables=self.tables,
            settings=self.settings,
            versions=self.versions,
            run_id=run_id,
            now=now,
            slug=slug_of(entry.location),
            named=self._named() if entry.submodules else {},
            force=force,
            is_confirmed=is_confirmed,
        )

    def fingerprint(self, entry: RepositoryEntry, *, commit: str) -> str:
        """What a build of `commit` would depend on now."""
        return fingerprint_of(entry, self._shared_part, commit=identify_input(commit, self.index_state(entry)))

    def index_state(self, entry: RepositoryEntry) -> str:
        """Identifies the current compilers' indexes that are not part of a commit."""
        return index_state(entry, self.layout, self.settings.scip)

    @cached_property
    def _shared_part(self) -> str:
        """Worked out once for thousands of entries."""
        return shared_part(self.settings, self.versions)

    def unregistered_keys(self) -> list[str]:
        """Repositories removed from the registry that still have a mirror, a table or an index."""
        in_tables = {key for table in TABLES for key in self.tables.repositories(table)}
        mirrors = {folder.name.removesuffix(".git") for folder in self.layout.mirrors.glob("*.git")}
        versions = {folder.name for folder in self.layout.versions("").glob("*")}
        survey = self.registry.survey()
        return sorted((in_tables | mirrors | versions) - {entry.key for entry in survey.entries} - set(survey.problems))

    def purge(self, key: str) -> None:
        """Delete everything that is kept of a repository; its lease must be held."""
        layout = self.layout
        published = layout.published(key)
        if published.is_symlink():
            published.unlink()
        for folder in (
            layout.versions(key),
            layout.graph_index(key),
            layout.mirror(key),
            layout.memos(key),
            layout.overlays(key),
            layout.texts(key),
            layout.tree_views(key),
            layout.compared(key),
            layout.scip(key),
        ):
            shutil.rmtree(folder, ignore_errors=True)
        locks = (folder(key).with_name(f".{key}.lock") for folder in (layout.texts, layout.mirror))
        files = (layout.hold(key), layout.outages(key), layout.recorded(key), *layout.indexes_beside_mirror(key))
        for file in (*files, *locks):
            file.unlink(missing_ok=True)
        discard_kept_vectors(layout.finished_vectors(key))
        erase_ledger(layout.state(key))
        with kept_digests(layout.digests, now=utc_now) as digests:
            if digests:
                digests.purge_repository(key)
        self.tables.drop(key)
        write_serving_file(self.tables, layout.duckdb_file)


def preview_of(workspace: Workspace, scratch: Path) -> Workspace:
    """The same build, writing below `scratch` instead of the home: it reads what is there and changes nothing."""
    return replace(
        workspace,
        layout=HomeLayout(scratch),
        tables=TableStore(scratch / "warehouse", base=workspace.tables),
        record=FOLDER_RECORD,
    )
