"""Types of things that hold others: containers, options, results, pointers."""

from collections.abc import Container

from codesum_pipeline.model.expressions import TypeName

# Methods of containers, options, results and locks that give what is in them.
GIVING = frozenset({
    "?", "[]", "await", "unwrap", "expect", "unwrap_or_default", "unwrap_or_else", "as_ref", "as_mut", "as_deref",
    "as_deref_mut", "clone", "cloned", "borrow", "borrow_mut", "lock", "read", "write", "get", "orElse", "orElseThrow",
    "orElseGet", "first", "last", "pop", "at", "front", "back", "getFirst", "getLast", "Value", "value", "Result",
})  # fmt: skip


def held_type(type_: TypeName) -> TypeName | None:
    """The type of what something of a type holds or gives, of a map its values; None where the type does not say."""
    is_map = type_.names[-1].lower().endswith("map") or any("dict" in name.lower() for name in type_.names)
    return type_.arguments[-1 if is_map else 0] if type_.arguments else None


def unwrapped(type_: TypeName | None, transparent: Container[str]) -> TypeName | None:
    """A type without those around it that are used as what they hold: `Foo` of `Arc<Box<Foo>>`."""
    while type_ is not None and type_.arguments and type_.names[-1] in transparent:
        type_ = type_.arguments[0]
    return type_
