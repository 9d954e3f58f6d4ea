"""What a class says itself: its canonical source without the bodies of its methods and without comments."""

from collections.abc import Iterator

_MAX_LINES, _MAX_LINE_CHARS, _MAX_CHARS = 160, 400, 6_000
_MEMBER, _BODY = " " * 4, " " * 8
_COMMENTS = ("//", "/*", "*", "# ", "--", '"""', ";")
# A body that only gives a text back says as much as a field.
_GIVES_TEXT = ('return "', "return '", 'return new String[]{"', "return `", 'return ["', "return ['", "return @")
# What a step of a schema's migration does stands in its methods.
_MIGRATION = "Migration"
_STEPS = ("add_", "remove_", "create_", "rename_", "change_", "create table", "alter table", "Schema::")


def own_source(canonical: str) -> str:
    """The head and the members' first lines, as far as they are read; "" of what has no lines below its head."""
    return "\n".join(_lines(canonical))


def _lines(canonical: str) -> Iterator[str]:
    is_migration = _MIGRATION in "".join(canonical[:_MAX_CHARS].split("\n", 2)[:2])
    size = 0
    for line in canonical.split("\n", _MAX_LINES * 10):
        text = line.lstrip()
        is_member = not line.startswith(_BODY)
        is_body = line[len(_BODY) : len(_BODY) + 1] != " "
        is_told = is_member or (is_migration and text.startswith(_STEPS)) or (is_body and text.startswith(_GIVES_TEXT))
        if not is_told or text.startswith(_COMMENTS) or len(text) < len("a;"):
            continue
        size += min(len(line), _MAX_LINE_CHARS) + 1
        if size > _MAX_CHARS:
            return
        yield line[:_MAX_LINE_CHARS]
