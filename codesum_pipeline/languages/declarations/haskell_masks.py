"""What the grammar of Haskell is given of a file that is not Haskell alone: a literate one, and one for `hsc2hs`."""

import re

from codesum_pipeline.languages.declarations.spans import as_blanks, only_shown

# Code in prose: lines that begin with `>`, and what is between two lines of LaTeX.
_LITERATE = re.compile(rb"^(?:>[ \t]|\\begin\{code\})", re.MULTILINE)
_CODE = re.compile(
    rb"^\\begin\{code\}[^\n]*\n(?P<block>(?s:.*?))(?:^\\end\{code\}|\Z)|^>(?P<line>[^\n]*)", re.MULTILINE
)
# The code of a file that is no literate one, whatever its comments quote.
_PLAIN_CODE = re.compile(
    rb"^(?:module|import(?:[ \t]+qualified)?)[ \t]+[A-Z][\w.']*+[ \t]*+(?:\(|(?:as|hiding|qualified|where)\b|--|$)",
    re.MULTILINE,
)
# What the C compiler is asked for: as a value `#{size struct a}` or `#const A`, or a line of its own.
_ASKED = re.compile(
    rb"#\{[^{}\n]*\}"
    rb"|#(?:const(?:_str)?|size|alignment|peek|poke|ptr|type|offset)\b[^\n()]*+(?:\([^\n()]*\)[^\n()]*+)*+"
)
_LINE_FOR_C = re.compile(rb"^#(?:let|def|enum)\b(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)


def is_literate(source: bytes) -> bool:
    """Whether the lines of a source that are its code are marked, and no others are."""
    return _LITERATE.search(source) is not None and _PLAIN_CODE.search(_CODE.sub(b"", source)) is None


def mask_foreign_parts(source: bytes, is_broken: bool) -> bytes:
    """A source in which prose is blank and what C answers is a name, where it did not parse as it is."""
    if not is_broken:
        return source
    shown = source
    if is_literate(source):
        code = (match.span("block" if match["block"] is not None else "line") for match in _CODE.finditer(source))
        shown = only_shown(source, [*code])
    if b"#" in shown:
        shown = _LINE_FOR_C.sub(lambda match: as_blanks(match[0]), shown)
        shown = _ASKED.sub(_as_name, shown)
    return shown


def _as_name(match: re.Match[bytes]) -> bytes:
    asked = match[0].rstrip()
    return b"h" + b"_" * (len(asked) - 1) + match[0][len(asked) :]
