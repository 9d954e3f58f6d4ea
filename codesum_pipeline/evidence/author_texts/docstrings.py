"""Docstrings and documentation comments are read: their prose, and what they say of parameters and results.

`docstring_parser` knows reStructuredText fields, epytext, Google's and NumPy's sections. Comments of other languages
are first written as docstrings: block tags (JSDoc, Javadoc, KDoc, PHPDoc, Doxygen, YARD, LDoc) and C#'s elements, as
the parser shows them, start a line; headings and lists in Markdown name parameters in Rust, Swift and Zig. Code,
doctests, tables and directives are left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from inspect import cleandoc
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.evidence.author_texts.inline_marks import remove_markup, without_roles
from codesum_pipeline.evidence.author_texts.plain_sentences import (
    clip_text,
    is_aside,
    join_sentences,
    make_sentence,
    printable_lines,
    word_set,
    word_table,
)
from codesum_pipeline.evidence.author_texts.prose import sentences_in_code
from codesum_pipeline.evidence.inputs import ClassInput, FileInput, FunctionInput
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait
from codesum_pipeline.foundation.language_facts.writing_systems import (
    count_letters,
    has_words,
    join_parts,
    letters_worth,
    sets_no_blanks,
    without_end,
)

if TYPE_CHECKING:
    from docstring_parser import Docstring as ParsedDocstring


# A longer docstring is a manual, whose start says what the function is for.
_MAX_LINES = 200
_MAX_CHARS = 20_000
# Every style of fields has one of them: `:param x:`, `Args:`, `@param x`, a line below `Parameters`.
_MARKS_OF_FIELDS = (":", "@", "---")


class Docstring(Struct, frozen=True):
    """What a docstring says, without markup.

    `sentences` are its prose, first paragraph first; `types` those of its parameters.
    """

    sentences: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    returns: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    return_type: str = ""


EMPTY = Docstring()


@lru_cache(maxsize=2048)
def read_docstring(text: str | None, language: str = "python") -> Docstring:
    """Read one docstring with the inline marks of its language's tools; None and an empty one give `EMPTY`."""
    if not text or not text.strip():
        return EMPTY
    clean = _with_known_titles(cleandoc("\n".join(printable_lines(text[:_MAX_CHARS])[:_MAX_LINES])))
    read = _fields(clean)
    described = [(name.strip(" *`\\"), one) for one in read.params for name in one.arg_name.split(",")]
    returned = (read.returns.description, read.returns.type_name) if read.returns else (None, None)
    # The library's own description ends at the first section and has lost the indentation that marks code.
    return Docstring(
        sentences_in_code(clean, language),
        {name: _first_words(one.description, language) for name, one in described if one.description},
        _first_words(returned[0] or "", language) or None,
        {name: one.type_name for name, one in described if one.type_name},
        returned[1] or "",
    )


# The titles of sections in other languages, by their English ones.
_TITLES = {title: english for english, titles in word_table("section_titles").items() for title in titles.split("|")}
_OF_VALUES = frozenset({"Args", "Returns", "Raises"})
_TITLED = re.compile(r"(\s*)([^\W\d_][\w \u0300-\u0e4e]{0,24}?)\s?[:\uff1a](.*)$")
_WIDE_COLON = re.compile(
    r"\A(\s*+(?:[-*]\s*+)?[A-Za-z_]\w{0,60}(?:\s?[(\uff08][^()\uff08\uff09]{0,60}[)\uff09])?)\s?\uff1a\s?"
)


def _with_known_titles(text: str) -> str:
    """The text with titles of sections in English; a first line that is no title alone is what the function is for."""
    if text.isascii():
        return text
    first, *others = text.split("\n")
    if others and first.rstrip().endswith((":", "\uff1a")):
        first = _titled_in_english(first)
    return "\n".join([first, *map(_titled_in_english, others)])


def _titled_in_english(line: str) -> str:
    match = _TITLED.match(line)
    title = _TITLES.get(match[2].lower()) if match else None
    if match and title and not match[3].strip():
        return f"{match[1]}{title}:"
    value = _WIDE_COLON.sub(r"\1: ", match[3].strip(), count=1) if match and title in _OF_VALUES else ""
    if match and value and (title == "Returns" or ": " in value):
        return f"{match[1]}{title}:\n{match[1]}    {value}"
    return _WIDE_COLON.sub(r"\1: ", line, count=1) if _WIDE_COLON.match(line) else line


def _fields(text: str) -> "ParsedDocstring":
    """What the library finds; nothing if it fails, as on a field without a name."""
    import docstring_parser

    if not any(mark in text for mark in _MARKS_OF_FIELDS):
        return docstring_parser.Docstring()
    try:
        # Roles look like fields to the library: `:class:`.
        return docstring_parser.parse(without_roles(text))
    except (docstring_parser.ParseError, IndexError):
        return docstring_parser.Docstring()


def _first_words(text: str, language: str) -> str:
    """The first paragraph: what follows is prose of its own, or code."""
    return remove_markup(text.split("\n\n")[0], language)


_PROSE, _PARAMETER, _RETURNS, _CODE, _OTHER = "prose", "parameter", "returns", "code", "other"
_KINDS = {word: kind for kind, words in word_table("doc_tags").items() for word in words.split()}
# Haddock's code, `@take n@`, may begin a line.
_TAG = re.compile(
    r"\s*(?:\* )?[@\\]!?(?:protected |private )?([a-zA-Z][\w-]*)(?:\[([\w, ]*)\])?(?![\w(.=@])"
    r"(?![^@\n]*[^@\s]@(?:\W|$))[ \t]*(.*)"
)
_FENCES = ("```", "~~~", "{{{", "}}}", "<pre", "</pre")
_FENCES_ON_A_LINE = (("{{{", "}}}"), ("<pre", "</pre"))
# TomDoc's parameter, and other people's: `rows - The rows to write.`
_DASHED = re.compile(r"[*-]?\s*+`?(\w+)`?\s+(?:-{1,2}|\u2013)\s+(.*)$")
_HEADING = re.compile(r"\s{0,3}(?:#{1,6}|=+)\s+(\w(?:\w|:(?!\s*#*$)| ++(?=[\w:])(?!:\s*#*$))*+)\s*+(?::\s*+)?#*+$")
# An entry of a list under a heading for parameters; Swift's own; C#'s `Returns: text`.
_NAMED = re.compile(r"\s*[-*+]\s*`?:?(\w+)`?\s*(?:\([^()]*\)\s*)?(?::|\uff1a|-|\u2013)\s*(.*)$")
_SWIFT = re.compile(r"\s*[-*]\s*([A-Z][a-z]++(?: ?[A-Z][a-z]++)?+)\s*+`?(\w*+)`?\s*+:\s*(.*)$")
_ELEMENT = re.compile(r"([A-Za-z_]\w*):\s+(.*)$")
_NO_PARAMETER = re.compile(r"\w+Exception|T(?:[A-Z]\w*)?")
_NAME = re.compile(r"\[?\s*[$&*]*(?:\.\.\.)?\$?([^\W\d][\w.]*[?!]?)(?:\.\.\.)?:?\s*(?:=[^\]]*)?\]?(?=\s|$|,)")
_MARK = re.compile(r"^(?:-{1,2}|\u2013|\u2014|:)?\s*")
# LDoc and LuaCATS put a type before the text; only what looks like one is taken for it.
_LUA_TYPE = re.compile(
    r"(?:fun\([^()]*\)(?::\S+)?|(?:nil|any|boolean|bool|string|number|integer|int|function|table|thread|userdata|\w++\|"
    r"|\w++\.\w|\w++\[\])[\w|.?<>,\[\]]*+):?(?=\s|$)"
)
_STATING = re.compile(r"\s+(?:\([^()]*\)\s+)?(?=[a-z]+s\b)(?!(?:is|was|has|does|as|this|its|plus|us)\b)")
_DEFINING = re.compile(r"\s+(?:is|are|was)\s+(?=(?:an?|the|used|called|responsible|intended|meant)\b)")


def docstring_of(definition: FunctionInput | ClassInput | FileInput) -> Docstring:
    """What a definition's documentation says, without its own name at the start."""
    names = tuple(p.name for p in definition.facts.parameters) if isinstance(definition, FunctionInput) else ()
    return read_documentation(definition.docstring, definition.language, definition.name, names)


def read_documentation(text: str | None, language: str, name: str, parameters: tuple[str, ...] = ()) -> Docstring:
    """What a documentation says, given with the language, name and parameters of its definition."""
    if has_trait(language, Trait.DOCSTRINGS):
        return read_docstring(text, language)
    read = read_doc_comment(text or "", language, parameters)
    return replace(read, sentences=without_name(read.sentences, name)) if read.sentences else read


def without_name(sentences: tuple[str, ...], name: str) -> tuple[str, ...]:
    """`Find returns the row` gives `Returns the row` for what is called Find; a name alone goes."""
    first = sentences[0]
    bare = name.strip("_")
    if not bare or not first.startswith((name, bare)):
        return sentences
    rest = first.removeprefix(name if first.startswith(name) else bare).removeprefix("()")
    if match := _STATING.match(rest) or _DEFINING.match(rest):
        statement = rest[match.end() :]
        return (statement[:1].upper() + statement[1:], *sentences[1:])
    return sentences


@lru_cache(maxsize=2048)
def read_doc_comment(text: str, language: str, parameters: tuple[str, ...]) -> Docstring:
    """Read one comment; `parameters` are the names that a line such as `name: text` may speak of."""
    if not text.strip():
        return EMPTY
    names = frozenset(one.lstrip("$*&.@") for one in parameters)
    return read_docstring("\n".join(_as_fields(text[:_MAX_CHARS].split("\n"), language, names)), language)


def _as_fields(lines: Iterable[str], language: str, parameters: frozenset[str]) -> Iterator[str]:
    """The lines, with descriptions of parameters and results as fields of reStructuredText."""
    section, is_fenced = _PROSE, False
    for line in lines:
        if _is_fence(line.strip()):
            is_fenced = not is_fenced
            yield ""
        elif is_fenced:
            continue
        elif match := _TAG.match(line):
            kind = _KINDS.get(match[1].lower(), _OTHER)
            section = _CODE if kind == _CODE else _PROSE
            name = match[2] or "" if has_trait(language, Trait.DOC_NAMES_FIRST) else ""
            yield from ("", match[3]) if kind == _PROSE else _field(kind, match[3], language, name)
        elif match := _HEADING.match(line):
            section = _KINDS.get(match[1].lower(), _OTHER)
            yield f"# {match[1]}"
        elif section != _CODE:
            kind, name, content = _listed(line, section, language, parameters)
            section = kind if kind == _PARAMETER and not name else section
            yield from _field(kind, content, language, name) if kind else (line,)


def _is_fence(line: str) -> bool:
    """Whether a block of code begins or ends with a line; one line may also hold all of it."""
    is_whole = any(line.startswith(opening) and closing in line for opening, closing in _FENCES_ON_A_LINE)
    return line.startswith(_FENCES) and not is_whole


def _listed(line: str, section: str, language: str, parameters: frozenset[str]) -> tuple[str, str, str]:
    """The kind, name and text of a line without a tag that speaks of a parameter or result; empty of another."""
    if has_trait(language, Trait.DOC_LISTS) and (match := _SWIFT.match(line)):
        kind = _KINDS.get(match[1].lower(), _OTHER)
        return (kind, match[2], match[3]) if kind != _PROSE else ("", "", "")
    if (section == _PARAMETER and (match := _NAMED.match(line))) or (
        (match := _DASHED.match(line)) and match[1] in parameters
    ):
        return _PARAMETER, match[1], match[2]
    if has_trait(language, Trait.DOC_ELEMENTS) and (match := _ELEMENT.match(line)):
        is_other = bool(_NO_PARAMETER.fullmatch(match[1]))
        kind = (
            _PARAMETER if match[1] in parameters else _RETURNS if match[1] == "Returns" else _OTHER if is_other else ""
        )
        return kind, match[1], match[2]
    return "", "", ""


def _field(kind: str, content: str, language: str, name: str) -> Iterator[str]:
    """What follows a tag: a type, a name and a text, in the order of each language's tool."""
    if kind not in (_PARAMETER, _RETURNS):
        yield ":other:"
        return
    type_, rest = _leading_type(content, language)
    if kind == _PARAMETER and not name:
        match = _NAME.match(rest)
        # The property of a parameter, `options.depth`, is no parameter.
        name = match[1] if match and "." not in match[1].rstrip(".") else ""
        rest = rest[match.end() :].strip(" ,") if match else rest
        if not type_ and has_trait(language, Trait.DOC_TYPES_LATER):
            type_, rest = _leading_type(rest, language)
    text = _MARK.sub("", rest.strip(), count=1)
    is_named = kind == _PARAMETER and bool(name)
    yield f":param {name}: {text}" if is_named else f":returns: {text}" if kind == _RETURNS and text else ":other:"
    if type_ and (is_named or kind == _RETURNS):
        yield f":type {name}: {type_}" if is_named else f":rtype: {type_}"


def _leading_type(content: str, language: str) -> tuple[str, str]:
    is_type = has_trait(language, Trait.DOC_TYPES_FIRST) and content and not content.startswith(("$", "&", "..."))
    if (
        is_type
        or content.startswith("{")
        or (has_trait(language, Trait.DOC_TYPES_IN_BRACKETS) and content.startswith("["))
    ):
        kind = _first_word(content)
        return kind.strip("{}[] ") if kind[0] in "{[" else kind, content[len(kind) :].strip()
    if has_trait(language, Trait.DOC_TYPES_BARE) and (match := _LUA_TYPE.match(content)):
        return match[0].rstrip(":"), content[match.end() :].strip()
    return "", content


def _first_word(content: str) -> str:
    """Up to the first blank outside of brackets."""
    depth = 0
    for position, char in enumerate(content):
        depth += (char in "([{<") - (char in ")]}>")
        if char == " " and depth <= 0:
            return content[:position]
    return content


_OPENING_CHARS = 360
_OPENING_SENTENCES = 3
# Of one word; where no blanks are between words, of what is one or several.
_MIN_TELLING_CHARS, _MIN_TELLING_UNSPACED = 12, 6
# Sentences that say nothing of this definition, titles of imports, and what leans on something else.
_ASIDES = {
    name: re.compile("|".join(patterns), re.I)
    for name, patterns in packaged_table(__package__, "word_lists")["asides"].items()
}
_WORD = re.compile(r"[^\W\d_]{2}|[^\x00-\u024f]{2}")
# In scripts without blanks a sentence may be like that.
_NAME_ALONE = re.compile(r"(?=[\w.:#/\\-]*?[_.:#/\\\d]\w)[\w.:#/\\-]++")
_CODE_LIKE = re.compile(r"^[\w.]+\s*\(.*\)\s*(?:->.*)?$|[=;{}]\s*$")
_EMPTY_WORDS = word_set("empty_words")
_CODE_MARKS = re.compile(r"[{}]|;$|::=|[=-]>|\s:?=\s")


def opening_of(doc: Docstring, *, most: int = _OPENING_SENTENCES) -> tuple[str, int]:
    """The first sentences of a docstring, and how many that took; "" and 0 if they say nothing."""
    for number, text in enumerate(doc.sentences[:3]):
        if _says_nothing(text) or is_aside(text) or _ASIDES["empty_talk"].match(text) or _CODE_LIKE.search(text):
            continue
        if _ASIDES["of_imports"].match(text.strip(" -=*#/")):
            continue
        opening = clip_text(make_sentence(text), _OPENING_CHARS)
        used = number + 1
        for following in doc.sentences[used : number + most]:
            if not _goes_on(following) or len(opening) + len(following) >= _OPENING_CHARS:
                break
            opening, used = join_parts(opening, make_sentence(following)), used + 1
        return opening, used
    return "", 0


def _says_nothing(text: str) -> bool:
    """Whether a text is a name, a word, a drawing or code that was commented out."""
    is_drawing = (count_letters(text) + sum(char.isdigit() or char == " " for char in text)) * 2 < len(text)
    is_code = "{" in text and "}" in text and (";" in text or " = " in text)
    return not _WORD.search(text) or _is_word(text) or is_drawing or is_code


def _is_word(text: str) -> bool:
    """Whether a text is one word, by the length of what it says."""
    if " " in text:
        return False
    bare = without_end(text)
    if sets_no_blanks(bare) or letters_worth(bare) > 2 * len(bare):
        return letters_worth(bare) < _MIN_TELLING_UNSPACED or bare in _EMPTY_WORDS
    return letters_worth(text) < _MIN_TELLING_CHARS or bool(_NAME_ALONE.fullmatch(text))


def _goes_on(text: str) -> bool:
    """Whether a sentence says more of the same thing."""
    is_other = is_aside(text) or any(_ASIDES[name].match(text) for name in ("leaning", "empty_talk"))
    return has_words(text.strip()) and not is_other and not _CODE_MARKS.search(text)


def join_as_sentences(*sentences: str, limit: int) -> str:
    """Sentences, as many as fit."""
    return join_sentences([clip_text(make_sentence(one), limit) for one in sentences if one], limit)
