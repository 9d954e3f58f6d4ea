"""A docstring is read: its prose, and what it says of parameters, results and errors.

reStructuredText fields, epytext, Google and NumPy sections are understood
side by side, since one code base often has them all. Code, doctests, tables and
directives are left out.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest

from codesum_pipeline.summaries.documentation.markup import plain
from codesum_pipeline.summaries.documentation.plain import printable_lines
from codesum_pipeline.summaries.documentation.sentences import sentences

# Beyond this a docstring is a manual: what a function is for stands at its start.
_MAX_LINES = 200
_MAX_CHARS = 20_000
_MAX_ITEMS_CHARS = 160
# A line this short that ends without a mark is a title, if the next line opens with a capital.
_TITLE_CHARS = 60

_FIELD = re.compile(
    r"[:@](param|parameter|arg|argument|key|keyword|kwarg|type|returns?|rtype|yields?|ytype|raises?|throws|except|"
    r"exception|var|ivar|cvar|vartype|meta|since|author|see|note|todo|deprecated|version|license|copyright|group|sort|"
    r"warning|attention|example|summary)\b([^:\n]*)(?::(?!`|\w+:`)|$)\s*(.*)"
)
_SECTION = re.compile(
    r"(?:\*\*)?(args?|arguments?|param(?:eter)?s?|other parameters|keyword arg(?:ument)?s?|kwargs|returns?"
    r"|yields?|raises|throws|exceptions?|warns|attributes?|members|methods|functions|classes|examples?|notes?"
    r"|warnings?|see also|todos?|references?|usage|side effects?|receives|properties|input|inputs|output|outputs"
    r"|deprecated|important|tips?|caution|command line|options|environment variables|preconditions?|invariants?)"
    r"(?:\*\*)?\s*:(?:\*\*)?\s*(.*)",
    re.I,
)
_UNDERLINE = re.compile(r"([-=~^*#\"'+._])\1{2,}\s*$")
_FENCES = ("```", "~~~")
_BULLET = re.compile(r"(?:[-*+\u2022]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+(?=\S)")
_DIRECTIVE = re.compile(r"\.\.(?:\s|$)")
_GOOGLE_ITEM = re.compile(
    r"(\*{0,2}[`\w.\\]+(?:\s*,\s*\*{0,2}[`\w.]+)*)\s*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\))?\s*(?::|\s--?\s|\s\u2013\s)\s*(.*)"
)
_NUMPY_ITEM = re.compile(r"(\*{0,2}[`\w.\\]+(?:\s*,\s*\*{0,2}[`\w.]+)*)\s*(?::\s*(.*))?$")
_TYPED_RETURN = re.compile(r"([\w.\[\], |]{1,60}):\s+(\S.*)")
_PARAMETER_SECTIONS = frozenset(
    (
        "arg", "args", "argument", "arguments", "param", "params", "parameter", "parameters", "kwargs", "input",
        "inputs", "other parameters", "keyword arg", "keyword args", "keyword argument", "keyword arguments",
    )
)  # fmt: skip
_RETURN_SECTIONS = frozenset(("return", "returns", "yield", "yields", "output", "outputs"))
_RAISE_SECTIONS = frozenset(("raises", "throws", "exception", "exceptions"))
_PARAMETER_FIELDS = frozenset(["param", "parameter", "arg", "argument", "key", "keyword", "kwarg"])


@dataclass(frozen=True, slots=True)
class Docstring:
    """What a docstring says, without markup.

    `sentences` are its prose, first paragraph first; `types` those of its parameters.
    """

    sentences: tuple[str, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)
    returns: str | None = None
    raises: tuple[tuple[str, str], ...] = ()
    types: dict[str, str] = field(default_factory=dict)
    return_type: str = ""


EMPTY = Docstring()


@lru_cache(maxsize=2048)
def read_docstring(text: str | None) -> Docstring:
    """Read one docstring; None and an empty one give `EMPTY`."""
    if not text or not text.strip():
        return EMPTY
    reader = _Reader()
    lines = [(line, line.strip()) for line in printable_lines(text[:_MAX_CHARS])[:_MAX_LINES]]
    for (line, stripped), following in zip_longest(lines, lines[1:], fillvalue=("", "")):
        reader.take(line, stripped, *following)
    return reader.finish()


class _Reader:
    """Takes the lines one by one; `_section` says what they belong to ("" is prose, "skip" is left out)."""

    def __init__(self) -> None:
        self._paragraphs: list[str] = []
        self._lines: list[str] = []
        self._items: list[str] = []
        self._section = ""
        self._section_is_field = False
        self._indent = 0
        self._item_indent: int | None = None
        self._names: list[str] = []
        self._text: list[str] = []
        self._fence = False
        self._after_blank = True
        self._is_set_in = False
        self._parameters: dict[str, str] = {}
        self._returns: list[str] = []
        self._raises: list[tuple[str, str]] = []
        self._underline_next = False

    def take(self, line: str, stripped: str, following: str, following_stripped: str) -> None:
        """Read one line; it is given with the next one, both also without the blanks around them."""
        is_fence = stripped.startswith(_FENCES)
        if self._fence or (is_fence and not _UNDERLINE.fullmatch(stripped)):
            self._fence = self._fence != is_fence
            return
        if not stripped:
            self._blank()
            return
        if self._underline_next:
            self._underline_next = False
            return
        indent = len(line) - len(line.lstrip())
        if not self._opens(stripped, indent, following_stripped):
            self._continue(stripped, indent, following)
        self._after_blank = False

    def _blank(self) -> None:
        self._after_blank = True
        if not self._section:
            if not (self._lines and self._announces_items()):
                self._flush_paragraph()
        elif self._section_is_field and self._section != "skip":
            self._close()

    def _opens(self, stripped: str, indent: int, following: str) -> bool:
        """Whether the line starts a field, a section or a heading."""
        if stripped[0] in ":@" and (match := _FIELD.match(stripped)):
            self._open_field(match[1], match[2].strip(), match[3], indent)
            return True
        if len(following) >= 3 and _UNDERLINE.fullmatch(following) and not _UNDERLINE.fullmatch(stripped):
            self._close()
            name = stripped.strip("*: ").lower()
            known = _SECTION.match(f"{name}:")
            self._underline_next = True
            if known or self._paragraphs:
                self._open_section(name if known else "skip", indent)
            return True
        if (
            stripped[0] in "*ACDEFIKMNOPRSTUWY" + "adeikmnoprstuwy"
            and (self._after_blank or self._section)
            and (match := _SECTION.match(stripped))
        ):
            return self._open_google(match, indent)
        return False

    def _open_google(self, match: re.Match[str], indent: int) -> bool:
        name, rest = match[1].lower(), match[2].strip()
        if rest and not (
            name in _RETURN_SECTIONS
            or name in ("note", "notes", "warning", "example", "usage", "see also", "todo", "deprecated")
        ):
            return False
        if self._section and not self._section_is_field and indent > self._indent:
            return False
        self._close()
        self._open_section(name, indent)
        if rest and name in _RETURN_SECTIONS:
            self._text.append(rest)
        return True

    def _open_section(self, name: str, indent: int) -> None:
        self._section, self._section_is_field, self._indent, self._item_indent = name, False, indent, None
        if name not in _PARAMETER_SECTIONS and name not in _RETURN_SECTIONS and name not in _RAISE_SECTIONS:
            self._section = "skip"

    def _open_field(self, kind: str, argument: str, text: str, indent: int) -> None:
        self._close()
        self._section_is_field, self._indent = True, indent
        if kind in _PARAMETER_FIELDS and argument:
            self._section, self._names = "parameters", [argument.split()[-1]]
        elif kind in ("return", "returns", "yield", "yields"):
            self._section = "returns"
        elif kind in ("raise", "raises", "throws", "except", "exception"):
            self._section, self._names = "raises", [argument]
        else:
            self._section = "skip"
        self._text = [text] if text else []

    def _continue(self, stripped: str, indent: int, following: str) -> None:
        if not self._section:
            self._prose(stripped, indent)
        elif self._section_is_field:
            self._in_field(stripped, indent)
        elif (
            indent <= self._indent
            and self._after_blank
            and self._item_indent is not None
            and indent < self._item_indent
        ):
            self._close()
            self._prose(stripped, indent)
        elif self._section == "skip":
            if self._after_blank and indent <= self._indent and self._item_indent is not None:
                self._close()
                self._prose(stripped, indent)
            self._item_indent = self._item_indent if self._item_indent is not None or indent <= self._indent else indent
        else:
            self._section_line(stripped, indent, following)

    def _in_field(self, stripped: str, indent: int) -> None:
        if self._after_blank and indent <= self._indent:
            self._close()
            self._prose(stripped, indent)
        elif self._section != "skip":
            self._text.append(stripped)

    def _section_line(self, stripped: str, indent: int, following: str) -> None:
        if self._item_indent is None:
            self._item_indent = indent
        if indent > self._item_indent or self._section in _RETURN_SECTIONS:
            if (
                self._section in _RETURN_SECTIONS
                and indent == self._item_indent
                and self._text
                and self._is_numpy_type(following, indent)
            ):
                self._close_item()
            if not (indent == self._item_indent and self._is_numpy_type(following, indent)):
                self._text.append(stripped)
            return
        match = _GOOGLE_ITEM.match(stripped) if indent > self._indent else _NUMPY_ITEM.match(stripped)
        if match is None:
            self._text.append(stripped)
            return
        self._close_item()
        self._names = [name.strip(" `*\\") for name in match[1].split(",")]
        self._text = [match[3]] if indent > self._indent and match[3] else []

    def _is_numpy_type(self, following: str, indent: int) -> bool:
        return len(following) - len(following.lstrip()) > indent

    def _prose(self, stripped: str, indent: int) -> None:
        if stripped.startswith(">>>") or _DIRECTIVE.match(stripped):
            self._flush_paragraph()
            self._section, self._section_is_field, self._indent, self._item_indent = "skip", False, indent, indent + 1
            return
        if _UNDERLINE.fullmatch(stripped) or stripped.startswith(("|", "+--", "+==")):
            return
        is_first = self._after_blank and not self._lines and bool(self._paragraphs)
        self._is_set_in = indent >= 2 and (is_first or (self._is_set_in and not self._after_blank))
        if self._is_set_in:
            return
        if bullet := _BULLET.match(stripped):
            self._items.append(stripped[bullet.end() :])
            return
        if self._lines and self._after_blank:
            self._flush_paragraph()
        if self._items:
            if indent >= 2:
                self._items[-1] = f"{self._items[-1]} {stripped}"
                return
            self._flush_paragraph()
        if self._lines and self._ends_title(stripped):
            self._flush_paragraph()
        self._lines.append(stripped)

    def _ends_title(self, stripped: str) -> bool:
        last = self._lines[-1]
        return (
            len(self._lines) == 1
            and len(last) < _TITLE_CHARS
            and last[-1] not in ".,;:!?-(/\u2014"
            and stripped[:1].isupper()
            and not stripped[1:2].isupper()
            and stripped.split(" ", 1)[0] not in ("I", "Python", "None", "True", "False")
        )

    def _announces_items(self) -> bool:
        return not self._items and self._lines[-1].endswith(":") and not self._lines[-1].endswith("::")

    def _flush_paragraph(self) -> None:
        if self._lines:
            text = " ".join(self._lines)
            literal = text.endswith("::")
            if text.endswith(":") and not (self._items and not literal):
                # What should follow is code or a table: only whole sentences before it are kept, if there are any.
                whole = sentences(text.rstrip(":"))[:-1]
                text = " ".join(whole) if whole or self._paragraphs else text.rstrip(":")
            if text.endswith(":"):
                text = f"{text} {_joined(self._items)}"
            if text:
                self._paragraphs.append(text)
            if literal:
                self._lines, self._items = [], []
                self._section, self._section_is_field, self._indent, self._item_indent = "skip", False, 0, 1
        elif self._items and not self._paragraphs:
            self._paragraphs.extend(self._items)
        self._lines, self._items = [], []

    def _close(self) -> None:
        if self._section:
            self._close_item()
        else:
            self._flush_paragraph()
        self._section, self._section_is_field, self._item_indent = "", False, None

    def _close_item(self) -> None:
        text = " ".join(self._text).strip()
        if self._section in _RETURN_SECTIONS and text:
            self._returns.append(text)
        elif self._section in _PARAMETER_SECTIONS or self._section == "parameters":
            for name in self._names if text else ():
                self._parameters.setdefault(name.lstrip("*"), text)
        elif (self._section in _RAISE_SECTIONS or self._section == "raises") and self._names:
            self._raises.append((self._names[0], text))
        self._names, self._text = [], []

    def finish(self) -> Docstring:
        self._close()
        prose: list[str] = []
        for paragraph in self._paragraphs[:4]:
            prose.extend(one for one in sentences(plain(paragraph), limit=6) if any(map(str.isalnum, one)))
        return Docstring(
            sentences=tuple(prose[:8]),
            parameters={name: plain(text) for name, text in self._parameters.items()},
            returns=plain(_return_text(self._returns[0])) or None if self._returns else None,
            raises=tuple((plain(name), plain(text)) for name, text in self._raises),
        )


def _joined(items: list[str]) -> str:
    text = ""
    for item in items:
        more = item.rstrip(".;,")
        if len(text) + len(more) > _MAX_ITEMS_CHARS:
            break
        text = f"{text}; {more}" if text else more
    return text or "see the list"


def _return_text(text: str) -> str:
    match = _TYPED_RETURN.match(text)
    return match[2] if match and (" " not in match[1] or "[" in match[1]) else text
