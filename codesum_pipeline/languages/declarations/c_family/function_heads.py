"""The heads of functions of C: which of their words only the preprocessor understands.

A grammar takes `static noinline int f(…)` for a type `noinline` and an error, and `static __printf(2, 3) int f(…)` for
a function `__printf`. A head that is read as words and brackets says more: what is before a built-in type, before
another name or behind a `*` is no name of a type.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.languages.declarations.syntax_tables import patterns_beside, words_beside

_PATTERNS = patterns_beside(__file__)
_WORDS = words_beside(__file__)
_SPECIFIERS, _BUILT_IN, _ATTRIBUTES, _OTHERS = (
    _WORDS[name] for name in ("specifiers", "built_in", "attributes", "others")
)
_BEHIND_PARAMETERS = ("const", "noexcept", "override", "final", "volatile")
_TAGS = ("struct", "union", "enum", "class")
# A shorter word has no room for a comment.
_LEAST_WORD = 4


class HeadToken(Struct, frozen=True):
    """A word, a mark, or brackets with all that is in them: the text begins with `(` then."""

    text: str
    start: int
    end: int


def unknown_words(source: bytes) -> Iterator[tuple[Span, bool]]:
    """The words before and behind the names of functions that no grammar knows, in order, with their arguments; whether
    one replaces the type."""
    for head, has_body in _heads(source):
        found = _function_in(head) if has_body else None
        if not has_body:
            yield from _behind_member(head)
        elif found is not None:
            yield from sorted(_unknown_before(head[:found])) + sorted(_unknown_behind(head[found + 2 :]))


def _heads(source: bytes) -> Iterator[tuple[list[HeadToken], bool]]:
    """What is before each brace that is in no other braces but those of namespaces and classes; and in these, before
    each `;`. Whether it is a brace."""
    head: list[HeadToken] = []
    scopes, depth, opened, position = 0, 0, 0, 0
    for match in _PATTERNS["token"].finditer(source):
        text = match[0].decode("latin-1")
        if match["aside"]:
            head = [] if text.startswith("#") else head
        elif text == "{":
            is_scope = depth == scopes and _opens_scope(head)
            if depth == scopes and not is_scope and not opened:
                yield head, True
            depth += 1
            scopes += is_scope
            head, opened = [], 0
        elif text == "}":
            # A brace at the margin ends a function, whatever a condition of the preprocessor made of those before.
            depth = scopes if match.start() == 0 or source[match.start() - 1 : match.start()] == b"\n" else depth
            depth = max(depth - 1, 0) if depth > scopes or scopes == 0 else depth - 1
            scopes = min(scopes, depth)
            head, opened = [], 0
        elif text == ";":
            if scopes and depth == scopes and not opened:
                yield head, False
            head = head if opened else []
        elif text in "()":
            opened = max(opened + (1 if text == "(" else -1), 0)
            position = match.start() if text == "(" and opened == 1 else position
            if text == ")" and not opened and depth == scopes:
                head.append(HeadToken(source[position : match.end()].decode("latin-1"), position, match.end()))
        elif not opened and depth == scopes:
            head.append(HeadToken(text, *match.span()))


def _opens_scope(head: Sequence[HeadToken]) -> bool:
    words = [token.text for token in head if token.text not in _SPECIFIERS]
    is_type = bool(words) and words[0] in ("class", "struct", "union") and not any(one[0] == "(" for one in words[2:])
    return words[:1] == ["namespace"] or is_type or [token.text[:1] for token in head] in (['"'], ["e", '"'])


def _function_in(head: Sequence[HeadToken]) -> int | None:
    """The place of a function's name in its head; None for what is no plain one."""
    if any(token.text in _OTHERS or not _PATTERNS["plain"].fullmatch(token.text.encode("latin-1")) for token in head):
        return None
    for place, token in enumerate(head[:-1]):
        is_name = token.text[0] not in "(*[" and token.text not in _ATTRIBUTES and head[place + 1].text[0] == "("
        if is_name and _are_attributes(head[place + 2 :]):
            # A macro's call, before what comes next.
            return place if place or not token.text.isupper() else None
    return None


def _are_attributes(tokens: Sequence[HeadToken]) -> bool:
    """Whether all that follows a function's parameters are macros and attributes."""
    words = [token.text for token in tokens if token.text[0] not in "(["]
    is_call = bool(tokens) and tokens[0].text[0] == "("
    return not is_call and all(word.isupper() or word.startswith("__") or word in _ATTRIBUTES for word in words)


def _unknown_before(head: Sequence[HeadToken]) -> Iterator[tuple[Span, bool]]:
    """Of the words before a name those that are no type, with their arguments."""
    words, is_tag = list[HeadToken](), False
    last_mark = max((place for place, token in enumerate(head) if token.text[0] == "*"), default=len(head))
    first_mark = next((place for place, token in enumerate(head) if token.text[0] == "*"), len(head))
    is_known = False
    for place, token in enumerate(head):
        if token.text in _TAGS or token.text in _BUILT_IN or is_tag:
            is_known, is_tag = True, token.text in _TAGS
        elif token.text[0] in "*[(":
            continue
        elif token.text in _ATTRIBUTES:
            if place > last_mark:
                yield _with_arguments(head, place), False
        elif token.text not in _SPECIFIERS:
            words.append(token)
    places = {token.start: place for place, token in enumerate(head)}
    called = [
        token for token in words if head[places[token.start] + 1 :][:1] and head[places[token.start] + 1].text[0] == "("
    ]
    names = [token for token in words if token not in called and places[token.start] < first_mark]
    type_ = None if is_known else _likeliest_type(names, is_pointer=first_mark < len(head))
    if type_ is None and not is_known and len(called) == 1 and not names:
        yield _with_arguments(head, places[called[0].start]), True
        return
    for token in words:
        if token is not type_ and (token.end - token.start >= _LEAST_WORD or token in called):
            yield _with_arguments(head, places[token.start]), False


def _likeliest_type(names: Sequence[HeadToken], *, is_pointer: bool) -> HeadToken | None:
    """Which of some words is the type: the last that is not written as a macro; before a `*`, the last."""
    plain = [token for token in names if not token.text.isupper() and not token.text.startswith("__")]
    if is_pointer or plain:
        return (names if is_pointer else plain)[-1] if names else None
    return names[0] if names else None


def _unknown_behind(tokens: Sequence[HeadToken]) -> Iterator[tuple[Span, bool]]:
    for place, token in enumerate(tokens):
        if token.text[0] not in "([" and token.text not in _ATTRIBUTES and token.end - token.start >= _LEAST_WORD:
            yield _with_arguments(tokens, place), False


def _behind_member(head: Sequence[HeadToken]) -> Iterator[tuple[Span, bool]]:
    """The macros behind the name of a member or its parameters: `int a GUARDED_BY(b) = 1`."""
    words = [token.text for token in head]
    end = words.index("=") if "=" in words else len(head)
    place = end
    while place > 2 and _is_annotation(words[place - 1 - (words[place - 1][0] == "(")]):
        place -= 1 + (words[place - 1][0] == "(")
    if place == end or any(word in _OTHERS for word in words):
        return
    while place > 2 and words[place - 1] in _BEHIND_PARAMETERS:
        place -= 1
    name = place - 1 - (words[place - 1][0] == "(")
    is_named = name > 0 and words[name].isidentifier() and words[name] not in _BUILT_IN and not words[name].isupper()
    if is_named and (words[name - 1].isidentifier() or words[name - 1] in "*&>"):
        annotations = (number for number in range(place, end) if words[number][0] != "(")
        yield from ((_with_arguments(head, number), False) for number in annotations)


def _is_annotation(word: str) -> bool:
    return word.isupper() and "_" in word


def _with_arguments(head: Sequence[HeadToken], place: int) -> Span:
    following = head[place + 1] if place + 1 < len(head) else None
    return head[place].start, following.end if following is not None and following.text[0] == "(" else head[place].end
