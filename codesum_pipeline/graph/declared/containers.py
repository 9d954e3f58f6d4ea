"""Types of things that hold others: containers, options, results, pointers."""

from collections.abc import Container

from codesum_pipeline.graph.declared.expressions import read_type

# Methods of containers, options, results and locks that give what is in them.
GIVING = frozenset({
    "?", "[]", "await", "unwrap", "expect", "unwrap_or_default", "unwrap_or_else", "as_ref", "as_mut", "as_deref",
    "as_deref_mut", "clone", "cloned", "borrow", "borrow_mut", "lock", "read", "write", "get", "orElse", "orElseThrow",
    "orElseGet", "first", "last", "pop", "at", "front", "back", "getFirst", "getLast", "Value", "value", "Result",
})  # fmt: skip


def held_type(text: str) -> str | None:
    """The type of what something of a type holds or gives, of a map its values; None where the text does not say."""
    type_ = read_type(text)
    if type_ is None:
        return None
    if type_.is_list:
        whole = text.strip()
        shorter = (whole.removesuffix("[]"), whole.removeprefix("[]"), whole.strip("[]"))
        return next((inner for inner in shorter if inner != whole), None)
    is_map = type_.name.rpartition(".")[2].lower().endswith("map") or "dict" in type_.name.lower()
    return type_.arguments[-1 if is_map else 0] if type_.arguments else None


def unwrapped(text: str, transparent: Container[str], *, depth: int) -> str:
    """A type without those around it that are used as what they hold: `Foo` of `Arc<Box<Foo>>`."""
    for _ in range(depth):
        type_ = read_type(text)
        if type_ is None or type_.is_list or not type_.arguments:
            break
        if type_.name.replace("::", ".").rpartition(".")[2] not in transparent:
            break
        text = type_.arguments[0]
    return text
