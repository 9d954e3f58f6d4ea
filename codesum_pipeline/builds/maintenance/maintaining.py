"""Prunes a home, except for Dagster's own records: repository by repository, under its lease.

Unneeded files are deleted first, since a full disk may leave no room for anything else. What cannot be pruned now is
reported and left as it is.

Mirrors are packed anew where many small files have come together, and deleted if unused. Every commit that a kept index
was made from gets a ref, so that its commit outlives the branch that moved on. Git writes a new pack before it deletes
an old one, keeps what came in lately, and leaves a mirror whole wherever it is killed.
"""

import shutil
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.maintenance.appended_tables import HISTORY, GrowingTables
from codesum_pipeline.builds.maintenance.freed import FreedSpace, RemovalKind, SkippedUpkeep, size_of
from codesum_pipeline.builds.maintenance.tree_indexes import delete_index, unused_since
from codesum_pipeline.foundation.data_model.errors import BrokenIndex, CodesumError, LeaseHeld, RetryLater
from codesum_pipeline.foundation.store.atomic import delete_path
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline.indexes.file_formats.version_folder import read_version
from codesum_pipeline.indexes.lanes.embedding import discard_kept_vectors
from codesum_pipeline.source.git.git import run_git
from codesum_pipeline.source.git.remote import drop_unfinished
from codesum_pipeline.texts.llm.text_cache import AnswerCache

# Below these a new pack saves nothing that anybody would notice.
MANY_LOOSE = 200
MANY_PACKS = 10
_KEPT = "refs/codesum/kept/"
# The name of a mirror that is being deleted: under its own name it is whole.
GONE = ".gone-"


class MirrorFolder(Struct, frozen=True):
    """The mirror of one repository."""

    git_dir: Path
    repository: str
    timeout_s: float

    def tidy(self, *, keeping: Collection[str], unreachable_days: int, is_dry_run: bool) -> list[FreedSpace]:
        """Pack it anew if that pays, without what nothing led to for so long; `keeping` are commits that are needed.

        The repository's lease must be held, but for a dry run. Raises `RetryLater` if the disk has no room for it.
        """
        if not (self.git_dir / "objects").is_dir():
            return []
        loose, packs = self._objects()
        if loose <= MANY_LOOSE and packs <= MANY_PACKS:
            return []
        if is_dry_run:
            return [FreedSpace(RemovalKind.MIRRORS, self.repository, loose + packs, 0)]
        before = size_of([self.git_dir])
        # Whatever is packed is on the disk twice for a while.
        if shutil.disk_usage(self.git_dir).free < 2 * before:
            raise RetryLater(f"{self.git_dir}: the disk has no room to pack it anew: free {2 * before:,} bytes there")
        drop_unfinished(self.git_dir)
        # One ref for each of these commits that is here, and none for others.
        marked = self._git("for-each-ref", "--format=%(refname)", _KEPT).decode().split()
        wanted = "".join(f"{commit}^{{commit}}\n" for commit in sorted(keeping)).encode()
        answers = self._git("cat-file", "--batch-check=%(objectname)", data=wanted)
        here = {line for line in answers.decode().splitlines() if not line.endswith("missing")}
        lines = [f"update {_KEPT}{commit} {commit}" for commit in sorted(here)]
        lines += [f"delete {ref}" for ref in marked if ref.removeprefix(_KEPT) not in here]
        if lines:
            self._git("update-ref", "--stdin", data="".join(f"{line}\n" for line in lines).encode())
        self._git("-c", "gc.cruftPacks=true", "gc", "--quiet", f"--prune={unreachable_days}.days.ago")
        count = loose + packs - sum(self._objects())
        size = max(0, before - size_of([self.git_dir]))
        return [FreedSpace(RemovalKind.MIRRORS, self.repository, count, size)]

    def is_unused_since(self, moment: float) -> bool:
        """Whether nothing was fetched into it since a moment (Unix seconds)."""
        places = [self.git_dir, self.git_dir / "objects" / "pack", self.git_dir / "refs"]
        return max((place.stat().st_mtime for place in places if place.exists()), default=0.0) < moment

    def drop(self, *, is_dry_run: bool) -> list[FreedSpace]:
        """Delete it; the repository's lease must be held, but for a dry run."""
        size = size_of([self.git_dir])
        if not is_dry_run:
            aside = self.git_dir.with_name(f"{GONE}{self.git_dir.name}-{time.time_ns()}")
            shutil.rmtree(self.git_dir.rename(aside), ignore_errors=True)
        return [FreedSpace(RemovalKind.MIRRORS, self.repository, 1, size)]

    def _objects(self) -> tuple[int, int]:
        """How many files of single objects, and how many packs."""
        lines = self._git("count-objects", "-v").decode().splitlines()
        counts = dict(line.split(": ", 1) for line in lines if ": " in line)
        return int(counts["count"]), int(counts["packs"])

    def _git(self, *arguments: str, data: bytes | None = None) -> bytes:
        return run_git(arguments, git_dir=self.git_dir, timeout_s=self.timeout_s, data=data)


# No write takes so long: the process that wrote there was killed.
_ABANDONED_AFTER_S = 86_400.0
_DAY_S = 86_400.0
_RUN = "maintenance"

Found = FreedSpace | SkippedUpkeep


class MaintainedHome(Struct, dict=True, eq=False):
    """One maintenance of a home's files, by its settings. Which repositories there are is looked at once, at the
    beginning."""

    home: Home
    now: datetime
    is_dry_run: bool = False

    def maintain(self) -> Iterator[Found]:
        """What was removed, and what was skipped, in the order in which it is done."""
        yield from _removed_or_skipped(None, "", self._drop_leftovers)
        for key in self.keys:
            yield from _removed_or_skipped(RemovalKind.OVERLAYS, key, lambda key=key: self._drop_overlays(key))  # type: ignore[misc]
        for key in self.keys:
            yield from self._maintain_repository(key)
        yield from _removed_or_skipped(RemovalKind.ANSWERS, "", self._drop_answers)
        yield from _removed_or_skipped(RemovalKind.PARTS, "", self._collect_parts)

    @cached_property
    def built(self) -> frozenset[str]:
        """Repositories that are built, or whose entry is broken."""
        survey = self.home.registry.survey()
        return frozenset({entry.key for entry in survey.entries if entry.enabled} | set(survey.problems))

    @cached_property
    def keys(self) -> list[str]:
        """Repositories with any stored data."""
        mirrors = {path.name.removesuffix(".git") for path in self.home.layout.mirrors.glob("*.git")}
        mirrors = {key for key in mirrors if not key.startswith(".")}
        tables = {key for table in (HISTORY, "ledger", "avoided") for key in self.home.tables.repositories(table)}
        overlays = {path.name for path in (self.home.layout.home / "overlays").glob("*")}
        return sorted(self.built | mirrors | tables | overlays)

    def _maintain_repository(self, key: str) -> Iterator[Found]:
        """Look without the lease, which keeps builds waiting, and take it where something would go."""
        wanted = [*_removed_or_skipped(None, key, lambda: self._prune(key, is_dry_run=True))]
        if self.is_dry_run or not any(isinstance(found, FreedSpace) for found in wanted):
            yield from wanted
            return

        def prune() -> Iterator[FreedSpace]:
            with hold_repository(self.home.layout, key, run_id=_RUN):
                yield from self._prune(key, is_dry_run=False)

        yield from _removed_or_skipped(None, key, prune)

    def _prune(self, key: str, *, is_dry_run: bool) -> Iterator[FreedSpace]:
        layout, policy = self.home.layout, self.home.settings.maintenance
        yield from self._drop_vectors(key, is_dry_run=is_dry_run)
        tables = GrowingTables(self.home.tables, layout, key, policy, self.now)
        yield from tables.prune(is_dry_run=is_dry_run)
        mirror = MirrorFolder(layout.mirror(key), key, self.home.settings.git_timeout_s)
        if key in self.built:
            yield from mirror.tidy(
                keeping=self._kept_commits(key), unreachable_days=policy.unreachable_days, is_dry_run=is_dry_run
            )
        elif mirror.git_dir.exists() and mirror.is_unused_since(self._days_ago(policy.mirrors_days)):
            yield from mirror.drop(is_dry_run=is_dry_run)

    def _kept_commits(self, key: str) -> set[str]:
        """The commits of all versions that are kept: readers look their lines up."""
        commits = set()
        versions = self.home.layout.versions(key)
        for folder in versions.iterdir() if versions.is_dir() else ():
            with suppress(BrokenIndex, OSError, KeyError):
                commits.add(str(read_version(folder).manifest["commit"]))
        return commits

    def _drop_vectors(self, key: str, *, is_dry_run: bool) -> Iterator[FreedSpace]:
        """Deletes vectors of a build that was abandoned."""
        path = self.home.layout.finished_vectors(key)
        before = self._days_ago(self.home.settings.maintenance.overlays_days)
        old = [path] if path.exists() and path.stat().st_mtime < before else []
        return _drop(RemovalKind.LEFTOVERS, key, old, discard_kept_vectors, is_dry_run=is_dry_run)

    def _drop_overlays(self, key: str) -> Iterator[FreedSpace]:
        since = self._days_ago(self.home.settings.maintenance.overlays_days)
        unused = unused_since(self.home.layout.overlays(key), since)
        return _drop(RemovalKind.OVERLAYS, key, unused, delete_index, is_dry_run=self.is_dry_run)

    def _drop_leftovers(self) -> Iterator[FreedSpace]:
        """Removes the files that killed processes left beside those that they wrote."""
        before = self.now.timestamp() - _ABANDONED_AFTER_S
        found = []
        for path in self._temporaries():
            with suppress(FileNotFoundError):
                found.extend([path] if path.lstat().st_mtime < before else [])
        return _drop(RemovalKind.LEFTOVERS, "", found, delete_path, is_dry_run=self.is_dry_run)

    def _temporaries(self) -> Iterator[Path]:
        layout = self.home.layout
        for folder, pattern in (
            (layout.home, ".*.tmp"),
            (layout.home / "state", "**/.*.tmp"),
            (layout.warehouse, "*/*/.*.tmp"),
            (layout.versions("").parent, "*/.*.tmp"),
            (layout.dagster_home, "**/.*.tmp"),
            (layout.mirrors, ".new-*"),
            (layout.mirrors, f"{GONE}*"),
        ):
            yield from folder.glob(pattern)

    def _drop_answers(self) -> Iterator[FreedSpace]:
        days = self.home.settings.maintenance.answers_days
        cache = AnswerCache(self.home.settings.summary_cache_dir, now=lambda: self.now)
        if not days or not cache.path.exists():
            return
        unused_for = timedelta(days=days)
        count, size = cache.unused(unused_for=unused_for)
        if count:
            if not self.is_dry_run:
                count = cache.prune(unused_for=unused_for)
            yield FreedSpace(RemovalKind.ANSWERS, "", count, size)

    def _collect_parts(self) -> Iterator[FreedSpace]:
        """Removes the parts in a bucket that no repository's state names any more; a dry run does not list them."""
        bucket = self.home.layout.bucket
        if bucket is None or self.is_dry_run:
            return
        from codesum_pipeline.foundation.store.object_storage.heads import collect_parts

        grace_s = self.home.settings.maintenance.parts_hours * 3600.0
        found = collect_parts(OPENED_HOMES.objects(bucket), grace_s=grace_s, now=lambda: self.now)
        if found.parts:
            yield FreedSpace(RemovalKind.PARTS, "", found.parts, found.part_bytes)

    def _days_ago(self, days: int) -> float:
        return self.now.timestamp() - days * _DAY_S


def _drop(
    kind: RemovalKind, key: str, paths: Sequence[Path], delete: Callable[[Path], object], *, is_dry_run: bool
) -> Iterator[FreedSpace]:
    if paths:
        size = size_of(paths)
        for path in () if is_dry_run else paths:
            delete(path)
        yield FreedSpace(kind, key, len(paths), size)


def _removed_or_skipped(
    kind: RemovalKind | None, key: str, work: Callable[[], Iterator[FreedSpace]]
) -> Iterator[Found]:
    """What was freed before the first failure, and the failure as a `SkippedUpkeep`."""
    try:
        yield from work()
    except LeaseHeld as error:
        yield SkippedUpkeep(kind, key, str(error))
    except (CodesumError, OSError, sqlite3.Error) as error:
        yield SkippedUpkeep(kind, key, f"{type(error).__name__}: {error}")
