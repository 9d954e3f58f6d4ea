"""TypeScript."""

import tree_sitter_typescript
from msgspec.structs import replace

from codesum_pipeline.languages.declarations.declaration import syntax_beside
from codesum_pipeline.languages.declarations.ecmascript import (
    ecmascript_definitions,
    ecmascript_facts,
    ecmascript_layout,
    javascript,
)
from codesum_pipeline.languages.declarations.ecmascript.ecmascript_brackets import is_bare_type

_MEMBERS = "call_signature construct_signature index_signature method_signature property_signature"
LAYOUT = {
    "bare": {**ecmascript_layout.BARE, "parenthesized_type": is_bare_type},
    "respelled": ecmascript_layout.RESPELLED,
    "terminated": {
        **ecmascript_layout.TERMINATED,
        f"{_MEMBERS} public_field_definition": ecmascript_layout.is_ended_member,
    },
}
DECLARATION = replace(
    javascript.DECLARATION,
    **syntax_beside(__file__, tree_sitter_typescript.language_typescript, spec=LAYOUT),
    definitions=ecmascript_definitions.TYPESCRIPT,
    fields={
        "public_field_definition property_signature": ecmascript_facts.read_field,
        "method_definition": ecmascript_facts.constructor_fields,
        "enum_body": ecmascript_facts.enum_members,
    },
    # What comments say of types counts in JavaScript alone.
    documented=lambda docstring: (),
    calls=ecmascript_facts.CALLS,
    typed={
        "required_parameter optional_parameter": ecmascript_facts.typed_parameter,
        "variable_declarator public_field_definition property_signature": ecmascript_facts.typed_variable,
        "assignment_expression": ecmascript_facts.typed_assignment,
    },
)
