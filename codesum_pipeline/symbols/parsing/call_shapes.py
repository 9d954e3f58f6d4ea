"""What is handed to a call, in all grammars alike: texts, functions, and names of what is defined elsewhere."""

import re
from collections.abc import Collection, Iterator, Sequence

from tree_sitter import Node

from codesum_pipeline.languages.declarations.spec import split_words

# Blocks that follow a call's arguments and are functions.
BLOCKS = frozenset({"do_block", "block", "annotated_lambda", "lambda_literal"})
_ARGUMENTS = frozenset({"arguments", "argument_list", "value_arguments", "call_suffix"})
_WRAPPERS = frozenset({"argument", "value_argument", "parenthesized_expression", "literal_element", "unary_expression"})
# A function handed to a call that is handed over itself: `wrap(async (request) => …)`.
_MOST_WRAPPED = 3
_PAIRS = frozenset({"pair", "keyword_argument"})
# Nodes of a call in front of what it is given.
_TITLES = frozenset({"constant", "scope_resolution"})
# Arguments beside what is handed over: values, options and what has a name of its own.
_SETTINGS = split_words("true false bool null nil none number integer pair object hash dict keyword")
_VALUES = frozenset({"true", "false", "null", "nil", "none", "undefined", "this", "self"})
_HANDED_AS = frozenset({"view_func", "handler", "endpoint"})
_QUOTES = re.compile(r"^[@$rRbBfFuU]{0,2}(\"\"\"|'''|[\"'`])(.*?)\1?$", re.DOTALL)
_INTERPOLATED = re.compile(r"\$\{|#\{|\\\(|\$[A-Za-z_]")
# What a text holds that is made when it runs, and the mark in its place.
_INTERPOLATION = re.compile(
    r"[$#]\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}|\\\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)|\$[A-Za-z_]\w*+"
)
_MADE = "…"
_SUMS = ("binary", "additive")
_MOST_SUMMANDS = 6
_TITLE_WORD = re.compile(r"[^\W\d_]+")
# A title of one word and a value says too little.
_LEAST_TITLE_WORDS = 2
# A name, or a call that makes what is handed over: `server.show`, `Users::show`, `this.handle()`.
_EXPRESSION = re.compile(r"(?:new |&|::)?[$@]{0,2}[A-Za-z_][\w?!]*(?:(?:\.|::|->)[A-Za-z_][\w?!]*){0,6}(?:\(\))?")
_ASSIGNMENTS = frozenset({"short_var_declaration", "assignment_statement", "var_spec", "variable_declarator"})
_TARGETS = ("left", "name")
_CALLED_NAMES = ("property", "field", "name", "method")
_MEMBERS = ("property", "attribute")
_LONGEST_TEXT = 300
# What these give is handed over in place of what they are called on: `Users.as_view()`, `users.show.bind(users)`.
_HANDING = frozenset({"as_view", "bind"})
_PHP_METHOD = re.compile(
    r"\[\s*+\\?([\w\\]++)::class\s*+,\s*+['\"](\w++)['\"]\s*+,?\s*+\]|['\"]\\?([\w\\]+)@(\w+)['\"]"
)
_PHP_CLASS = re.compile(r"\\?([\w\\]+)::class")


def path_to(root: Node, offset: int) -> list[Node]:
    """The nodes around a byte, outermost first."""
    cursor = root.walk()
    path = [root]
    while cursor.goto_first_child_for_byte(offset) is not None:
        node = cursor.node
        if node is None or node.start_byte > offset:
            break
        path.append(node)
    return path


def raw(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""


def brackets_of(call: Node) -> Node | None:
    """The node of all that a call is given in its brackets, or behind its word."""
    held = call.child_by_field_name("arguments")
    if held is None:
        held = next((child for child in call.named_children if child.type in _ARGUMENTS), None)
    if held is not None and held.type == "call_suffix":
        held = next((child for child in held.named_children if child.type in _ARGUMENTS), held)
    return held


def arguments_of(call: Node) -> list[Node]:
    """What a call is given in its brackets, or behind its word."""
    held = brackets_of(call)
    return [unwrapped(child) for child in held.named_children if not child.is_extra] if held is not None else []


def options_of(call: Node) -> dict[str, str]:
    """The texts that a call is given by a name."""
    pairs = [one for one in arguments_of(call) if one.type in _PAIRS]
    values = [(text_of(one)[0], one.child_by_field_name("value")) for one in pairs]
    return {name: text_of(value)[0] for name, value in values if value is not None}


def unwrapped(node: Node) -> Node:
    for _ in range(_MOST_WRAPPED):
        inner = [child for child in node.named_children if not child.is_extra]
        if node.type not in _WRAPPERS or not inner:
            break
        node = inner[-1]
    return node


def text_of(node: Node) -> tuple[str, bool]:
    """What a text says, a symbol is called, or the key of a pair; and whether all of it is known before it runs."""
    if node.type in _PAIRS:
        key = node.child_by_field_name("key") or node.child_by_field_name("name")
        return text_of(key) if key is not None else ("", False)
    if node.end_byte - node.start_byte > _LONGEST_TEXT:
        return "", False
    written = raw(node)
    if match := _QUOTES.match(written):
        if not _is_text(node) or "concat" in node.type:
            return "", False
        is_plain = match[1] != "'" and written[0] != "'"
        return match[2], not (is_plain and _INTERPOLATED.search(match[2]))
    if written.startswith(":") or node.type in ("hash_key_symbol", "keyword", "simple_symbol"):
        return written.strip(":\"'"), True
    return "", False


def _is_text(node: Node) -> bool:
    return "string" in node.type or "template" in node.type


def named_title(node: Node) -> str:
    """What a block is about that is called by a class: `describe User do`."""
    return raw(node) if node.type in _TITLES else title_of(node)


def title_of(node: Node) -> str:
    """What a text says that is partly made when it runs, with a mark for each such part; empty where less than two
    words are left."""
    parts: list[Node] = []
    for _ in range(_MOST_SUMMANDS):
        if not any(kind in node.type for kind in _SUMS) or node.named_child_count != 2:
            break
        parts.append(node.named_children[1])
        node = node.named_children[0]
    texts = [text_of(part)[0] if _is_text(part) else "" for part in reversed([*parts, node])]
    said = " ".join("".join(_INTERPOLATION.sub(_MADE, text) or _MADE for text in texts).split())
    return said if len(_TITLE_WORD.findall(said)) >= _LEAST_TITLE_WORDS else ""


def functions_of(call: Node, closures: Collection[str]) -> list[Node]:
    """The functions that a call is given, also inside of other calls, and the block behind it."""
    found = [inner for argument in arguments_of(call) if (inner := _function_in(argument, closures)) is not None]
    found += [child for child in call.children if child.type in BLOCKS]
    for suffix in (child for child in call.children if child.type == "call_suffix"):
        found += [child for child in suffix.children if child.type in BLOCKS]
    held = call.child_by_field_name("arguments")
    return found + ([held] if held is not None and held.type in BLOCKS else [])


def _function_in(node: Node, closures: Collection[str]) -> Node | None:
    for _ in range(_MOST_WRAPPED):
        if node.type in closures:
            return node
        inner = [one for one in arguments_of(node)[-1:] if node.end_byte > one.start_byte]
        if not inner or "call" not in node.type:
            return None
        node = inner[0]
    return None


def body_of_function(function: Node) -> Node | None:
    """The body of a function without a name; of one that is nothing else, itself."""
    if function.type == "annotated_lambda":
        function = next((child for child in function.named_children if child.type == "lambda_literal"), function)
    return function.child_by_field_name("body") or (function if function.type in BLOCKS else None)


def expressions_in(arguments: list[Node]) -> Iterator[str]:
    """The names of what may be handed over by some arguments, the last one first, as code with dots. What stands before
    something without a name is not what is handed over."""
    for given in reversed(arguments):
        argument = given
        if argument.type in _PAIRS and raw(argument.child_by_field_name("name")) in _HANDED_AS:
            argument = argument.child_by_field_name("value") or argument
        for _ in range(_MOST_WRAPPED):
            if (handed := _handed_by_method(argument)) is not None:
                argument = handed
                break
            # Texts behind a function are what its wrapper needs; those before it say what is made.
            inner = arguments_of(argument)
            if "call" not in argument.type or not inner or [one for one in inner if not _is_text(one)] != inner[:1]:
                break
            argument = inner[0]
        if argument.end_byte - argument.start_byte <= _LONGEST_TEXT and (said := expression_of(raw(argument))):
            yield said
        elif not _is_text(given) and not any(kind in given.type for kind in _SETTINGS):
            return


def _handed_by_method(call: Node) -> Node | None:
    """What a call hands over that it is made on; None for any other call."""
    callee = call.child_by_field_name("function")
    names = (callee.child_by_field_name(field) for field in _MEMBERS) if callee is not None else ()
    if callee is None or not any(raw(name) in _HANDING for name in names):
        return None
    return callee.child_by_field_name("object")


def expression_of(written: str) -> str:
    """What names something that is defined elsewhere, with dots between its parts; empty for anything else."""
    if match := _PHP_METHOD.fullmatch(written):
        return f"{match[1] or match[3]}::{match[2] or match[4]}"
    if match := _PHP_CLASS.fullmatch(written):
        return match[1]
    written = written.strip().removesuffix("::class")
    if not _EXPRESSION.fullmatch(written) or written.lower() in _VALUES:
        return ""
    return written.removeprefix("&").removeprefix("::").removesuffix("()").replace("->", ".")


def begin_of_link(call: Node) -> int:
    """Where a link of a chain begins: at the name that is called."""
    for node in filter(None, (call.child_by_field_name("function"), call)):
        for field in _CALLED_NAMES:
            if (name := node.child_by_field_name(field)) is not None:
                return name.start_byte
    return call.start_byte


def word_before_each(source: bytes, end: int) -> str:
    """The word of `word.each(…)` before a byte; only so much is looked at."""
    line = source[max(0, source.rfind(b"\n", 0, end - 1)) : end][-2_000:].decode("utf-8", "replace")
    match = re.match(r"\s*(?:await )?(\w+)\.(?:only\.|skip\.|concurrent\.)?each\b", line)
    return match[1] if match else ""


def variable_of(path: Sequence[Node]) -> str:
    """The variable that is given what the innermost of some calls makes, or a call of that; empty for no plain name."""
    below = path[-1]
    for node in reversed(path[:-1]):
        for field in _TARGETS:
            target = node.child_by_field_name(field)
            if target is not None and "call" not in node.type and target.end_byte <= below.start_byte:
                name = raw(target)
                return name if node.type in _ASSIGNMENTS and name.isidentifier() else ""
        if node.start_byte != below.start_byte:
            return ""
    return ""


def joined_path(before: str, path: str) -> str:
    """A path of a route below another one."""
    return f"{before.rstrip('/')}/{path.lstrip('/')}" if before and path else before or path
