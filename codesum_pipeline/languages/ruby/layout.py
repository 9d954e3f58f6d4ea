"""How Ruby is laid out, and how its tokens stand beside each other."""

import tree_sitter_ruby
from tree_sitter import Node

from codesum_pipeline.languages.spec import LanguageSpec, spaced, spaced_in, words
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
    grammar=tree_sitter_ruby.language,
    blocks=words("program body_statement block_body then do"),
    rows=words("program body_statement block_body then do begin else ensure parenthesized_statements"),
    braced=words("begin"),
    openers=words("begin"),
    parened=words("parenthesized_statements"),
    flat={"block_body parenthesized_statements": _is_alone},
    hanging=words("else ensure"),
    lowered=words("rescue else ensure end"),
    restarts=words("rescue else ensure elsif when in_clause end"),
    # What literals may be written between has one name for all: `%w[`, `%Q(`, `/x`.
    atoms=words('bare_string bare_symbol scope_resolution operator " / ` :" %w( %i( )'),
    deep=words("bare_string bare_symbol scope_resolution"),
    trailing=words("heredoc_body uninterpreted"),
    dropped=words("empty_statement"),
    comments=words("comment"),
    branches=words("""
        if elsif unless while until for if_modifier unless_modifier while_modifier until_modifier when in_clause
        rescue rescue_modifier
    """),
    wrappers=words("call argument_list"),
    row_marks=words("identifier"),
    respelled={'"': _spell_quote},
    lists=lists("argument_list array hash"),
    tokens=spaced("""
        OPEN    ( [
        CLOSE   ) ]
        COMMA   ,
        TIGHT   . &. :: .. ... #{ string_content escape_sequence heredoc_body heredoc_content heredoc_end
           uninterpreted
        OMITTED ;
        PREFIX  ! ~ %w( %i(
        WORD    -> yield nil
        TEXT    " :" `
    """),
    tokens_in=spaced_in("""
        OMITTED   program ;  then then  do do
        PREFIX    array|array_pattern|find_pattern [  hash|hash_pattern {
           parenthesized_statements|parenthesized_pattern|destructured_parameter (  destructured_left_assignment (
           unary -  unary +  unary|block_argument|block_parameter &
           splat_argument|splat_parameter|rest_assignment *
           hash_splat_argument|hash_splat_parameter|hash_splat_nil **
           variable_reference_pattern|expression_reference_pattern ^
        CLOSE     hash|hash_pattern }  setter =  rational r  complex i  complex ri
        TIGHT     interpolation }  range ..
        COMMA     interpolation|block_parameters|lambda_parameters ;  pair|keyword_pattern|keyword_parameter :
        STEP      block_parameters |
        TEXT      regex /
    """),
)
