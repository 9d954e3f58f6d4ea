"""Which methods make the objects of their class: whoever creates an object of the class calls them.

An edge leads from who creates an object to the class alone, so the callers of a constructor are those of its class.
"""

from collections.abc import Mapping

from codesum_pipeline.foundation.data_model.ids import SEPARATOR, own_name

_ECMASCRIPT = frozenset({"constructor"})
# A method that is named as its class is a constructor where the set is empty.
_NAMES: Mapping[str, frozenset[str]] = {
    "python": frozenset({"__init__", "__new__", "__post_init__"}),
    **dict.fromkeys(("javascript", "typescript", "tsx"), _ECMASCRIPT),
    **dict.fromkeys(("java", "c-sharp", "cpp"), frozenset[str]()),
    "kotlin": frozenset({"constructor", "<init>", "init"}),
    "scala": frozenset({"this"}),
    "swift": frozenset({"init"}),
    "php": frozenset({"__construct"}),
    "ruby": frozenset({"initialize"}),
}


def class_of_constructor(id_: str, language: str) -> str | None:
    """The id of the class whose objects a method makes; None for any other definition."""
    class_, _, _ = id_.rpartition(SEPARATOR)
    names = _NAMES.get(language)
    if names is None or SEPARATOR not in class_:
        return None
    return class_ if own_name(id_) in (names or {own_name(class_)}) else None
