"""What a file says about its own encoding, in the ways that tools of its language, or editors, read."""

import re
from collections.abc import Iterator

from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait

# As far as editors and parsers look.
_HEAD, _TAIL = 1024, 3000
_EDGE_LINES = 5

# PEP 263: in the first line, or in the second after a comment or an empty line.
_CODING_COOKIE = re.compile(rb"\A(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)")
# Alone in a line of the first comment, behind other directives.
_DIRECTIVE = re.compile(rb"\A(?:#[^\r\n]*\r?\n)*?#[ \t]*(?:en)?coding[ \t]*[:=][ \t]*([-\w.]+)[ \t]*\r?$", re.MULTILINE)
# In one of the first two lines, as its preprocessor reads it.
_ERLANG = re.compile(rb"\A(?:[^\r\n]*\r?\n)?[ \t]*%[^\r\n]*?coding[ \t]*[:=][ \t]*([-\w.]+)")
_EMACS = re.compile(rb"-\*-[^\r\n]{0,400}?\b(?i:coding):[ \t]*([-\w.]+)")
_EMACS_BLOCK = re.compile(rb"Local Variables:[^\f]{0,2000}?\b(?i:coding):[ \t]*([-\w.]+)")
_VIM = re.compile(rb"(?:^|[ \t])(?:vim?|ex):[^\r\n]{0,400}?\b(?:fileencoding|fenc)[ \t]*=[ \t]*([-\w.]+)")
_XML = re.compile(rb"\A\s*<\?xml\s[^>]{0,400}?\bencoding\s{0,9}=\s{0,9}[\"']([-\w.:]+)[\"']")
_HTML = re.compile(rb"<meta\s[^>]{0,400}?\bcharset\s{0,9}=\s{0,9}[\"']?([-\w.:]+)", re.IGNORECASE)
_CSS = re.compile(rb"\A@charset \"([-\w.:]+)\";")
_PERL = re.compile(rb"^[ \t]*use[ \t]+(?:encoding[ \t(]+[\"']?([-\w.:]+)|(utf8)\b)", re.MULTILINE)
_DECLARE = re.compile(rb"\bdeclare\s?\(\s?encoding\s?=\s?[\"']([-\w.:]+)[\"']", re.IGNORECASE)
_TEX = re.compile(
    rb"\\usepackage\[([-\w.]+)\]\{inputenc\}|^%[ \t]*!TEX[ \t]+encoding[ \t]*=[ \t]*([-\w.]+)", re.M | re.I
)
# Gettext's head, and the directive of a page of Java.
_TEXT = re.compile(
    rb"^\"Content-Type:[ \t]{0,9}text/plain;[ \t]{0,9}charset=([-\w.:]+)\\n\""
    rb"|<%@\s{0,9}page\s[^>]{0,400}?\b(?:pageEncoding\s{0,9}=\s{0,9}[\"']|charset=)([-\w.:]+)",
    re.MULTILINE,
)
# Languages whose files may hold pages.
_MARKUP = frozenset({"html", "vue", "svelte", "astro", "jinja"})
_IN_LANGUAGE = {
    "css": _CSS, "scss": _CSS, "less": _CSS, "perl": _PERL, "tex": _TEX, "text": _TEXT,
    "erlang": _ERLANG,
}  # fmt: skip


def own_declarations(data: bytes, language: str) -> Iterator[str]:
    """The encodings that a file names as its own, those that its language's tools read first."""
    found = dict.fromkeys(name.decode("ascii", "replace") for name in _names_in(data, language))
    yield from found


def _names_in(data: bytes, language: str) -> Iterator[bytes]:
    head = data[:_HEAD]
    of_language = [_CODING_COOKIE] if has_trait(language, Trait.DECLARED_ENCODING) else []
    of_language += [_DIRECTIVE] if has_trait(language, Trait.ENCODING_AMONG_DIRECTIVES) else []
    of_language += [_XML]
    if has_trait(language, Trait.HOLDS_PAGES):
        of_language += [_DECLARE, _HTML]
    elif language in _MARKUP:
        of_language += [_HTML]
    of_language += [_IN_LANGUAGE[language]] if language in _IN_LANGUAGE else []
    for expression in of_language:
        if match := expression.search(head):
            yield next(group for group in match.groups() if group)
    lines = head.splitlines()
    tail = data[-_TAIL:]
    edges = [*lines[:_EDGE_LINES], *tail.splitlines()[-_EDGE_LINES:]]
    for line in lines[:2]:
        if match := _EMACS.search(line):
            yield match[1]
    yield from (match[1] for line in edges if (match := _VIM.search(line)))
    if match := _EMACS_BLOCK.search(tail):
        yield match[1]
