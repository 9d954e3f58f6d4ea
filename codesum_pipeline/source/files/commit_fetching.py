"""Brings the commit that an entry asks for into its mirror, with the submodules that it asks for."""

from collections.abc import Mapping

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.source.git.mirror import Head, Mirror
from codesum_pipeline.source.git.submodules import SubmoduleJoin, drop_joined


def bring_commit(
    entry: RepositoryEntry,
    mirror: Mirror,
    settings: ScanSettings,
    *,
    named: Mapping[str, str],
    progress: Progress = no_progress,
) -> Head:
    """As `Mirror.update`; `named` are the locations of registered repositories by `host/path`."""
    head = mirror.update(entry, offline=settings.offline, progress=progress)
    if not entry.submodules:
        drop_joined(mirror)
        return head
    may_index_below = PathRules.of(entry, settings).may_index_below
    joined = SubmoduleJoin(mirror, entry, named, settings.offline, may_index_below, progress).join(head.commit)
    return replace(head, submodules=joined.submodules, problems=(*head.problems, *joined.problems))
