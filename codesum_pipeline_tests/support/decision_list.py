"""The list of docs/decisions/README.md: below each room the decisions about it, each with its page's title and mark.

Which room a decision belongs to is written in the list by hand; the rest of its line comes from its page.
"""

import re

from codesum_pipeline_tests.support.rooms import PROJECT

DECISIONS = PROJECT / "docs" / "decisions"
LIST = DECISIONS / "README.md"

_LINE = re.compile(r"^- \[[^\]]*\]\((\d{4}-[^)]*\.md)\).*$", re.MULTILINE)
_MARK = re.compile(r"\*(?:(Void): |Superseded( in part)? by \[decision (\d+)\]\((\d{4}-[^)]*\.md)\): )")


def listed() -> list[str]:
    """The file of each line, in the order of the list."""
    return _LINE.findall(LIST.read_text(encoding="utf-8"))


def list_page() -> str:
    """What the list must be, with each decision below the heading where it is now."""
    return _LINE.sub(lambda line: _line(line[1]), LIST.read_text(encoding="utf-8"))


def _line(file: str) -> str:
    title, first = (DECISIONS / file).read_text(encoding="utf-8").split("\n\n")[:2]
    if not (mark := _MARK.match(first)):
        note = ""
    elif mark[1]:
        note = " (void)"
    else:
        note = f" ({'in part ' if mark[2] else ''}superseded by [{mark[3]}]({mark[4]}))"
    return f"- [{title.removeprefix('# ')}]({file}){note}"
