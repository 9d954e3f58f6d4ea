"""JavaScript, with markup (JSX)."""

import tree_sitter_javascript

from codesum_pipeline.languages.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.ecmascript import definitions, facts, layout, modules

DECLARATION = Declaration(
    **syntax_beside(
        __file__,
        tree_sitter_javascript.language,
        spec={
            "bare": layout.BARE,
            "respelled": layout.RESPELLED,
            "terminated": {**layout.TERMINATED, "field_definition": layout.is_ended_member},
            **layout.MARKUP,
        },
    ),
    definitions=definitions.JAVASCRIPT,
    is_member=definitions.is_member,
    given_back=facts.given_back,
    documented=facts.documented,
    is_object=lambda value: value.type == "object",
    shortened=facts.shortened,
    short_receiver=facts.short_receiver,
    cast_type=facts.cast_type,
    result=facts.result,
    fields={"field_definition": facts.field},
    calls={**facts.CALLS, "jsx_opening_element jsx_self_closing_element": facts.read_element},
    imports={
        "import_statement": modules.read_import,
        "export_statement": modules.read_reexport,
        "call_expression": modules.read_loaded,
    },
    typed={
        "variable_declarator field_definition": facts.typed_variable,
        "assignment_expression": facts.typed_assignment,
        "comment": facts.typed_below,
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
    # By the words and the marks that hide a name; what a module exports is said by its exports.
    is_public=lambda parts, modifiers: not parts[-1].startswith(("#", "_")),
    exports={"program": modules.read_exports, "assignment_expression": modules.read_common_exports},
    reexports={"export_statement": modules.read_reexport, "assignment_expression": modules.common_exports},
    globals={"program": modules.read_globals},
)
