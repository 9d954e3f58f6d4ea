"""The source of a class for its writer: canonical, without comments and without the bodies of its methods."""

import re
from collections.abc import Iterator

_MAX_LINE_CHARS, _MAX_CHARS = 400, 6_000
_BODY = " " * 8
# The lines outside of bodies, and those that give a text back: the others are not looked at one by one.
_TOLD = re.compile(rf"^(?!{_BODY})[^\n]+|^{_BODY}return [^\n]+", re.MULTILINE)
_COMMENTS = ("//", "/*", "*", "# ", "--", '"""')
# A body that only gives a text back says as much as a field.
_GIVES_TEXT = ('return "', "return '", 'return new String[]{"', "return `", 'return ["', "return ['")
# What a migration of a schema does stands in its methods.
_MIGRATION = "Migration"
_STEPS = (
    "add_", "remove_", "create_", "rename_", "change_", "create table", "alter table", "Schema::", "add :", "t.",
    "$table->",
)  # fmt: skip
_CALLED = re.compile(r" {4}(?:[^=(\n]{0,200}\s)?(\w{1,80})(?:<[^<>=\n]{0,80}>)?\s?\(")
# A mark on a line of its own is about the member after it, and is shown after its first line.
_MARK = re.compile(r" {4}@[\w.]{1,80}(?:\([^\n]{0,300}\))?")
_CONSTANT_ENDS = (",", ";", "}", ")]")


def own_source(canonical: str) -> str:
    """The head and the members' first lines, as many as are read. Methods stand last and in the order of their lines:
    where they are in the class changes nothing."""
    members: list[list[str]] = []
    marks: list[str] = []
    for line in _lines(canonical):
        if _MARK.fullmatch(line):
            marks.append(line)
        elif line.startswith(_BODY) and members:
            members[-1].append(line)
        else:
            members.append([line, *marks])
            marks = []
    are_methods = [_is_method(member[0]) for member in members]
    others = [member for member, is_method in zip(members, are_methods, strict=True) if not is_method]
    methods = sorted(member for member, is_method in zip(members, are_methods, strict=True) if is_method)
    shown = "\n".join(line for member in (*others, *methods) for line in member)
    return shown[:_MAX_CHARS]


def is_cut(source: str) -> bool:
    """Whether an own source is so long that not all of it is there."""
    return len(source) >= _MAX_CHARS


def _is_method(line: str) -> bool:
    """Whether a member is called: `name(` comes before any value, and it is no constant of an enumeration."""
    found = _CALLED.match(line)
    is_constant = found is not None and found[1][:1].isupper() and (line.endswith(_CONSTANT_ENDS) or "), " in line)
    return found is not None and not is_constant


def _lines(canonical: str) -> Iterator[str]:
    is_migration = any(_MIGRATION in line for line in canonical.split("\n", 2)[:2])
    for line in canonical.split("\n") if is_migration else _TOLD.findall(canonical):
        text = line.lstrip()
        is_told = (
            not line.startswith(_BODY)
            or (is_migration and text.startswith(_STEPS))
            or (text.startswith(_GIVES_TEXT) and line[len(_BODY)] != " ")
        )
        if is_told and len(text) > 1 and not text.startswith(_COMMENTS):
            yield line[:_MAX_LINE_CHARS]
