"""JavaScript, with markup (JSX)."""

import tree_sitter_javascript

from codesum_pipeline.parsing.declarations import ecmascript, ecmascript_definitions, handed_on, jsdoc
from codesum_pipeline.parsing.declarations import ecmascript_facts as facts
from codesum_pipeline.parsing.declarations import ecmascript_modules as modules
from codesum_pipeline.parsing.declared.declaration import Declaration, Docs
from codesum_pipeline.parsing.languages import LanguageSpec
from codesum_pipeline.parsing.spelling import is_always

SPEC = LanguageSpec(
    name="javascript",
    version=4,
    distribution="tree-sitter-javascript",
    grammar=tree_sitter_javascript.language,
    lines=ecmascript.LINES | {"using_declaration"},
    restarts=ecmascript.RESTARTS,
    blocks=frozenset({"program"}),
    containers=ecmascript.CASES,
    hanging=ecmascript.CASES,
    rows=ecmascript.ROWS,
    braced=ecmascript.BRACED,
    atoms=ecmascript.ATOMS | ecmascript.MARKUP_FOLDED,
    folded=ecmascript.MARKUP_FOLDED,
    hollow=ecmascript.MARKUP_HOLLOW,
    comments=ecmascript.COMMENTS,
    branches=ecmascript.BRANCHES,
    wrappers=ecmascript.WRAPPERS,
    bare=ecmascript.BARE,
    lists=ecmascript.LISTS,
    respelled=ecmascript.RESPELLED,
    terminated={
        **ecmascript.TERMINATED,
        "field_definition": ecmascript.is_ended_member,
        "using_declaration": is_always,
    },
    tokens=ecmascript.TOKENS | ecmascript.MARKUP_TOKENS,
    tokens_in=ecmascript.TOKENS_IN | ecmascript.MARKUP_TOKENS_IN,
)

DECLARATION = Declaration(
    spec=SPEC,
    definitions=ecmascript_definitions.JAVASCRIPT,
    shown_marks=frozenset({"=>"}),
    docs=Docs.MARKED,
    doc_marks=("/**",),
    preambles=frozenset({"decorator"}),
    blocks=ecmascript.BLOCKS,
    hoisted=ecmascript.HOISTED,
    assigned=ecmascript.ASSIGNED,
    is_member=ecmascript_definitions.is_member,
    given_back=facts.given_back,
    documented=jsdoc.documented,
    is_object=facts.is_object,
    shortened=facts.shortened,
    short_receiver=facts.short_receiver,
    cast_type=facts.cast_type,
    facts=facts.JAVASCRIPT_FACTS,
    calls={
        "call_expression": facts.read_call,
        "new_expression": facts.read_new,
        "decorator": facts.read_decorator,
        "jsx_opening_element": facts.read_element,
        "jsx_self_closing_element": facts.read_element,
    },
    imports={
        "import_statement": modules.read_import,
        "export_statement": modules.read_reexport,
        "call_expression": modules.read_loaded,
    },
    typed={
        "variable_declarator": facts.typed_variable,
        "field_definition": facts.typed_variable,
        "assignment_expression": facts.typed_assignment,
        "comment": jsdoc.typed_below,
    },
    bound={
        "variable_declarator": modules.bound_variables,
        "for_in_statement": modules.bound_items,
        "assignment_expression": modules.bound_members,
    },
    parameters=facts.parameters,
    return_type=facts.return_type,
    bases=facts.bases,
    modifiers=facts.modifiers,
    wrapper_modifiers=facts.wrapper_words,
    is_public=facts.is_public,
    exports={"program": modules.read_exports, "assignment_expression": modules.read_common_exports},
    reexports={"export_statement": modules.read_reexport, "assignment_expression": handed_on.common_exports},
    globals={"program": modules.read_globals},
)
