"""How names are bound, as parsing hands it to the graph."""

from enum import StrEnum


class ScopeKind(StrEnum):
    MODULE = "m"
    CLASS = "c"
    FUNCTION = "f"
    LAMBDA = "l"
    COMPREHENSION = "g"


class Bound(StrEnum):
    """What a name was bound to: the first item of a binding. The others are in the comment."""

    VALUE = "v"  # shape
    ANNOTATED = "a"  # annotation
    DEFINED = "d"  # scope of the function or class
    IMPORTED = "i"  # module, level, name
    MODULE = "m"  # dotted module whose first part is bound
    ALIASED_MODULE = "n"  # dotted module
    RECEIVER = "s"  # scope of the class
    CLASS_RECEIVER = "k"  # scope of the class
    GLOBAL = "g"  # name
    NONLOCAL = "o"  # name
    ELSEWHERE = "e"  # scope whose statement bound it (by `global` or `nonlocal`), binding there
    NARROWED = "w"  # shape; of a name that is bound otherwise, for the uses that this binding is chosen for
    DELETED = "x"
    UNKNOWN = "u"


# The names that hold what a function of Python gives.
RETURN = "return"
YIELD = "yield"
# Between a name and the numbers of its bindings that reach a use.
CHOSEN = "@"
