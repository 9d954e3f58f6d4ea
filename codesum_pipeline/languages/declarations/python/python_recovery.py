"""What the grammar of Python is not shown: long runs of comments.

Long runs of comment lines are blanked before the grammar sees them: tree-sitter-python looks past all comments that
follow each time it meets one, so that the time for a run of them grows with its square: 4,000 lines of 40 characters
took 7 s. What stays is as long as it was, byte for byte and line for line, and comments say nothing to later steps.
"""

import re

# So long a run takes 20 ms.
LONGEST_RUN = 200

_LINES = rb"(?:^[ \t\f]*+\#[^\n]*+\n(?:[ \t\f]*+\n)*+){%d,}+" % (LONGEST_RUN + 1)
_ANY_LONG_RUN = re.compile(_LINES, re.MULTILINE)
# Strings are passed over whole: what looks like a comment in one is text.
_RUN_OR_STRING = re.compile(
    rb"(?P<run>%b)|\#[^\n]*+"
    rb'|"{3}(?:[^\\"]|\\.|"(?!""))*+(?:"{3})?+'
    rb"|'{3}(?:[^\\']|\\.|'(?!''))*+(?:'{3})?+"
    rb'|"(?:[^"\\\n]|\\.)*+"?+'
    rb"|'(?:[^'\\\n]|\\.)*+'?+" % _LINES,
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(rb"\#[^\n]*")


def without_comment_runs(source: bytes) -> bytes:
    """The source with blanks in place of the comments of runs longer than `LONGEST_RUN` lines."""
    if not _ANY_LONG_RUN.search(source):
        return source
    return _RUN_OR_STRING.sub(_blanked, source)


def _blanked(match: re.Match[bytes]) -> bytes:
    run = match["run"]
    return match[0] if run is None else _COMMENT.sub(lambda comment: b" " * len(comment[0]), run)
