"""A documentation comment is read: what it says, in the forms of every language but Python.

Block tags (JSDoc, Javadoc, KDoc, PHPDoc, Doxygen, YARD, LDoc) and C#'s elements,
as the parser shows them, start a line; headings and lists in Markdown name
parameters in Rust, Swift and Zig. What is left is prose, read as a docstring's is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from codesum_pipeline.summaries.documentation.blocks import Kind, read_blocks
from codesum_pipeline.summaries.documentation.docstrings import EMPTY, Docstring, read_docstring
from codesum_pipeline.summaries.documentation.markup import plain
from codesum_pipeline.summaries.documentation.tag_values import typed_value
from codesum_pipeline.summaries.inputs import ClassInput, FileInput, FunctionInput

_PROSE, _PARAMETER, _RETURNS, _CODE, _OTHER = "prose", "parameter", "returns", "code", "other"
_KINDS = {
    **dict.fromkeys(("brief", "short", "summary", "description", "desc", "details", "abstract"), _PROSE),
    **dict.fromkeys(("fileoverview", "file", "overview", "rst"), _PROSE),
    **dict.fromkeys(("param", "arg", "args", "argument", "arguments", "parameter", "parameters", "params"), _PARAMETER),
    **dict.fromkeys(("return", "returns", "result", "yield", "yields", "yieldreturn", "treturn"), _RETURNS),
    # What stands after these runs on to the next tag, over blank lines.
    **dict.fromkeys(("example", "code", "usage", "verbatim", "snippet", "startuml", "dot"), _CODE),
}
_TAG = re.compile(r"\s*[@\\](?:protected |private )?([a-zA-Z][\w-]*)(?:\[([\w, ]*)\])?(?![\w(.=@])[ \t]*(.*)$")
_FENCES = ("```", "~~~", "{{{", "}}}", "<pre")
# An entry of a list under a heading for parameters, and Swift's own.
_NAMED = re.compile(r"`?:?(\w+)`?\s*(?:\([^()]*\)\s*)?(?::|-|\u2013)\s*(.*)", re.S)
_SWIFT = re.compile(r"(?:(Parameter)\s+`?(\w+)`?|(Returns)|(Parameters|[A-Z][a-z]+(?: Also)?))\s*:\s*(.*)", re.S)
# A heading in RDoc, a parameter in TomDoc, and C#'s `ArgumentException: text`, `Returns: text`.
_RDOC_HEADING = re.compile(r"\s{0,3}=+\s+(?=\w)")
_TOMDOC_PARAMETER = re.compile(r"\s*(\w+)\s+-\s+(\S.*)$")
_ELEMENT = re.compile(r"([A-Za-z_]\w*):\s+(.*)$")
_NO_PARAMETER = re.compile(r"\w+Exception|T(?:[A-Z]\w*)?")
_INLINE = re.compile(r"[\\@](?:c|p|a|e|em|ref)\s+(?=\S)|\{@inheritdoc\}|:nodoc:", re.I)
_INLINE_TAG = re.compile(r"\{@\w+\s+([^{}]*)\}")
# Code in Haddock and RDoc; TomDoc says first for whom something is.
_MARKS = {
    "haskell": re.compile(r"@([^@\n]+)@"),
    "ruby": re.compile(r"(?<!\S)\+([\w.:#?!]+)\+|\A(?:Public|Internal|Private): "),
}
_INTRA_LINK = re.compile(r"(?<!\w)\[{1,2}(`?[\w:.#*]+(?:\(\))?!?`?)\]{1,2}(?![\[(\]:])")
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
class _Part:
    """What a tag, or none, stands before: its kind, the name that it speaks of, and its lines."""

    kind: str
    name: str = ""
    lines: list[str] = field(default_factory=list)


@lru_cache(maxsize=2048)
def read_doc_comment(text: str, language: str, parameters: tuple[str, ...]) -> Docstring:
    """Read one comment; `parameters` are the names that a line such as `name: text` may speak of."""
    if not text.strip():
        return EMPTY
    if marks := _MARKS.get(language):
        text = marks.sub(r"\1", text)
    if language in _INTRA_LINKED:
        text = _INTRA_LINK.sub(r"\1", text)
    lines = _INLINE_TAG.sub(r"\1", _INLINE.sub("", text)).split("\n")
    parts = _parts(lines, language, frozenset(name.lstrip("$*&.@") for name in parameters))
    prose = "\n".join(line for part in parts if part.kind == _PROSE for line in part.lines).strip("\n")
    read = read_docstring(prose)
    told, returns, return_type = dict(read.parameters), read.returns, ""
    types: dict[str, str] = {}
    for part in (*parts, *_listed_parts(prose, language)):
        said = " ".join(filter(None, map(str.strip, part.lines))).strip()
        value = typed_value(said, language, name=part.name, is_named=part.kind == _PARAMETER)
        if part.kind == _PARAMETER and value.name:
            if value.text:
                told.setdefault(value.name, plain(value.text))
            if value.type:
                types.setdefault(value.name, value.type)
        elif part.kind == _RETURNS:
            returns, return_type = returns or plain(value.text) or None, return_type or value.type
    return Docstring(read.sentences, told, returns, types, return_type)


def _parts(lines: list[str], language: str, parameters: frozenset[str]) -> list[_Part]:
    """The lines by the tag that they belong to; after a blank line prose goes on."""
    parts = [_Part(_PROSE)]
    is_fenced = False
    for line in lines:
        if line.strip().startswith(_FENCES):
            is_fenced = not is_fenced
        elif is_fenced or line.lstrip().startswith("@!"):
            continue
        elif opened := _opened(line, language, parameters):
            parts.append(opened)
        elif line.strip() or parts[-1].kind in (_PROSE, _CODE):
            parts[-1].lines.append(_RDOC_HEADING.sub("# ", line) if language == "ruby" else line)
        else:
            parts.append(_Part(_PROSE, "", [""]))
    return parts


def _opened(line: str, language: str, parameters: frozenset[str]) -> _Part | None:
    """What a line opens; None of a line that goes on."""
    if match := _TAG.match(line):
        return _Part(_KINDS.get(match[1].lower(), _OTHER), match[2] or "" if language == "kotlin" else "", [match[3]])
    if language == "ruby":
        match = _TOMDOC_PARAMETER.match(line)
        if match and match[1] in parameters:
            return _Part(_PARAMETER, match[1], [match[2]])
        return _Part(_OTHER) if line.lstrip().startswith("call-seq:") else None
    if language == "c-sharp" and (match := _ELEMENT.match(line)):
        if match[1] in parameters or match[1] == "Returns":
            return _Part(_RETURNS if match[1] == "Returns" else _PARAMETER, match[1], [match[2]])
        return _Part(_OTHER) if _NO_PARAMETER.fullmatch(match[1]) else None
    return None


def _listed_parts(prose: str, language: str) -> Iterator[_Part]:
    """What headings and lists in Markdown say of parameters and results."""
    if "#" not in prose and language != "swift":
        return
    section = _PROSE
    for block in read_blocks(prose, in_code=True):
        if block.kind is Kind.HEADING:
            section = _KINDS.get(block.text.lower().strip(": "), _OTHER)
        elif language == "swift" and block.kind is Kind.ITEM and (match := _SWIFT.match(block.text)):
            section = _PARAMETER if match[4] == "Parameters" else _OTHER
            if match[1] or match[3]:
                yield _Part(_PARAMETER if match[1] else _RETURNS, match[2] or "", [match[5]])
        elif section == _PARAMETER and block.kind is Kind.ITEM and (match := _NAMED.match(block.text)):
            yield _Part(_PARAMETER, match[1], match[2].split("\n"))
        elif section == _RETURNS:
            yield _Part(_RETURNS, "", block.text.split("\n"))
