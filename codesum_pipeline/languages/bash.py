"""Bash, and what other shells have in common with it.

Blanks part words, so whatever is one word stays as written: texts, expansions,
substitutions. Commands are looked for in those all the same. `;` before `then`
and `do` is shown whether written or a line's end, and left out between commands,
which stand on lines of their own.
"""

import re
from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Node

from codesum_pipeline.languages.declaration import CallSyntax, Declaration, Docs, Facts, ImportSyntax, Text
from codesum_pipeline.languages.hooks import defines, raw_text
from codesum_pipeline.languages.spec import LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.model.symbols import SymbolType

_STATEMENTS = words("""
    command list pipeline variable_assignment variable_assignments declaration_command unset_command test_command
    redirected_statement if_statement for_statement c_style_for_statement while_statement case_statement
    function_definition compound_statement subshell negated_command
""")
_ROWS = words("program compound_statement subshell do_group if_statement elif_clause else_clause case_statement")
_WORDS = words("""
    string raw_string ansi_c_string translated_string expansion simple_expansion concatenation command_substitution
    process_substitution arithmetic_expansion subscript brace_expression extglob_pattern regex word number
""")


def _is_default(node: Node) -> bool:
    """Whether an arm of a `case` takes whatever is left."""
    value = node.child_by_field_name("value")
    return node.type == "case_item" and value is not None and value.text == b"*"


SPEC = LanguageSpec(
    name="bash",
    version=2,
    grammar=tree_sitter_bash.language,
    lines=_STATEMENTS,
    containers=words("case_item"),
    blocks=words("program"),
    rows=_ROWS,
    braced=_ROWS - {"program", "subshell"},
    parened=words("subshell"),
    openers=words("then else do in"),
    closers=words("fi done esac"),
    lowered=words("elif_clause else_clause"),
    restarts=words(";; ;& ;;&"),
    hanging=words("case_item"),
    separators=words(";"),
    atoms=frozenset(
        {
            *_WORDS - {"word", "number"},
            "heredoc_body",
            "heredoc_end",
            "heredoc_start",
        }
    ),
    deep=words("""
        string translated_string expansion concatenation command_substitution process_substitution
        arithmetic_expansion subscript heredoc_body
    """),
    glued=_WORDS,
    trailing=words("heredoc_body heredoc_end"),
    comments=words("comment"),
    branches=words("if_statement elif_clause for_statement c_style_for_statement while_statement case_item"),
    count_branches=lambda node: 0 if _is_default(node) else 1,
    tokens=spaced("""
        COMMA  , ;
        LED    then do
        PREFIX file_descriptor >& <& << <<- $
        STEP   ++ --
        TIGHT  heredoc_body heredoc_end
    """),
    tokens_in=spaced_in("""
        OMITTED   program|compound_statement|subshell|do_group|else_clause|case_item ;
        OPEN      function_definition|array (
        CLOSE     function_definition|case_item|array )
        PREFIX    case_item (
        TIGHT     variable_assignment =  variable_assignment +=
        INFIX     binary_expression <<
    """),
)

# Zsh has flags in expansions, `for x (…)`, anonymous functions and globs that this grammar takes for something else.
_ZSH_FILES = words(".zshrc .zprofile")
_ZSH_SCRIPT = re.compile(rb"#![^\n]*\bzsh\b")
_NAME = re.compile(r"[^\s$`\"'\\()<>|&;=]+")
_SOURCING = words("source .")
_GLOBAL_WORDS = words("export readonly declare typeset")
# What begins a path that the shell computes, up to the first of its fixed parts.
_COMPUTED = re.compile(r"^(?:\$\{[^}]*\}|\$\w+|\$\((?:[^()]|\([^()]*\))*\)|\$[@*#?])+/")


def _is_zsh(path: str, source: bytes) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.endswith(".zsh") or name in _ZSH_FILES or _ZSH_SCRIPT.match(source[:256]) is not None


def _command(node: Node, text: Text) -> CallSyntax | None:
    """A command by its fixed name; what a `trap` calls is the command that it is given."""
    name = _unquoted(node.child_by_field_name("name"))
    argument = node.child_by_field_name("argument")
    if name == "exit" and raw_text(argument) in ("", "0"):
        return None
    if name == "trap" and argument is not None:
        name = next(iter(re.split(r"[\s;]", _unquoted(argument))), "")
    return CallSyntax("", name) if name and _NAME.fullmatch(name) else None


def _unquoted(node: Node | None) -> str:
    written = raw_text(node)
    return written[1:-1] if len(written) > 1 and written[0] in "\"'" and written[0] == written[-1] else written


def _source(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`source path`: the path from its first fixed part (`"$DIR/lib/a.sh"` → `lib/a.sh`)."""
    argument = node.child_by_field_name("argument")
    if argument is None or raw_text(node.child_by_field_name("name")) not in _SOURCING:
        return
    path = _unquoted(argument)
    for quoted in ('"/', "'/"):
        path = path.replace(quoted, "/")
    path = _COMPUTED.sub("", path.replace('"', ""))
    if path and not re.search(r"[$`(*]", path):
        yield ImportSyntax(path)


def _declared(node: Node, text: Text) -> Iterator[str]:
    """The names of `export A=1 B` and the like."""
    if not node.children or node.children[0].type not in _GLOBAL_WORDS:
        return
    for child in node.named_children:
        if child.type == "variable_assignment":
            yield raw_text(child.child_by_field_name("name"))
        elif child.type == "variable_name":
            yield raw_text(child)


def _assigned(node: Node, text: Text) -> Iterator[str]:
    """A variable of the file whose name says that it is one."""
    name = node.child_by_field_name("name")
    is_for_command = node.parent is not None and node.parent.type == "command"
    if name is not None and name.type == "variable_name" and raw_text(name).isupper() and not is_for_command:
        yield raw_text(name)


# Lines that look like a definition.
_LINES = (
    r"[ \t]*function[ \t]+(?P<name>[A-Za-z_][\w:.-]*)[ \t]*(?:\([ \t]*\)[ \t]*)?(?:\{.*|$)",
    r"[ \t]*(?P<name>[A-Za-z_][\w:.-]*)[ \t]*\([ \t]*\)[ \t]*(?:[{(].*|$)",
)

DECLARATION = Declaration(
    spec=SPEC,
    definition_lines=_LINES,
    definitions={"function_definition": defines(SymbolType.FUNCTION)},
    docs=Docs.ADJACENT,
    is_dialect=_is_zsh,
    facts=Facts(raising_calls=words("exit"), returning_calls=words("return")),
    calls={"command": _command},
    imports={"command": _source},
    is_public=lambda parts, modifiers: not parts[-1].startswith("_"),
    globals={"declaration_command": _declared, "variable_assignment": _assigned},
)
