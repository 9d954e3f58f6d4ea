"""The steps of an expression, and the names and arguments of a type, read off its tokens.

Alike in all languages: the parser has already separated names, marks and texts.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from codesum_pipeline.foundation.data_model.expression import (
    CAST,
    ELEMENT,
    ROOT,
    UNWRAPPED,
    Chain,
    ExpressionStep,
    TypeName,
)
from codesum_pipeline.symbols.parsing.expressions import is_text, text_at

# Files share few with any but those around them.
_MAX_KNOWN = 1 << 12
# Deeper types are of no class that a reader would follow.
_MAX_DEPTH = 12
_TEXT = '""'
_BRACKETS = {"(": ")", "[": "]", "{": "}", "${": "}", "#{": "}", "%{": "}", ".{": "}", "?[": "]"}
_CLOSING = frozenset(")]}")
_WAITING = frozenset(("await", "try", "try!", "try?", "co_await"))
_JOINTS = frozenset((".", "?.", "!.", "!!.", "->", "?->", "&.", "::", ":", "\\"))
# Marks without effect, directly before a joint or after a name.
_MARKS = frozenset(("?", "!", "!!"))
_CASTS = frozenset(("as", "as?", "as!"))
_PARTS = ("::", "\\", ".")
# Words before a type that do not change which class it is.
_TYPE_WORDS = frozenset((
    "const", "volatile", "struct", "class", "enum", "union", "final", "mut", "dyn", "impl", "readonly", "in", "out",
    "ref", "params", "inout", "some", "any", "unsafe", "typename", "static", "inline", "extern", "comptime", "override",
    "async", "...",
))  # fmt: skip
_TYPE_MARKS = frozenset("&*?!")
_NOTHING = frozenset(("null", "undefined", "nil", "None", "void"))
# Marks after a type's text that do not change its class.
_AFTER_TYPES = frozenset(("+", "where", "=", "{"))
_THIS_TYPE = "@This"


@lru_cache(maxsize=_MAX_KNOWN)
def read_chain(pieces: tuple[str, ...]) -> Chain | None:
    """The steps of an expression; None for one that is no chain of names, calls and elements."""
    if len(pieces) == 1 and pieces[0].isidentifier():
        return (ExpressionStep(pieces[0]),)
    signs = _signs(pieces)
    while True:
        signs, is_new = _without_prefixes(signs)
        if not (signs and signs[0] == "(" and _end_of(signs, 0) == len(signs)):
            break
        signs = signs[1:-1]
        if cast := _cast(signs):
            return (cast,)
    if signs and signs[0] in ("::", "\\"):
        signs = signs[1:]
    return _steps(signs, is_new=is_new)


@lru_cache(maxsize=_MAX_KNOWN)
def read_type(pieces: tuple[str, ...]) -> TypeName | None:
    """A type without what does not change its class; None for functions and other types without a name."""
    if len(pieces) == 1 and pieces[0].isidentifier():
        return TypeName((pieces[0],)) if pieces[0] not in _NOTHING else None
    return _type(_signs(pieces), _MAX_DEPTH)


def _signs(pieces: Sequence[str]) -> list[str]:
    """The tokens without the blanks before them: a text is `""`, and a name written in one piece is its parts."""
    signs: list[str] = []
    position = 0
    while position < len(pieces):
        piece = pieces[position].strip()
        position += 1
        if not piece:
            continue
        if is_text(piece) and not piece.startswith('@"'):
            position = text_at(pieces, position - 1)[1]
            signs.append(_TEXT)
        elif piece in ("@", "$") and position < len(pieces) and _is_plain(pieces[position]):
            signs.append(f"{piece}{pieces[position]}")
            position += 1
        elif piece in (">>", ">>>"):
            signs.extend(piece)
        else:
            signs.extend(_parts(piece))
    return signs


def _parts(piece: str) -> Iterator[str]:
    """`A::B` as its names and marks."""
    mark = next((mark for mark in _PARTS if mark in piece and mark != piece), None)
    parts = piece.split(mark) if mark is not None else []
    if mark is None or not any(parts) or not all(not part or _is_plain(part) for part in parts):
        yield piece
        return
    for number, part in enumerate(parts):
        if number:
            yield mark
        if part:
            yield part


def _is_plain(piece: str) -> bool:
    return piece.replace("$", "_").isidentifier()


def _is_name(piece: str) -> bool:
    if piece.startswith('@"'):
        return True
    bare = piece.lstrip("@$#")
    return _is_plain(bare[:-1] if bare[-1:] in ("!", "?") else bare)


def _end_of(signs: Sequence[str], at: int) -> int:
    """After the bracket that closes the one here; -1 without it."""
    depth, is_angle = 0, signs[at] == "<"
    for position in range(at, len(signs)):
        sign = signs[position]
        if sign in _BRACKETS or (is_angle and sign == "<"):
            depth += 1
        elif sign in _CLOSING or (is_angle and sign == ">"):
            depth -= 1
            if not depth:
                return position + 1 if not is_angle or sign == ">" else -1
    return -1


def _split(signs: Sequence[str], mark: str, *, of_types: bool) -> list[list[str]]:
    """What marks outside of all brackets part. Between values, `<` is one only where what it encloses is called or
    led on from."""
    parts: list[list[str]] = [[]]
    position = 0
    while position < len(signs):
        sign = signs[position]
        end = position + 1
        if sign in _BRACKETS or (sign == "<" and (of_types or _follows_types(signs, position))):
            end = max(_end_of(signs, position), end)
        if sign == mark:
            parts.append([])
        else:
            parts[-1].extend(signs[position:end])
        position = end
    return [part for part in parts if part]


def _follows_types(signs: Sequence[str], at: int) -> bool:
    """Whether what the bracket here encloses are types, by what comes after it."""
    end = _end_of(signs, at)
    return 0 < end < len(signs) and signs[end] in ("(", "{", ".", ":", "::")


# Chains


def _without_prefixes(signs: list[str]) -> tuple[list[str], bool]:
    at = 0
    while at < len(signs) and (size := _prefix(signs, at)):
        at += size
    is_new = signs[at : at + 1] == ["new"] and at + 1 < len(signs) and _is_name(signs[at + 1])
    return (signs[at + 1 :], True) if is_new else (signs[at:], False)


def _prefix(signs: Sequence[str], at: int) -> int:
    """How many tokens before the expression here do not change its value."""
    sign, after = signs[at], signs[at + 1] if at + 1 < len(signs) else ""
    if sign == "&":
        return 2 if after == "mut" else 1
    if sign == "*":
        return int(after != "*")
    starts = bool(after) and (_is_name(after) or after in ("&", "*"))
    return int((sign in _WAITING and after == "(") or ((sign in _WAITING or sign == "move") and starts))


def _cast(signs: list[str]) -> ExpressionStep | None:
    """A cast in brackets: `(Type) value` or `value as Type`."""
    end = _end_of(signs, 0) if signs[:1] == ["("] else -1
    type_signs: Sequence[str] = ()
    if 0 < end < len(signs) and signs[end] not in _CASTS:
        rest = signs[end:]
        is_value = _steps(rest, is_new=False) or (rest[0] == "(" and _end_of(rest, 0) == len(rest))
        type_signs = signs[1 : end - 1] if is_value else ()
    elif (last := max((at for at, sign in enumerate(signs) if sign in _CASTS), default=0)) > 0:
        type_signs = signs[last + 1 :]
    type_ = _type(type_signs, _MAX_DEPTH) if type_signs else None
    return ExpressionStep(CAST, type=type_) if type_ is not None else None


def _steps(signs: list[str], *, is_new: bool) -> Chain | None:
    steps: list[ExpressionStep] = []
    at, wants_name = 0, True
    while at < len(signs):
        sign = signs[at]
        if sign == "<" and steps:
            at = _end_of(signs, at)
            if wants_name and at == len(signs):
                wants_name = False
            elif at < 0 or at == len(signs):
                return None
            elif wants_name:
                # `Type::<Item>::name`; what `name::<Item>()` gives, the item says.
                if signs[at] not in _JOINTS:
                    return None
                at += 1
            elif signs[at] not in ("(", ".", ":", "::"):
                return None
        elif wants_name:
            if not _is_name(sign):
                return None
            at, name = _named(signs, at)
            steps.append(ExpressionStep(name, is_new=is_new and not steps))
            wants_name = False
        elif sign in ("(", "[", "?["):
            end = _end_of(signs, at)
            if end < 0:
                return None
            if sign != "(":
                steps.append(ExpressionStep(ELEMENT))
            elif steps[-1].arguments >= -1 or steps[-1].name in (ELEMENT, UNWRAPPED):
                return None
            else:
                count = len(_split(signs[at + 1 : end - 1], ",", of_types=False))
                steps[-1] = steps[-1]._replace(arguments=count)
            at = end
        elif sign in _MARKS:
            if sign == "?" and signs[at + 1 : at + 2] not in (["."], ["?"]):
                steps.append(ExpressionStep(UNWRAPPED))
            at += 1
        elif sign in _JOINTS:
            at, wants_name = at + 1, True
        else:
            return None
    return tuple(steps) if steps and not wants_name else None


def _named(signs: Sequence[str], at: int) -> tuple[int, str]:
    """The name here, and where what follows it begins: a `!` or `?` belongs to the name of what is called."""
    name, after = signs[at], signs[at + 1] if at + 1 < len(signs) else ""
    is_quoted = name.startswith('@"')
    if after in ("!", "?") and not is_quoted:
        is_called = signs[at + 2 : at + 3] == ["("]
        return at + 2, f"{name}{after}" if is_called else name
    is_forced = name[-1] in "!?" and after != "(" and not is_quoted
    return at + 1, name.rstrip("!?") if is_forced else name


# Types


def _type(signs: Sequence[str], depth: int) -> TypeName | None:
    alternatives = [one for one in _split(signs, "|", of_types=True) if one[0] not in _NOTHING or len(one) > 1]
    if len(alternatives) != 1 or depth < 0:
        return None
    rest, lists = alternatives[0], 0
    while rest:
        if _is_type_word(rest) or rest[0][0] == "'" or _TYPE_MARKS.issuperset(rest[0]):
            rest = rest[1:]
        elif rest[0] == "[" and (end := _end_of(rest, 0)) > 0:
            if end == len(rest) and (mapped := _mapping(rest[1:-1], depth)):
                return _listed(mapped, lists)
            # `[Item]` and `[Item; 3]`, or `[]Item` and `[3]Item`.
            rest = rest[end:] if end < len(rest) else next(iter(_split(rest[1:-1], ";", of_types=True)), [])
            lists += 1
        elif rest[0] == "(" and _end_of(rest, 0) == len(rest):
            rest = _without_variable(next(iter(_split(rest[1:-1], ",", of_types=True)), []))
        else:
            break
    named = _named_type(rest, depth) if rest else None
    return _listed(named, lists) if named is not None else None


def _is_type_word(signs: Sequence[str]) -> bool:
    """Whether this word precedes a type; alone it is a type itself (`static`)."""
    return signs[0] in _TYPE_WORDS and len(signs) > 1 and signs[1] not in _JOINTS and signs[1] != "<"


def _mapping(signs: Sequence[str], depth: int) -> TypeName | None:
    """`[Key: Item]`."""
    parts = _split(signs, ":", of_types=True)
    if len(parts) != 2 or ":" not in signs:
        return None
    return TypeName(("Dictionary",), tuple([_type(part, depth - 1) for part in parts]))


def _without_variable(signs: list[str]) -> list[str]:
    """The type of a result that has a name: `err error`."""
    is_named = len(signs) > 1 and _is_plain(signs[0]) and signs[0] not in _TYPE_WORDS
    return signs[1:] if is_named and (signs[1] == "*" or _is_plain(signs[1])) else signs


def _listed(type_: TypeName, lists: int) -> TypeName:
    for _ in range(lists):
        type_ = TypeName((ELEMENT,), (type_,))
    return type_


def _named_type(signs: Sequence[str], depth: int) -> TypeName | None:
    names, at = _names(signs)
    if not names:
        return None
    arguments: tuple[TypeName | None, ...] = ()
    lists = 0
    if signs[at : at + 2] == ["::", "<"]:
        at += 1
    if signs[at : at + 1] in (["<"], ["["]) and (end := _end_of(signs, at)) > 0:
        inner = signs[at + 1 : end - 1]
        if signs[at] == "[" and (not inner or "".join(inner).isdigit()):
            lists += 1
        else:
            written_arguments = [part for part in _split(inner, ",", of_types=True) if part[0][0] != "'"]
            arguments = tuple([_type(part, depth - 1) for part in written_arguments])
        at = end
    if names == ("map",) and at < len(signs):
        arguments, at = (*arguments, _type(signs[at:], depth - 1)), len(signs)
    while signs[at : at + 2] == ["[", "]"] or signs[at : at + 1] == ["..."]:
        lists += 1
        at += 1 if signs[at] == "..." else 2
    rest = [sign for sign in signs[at:] if sign != "const" and not _TYPE_MARKS.issuperset(sign.replace(":", ""))]
    return None if rest and rest[0] not in _AFTER_TYPES else _listed(TypeName(names, arguments), lists)


def _names(signs: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The names that a type begins with, and where what follows them begins."""
    if signs[:3] == [_THIS_TYPE, "(", ")"]:
        return ("@This()",), 3
    names = [ROOT] if signs[:1] == ["\\"] else []
    at = len(names)
    while at < len(signs) and _is_plain(signs[at]):
        names.append(signs[at])
        if signs[at + 1 : at + 2] not in (["."], ["::"], ["\\"]) or not _is_plain("".join(signs[at + 2 : at + 3])):
            return tuple(names), at + 1
        at += 2
    return (), at


def parameter_names(pattern: str) -> Iterator[str]:
    """The names that a pattern in place of a parameter's name binds."""
    words = "".join([char if char.isalnum() or char in "_$" else " " for char in pattern]).split()
    return (word.lstrip("$") for word in words if not word[0].isdigit())
