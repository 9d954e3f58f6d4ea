"""What can be read off the lines of canonical source without parsing it again."""

import re

from codesum_pipeline.summaries.extractive.word_lists import word_set

# Beyond this many names a body's further ones change no choice worth the time.
_MAX_IDENTIFIERS = 200
_MAX_CHARS = 100_000
_IDENTIFIER = re.compile(r"[^\W\d]\w+")
_STRING_LITERAL = re.compile(r"('''|\"\"\").*?\1|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.S)
_HEAD = re.compile(r"(?:async )?def |class ")
_DOCSTRING = re.compile(r"\s*[rRuUbB]{0,2}('''|\"\"\"|'|\")")
# How a line of a comment begins in one language or another.
_COMMENT = re.compile(r"\s*(?:--|//|/?\*|#(?!\[)|;;|%|@(?:doc|spec)\b)")
_KEYWORDS = word_set(
    """
    False None True and as assert async await break class continue def del elif else except finally for from global if
    import in is lambda nonlocal not or pass raise return try while with yield self cls match case
    """
)


class SourceLines:
    """Canonical lines, and where the head and the docstring end. Numbers are 1-based."""

    def __init__(self, source: str) -> None:
        self.lines = source.split("\n")
        self.head = self._find_head()
        self.docstring_end = self._find_docstring_end()

    def _find_head(self) -> int:
        for number, line in enumerate(self.lines):
            if not line.startswith("@") and _HEAD.match(line):
                return number + 1
        return 1

    def _find_docstring_end(self) -> int:
        first = self.head
        match = _DOCSTRING.match(self.lines[first]) if first < len(self.lines) else None
        if match is None:
            return first
        quote = match[1]
        if len(quote) == 1 or quote in self.lines[first][match.end() :]:
            return first + 1
        following = range(first + 1, len(self.lines))
        return next((number + 1 for number in following if quote in self.lines[number]), len(self.lines))

    def line_of(self, name: str) -> int:
        """The first line, comments apart, that has a name; 1 where none has."""
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        numbered = enumerate(self.lines, start=1)
        return next((n for n, line in numbered if not _COMMENT.match(line) and whole.search(line)), 1)

    def identifiers(self) -> list[str]:
        """Distinct identifiers of the body, in source order; what stands in strings is left out."""
        body = "\n".join(self.lines[self.docstring_end :])[:_MAX_CHARS]
        if '"' in body or "'" in body:
            body = _STRING_LITERAL.sub('""', body)
        names = [name for name in dict.fromkeys(_IDENTIFIER.findall(body)) if name not in _KEYWORDS]
        return names[:_MAX_IDENTIFIERS]
