"""TypeScript."""

import tree_sitter_typescript
from msgspec.structs import replace

from codesum_pipeline.languages.declaration import syntax_beside
from codesum_pipeline.languages.ecmascript import definitions, facts, javascript, layout
from codesum_pipeline.languages.ecmascript.brackets import is_bare_type

_MEMBERS = "call_signature construct_signature index_signature method_signature property_signature"
LAYOUT = {
    "bare": {**layout.BARE, "parenthesized_type": is_bare_type},
    "respelled": layout.RESPELLED,
    "terminated": {**layout.TERMINATED, f"{_MEMBERS} public_field_definition": layout.is_ended_member},
}
DECLARATION = replace(
    javascript.DECLARATION,
    **syntax_beside(__file__, tree_sitter_typescript.language_typescript, spec=LAYOUT),
    definitions=definitions.TYPESCRIPT,
    fields={
        "public_field_definition property_signature": facts.field,
        "method_definition": facts.constructor_fields,
        "enum_body": facts.enum_members,
    },
    # What comments say of types counts in JavaScript alone.
    documented=lambda docstring: (),
    calls=facts.CALLS,
    typed={
        "required_parameter optional_parameter": facts.typed_parameter,
        "variable_declarator public_field_definition property_signature": facts.typed_variable,
        "assignment_expression": facts.typed_assignment,
    },
)
