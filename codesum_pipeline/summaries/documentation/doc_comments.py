"""A documentation comment is read: what it says, in the forms of every language but Python.

Block tags (JSDoc, Javadoc, KDoc, PHPDoc, Doxygen, YARD, LDoc), Swift's lists,
headings in Markdown and C#'s elements, as the parser shows them, are told apart
line by line. What is left is prose, read as that of a docstring is.
"""

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from codesum_pipeline.summaries.documentation.docstrings import EMPTY, Docstring, read_docstring
from codesum_pipeline.summaries.documentation.markup import plain
from codesum_pipeline.summaries.documentation.tag_values import typed_value
from codesum_pipeline.summaries.documentation.word_lists import word_set
from codesum_pipeline.summaries.inputs import ClassInput, FileInput, FunctionInput

_PARAMETER_TAGS = word_set("param arg argument parameter keyword")
_RETURN_TAGS = word_set("return returns result yield yields yieldreturn treturn")
_RAISE_TAGS = word_set("throws throw exception raise raises")
_PROSE_TAGS = word_set("brief short summary description desc details abstract fileoverview file overview")
# What stands after these runs on to the next tag, over blank lines.
_CODE_TAGS = word_set("example code usage verbatim snippet startuml dot")
_TAG = re.compile(r"\s*[@\\](?:protected |private )?([a-zA-Z][\w-]*)(?:\[([\w, ]*)\])?(?![\w(.=@])[ \t]*(.*)$")
_LIST_TAG = re.compile(
    r"\s*[-*]\s*(Parameters?|Returns?|Throws|Note|Warning|Important|Attention|Remark|Complexity|Precondition|"
    r"Postcondition|Requires|Invariant|SeeAlso|See Also|Since|Version|Author|Authors|Copyright|Date|Todo|Bug|Example"
    r"|Experiment|Tag|Localization\w*)\b\s*([\w`]*)\s*:\s*(.*)$"
)
_LIST_ITEM = re.compile(r"\s*[-*+]\s*`?:?(\w+)`?\s*(?:\([^()]*\)\s*)?(?::|-|\u2013)\s*(.*)$")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(\w[\w ]*?)\s*:?\s*#*$")
_PARAMETER_HEADINGS = word_set("parameters arguments params args")
_RETURN_HEADINGS = word_set("returns return")
# In RDoc a heading, in TomDoc a parameter.
_RUBY_HEADING = re.compile(r"\s{0,3}(?:=+\s*|#{1,6}\s+)(\w[\w: ]*?)\s*:?\s*#*$")
_RUBY_PARAMETER = re.compile(r"\s*(\w+)\s+-\s+(\S.*)$")
# C#'s elements as the parser shows them: `name: text`, `ArgumentException: text`, `Returns: text`.
_ELEMENT = re.compile(r"([A-Za-z_]\w*):\s+(.*)$")
_INLINE = re.compile(r"[\\@](?:c|p|a|e|em|ref)\s+(?=\S)|\{@inheritdoc\}|:nodoc:", re.I)
_INLINE_TAG = re.compile(r"\{@\w+\s+([^{}]*)\}")
_LINK_TARGET = re.compile(r"\s*\[[^\]]+\]:\s+\S+$")
# Code in Haddock and RDoc; TomDoc says first for whom something is.
_MARKS = {
    "haskell": re.compile(r"@([^@\n]+)@"),
    "ruby": re.compile(r"(?<!\S)\+([\w.:#?!]+)\+|\A(?:Public|Internal|Private): "),
}
_INTRA_LINK = re.compile(r"(?<!\w)\[{1,2}(`?[\w:.#*]+(?:\(\))?!?`?)\]{1,2}(?![\[(\]])")
_INTRA_LINKED = frozenset(("go", "kotlin", "rust", "scala", "zig"))
_STATING = re.compile(r"\s+(?:\([^()]*\)\s+)?(?=[a-z]+s\b)(?!(?:is|was|has|does|as|this|its|plus|us)\b)")
_DEFINING = re.compile(r"\s+(?:is|are|was)\s+(?=(?:an?|the|used|called|responsible|intended|meant)\b)")


def docstring_of(given: FunctionInput | ClassInput | FileInput) -> Docstring:
    """What a definition's documentation says, without its own name at the start."""
    names = tuple(p.name for p in given.facts.parameters) if isinstance(given, FunctionInput) else ()
    return read_documentation(given.docstring, given.language, given.name, names)


def read_documentation(text: str | None, language: str, name: str, parameters: tuple[str, ...] = ()) -> Docstring:
    """The same of a definition's parts."""
    if language == "python":
        return read_docstring(text)
    read = read_doc_comment(text or "", language, parameters)
    return replace(read, sentences=without_name(read.sentences, name)) if read.sentences else read


@lru_cache(maxsize=2048)
def read_doc_comment(text: str, language: str, parameters: tuple[str, ...]) -> Docstring:
    """Read one comment; `parameters` are the names that a line such as `name: text` may speak of."""
    if not text.strip():
        return EMPTY
    blocks = _Blocks(language, frozenset(name.lstrip("$*&.@") for name in parameters))
    if marks := _MARKS.get(language):
        text = marks.sub(r"\1", text)
    for line in _INLINE_TAG.sub(r"\1", _INLINE.sub("", text)).split("\n"):
        is_linked = language in _INTRA_LINKED and not _LINK_TARGET.match(line)
        blocks.take(_INTRA_LINK.sub(r"\1", line) if is_linked else line)
    return blocks.finish()


def without_name(told: tuple[str, ...], name: str) -> tuple[str, ...]:
    """`Find returns the row` gives `Returns the row` for what is called Find; a name alone goes."""
    first = told[0]
    bare = name.strip("_")
    if not bare or not first.startswith((name, bare)):
        return told
    rest = first.removeprefix(name if first.startswith(name) else bare).removeprefix("()")
    if match := _STATING.match(rest) or _DEFINING.match(rest):
        said = rest[match.end() :]
        return (said[:1].upper() + said[1:], *told[1:])
    return told


@dataclass(slots=True)
class _Block:
    """A tag's kind, the name it speaks of, and its lines."""

    kind: str
    name: str = ""
    lines: list[str] = field(default_factory=list)


class _Blocks:
    """Takes the lines one by one; each goes to the prose or to the block that was opened last."""

    def __init__(self, language: str, parameters: frozenset[str]) -> None:
        self._language = language
        self._parameters = parameters
        self._prose: list[str] = []
        self._blocks: list[_Block] = []
        self._open: _Block | None = None
        self._fence = False

    def take(self, line: str) -> None:
        if line.strip().startswith(("```", "~~~", "{{{", "}}}", "<pre")):
            self._fence = not self._fence
        elif self._fence or _LINK_TARGET.match(line) or line.lstrip().startswith("@!"):
            return
        elif not self._opens(line):
            self._continue(line)

    def _opens(self, line: str) -> bool:
        if match := _TAG.match(line):
            self._open_tag(match[1].lower(), match[2] or "", match[3])
        elif match := (_RUBY_HEADING if self._language == "ruby" else _HEADING).match(line):
            self._open_heading(match[1].lower())
        elif self._language == "ruby" and line.lstrip().startswith("call-seq:"):
            self._start(_Block("other"))
        elif self._language == "ruby" and (match := _RUBY_PARAMETER.match(line)) and match[1] in self._parameters:
            self._start(_Block("parameter", match[1], [match[2]]))
        elif self._language == "swift" and (match := _LIST_TAG.match(line)):
            self._open_listed(match[1].lower(), match[2].strip("`"), match[3])
        elif self._open and self._open.kind == "parameters" and (match := _LIST_ITEM.match(line)):
            self._blocks.append(_Block("parameter", match[1], [match[2]]))
        elif self._language == "c-sharp" and (match := _ELEMENT.match(line)) and self._is_element(match[1]):
            kind = "parameter" if match[1] in self._parameters else "returns" if match[1] == "Returns" else "other"
            self._start(_Block(kind, match[1], [match[2]]))
        else:
            return False
        return True

    def _is_element(self, name: str) -> bool:
        return (
            name in self._parameters
            or name == "Returns"
            or name.endswith("Exception")
            or re.fullmatch(r"T(?:[A-Z]\w*)?", name) is not None
        )

    def _open_tag(self, tag: str, bracketed: str, rest: str) -> None:
        if tag in _PROSE_TAGS:
            self._open = None
            self._prose.append(rest)
        elif tag in _PARAMETER_TAGS:
            name = bracketed if self._language == "kotlin" else ""
            self._start(_Block("parameter", name, [rest]))
        elif tag in _RETURN_TAGS:
            self._start(_Block("returns", "", [rest]))
        elif tag in _RAISE_TAGS:
            self._start(_Block("raises", "", [rest]))
        else:
            self._start(_Block("code" if tag in _CODE_TAGS else "other"))

    def _open_heading(self, title: str) -> None:
        if title in _PARAMETER_HEADINGS:
            self._start(_Block("parameters"))
        elif title in _RETURN_HEADINGS:
            self._start(_Block("returns"))
        elif self._blocks or any(map(str.strip, self._prose)):
            self._start(_Block("code"))

    def _open_listed(self, kind: str, name: str, text: str) -> None:
        if kind == "parameters" or (kind == "parameter" and not name):
            self._start(_Block("parameters"))
        elif kind == "parameter":
            self._start(_Block("parameter", name, [text]))
        elif kind in ("return", "returns"):
            self._start(_Block("returns", "", [text]))
        else:
            self._start(_Block("other"))

    def _start(self, block: _Block) -> None:
        self._open = block
        self._blocks.append(block)

    def _continue(self, line: str) -> None:
        if self._open is None:
            self._prose.append(line)
        elif line.strip():
            (self._blocks[-1] if self._open.kind == "parameters" else self._open).lines.append(line.strip())
        elif self._open.kind not in ("code", "parameters"):
            self._open = None
            self._prose.append("")

    def finish(self) -> Docstring:
        prose = read_docstring("\n".join(self._prose).strip("\n"))
        parameters, types = dict(prose.parameters), dict(prose.types)
        returns, return_type = prose.returns, ""
        raises = list(prose.raises)
        for block in self._blocks:
            said = " ".join(filter(None, block.lines)).strip()
            value = typed_value(said, self._language, name=block.name, is_named=block.kind == "parameter")
            if block.kind == "parameter" and value.name:
                if value.text:
                    parameters.setdefault(value.name, plain(value.text))
                if value.type:
                    types.setdefault(value.name, value.type)
            elif block.kind == "returns":
                returns, return_type = returns or plain(value.text) or None, return_type or value.type
            elif block.kind == "raises":
                kind, _, why = (value.type, "", value.text) if value.type else said.partition(" ")
                raises.append((plain(kind), plain(why)))
        return Docstring(prose.sentences, parameters, returns, tuple(raises), types, return_type)
