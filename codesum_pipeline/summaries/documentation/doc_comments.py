"""A documentation comment is read: what it says, in the forms of every language but Python.

Block tags (JSDoc, Javadoc, KDoc, PHPDoc, Doxygen, YARD, LDoc) and C#'s elements,
as the parser shows them, start a line; headings and lists in Markdown name
parameters in Rust, Swift and Zig. All become fields, and the comment is read as a
docstring is.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from codesum_pipeline.summaries.documentation.docstrings import EMPTY, Docstring, read_docstring
from codesum_pipeline.summaries.documentation.word_lists import word_table
from codesum_pipeline.summaries.inputs import ClassInput, FileInput, FunctionInput

_PROSE, _PARAMETER, _RETURNS, _CODE, _OTHER = "prose", "parameter", "returns", "code", "other"
_KINDS = {word: kind for kind, words in word_table("doc_tags").items() for word in words.split()}
_TAG = re.compile(r"\s*[@\\](?:protected |private )?([a-zA-Z][\w-]*)(?:\[([\w, ]*)\])?(?![\w(.=@])[ \t]*(.*)$")
_FENCES = ("```", "~~~", "{{{", "}}}", "<pre")
_HEADING = re.compile(r"\s{0,3}(?:#{1,6}|=+)\s+(\w[\w: ]*?)\s*:?\s*#*$")
# An entry of a list under a heading for parameters; Swift's own; C#'s `Returns: text`.
_NAMED = re.compile(r"\s*[-*+]\s*`?:?(\w+)`?\s*(?:\([^()]*\)\s*)?(?::|-|\u2013)\s*(.*)$")
_SWIFT = re.compile(r"\s*[-*]\s*([A-Z][a-z]+(?: ?[A-Z][a-z]+)?)\s*`?(\w*)`?\s*:\s*(.*)$")
_ELEMENT = re.compile(r"([A-Za-z_]\w*):\s+(.*)$")
_NO_PARAMETER = re.compile(r"\w+Exception|T(?:[A-Z]\w*)?")
_NAME = re.compile(r"\[?\s*[$&*]*(?:\.\.\.)?\$?([^\W\d][\w.]*[?!]?)(?:\.\.\.)?:?\s*(?:=[^\]]*)?\]?(?=\s|$|,)")
_MARK = re.compile(r"^(?:-{1,2}|\u2013|\u2014|:)?\s*")
# LDoc and LuaCATS put a type before the text; only what looks like one is taken for it.
_LUA_TYPE = re.compile(
    r"(?:fun\([^()]*\)(?::\S+)?|(?:nil|any|boolean|bool|string|number|integer|int|function|table|thread|userdata|\w+\|"
    r"|\w+\.\w+|\w+\[\])[\w|.?<>,\[\]]*):?(?=\s|$)"
)
_INLINE = re.compile(r"[\\@](?:c|p|a|e|em|ref)\s+(?=\S)|\{@inheritdoc\}|:nodoc:", re.I)
_INLINE_TAG = re.compile(r"\{@\w+\s+([^{}]*)\}")
# Code in Haddock and RDoc; TomDoc says first for whom something is.
_MARKS = {
    "haskell": re.compile(r"@([^@\n]+)@"),
    "ruby": re.compile(r"(?<!\S)\+([\w.:#?!]+)\+|\A(?:Public|Internal|Private): "),
}
_INTRA_LINK = re.compile(r"(?<!\w)\[{1,2}(`?[\w:.#*]+(?:\(\))?!?`?)\]{1,2}(?![\[(\]]|:[ \t]+\S+$)", re.M)
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
    return read_docstring("\n".join(_as_fields(lines, language, frozenset(one.lstrip("$*&.@") for one in parameters))))


def _as_fields(lines: Iterable[str], language: str, parameters: frozenset[str]) -> Iterator[str]:
    """The lines, with what is said of parameters and results in reStructuredText's fields."""
    section, is_fenced = _PROSE, False
    for line in lines:
        if line.strip().startswith(_FENCES):
            is_fenced = not is_fenced
            yield ""
        elif is_fenced:
            continue
        elif match := _TAG.match(line):
            kind = _KINDS.get(match[1].lower(), _OTHER)
            section = _CODE if kind == _CODE else _PROSE
            name = match[2] or "" if language == "kotlin" else ""
            yield from ("", match[3]) if kind == _PROSE else _field(kind, match[3], language, name)
        elif match := _HEADING.match(line):
            section = _KINDS.get(match[1].lower(), _OTHER)
            yield f"# {match[1]}"
        elif section != _CODE:
            kind, name, said = _listed(line, section, language, parameters)
            section = kind if kind == _PARAMETER and not name else section
            yield from _field(kind, said, language, name) if kind else (line,)


def _listed(line: str, section: str, language: str, parameters: frozenset[str]) -> tuple[str, str, str]:
    """The kind, name and text of a line without a tag that speaks of a parameter or result; empty of another."""
    if language == "swift" and (match := _SWIFT.match(line)):
        kind = _KINDS.get(match[1].lower(), _OTHER)
        return (kind, match[2], match[3]) if kind != _PROSE else ("", "", "")
    if section == _PARAMETER and (match := _NAMED.match(line)):
        return _PARAMETER, match[1], match[2]
    if language == "c-sharp" and (match := _ELEMENT.match(line)):
        is_other = bool(_NO_PARAMETER.fullmatch(match[1]))
        kind = (
            _PARAMETER if match[1] in parameters else _RETURNS if match[1] == "Returns" else _OTHER if is_other else ""
        )
        return kind, match[1], match[2]
    return "", "", ""


def _field(kind: str, said: str, language: str, name: str) -> Iterator[str]:
    """What follows a tag: a type, a name and a text, in the order of each language's tool."""
    if kind not in (_PARAMETER, _RETURNS):
        yield ":other:"
        return
    type_, rest = _leading_type(said, language)
    if kind == _PARAMETER and not name:
        match = _NAME.match(rest)
        # The property of a parameter, `options.depth`, is no parameter.
        name = match[1] if match and "." not in match[1].rstrip(".") else ""
        rest = rest[match.end() :].strip(" ,") if match else rest
        if not type_ and language in ("ruby", "lua"):
            type_, rest = _leading_type(rest, language)
    text = _MARK.sub("", rest.strip(), count=1)
    is_named = kind == _PARAMETER and bool(name)
    yield f":param {name}: {text}" if is_named else f":returns: {text}" if kind == _RETURNS and text else ":other:"
    if type_ and (is_named or kind == _RETURNS):
        yield f":type {name}: {type_}" if is_named else f":rtype: {type_}"


def _leading_type(said: str, language: str) -> tuple[str, str]:
    is_php = language == "php" and said and not said.startswith(("$", "&", "..."))
    if is_php or said.startswith("{") or (language == "ruby" and said.startswith("[")):
        kind = _first_word(said)
        return kind.strip("{}[] ") if kind[0] in "{[" else kind, said[len(kind) :].strip()
    if language == "lua" and (match := _LUA_TYPE.match(said)):
        return match[0].rstrip(":"), said[match.end() :].strip()
    return "", said


def _first_word(said: str) -> str:
    """Up to the first blank outside of brackets."""
    depth = 0
    for position, char in enumerate(said):
        depth += (char in "([{<") - (char in ")]}>")
        if char == " " and depth <= 0:
            return said[:position]
    return said
