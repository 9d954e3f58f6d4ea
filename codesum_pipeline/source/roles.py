"""What a file is written for, as its path shows it: source, or something around it."""

import re
from enum import StrEnum

from codesum_pipeline.source.languages import PROSE, is_program, language_of_path


class FileRole(StrEnum):
    """`HISTORY` is what tells of changes, `PROSE` other texts for people, `EXAMPLE` code that shows or measures."""

    SOURCE = "source"
    PROSE = "prose"
    HISTORY = "history"
    DATA = "data"
    EXAMPLE = "example"


# The numbers by which an index knows them.
ROLES = tuple(FileRole)

_HISTORY = re.compile(
    r"(?:^|/)(?:change(?:s|[-_]?log)?|history|news|releases?(?:[-_]?notes)?|upgrad\w*|migrat\w*)(?:[-_.][^/]*)?$",
    re.IGNORECASE,
)
_HISTORY_FOLDER = re.compile(r"(?:^|/)(?:change(?:s|[-_]?logs?)|news|release[-_]?notes)/", re.IGNORECASE)
_EXAMPLE_FOLDER = re.compile(
    r"(?:^|/)_?(?:examples?|samples?|demos?|tutorials?|bench(?:marks?|es)?|playgrounds?|docs?|doc[-_]src)/",
    re.IGNORECASE,
)
# README, LICENSE, AUTHORS: a name without an ending that is no script's.
_LOUD_NAME = re.compile(r"(?:^|/)[A-Z][A-Z_-]+$")


def role_of(path: str) -> FileRole:
    """What the file with this path is written for."""
    language = language_of_path(path)
    if language in PROSE or (language is None and (_LOUD_NAME.search(path) or _HISTORY.search(path))):
        is_history = _HISTORY.search(path) or _HISTORY_FOLDER.search(path)
        return FileRole.HISTORY if is_history else FileRole.PROSE
    if language is not None and not is_program(language):
        return FileRole.DATA
    return FileRole.EXAMPLE if _EXAMPLE_FOLDER.search(path) else FileRole.SOURCE
