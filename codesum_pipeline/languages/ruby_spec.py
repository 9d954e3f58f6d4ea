"""How Ruby is laid out and how its tokens stand beside each other."""

import tree_sitter_ruby
from tree_sitter import Node

from codesum_pipeline.languages.spacing import TokenSpacing
from codesum_pipeline.languages.spec import LanguageSpec
from codesum_pipeline.languages.spelling import lists, spell_plain


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
        "(": TokenSpacing.OPEN,
        "[": TokenSpacing.OPEN,
        ")": TokenSpacing.CLOSE,
        "]": TokenSpacing.CLOSE,
        ",": TokenSpacing.COMMA,
        ".": TokenSpacing.TIGHT,
        "&.": TokenSpacing.TIGHT,
        "::": TokenSpacing.TIGHT,
        "..": TokenSpacing.TIGHT,
        "...": TokenSpacing.TIGHT,
        ";": TokenSpacing.OMITTED,
        "!": TokenSpacing.PREFIX,
        "~": TokenSpacing.PREFIX,
        "->": TokenSpacing.WORD,
        "%w(": TokenSpacing.PREFIX,
        "%i(": TokenSpacing.PREFIX,
        '"': TokenSpacing.TEXT,
        ':"': TokenSpacing.TEXT,
        "`": TokenSpacing.TEXT,
        "#{": TokenSpacing.TIGHT,
        "string_content": TokenSpacing.TIGHT,
        "escape_sequence": TokenSpacing.TIGHT,
        "heredoc_body": TokenSpacing.TIGHT,
        "heredoc_content": TokenSpacing.TIGHT,
        "heredoc_end": TokenSpacing.TIGHT,
        "uninterpreted": TokenSpacing.TIGHT,
        "yield": TokenSpacing.WORD,
        "nil": TokenSpacing.WORD,
    },
    tokens_in={
        ("program", ";"): TokenSpacing.OMITTED,
        ("array", "["): TokenSpacing.PREFIX,
        ("array_pattern", "["): TokenSpacing.PREFIX,
        ("find_pattern", "["): TokenSpacing.PREFIX,
        ("hash", "{"): TokenSpacing.PREFIX,
        ("hash", "}"): TokenSpacing.CLOSE,
        ("hash_pattern", "{"): TokenSpacing.PREFIX,
        ("hash_pattern", "}"): TokenSpacing.CLOSE,
        ("parenthesized_statements", "("): TokenSpacing.PREFIX,
        ("parenthesized_pattern", "("): TokenSpacing.PREFIX,
        ("destructured_parameter", "("): TokenSpacing.PREFIX,
        ("destructured_left_assignment", "("): TokenSpacing.PREFIX,
        ("interpolation", "}"): TokenSpacing.TIGHT,
        ("interpolation", ";"): TokenSpacing.COMMA,
        ("block_parameters", ";"): TokenSpacing.COMMA,
        ("lambda_parameters", ";"): TokenSpacing.COMMA,
        ("block_parameters", "|"): TokenSpacing.STEP,
        ("regex", "/"): TokenSpacing.TEXT,
        ("unary", "-"): TokenSpacing.PREFIX,
        ("unary", "+"): TokenSpacing.PREFIX,
        ("unary", "&"): TokenSpacing.PREFIX,
        ("range", ".."): TokenSpacing.TIGHT,
        ("pair", ":"): TokenSpacing.COMMA,
        ("keyword_pattern", ":"): TokenSpacing.COMMA,
        ("keyword_parameter", ":"): TokenSpacing.COMMA,
        ("setter", "="): TokenSpacing.CLOSE,
        ("splat_argument", "*"): TokenSpacing.PREFIX,
        ("splat_parameter", "*"): TokenSpacing.PREFIX,
        ("rest_assignment", "*"): TokenSpacing.PREFIX,
        ("hash_splat_argument", "**"): TokenSpacing.PREFIX,
        ("hash_splat_parameter", "**"): TokenSpacing.PREFIX,
        ("hash_splat_nil", "**"): TokenSpacing.PREFIX,
        ("block_argument", "&"): TokenSpacing.PREFIX,
        ("block_parameter", "&"): TokenSpacing.PREFIX,
        ("rational", "r"): TokenSpacing.CLOSE,
        ("complex", "i"): TokenSpacing.CLOSE,
        ("complex", "ri"): TokenSpacing.CLOSE,
        ("then", "then"): TokenSpacing.OMITTED,
        ("do", "do"): TokenSpacing.OMITTED,
        ("variable_reference_pattern", "^"): TokenSpacing.PREFIX,
        ("expression_reference_pattern", "^"): TokenSpacing.PREFIX,
    },
)  # fmt: skip
