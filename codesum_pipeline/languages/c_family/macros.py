"""What the grammars of C and C++ are given in place of words that only the preprocessor understands.

A grammar sees a file before its macros are replaced, and one `class EXPORT
Name {` is enough to lose a class. So such a word is shown to it as something
of the same length that may stand there: an attribute, a directive that it does
not know, or a comment. All of these are rendered as written, so the words stay.
"""

import re
from collections.abc import Iterator

from msgspec import Struct, field

_NAME = rb"[A-Za-z_]\w*"
_CAPITALS = rb"[A-Z_][A-Z0-9_]{2,}"
_ARGUMENTS = rb"(?:\((?:[^()\n;{}]|\([^()\n]{0,400}\)){0,400}\))?"
_TYPE = rb"(?:const|unsigned|signed|struct|long|short|int|char|void|bool|float|double)\b"
_KEYWORD = (
    rb"(?!(?:class|struct|union|enum|alignas|final|const|volatile|operator|decltype|typename|__attribute__|__declspec)"
    rb"\b)"
)
# `class EXPORT Name {`: of two words after `class`, the first is a macro. With a colon it may be an enum's bit-field.
_CLASS_HEAD = re.compile(
    rb"\b(?P<before>(?:class|struct|union|enum(?P<enum>[ \t]+(?:class|struct))?)[ \t\n]+)"
    rb"(?P<macro>" + _KEYWORD + _NAME + _ARGUMENTS + rb")"
    rb"(?=[ \t\n]+(?:\[\[[^\[\]\n]{0,200}\]\][ \t\n]+)?"
    + _KEYWORD
    + _NAME
    + rb"(?:::\w+)*(?:<[^;{}()]{0,400}>)?(?:::\w+)*[ \t\n]*(?:final[ \t\n]*)?(?:\{|:[^:]))"
)
_HAS_BODY = re.compile(rb"[^;{]*\{")
# `EXPORT int name(…)`: of three words before a bracket, the first is one.
_LEADING = re.compile(
    rb"^(?P<before>[ \t]*(?:(?:\[\[x+\]\]|extern|static|inline|virtual|constexpr|explicit|friend|\"C\"|template[ \t]*"
    rb"<[^;{}()\n]{0,400}>)[ \t]+)*)(?P<macro>[A-Z_][A-Z0-9_]{4,}" + _ARGUMENTS + rb")"
    rb"(?=(?:[ \t]+[A-Z_][A-Z0-9_]{4,}" + _ARGUMENTS + rb")*[ \t]+(?:"
    rb"(?:const|unsigned|signed|struct|enum|union|class|static|inline|extern|constexpr|virtual|explicit|long|short|auto"
    rb"|int|char|void|bool|float|double|friend|typename)\b"
    rb"|(?:\w+::)*\w+\((?:[^(){};]|\([^()]*\))*\)[ \t\n]*(?:noexcept[ \t\n]*)?:[^:]"
    rb"|" + _NAME + rb"(?:::\w+)*(?:<[^;{}()]{0,400}>)?[ \t]*[*&]*[ \t\n]+[*&]*(?:\w+::)*"
    rb"(?:~?\w+|operator[ \t]*[^\w\s(;]{1,3})[ \t]*[(\[;=,]))",
    re.M,
)
# `EXPORT template <…>`, `if CONSTEXPR (…)`, `void name(…) ATTRIBUTE(…) {`: no attribute may stand there.
_HIDDEN = re.compile(
    rb"^(?P<before>[ \t]*)(?P<macro>" + _CAPITALS + _ARGUMENTS + rb")(?=[ \t]+template\b)"
    rb"|(?P<condition>\bif[ \t]+)(?P<macro2>" + _CAPITALS + rb")(?=[ \t]*\()"
    # `int CALLED_SO main(…)`: between a type and a name.
    rb"|(?P<type>^[ \t]*(?:(?:static|inline|extern|const|volatile)[ \t]+)*(?!(?:static|inline|extern|const|volatile"
    rb"|struct|union|enum|class|return|else|case|goto|typedef|new|delete|throw|unsigned|long|short|signed)\b)"
    rb"[A-Za-z_]\w*[ \t*]+)(?P<macro4>" + _CAPITALS + _ARGUMENTS + rb")"
    rb"(?=[ \t]+\*?[A-Za-z_]\w*[ \t]*\()"
    rb"|(?P<end>\)[ \t\n]*(?:(?:const|noexcept|override)[ \t\n]+)*)(?P<macro3>(?:"
    + _CAPITALS
    + rb"|__[a-zA-Z]\w{2,})"
    + _ARGUMENTS
    + rb")"
    rb"(?=[ \t\n]*\{|[ \t]*->)",
    re.M,
)
# A line that is nothing but a macro's name and arguments.
_ALONE = re.compile(
    rb"^(?P<before>[ \t]*)(?P<macro>" + _CAPITALS + _ARGUMENTS + rb"(?:\([ \t]*" + _TYPE + rb"[^;{}\n]*\);)?"
    rb")[ \t]*(?P<comment>//.*|/\*.*\*/[ \t]*)?$",
    re.M,
)
# `EXPORT(int) name(…) {`: a macro whose argument is the type.
_TYPE_AS_ARGUMENT = re.compile(
    rb"^(?P<before>(?:(?:static|extern|inline)[ \t]+)*)(?P<macro>" + _CAPITALS + rb"[ \t]*\([^();{}\n]{0,200}\))"
    rb"(?=[ \t]*\n?[ \t]*[A-Za-z_]\w*[ \t]*\((?:[^(){};]|\([^()]{0,400}\)){0,2000}\)\s*[{;])",
    re.M,
)
# A pointer of C++/CLI, `Object^ sender`, as one.
_HANDLE = re.compile(rb"(?<=[A-Za-z0-9_>])\^(?=[ \t]*[),>]|[ \t]+[A-Za-z_]\w*[ \t]*[),;=(])")
# `MACRO(int, a, )`: only a macro has an empty argument.
_NO_ARGUMENT = re.compile(rb",(?=(?:[ \t\n]++|/\*(?:[^*]|\*(?!/)){0,400}\*/|//[^\n]*+\n)*+\))")
# `MACRO(type, name("a") + b);`: an expression where a declaration may stand.
_TEXT = rb"\"(?:[^\"\\\n]|\\.)*+\""
_CALL = re.compile(
    rb"^[ \t]*" + _CAPITALS + rb"[ \t]*\((?=[^;{}\"]*+\")"
    rb"(?:[^();{}\"]|"
    + _TEXT
    + rb"|\((?:[^();{}\"]|"
    + _TEXT
    + rb"|\((?:[^();{}\"]|"
    + _TEXT
    + rb")*+\))*+\))*+\);[ \t]*$",
    re.M,
)
_CLASS_OPENED = re.compile(rb"[ \t]*(?:class|struct)\b[^;{}]*\{$")
_LABEL = re.compile(rb"^[ \t]*(?:public|private|protected|\w*signals|\w+[ \t]+slots|default|case\b.*)[ \t]*:$")
_CALL_LINE = re.compile(rb"(?![A-Z0-9_]+[ \t]*\(|" + _TYPE + rb")\w+[ \t]*\(")
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\.)*", re.M | re.S)
_IN_DEFINE = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//(?:[^\n\\]|\\.)*|/\*(?:.*?\*/|.*)", re.S)
_ELSE = re.compile(rb"\s*else\b")
_ENDS = (b";", b"{", b"}")
_TOKEN = re.compile(
    rb"(?P<literal>R\"(?P<mark>[^()\\ \n]{0,16})\((?:.*?\)(?P=mark)\"|.*)|"
    rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|//(?:[^\n\\]|\\.)*"
    rb"|/\*(?:.*?\*/|.*)|(?P<brace>[{}])|^[ \t]*(?P<directive>#[ \t]*(?P<word>\w+)(?:[^\n\\/]|\\.|/(?![*/]))*)",
    re.M | re.S,
)


def masked(source: bytes, is_broken: bool) -> bytes:
    """A source that the grammar can read, byte for byte as long; more of it is masked where that did not parse."""
    shown = _CLASS_HEAD.sub(_class_attribute, source)
    if b"#" in shown:
        shown = _DEFINE.sub(_without_comments, shown)
    if is_broken:
        shown = _without_torn_branches(shown)
        shown = _HIDDEN.sub(_hidden, shown)
        shown = _TYPE_AS_ARGUMENT.sub(_as_type, shown)
        shown = _HANDLE.sub(b"*", shown)
        shown = _ALONE.sub(_directive, shown)
        shown = _LEADING.sub(_attribute, _LEADING.sub(_attribute, shown))
    return shown


def unknown(source: bytes) -> Iterator[tuple[int, int]]:
    """The commas before the empty last argument of a macro; macros of whose arguments one holds a text."""
    for pattern in (_NO_ARGUMENT, _CALL):
        yield from (match.span() for match in pattern.finditer(source))


def _class_attribute(match: re.Match[bytes]) -> bytes:
    is_enum = match["before"].startswith(b"enum") and not match["enum"]
    return match[0] if is_enum and not _HAS_BODY.match(match.string, match.end()) else _attribute(match)


def _attribute(match: re.Match[bytes]) -> bytes:
    """A macro as an attribute, which must have a name."""
    length = len(match["macro"])
    return match["before"] + (b"[[" + b"x" * (length - 4) + b"]]" if length > 4 else match["macro"])


def _as_type(match: re.Match[bytes]) -> bytes:
    """A macro with its arguments as the name of a type."""
    return match["before"] + b"m" * len(match["macro"])


def _directive(match: re.Match[bytes]) -> bytes:
    """A macro's own line as a directive, where a statement or declaration may begin."""
    if not _begins_something(match):
        follows_template = match.string[: match.start()].endswith(b">\n")
        return _attribute(match) + match[0][match.end("macro") - match.start() :] if follows_template else match[0]
    return match["before"] + _unknown(match["macro"]) + match[0][match.end("macro") - match.start() :]


def _begins_something(match: re.Match[bytes]) -> bool:
    source = match.string
    before, after = source[max(0, match.start() - 400) : match.start()].rstrip(), source[match.end() :][:400].lstrip()
    line = before[before.rfind(b"\n") + 1 :]
    is_begun = (
        not before
        or before.endswith((b";", b"{", b"}", b"*/"))
        or line.lstrip().startswith(b"#")
        or b"//" in line
        or _LABEL.match(line)
        or _ALONE.match(line)
    )
    if not is_begun or line.endswith(b"\\"):
        return False
    if after.startswith(b"}"):
        # All that is in a class, or else perhaps a value of an enum or of a list.
        is_member = b"(" in match["macro"] and (_LABEL.match(line) or _CLASS_OPENED.match(line))
        return before.endswith((b";", b"}")) or bool(is_member)
    is_type = b"(" not in match["macro"] and _CALL_LINE.match(after)
    return not is_type and (not after or after[:1].isalpha() or after[:1] in (b"_", b"#", b"~", b"/", b"["))


def _unknown(text: bytes) -> bytes:
    """A text as a directive that no grammar knows: one leaf, whatever is in it."""
    return b"#" + b"m" * (len(text) - 1)


def _without_comments(match: re.Match[bytes]) -> bytes:
    """A macro's definition; a comment amid it would end it for the grammar."""
    text = match[0]
    if b"/*" not in text:
        return text

    def blank(found: re.Match[bytes]) -> bytes:
        is_amid = found[0].startswith(b"/*") and text[found.end() :].strip(b" \t\\\n")
        return re.sub(rb"[^\\\n]|\\(?!\n)", b" ", found[0]) if is_amid else found[0]

    return _IN_DEFINE.sub(blank, text)


def _hidden(match: re.Match[bytes]) -> bytes:
    source, start = match.string, match.start()
    row_start = source.rfind(b"\n", 0, start) + 1
    row_end = source.find(b"\n", match.end())
    # In a macro's definition, a comment would end it for the grammar.
    if source[max(0, row_start - 2) : row_start] == b"\\\n" or source[row_end - 1 : row_end] == b"\\":
        return match[0]
    if source[row_start:start].lstrip().startswith(b"#"):
        return match[0]
    # In a comment, it would end that.
    if source.rfind(b"/*", 0, start) > source.rfind(b"*/", 0, start):
        return match[0]
    before = match["before"] or match["condition"] or match["type"] or match["end"] or b""
    return before + _comment(match["macro"] or match["macro2"] or match["macro4"] or match["macro3"])


def _comment(text: bytes) -> bytes:
    """A text as a comment, which may stand everywhere."""
    return b"/*" + b"m" * (len(text) - 4) + b"*/" if len(text) > 3 else text


class _Group(Struct):
    """An `#if` up to its `#endif`: where each directive stands, and how many braces each branch leaves open."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    is_torn: bool = False


def _without_torn_branches(source: bytes) -> bytes:
    """Of branches that are not whole statements or declarations, only the first is code."""
    pieces, position = [], 0
    for start, end in sorted(_torn_branches(source)):
        if start >= position:
            pieces += [source[position:start], _comment(source[start:end])]
            position = end
    return b"".join([*pieces, source[position:]])


def _torn_branches(source: bytes) -> Iterator[tuple[int, int]]:
    """Where the directives and the later branches of such groups are."""
    groups: list[_Group] = []
    last, position = b"", 0
    for match in _TOKEN.finditer(source):
        between = source[position : match.start()].rstrip()
        last, position = between or last, match.end()
        if match["brace"]:
            last = match["brace"]
            if groups:
                group = groups[-1]
                group.opened[-1] += 1 if last == b"{" else -1
                group.is_torn |= group.opened[-1] < 0
        elif match["word"]:
            yield from _read_directive(match, groups, is_amid=_is_amid(last, source, position))
        elif match["literal"]:
            last = b'"'


def _is_amid(last: bytes, source: bytes, position: int) -> bool:
    """Whether a statement goes on where a directive stands."""
    line = last[last.rfind(b"\n") + 1 :]
    return bool(_ELSE.match(source, position)) or not (not last or last.endswith(_ENDS) or _LABEL.match(line))


def _read_directive(match: re.Match[bytes], groups: list[_Group], *, is_amid: bool) -> Iterator[tuple[int, int]]:
    word, start = match["word"], match.start("directive")
    if word in (b"if", b"ifdef", b"ifndef"):
        groups.append(_Group())
    if not groups or word not in (b"if", b"ifdef", b"ifndef", b"elif", b"else", b"endif"):
        return
    group = groups[-1]
    group.starts.append(start)
    group.ends.append(start + len(match["directive"].rstrip()))
    group.opened.append(0)
    group.is_torn |= is_amid or b"__has_" in match["directive"]
    if word == b"endif":
        groups.pop()
        if groups:
            groups[-1].opened[-1] += group.opened[0]
        if group.is_torn or any(group.opened):
            yield group.starts[0], group.ends[0]
            yield group.starts[1], group.ends[-1]
