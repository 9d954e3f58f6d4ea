"""What the file of a registry held when it was read, and the memory of it."""

import math
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.atomic import FileState
from codesum_pipeline.source.git.locations import is_url

# A file older than this cannot change without a new time: the clocks of file systems are finer.
_SETTLED_NS = 50_000_000
# How long a survey with paths counts: links in paths may lead elsewhere afterwards.
_PATHS_STAY_S = 5.0


# A file, and the hosts in it that may have http addresses.
ReadAs = tuple[Path, tuple[str, ...]]


class Survey(Struct, frozen=True):
    """What a registry holds: entries in the order of their keys, disabled ones too, and why others cannot be used."""

    entries: tuple[RepositoryEntry, ...]
    problems: Mapping[str, ConfigurationError]
    by_key: Mapping[str, RepositoryEntry]


class _ReadSurvey(Struct, frozen=True):
    """What a file held when it was read; links in paths of repositories may lead elsewhere after `good_until`."""

    state: FileState
    survey: Survey
    good_until: float


class SurveyMemory:
    """Remembers what the files of registries held: to parse ten thousand entries takes seconds.

    Each request and each tick of a schedule opens a registry of its own; what was read is kept here beyond it, for as
    long as its file is the one that was read.
    """

    def __init__(self) -> None:
        self._surveys: dict[ReadAs, _ReadSurvey] = {}

    def find(self, read_as: ReadAs, state: FileState | None) -> Survey | None:
        """What a file in this state held; None if that was not kept, or may be out of date."""
        known = self._surveys.get(read_as)
        return known.survey if known and known.state == state and time.monotonic() < known.good_until else None

    def keep(self, read_as: ReadAs, state: FileState, survey: Survey, *, begun_at: float) -> None:
        """Remember what a file in this state held, unless it may change and keep its state; `begun_at` is when reading
        began (`time.monotonic`)."""
        if time.time_ns() - state.modified_ns <= _SETTLED_NS:
            return
        has_path = any(not is_url(entry.location) for entry in survey.entries)
        self._surveys[read_as] = _ReadSurvey(state, survey, begun_at + _PATHS_STAY_S if has_path else math.inf)
