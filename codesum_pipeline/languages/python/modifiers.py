"""What decorators, bases and names make of a Python definition: a closed list of words."""

from collections.abc import Mapping

from tree_sitter import Node

from codesum_pipeline.languages.declaration import Text
from codesum_pipeline.languages.hooks import raw_text
from codesum_pipeline.languages.python.facts import bases, keywords
from codesum_pipeline.languages.spec import words

# The order in which modifiers are told.
MODIFIERS = str.split("""
    async staticmethod classmethod property cached abstract setter getter deleter overload override final
    contextmanager dataclass singledispatch total_ordering runtime_checkable deprecated fixture enum protocol
    namedtuple typeddict model test exception
""")
# The last part of a decorator's name, and what it makes of what it decorates: the word that it is, or others.
_SAME = words("""
    staticmethod classmethod property setter getter deleter overload override final contextmanager dataclass
    singledispatch total_ordering runtime_checkable deprecated fixture
""")
BY_DECORATOR: Mapping[str, tuple[str, ...]] = {
    **{word: (word,) for word in _SAME},
    "cached_property": ("property", "cached"),
    "abstractmethod": ("abstract",),
    "abstractproperty": ("abstract", "property"),
    "abstractclassmethod": ("abstract", "classmethod"),
    "abstractstaticmethod": ("abstract", "staticmethod"),
    **dict.fromkeys(["cache", "lru_cache"], ("cached",)),
    "asynccontextmanager": ("contextmanager",),
    **dict.fromkeys(["dataclasses", "define", "attrs"], ("dataclass",)),
    "singledispatchmethod": ("singledispatch",),
}
# The last part of a base's name, without its subscript.
BY_BASE = {
    **dict.fromkeys(["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"], "enum"),
    "Protocol": "protocol",
    "ABC": "abstract",
    "NamedTuple": "namedtuple",
    "TypedDict": "typeddict",
    "BaseModel": "model",
    "TestCase": "test",
}
EXCEPTION_ENDINGS = ("Exception", "Error", "Warning", "KeyboardInterrupt", "SystemExit", "ExceptionGroup")
# Words whose last part alone says too little.
WHOLE_DECORATORS = {"attr.s": "dataclass", "attr.dataclass": "dataclass", "attrs.frozen": "dataclass"}


def modifiers(node: Node, preambles: tuple[Node, ...], text: Text) -> tuple[str, ...]:
    """The words that hold, in the order of `MODIFIERS`; preambles are decorators."""
    found: set[str] = {"async"} if node.children[0].type == "async" else set()
    for decorator in preambles:
        called = text(decorator).removeprefix("@").partition("(")[0]
        found.update(BY_DECORATOR.get(called.rpartition(".")[2], ()))
        if called in WHOLE_DECORATORS:
            found.add(WHOLE_DECORATORS[called])
    is_class, name = node.type == "class_definition", raw_text(node, "name")
    for base in bases(node, text):
        last = base.partition("[")[0].partition("(")[0].rpartition(".")[2]
        if last in BY_BASE:
            found.add(BY_BASE[last])
        if last.endswith(EXCEPTION_ENDINGS):
            found.add("exception")
    if any(keyword.startswith("metaclass=") and keyword.endswith("ABCMeta") for keyword in keywords(node, text)):
        found.add("abstract")
    if not is_class and (name == "test" or name.startswith("test_")) and "fixture" not in found:
        found.add("test")
    if is_class and name.startswith("Test") and name[4:5] != name[4:5].lower():
        found.add("test")
    return tuple(word for word in MODIFIERS if word in found)
