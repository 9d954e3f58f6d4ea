"""What a Python definition says about itself: parameters, values, what it assigns, and what decorators, bases and names
make of it: a closed list of words."""

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from codesum_pipeline.languages.declaration import Text
from codesum_pipeline.languages.hooks import at, field_text, raw_text, shown
from codesum_pipeline.languages.spec import words
from codesum_pipeline.model.symbols import Parameter, SymbolType

RECEIVERS = words("self cls mcs mcls metacls")
SPLATS = {"list_splat_pattern": "var_positional", "dictionary_splat_pattern": "var_keyword"}
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


def targets(left: Node | None) -> Iterator[Node]:
    """The names, attributes and items that an assignment's left side assigns, in source order."""
    waiting = [left] if left else []
    while waiting:
        node = waiting.pop()
        if node.type in ("identifier", "attribute", "subscript"):
            yield node
        else:
            waiting.extend(reversed(node.named_children))


def value_span(statement: Node) -> tuple[int, int]:
    """The bytes of what a statement gives: all after its first word, but for the cause of an error."""
    word = statement.type.partition("_")[0]
    end = statement.end_byte
    if word == "raise":
        end = next((child.start_byte for child in statement.children if child.type == "from"), end)
    return statement.start_byte + len(word), end


def parameters(definition: Node, text: Text) -> Iterator[Parameter]:
    """A function's parameters as written; the first is the receiver if its name says so."""
    node = at(definition, "parameters")
    kind, is_first = "positional", True
    for child in node.named_children if node else ():
        if child.type == "keyword_separator":
            kind = "keyword"
        elif child.type not in ("positional_separator", "comment", "line_continuation", "ERROR"):
            parameter = _parameter(child, text, kind)
            if is_first and parameter.name in RECEIVERS:
                parameter = Parameter(parameter.name, parameter.type, parameter.default, "receiver")
            if parameter.kind == "var_positional":
                kind = "keyword"
            is_first = False
            yield parameter


def _parameter(node: Node, text: Text, kind: str) -> Parameter:
    named = at(node, "name") or node
    if node.type == "typed_parameter":
        named = node.named_children[0]
    type_, default = field_text(node, "type", text), field_text(node, "value", text)
    return Parameter(text(named).lstrip("*"), type_ or None, default or None, SPLATS.get(named.type, kind))


def bases(node: Node, text: Text) -> Iterator[str]:
    """The bases as written."""
    return (text(given) for given in shown(node, "superclasses") if given.type != "keyword_argument")


def type_of(node: Node) -> SymbolType:
    """What a definition is."""
    return SymbolType.CLASS if node.type == "class_definition" else SymbolType.FUNCTION


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
    keywords = (text(given) for given in shown(node, "superclasses") if given.type == "keyword_argument")
    if any(keyword.startswith("metaclass=") and keyword.endswith("ABCMeta") for keyword in keywords):
        found.add("abstract")
    if not is_class and (name == "test" or name.startswith("test_")) and "fixture" not in found:
        found.add("test")
    if is_class and name.startswith("Test") and name[4:5] != name[4:5].lower():
        found.add("test")
    return tuple(word for word in MODIFIERS if word in found)
