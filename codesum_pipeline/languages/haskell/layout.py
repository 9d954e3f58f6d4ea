"""How Haskell is laid out, and how its tokens stand beside each other."""

import tree_sitter_haskell
from tree_sitter import Node

from codesum_pipeline.languages.hooks import raw_text
from codesum_pipeline.languages.spec import LanguageSpec, spaced, spaced_in, words

_ROWS = words("""
    haskell imports declarations class_declarations instance_declarations local_binds alternatives do equations
    gadt_constructors fields
""")


ASIDE = words("comment haddock pragma cpp")


def _is_inline(rows: Node) -> bool:
    """Whether rows stand between braces of their own, or in a guard."""
    if any(child.type == "{" for child in rows.children[:2]):
        return True
    around = rows.parent.parent if rows.type == "local_binds" and rows.parent is not None else None
    return around is not None and around.type == "guards"


def _is_unguarded(match: Node) -> bool:
    return not match.children or match.children[0].type != "|"


def _is_head(where: Node) -> bool:
    """Whether the `where` of a module, class or type, which ends its line."""
    after = where.next_sibling
    while after is not None and after.type in ASIDE:
        after = after.next_sibling
    return after is None or after.type != "local_binds"


def _ends_inline(word: Node) -> bool:
    """Whether the `in` of a `let` on one line."""
    before = word.prev_sibling
    while before is not None and before.type in ASIDE:
        before = before.prev_sibling
    return before is None or before.type != "local_binds" or _is_inline(before)


def _count_branches(node: Node) -> int:
    if node.type == "match":
        return int(
            not _is_unguarded(node) and raw_text(node.child_by_field_name("guards")) not in ("otherwise", "True")
        )
    return int(node.type != "alternative" or raw_text(node.child_by_field_name("pattern")) != "_")


SPEC = LanguageSpec(
    name="haskell",
    version=4,
    grammar=tree_sitter_haskell.language,
    blocks=words("haskell"),
    rows=_ROWS,
    braced=words("fields"),
    hanging=words("""
        function bind class instance data_type newtype type_family exp let alternative match pattern_synonym
        gadt_constructor signature top_splice
    """),
    restarts=words("match where in"),
    flat={"match": _is_unguarded, "where": _is_head, "in": _ends_inline, "local_binds do alternatives": _is_inline},
    atoms=words("module prefix_id infix_id qualified quasiquote string char children"),
    comments=words("comment haddock"),
    branches=words("alternative match conditional"),
    count_branches=_count_branches,
    tokens=spaced(r"""
        PREFIX ( [ \ ! ~ % ' ''
        CLOSE  ) ] }
        COMMA  , ;
        TIGHT  . @
        WORD   _
    """),
    tokens_in=spaced_in("""
        COMMA    forall .
        PREFIX   type_application @  negation -  splice $
    """),
)
