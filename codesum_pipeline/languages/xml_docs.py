"""The plain text of XML documentation comments.

Tags and their meaning are those of ECMA-334, annex D.
"""

import re
from html import unescape

_TAGS = (
    # What a tag refers to stands in its attribute: `<see cref="T:Store"/>`.
    (re.compile(r'<(?:see|seealso|paramref|typeparamref)\s+\w+="(?:[A-Z]:)?([^"]*)"\s*/>'), r"\1"),
    (re.compile(r'<(?:param|typeparam|exception|permission)\s+\w+="(?:[A-Z]:)?([^"]*)"\s*>\s*'), r"\1: "),
    (re.compile(r"<returns>\s*"), "Returns: "),
    (re.compile(r"</?[A-Za-z][^<>]*>"), ""),
)


def plain_text(documentation: str) -> str:
    """The words of a comment; lines that hold nothing but tags go."""
    lines = []
    for line in documentation.split("\n"):
        shown = line
        for tag, text in _TAGS:
            shown = tag.sub(text, shown)
        if shown.strip() or shown == line:
            lines.append(unescape(shown.rstrip() if shown == line else shown.strip()))
    return "\n".join(lines).strip("\n")
