"""JavaScript, with markup (JSX)."""

import tree_sitter_javascript

from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.ecmascript import (
    ecmascript_definitions,
    ecmascript_facts,
    ecmascript_layout,
    modules,
)

DECLARATION = Declaration(
    **syntax_beside(
        __file__,
        tree_sitter_javascript.language,
        spec={
            "bare": ecmascript_layout.BARE,
            "respelled": ecmascript_layout.RESPELLED,
            "terminated": {**ecmascript_layout.TERMINATED, "field_definition": ecmascript_layout.is_ended_member},
            **ecmascript_layout.MARKUP,
        },
    ),
    definitions=ecmascript_definitions.JAVASCRIPT,
    is_member=ecmascript_definitions.is_member,
    returned_values=ecmascript_facts.returned_values,
    documented=ecmascript_facts.documented_types,
    is_object=lambda value: value.type == "object",
    shortened=ecmascript_facts.shortened,
    short_receiver=ecmascript_facts.short_receiver,
    cast_type=ecmascript_facts.cast_type,
    result=ecmascript_facts.result_of_body,
    fields={"field_definition": ecmascript_facts.read_field},
    calls={**ecmascript_facts.CALLS, "jsx_opening_element jsx_self_closing_element": ecmascript_facts.read_element},
    imports={
        "import_statement": modules.read_import,
        "export_statement": modules.read_reexport,
        "call_expression": modules.read_loaded,
    },
    typed={
        "variable_declarator field_definition": ecmascript_facts.typed_variable,
        "assignment_expression": ecmascript_facts.typed_assignment,
        "comment": ecmascript_facts.typed_below,
    },
    bound={
        "variable_declarator": modules.bound_variables,
        "for_in_statement": modules.bound_items,
        "assignment_expression": modules.bound_members,
    },
    parameters=ecmascript_facts.read_parameters,
    return_type=ecmascript_facts.return_type,
    bases=ecmascript_facts.read_bases,
    modifiers=ecmascript_facts.read_modifiers,
    wrapper_modifiers=ecmascript_facts.wrapper_words,
    # By the words and the marks that hide a name; what a module exports is said by its exports.
    is_public=lambda parts, modifiers: not parts[-1].startswith(("#", "_")),
    exports={"program": modules.read_exports, "assignment_expression": modules.read_common_exports},
    reexports={"export_statement": modules.read_reexport, "assignment_expression": modules.common_exports},
    globals={"program": modules.read_globals},
)
