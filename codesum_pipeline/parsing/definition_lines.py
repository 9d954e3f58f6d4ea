"""Lines that look like a definition, told without a grammar.

A second opinion about a file: what such a line names and no symbol has may be
lost. Patterns see one line, so they also match in comments and strings; who
counts must leave those out.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

_C_STATEMENTS = (
    r"if|else|for|while|switch|do|return|sizeof|case|throw|new|delete|catch|using|typedef|namespace|goto|not|defined"
    r"|static_assert|alignas|decltype|operator|co_await|co_return|public|private|protected|asm|template|friend|requires"
)
# What no statement and no call begins with, and what no name of a function is.
_C_START = rf"(?!(?:{_C_STATEMENTS})\b)"
_C_WORDS = (
    rf"(?!(?:{_C_STATEMENTS}|class|struct|union|enum|extern|typename|static|inline|const|__attribute__|__declspec|bool"
    r"|char|int|void|float|double|string)\b)"
)
_C_FUNCTION = (
    # A macro that names its argument has no type before it.
    rf"{_C_START}(?!(?:struct|class)[ \t]+\w+[ \t]*<|[\w:]+,|(?:static|extern|inline)[ \t]+[A-Z_][A-Z0-9_]+\()"
    rf"(?:[A-Za-z_][\w:<>,&*\[\]]*[ \t]+)(?:{_C_START}[\w:<>,&*\[\]]+[ \t]+)*[*&]*(?:\w+::)*~?"
    rf"(?P<name>{_C_WORDS}[A-Za-z_]\w*)[ \t]*(?!\([^()]*\)[ \t]*\n?[ \t]*\w+[ \t]*\()\("
    # Neither a variable made with a function or a number as an argument, nor a pointer to a member, nor the type of
    # what a function returns a reference to, nor an argument of a template.
    r"(?!(?:[^;\"={]*[(,])?[ \t\n]*\[(?!\[)|[\w:]+::\*|[ \t\n]*\d|[*&]+\w+[ \t]*[(\[])"
    r"[^;\"={]*(?:(?<!\)>)\{(?:.*\})?[ \t]*$|\)(?:[ \t]*(?:const|noexcept|override|final))*[ \t]*\n[ \t]*[{:])"
)
# The type on the line above.
_C_OWN_LINE = rf"{_C_WORDS}(?P<name>[a-z_]\w*)[ \t]*\([^;{{}}()\"]*\)[ \t]*\n\{{"
_C_STRUCTURE = r"[ \t]*(?:typedef[ \t]+)?(?:struct|union|enum)[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*\{"
_ECMASCRIPT = (
    r"[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:async[ \t]+)?function\b[ \t]*\*?[ \t]*"
    r"(?P<name>[A-Za-z_$][\w$]*)[ \t]*[(<]",
    r"[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?class[ \t]+"
    r"(?P<name>(?!extends\b)[A-Za-z_$][\w$]*)(?=[^;={}]*\{)",
    r"(?:export[ \t]+)?(?:const|let|var)[ \t]+(?P<name>[A-Za-z_$][\w$]*)[ \t]*=[ \t]*(?:async[ \t]+)?"
    r"(?:function\b|\([^()]*\)[ \t]*=>|[A-Za-z_$][\w$]*[ \t]*=>)",
    r"[ \t]+(?:(?:public|private|protected|override|static|async|get|set)[ \t]+)*[*#]?"
    r"(?P<name>(?!(?:if|for|while|switch|catch|with|function|return|await|do|constructor|super)\b)[A-Za-z_$][\w$]*)"
    r"[ \t]*\([^()'\"]*\)(?:[ \t]*:[^={}]+)?[ \t]*\{[ \t]*$",
)  # fmt: skip
_JAVA_WORDS = (
    r"(?:(?:public|protected|private|internal|static|final|sealed|abstract|synchronized|native|default|strictfp|virtual"
    r"|override|async|readonly|unsafe|partial|extern|new|file|ref|non-sealed)[ \t]+)"
)
_KOTLIN_WORDS = (
    r"(?:@[\w.:]+(?:\([^()]*\))?[ \t]+)*(?:(?:public|private|protected|internal|open|abstract|final|override|inline"
    r"|suspend|operator|infix|tailrec|external|expect|actual|data|sealed|enum|annotation|value|inner|fun)[ \t]+)*"
)
_SWIFT_WORDS = (
    r"(?:@[\w.]+(?:\([^()]*\))?[ \t]+)*(?:(?:public|private|fileprivate|internal|open|package|final|static|class"
    r"|override|mutating|nonmutating|required|convenience|indirect|dynamic|optional|nonisolated|prefix|postfix|infix"
    r"|private\(set\))[ \t]+)*"
)
_SCALA_WORDS = (
    r"(?:@\w+(?:\([^()]*\))?[ \t]+)*(?:(?:override|final|private|protected|private\[\w+\]|protected\[\w+\]|implicit"
    r"|inline|transparent|lazy|abstract|sealed|case|open|opaque|infix|package)[ \t]+)*"
)
_RUST_WORDS = (
    r"(?:pub(?:[ \t]*\([^()]*\))?[ \t]+)?"
    r"(?:(?:default|const|async|unsafe|safe|auto|extern(?:[ \t]+\"[^\"]*\")?)[ \t]+)*"
)

_PATTERNS: Mapping[str, tuple[str, ...]] = {
    "python": (
        r"[ \t]*(?:async[ \t]+)?def[ \t]+(?P<name>\w+)[ \t]*[(\[]",
        r"[ \t]*class[ \t]+(?P<name>\w+)[ \t]*(?:\(.*|\[.*|:[ \t]*(?:#.*)?$)",
    ),
    "rust": (
        rf"[ \t]*{_RUST_WORDS}fn[ \t]+(?:r#)?(?P<name>\w+)[ \t]*[(<]",
        rf"[ \t]*{_RUST_WORDS}(?:struct|enum|trait)[ \t]+(?P<name>[A-Z]\w*)",
        r"[ \t]*(?:pub[ \t]+)?union[ \t]+(?P<name>[A-Z]\w*)(?=[^;{}]*\{)",
        r"[ \t]*macro_rules![ \t]*(?P<name>\w+)",
    ),
    "go": (
        r"func[ \t]+(?:\([^()]*\)[ \t]*)?(?P<name>\w+)[ \t]*[(\[]",
        r"type[ \t]+(?P<name>\w+)[^=/]*[ \t](?:struct|interface)\b",
    ),
    "java": (
        rf"[ \t]*{_JAVA_WORDS}*(?:class|interface|enum|@interface)[ \t]+"
        r"(?P<name>[A-Za-z_$][\w$]*)(?=[^;()\"{}]*\{)",
        rf"[ \t]*{_JAVA_WORDS}*record[ \t]+(?P<name>[A-Z]\w*)[ \t]*(?:<[^()]*>[ \t]*)?\(",
        rf"[ \t]*{_JAVA_WORDS}+(?:<[^()]*>[ \t]+)?(?!class|new|return)[\w<>\[\],.?& ]+[ \t]"
        r"(?P<name>[A-Za-z_]\w*)[ \t]*\([^;=\"\n]*$",
        r"[ \t]+(?!(?:return|new|else|throw|if|for|while|switch|case|catch|do|try|synchronized|assert|yield|class)\b)"
        r"[A-Za-z_][\w<>\[\],.?]*[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*\([^;=\"()]*\)[ \t]*(?:throws[ \t]+[\w., ]+)?\{",
    ),
    "c-sharp": (
        rf"[ \t]*{_JAVA_WORDS}*(?:class|interface|enum|struct|record(?:[ \t]+(?:class|struct))?)[ \t]+"
        r"(?P<name>(?!class\b|struct\b)[A-Z]\w*)"
        r"[ \t]*(?:[<:{(].*)?$",
        # A bracket belongs to a type where it is a tuple: in `new A(new B(…))` it does not.
        rf"[ \t]*{_JAVA_WORDS}+(?!class|new|return|record)"
        r"(?:[\w<>\[\],.? ]|(?<=[ \t<,])\((?:[^()\n]|\([^()\n]*\))*\))+[ \t](?:\w+\.)*"
        r"(?<!operator )(?P<name>(?!typeof\b)[A-Za-z_]\w*)[ \t]*(?:<[\w, ]+>)?\([^;=\"\n]*$",
    ),
    "c": (
        _C_FUNCTION,
        _C_OWN_LINE,
        _C_STRUCTURE,
    ),
    "cpp": (
        rf"[ \t]*{_C_FUNCTION}",
        _C_OWN_LINE,
        _C_STRUCTURE,
        r"[ \t]*(?:template[ \t]*<.*>[ \t]*)?(?:class|struct)[ \t]+(?:[A-Z][A-Z0-9_]+(?:\([^()]*\))?[ \t]+)?"
        r"(?P<name>[A-Za-z_]\w*)[ \t]*(?:final[ \t]*)?(?:\{|:[^:].*|$)",
    ),
    "ruby": (
        r"[ \t]*(?:(?:private|protected|public|private_class_method|module_function|memoize)[ \t]+)?def[ \t]+"
        r"(?:\w+\.)?(?P<name>[A-Za-z_]\w*[?!=]?)(?:[ \t]*\(|[ \t]|;|$)",
        r"[ \t]*(?:class|module)[ \t]+(?:[\w:]*::)?(?P<name>[A-Z]\w*)",
    ),
    "php": (
        r"[ \t]*(?:(?:public|private|protected|static|final|abstract)[ \t]+)*function[ \t]+&?[ \t]*"
        r"(?P<name>\w+)[ \t]*\(",
        r"[ \t]*(?:(?:abstract|final|readonly)[ \t]+)*(?:class|interface|trait)[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*"
        r"(?:\{|$|extends|implements)",
        r"[ \t]*enum[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*(?::[ \t]*\w+[ \t]*)?(?:\{|$|implements)",
    ),
    "kotlin": (
        rf"[ \t]*{_KOTLIN_WORDS}(?<=[ \tn])?fun[ \t]+(?:<[^()]*>[ \t]*)?(?:[\w<>?*,. ]+\.)?"
        r"(?P<name>\w+|`[^`]+`)[ \t]*\(",
        rf"[ \t]*{_KOTLIN_WORDS}(?:class|interface)[ \t]+(?P<name>\w+)",
        rf"[ \t]*{_KOTLIN_WORDS}(?:companion[ \t]+)?object[ \t]+(?P<name>(?!:)\w+)",
    ),
    "swift": (
        # Defined elsewhere, mostly in another language: it has no name here.
        r"[ \t]*@(?:_silgen_name|_extern)\([^()\n]*\)\s[^\n]*\bfunc\b",
        rf"[ \t]*{_SWIFT_WORDS}func[ \t]+(?P<name>\w+|`\w+`)[ \t]*[(<]",
        rf"[ \t]*{_SWIFT_WORDS}(?:class|struct|enum|protocol|actor)[ \t]+"
        r"(?P<name>(?!func\b|var\b|let\b|subscript\b)[A-Za-z_]\w*)(?=(?:[^;{}()]|\([^;{}()]*\))*\{)",
    ),
    "scala": (
        rf"[ \t]*{_SCALA_WORDS}def[ \t]+(?P<name>[A-Za-z_][\w$]*?(?:_[=!+~*/<>|&-]+|(?![\w$]))|`[^`]+`)",
        rf"[ \t]*{_SCALA_WORDS}(?:class|trait|object)[ \t]+(?P<name>[A-Za-z_]\w*)",
    ),
    "bash": (
        r"[ \t]*function[ \t]+(?P<name>[A-Za-z_][\w:.-]*)[ \t]*(?:\([ \t]*\)[ \t]*)?(?:\{.*|$)",
        r"[ \t]*(?P<name>[A-Za-z_][\w:.-]*)[ \t]*\([ \t]*\)[ \t]*(?:[{(].*|$)",
    ),
    "lua": (
        r"[ \t]*(?:local[ \t]+)?function[ \t]+(?:[\w.]+[.:])?(?P<name>\w+)[ \t]*\(",
        r"[ \t]*(?:local[ \t]+)?(?:[\w.]+\.)?(?P<name>\w+)[ \t]*=[ \t]*function[ \t]*\(",
    ),
    "elixir": (
        r"[ \t]*(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate)[ \t]+"
        r"(?P<name>[a-z_]\w*[?!]?)(?:[ \t]*\(|[ \t]|,|$)",
        r"[ \t]*(?:defmodule|defprotocol)[ \t]+(?:[\w.]+\.)?(?P<name>[A-Z]\w*)[ \t]",
    ),
    "haskell": (
        r"(?P<name>[a-z_][\w']*)[ \t]+(?:::|∷|\xe2\x88\xb7)",
        r"(?:data|newtype|class)[ \t]+(?:instance\b|family[ \t]+)?(?:.*=>[ \t]*)?(?P<name>[A-Z][\w']*)",
    ),
    "zig": (
        r"[ \t]*(?:(?:pub|export|inline|noinline|extern)[ \t]+)*fn[ \t]+(?P<name>\w+)[ \t]*\(",
        r"(?:[ \t]*pub[ \t]+)?const[ \t]+(?P<name>\w+)[ \t]*=[ \t]*(?:(?:packed|extern)[ \t]+)?"
        r"(?:struct|union|enum|opaque)\b(?=[^;{}]*\{)",
    ),
    "javascript": _ECMASCRIPT,
    "typescript": (
        *_ECMASCRIPT,
        r"[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?interface[ \t]+(?P<name>[A-Za-z_$][\w$]*)",
        r"[ \t]*(?:export[ \t]+)?(?:declare[ \t]+)?(?:const[ \t]+)?enum[ \t]+(?P<name>[A-Za-z_$][\w$]*)[ \t]*\{",
    ),
}  # fmt: skip


# What a macro of Rust writes is text: it belongs to the macro. So does what is quoted in its code.
_TEMPLATES = re.compile(
    r"^(?P<head>(?P<depth>[ \t]*)macro_rules![^\n]*)(?P<body>(?:[({]\n|\n).*?\n(?P=depth)[)}])",
    re.MULTILINE | re.DOTALL,
)
_QUOTED = re.compile(
    r"^(?P<head>(?P<depth>[ \t]*)[^\n]*\b(?:parse_)?quote(?:_spanned)?![^\n]*[{(])"
    r"(?P<body>\n.*?\n(?P=depth)[)}])",
    re.MULTILINE | re.DOTALL,
)


@cache
def _compiled(language: str) -> re.Pattern[str]:
    """Those of one language: to compile all takes as long as a few files."""
    patterns = _PATTERNS["typescript" if language == "tsx" else language]
    numbered = (pattern.replace("(?P<name>", f"(?P<name{number}>") for number, pattern in enumerate(patterns))
    return re.compile("|".join(f"(?:^(?:{pattern}))" for pattern in numbered), re.MULTILINE)


LANGUAGES = frozenset({*_PATTERNS, "tsx"})


@dataclass(frozen=True, slots=True)
class DefinitionLine:
    """A line that looks like a definition: the name that it defines, and where that begins, in characters."""

    name: str
    start: int


def definition_lines(text: str, language: str) -> Iterator[DefinitionLine]:
    """Those of a text, in order; none in a language without patterns."""
    pattern = _compiled(language) if language in LANGUAGES else None
    if language == "rust":
        for pattern_of_text in (_TEMPLATES, _QUOTED) if "!" in text else ():
            text = pattern_of_text.sub(lambda match: match["head"] + re.sub(r"[^\n]", " ", match["body"]), text)
    for match in pattern.finditer(text) if pattern else ():
        if group := match.lastgroup:
            yield DefinitionLine(match[group].strip("`"), match.start(group))
