"""The plain text of Javadoc comments: inline tags and HTML by what they show."""

import re
from html import unescape

_INLINE_TAG = re.compile(r"\{@\w+\s+([^{}]*)\}")
_HTML_TAG = re.compile(r"</?(?:p|code|pre|b|i|em|strong|tt|ul|ol|li|dl|dt|dd|br|a|blockquote|h[1-6])\b[^<>]*>", re.I)


def plain_text(documentation: str) -> str:
    """The words of a comment; lines that hold nothing but tags go."""
    lines = []
    for line in documentation.split("\n"):
        shown = _HTML_TAG.sub("", _INLINE_TAG.sub(r"\1", line))
        if shown.strip() or shown == line:
            lines.append(unescape(shown.rstrip()))
    return "\n".join(lines).strip("\n")
