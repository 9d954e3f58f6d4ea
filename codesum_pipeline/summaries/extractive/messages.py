"""What a text in code says to a reader: without escapes, and with an ellipsis where values are filled in."""

import re

from codesum_pipeline.summaries.documentation.plain import printable

_FILLED = re.compile(
    r"\\\([^()]*\)|[$#%]?\{[^{}]*\}|%(?:\([^()]*\))?[-#0 +']*\d*(?:\.\d+)?l*[a-zA-Z](?![a-zA-Z])"
    r"|<%=?.*?%>|\$[A-Za-z_]\w*"
)
_ESCAPES = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|0\d\d|e\[[\d;]*m|[nrtbfv0])")
_GAPS = re.compile(r"(?:\s*…[\s'\"(),:]*)+(?=…)")
_JOINED = re.compile(r"…(?=\w)")


def message(text: str) -> str:
    """One line of words; "" of a text without any."""
    shown = _ESCAPES.sub(" ", text)
    shown = _FILLED.sub("…", shown).replace("\\", "") if any(mark in shown for mark in "%{\\$") else shown
    shown = printable(_JOINED.sub("… ", _GAPS.sub("", shown))).strip(" :;,.-=>")
    shown = shown.strip("'") if shown.startswith("'") else shown
    return shown if any(map(str.isalpha, shown)) else ""
