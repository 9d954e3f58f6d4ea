"""How Ruby is laid out and how its tokens stand beside each other."""

import tree_sitter_ruby
from tree_sitter import Node

from codesum_pipeline.parsing.languages import LanguageSpec
from codesum_pipeline.parsing.spacing import Token
from codesum_pipeline.parsing.spelling import lists, spell_plain


def _is_alone(node: Node) -> bool:
    """Whether a block holds one expression only."""
    return sum(not child.is_extra for child in node.named_children[:9]) < 2


def _spell_quote(quote: Node, written: str, parent: str, field: str | None) -> str:
    """A double quote, where what stands between holds nothing that either kind reads in a way of its own."""
    text = quote.parent
    if written != "'" or parent != "string" or text is None:
        return written
    return '"' if spell_plain(text, (text.text or b"").decode("latin-1"), parent, field)[0] == '"' else written


SPEC = LanguageSpec(
    name="ruby",
    version=3,
    distribution="tree-sitter-ruby",
    grammar=tree_sitter_ruby.language,
    lines=frozenset(),
    blocks=frozenset({"program", "body_statement", "block_body", "then", "do"}),
    rows=frozenset({
        "program", "body_statement", "block_body", "then", "do", "begin", "else", "ensure", "parenthesized_statements",
    }),
    braced=frozenset({"begin"}),
    openers=frozenset({"begin"}),
    parened=frozenset({"parenthesized_statements"}),
    flat={"block_body": _is_alone, "parenthesized_statements": _is_alone},
    hanging=frozenset({"else", "ensure"}),
    lowered=frozenset({"rescue", "else", "ensure", "end"}),
    restarts=frozenset({"rescue", "else", "ensure", "elsif", "when", "in_clause", "end"}),
    atoms=frozenset({
        "bare_string", "bare_symbol", "scope_resolution", "operator",
        # What literals may be written between, all by one name: `%w[`, `%Q(`, `/x`.
        '"', "/", "`", ':"', "%w(", "%i(", ")",
    }),
    deep=frozenset({"bare_string", "bare_symbol", "scope_resolution"}),
    trailing=frozenset({"heredoc_body", "uninterpreted"}),
    dropped=frozenset({"empty_statement"}),
    comments=frozenset({"comment"}),
    branches=frozenset({
        "if", "elsif", "unless", "while", "until", "for", "if_modifier", "unless_modifier", "while_modifier",
        "until_modifier", "when", "in_clause", "rescue", "rescue_modifier",
    }),
    wrappers=frozenset({"call", "argument_list"}),
    row_marks=frozenset({"identifier"}),
    respelled={'"': _spell_quote},
    lists=lists("argument_list", "array", "hash"),
    tokens={
        "(": Token.OPEN,
        "[": Token.OPEN,
        ")": Token.CLOSE,
        "]": Token.CLOSE,
        ",": Token.COMMA,
        ".": Token.TIGHT,
        "&.": Token.TIGHT,
        "::": Token.TIGHT,
        "..": Token.TIGHT,
        "...": Token.TIGHT,
        ";": Token.OMITTED,
        "!": Token.PREFIX,
        "~": Token.PREFIX,
        "->": Token.WORD,
        "%w(": Token.PREFIX,
        "%i(": Token.PREFIX,
        '"': Token.TEXT,
        ':"': Token.TEXT,
        "`": Token.TEXT,
        "#{": Token.TIGHT,
        "string_content": Token.TIGHT,
        "escape_sequence": Token.TIGHT,
        "heredoc_body": Token.TIGHT,
        "heredoc_content": Token.TIGHT,
        "heredoc_end": Token.TIGHT,
        "uninterpreted": Token.TIGHT,
        "yield": Token.WORD,
        "nil": Token.WORD,
    },
    tokens_in={
        ("program", ";"): Token.OMITTED,
        ("array", "["): Token.PREFIX,
        ("array_pattern", "["): Token.PREFIX,
        ("find_pattern", "["): Token.PREFIX,
        ("hash", "{"): Token.PREFIX,
        ("hash", "}"): Token.CLOSE,
        ("hash_pattern", "{"): Token.PREFIX,
        ("hash_pattern", "}"): Token.CLOSE,
        ("parenthesized_statements", "("): Token.PREFIX,
        ("parenthesized_pattern", "("): Token.PREFIX,
        ("destructured_parameter", "("): Token.PREFIX,
        ("destructured_left_assignment", "("): Token.PREFIX,
        ("interpolation", "}"): Token.TIGHT,
        ("interpolation", ";"): Token.COMMA,
        ("block_parameters", ";"): Token.COMMA,
        ("lambda_parameters", ";"): Token.COMMA,
        ("block_parameters", "|"): Token.STEP,
        ("regex", "/"): Token.TEXT,
        ("unary", "-"): Token.PREFIX,
        ("unary", "+"): Token.PREFIX,
        ("unary", "&"): Token.PREFIX,
        ("range", ".."): Token.TIGHT,
        ("pair", ":"): Token.COMMA,
        ("keyword_pattern", ":"): Token.COMMA,
        ("keyword_parameter", ":"): Token.COMMA,
        ("setter", "="): Token.CLOSE,
        ("splat_argument", "*"): Token.PREFIX,
        ("splat_parameter", "*"): Token.PREFIX,
        ("rest_assignment", "*"): Token.PREFIX,
        ("hash_splat_argument", "**"): Token.PREFIX,
        ("hash_splat_parameter", "**"): Token.PREFIX,
        ("hash_splat_nil", "**"): Token.PREFIX,
        ("block_argument", "&"): Token.PREFIX,
        ("block_parameter", "&"): Token.PREFIX,
        ("rational", "r"): Token.CLOSE,
        ("complex", "i"): Token.CLOSE,
        ("complex", "ri"): Token.CLOSE,
        ("then", "then"): Token.OMITTED,
        ("do", "do"): Token.OMITTED,
        ("variable_reference_pattern", "^"): Token.PREFIX,
        ("expression_reference_pattern", "^"): Token.PREFIX,
    },
)  # fmt: skip
