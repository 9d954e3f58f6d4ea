"""JavaScript, with markup (JSX)."""

import tree_sitter_javascript

from codesum_pipeline.languages.declaration import Declaration, Docs
from codesum_pipeline.languages.ecmascript import definitions, facts, jsdoc, layout, modules
from codesum_pipeline.languages.frameworks import FrameworkRules
from codesum_pipeline.languages.spec import LanguageSpec, words
from codesum_pipeline.languages.spelling import is_always

SPEC = LanguageSpec(
    name="javascript",
    version=4,
    grammar=tree_sitter_javascript.language,
    lines=layout.LINES | {"using_declaration"},
    restarts=layout.RESTARTS,
    blocks=words("program"),
    containers=layout.CASES,
    hanging=layout.CASES,
    rows=layout.ROWS,
    braced=layout.BRACED,
    atoms=layout.ATOMS | layout.MARKUP_FOLDED,
    folded=layout.MARKUP_FOLDED,
    hollow=layout.MARKUP_HOLLOW,
    comments=layout.COMMENTS,
    branches=layout.BRANCHES,
    wrappers=layout.WRAPPERS,
    bare=layout.BARE,
    lists=layout.LISTS,
    respelled=layout.RESPELLED,
    terminated={**layout.TERMINATED, "field_definition": layout.is_ended_member, "using_declaration": is_always},
    tokens=layout.TOKENS | layout.MARKUP_TOKENS,
    tokens_in=layout.TOKENS_IN | layout.MARKUP_TOKENS_IN,
)

DECLARATION = Declaration(
    spec=SPEC,
    tests=FrameworkRules(calls=words("describe it test suite context")),
    definition_lines=definitions.LINES,
    definitions=definitions.JAVASCRIPT,
    shown_marks=words("=>"),
    docs=Docs.MARKED,
    doc_marks=("/**",),
    preambles=words("decorator"),
    blocks=layout.BLOCKS,
    hoisted=layout.HOISTED,
    assigned=layout.ASSIGNED,
    is_member=definitions.is_member,
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
        "jsx_opening_element jsx_self_closing_element": facts.read_element,
    },
    imports={
        "import_statement": modules.read_import,
        "export_statement": modules.read_reexport,
        "call_expression": modules.read_loaded,
    },
    typed={
        "variable_declarator field_definition": facts.typed_variable,
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
    reexports={"export_statement": modules.read_reexport, "assignment_expression": modules.common_exports},
    globals={"program": modules.read_globals},
)
