"""TypeScript."""

import tree_sitter_typescript
from msgspec.structs import replace

from codesum_pipeline.languages.ecmascript import definitions, facts, javascript, layout
from codesum_pipeline.languages.ecmascript.brackets import is_bare_type
from codesum_pipeline.languages.spec import LanguageSpec, syntax_beside

SYNTAX = syntax_beside(__file__)
_MEMBERS = "call_signature construct_signature index_signature method_signature property_signature"
SPEC = LanguageSpec(
    grammar=tree_sitter_typescript.language_typescript,
    bare={**layout.BARE, "parenthesized_type": is_bare_type},
    respelled=layout.RESPELLED,
    terminated={**layout.TERMINATED, f"{_MEMBERS} public_field_definition": layout.is_ended_member},
    **SYNTAX["spec"],
)
_LINES = javascript.DECLARATION.definition_lines + SYNTAX["declaration"].pop("definition_lines")
DECLARATION = replace(
    javascript.DECLARATION,
    spec=SPEC,
    definition_lines=_LINES,
    **SYNTAX["declaration"],
    definitions=definitions.TYPESCRIPT,
    fields={
        "public_field_definition property_signature": facts.field,
        "method_definition": facts.constructor_fields,
        "enum_body": facts.enum_members,
    },
    # What comments say of types counts in JavaScript alone.
    documented=lambda docstring: (),
    calls={"call_expression": facts.read_call, "new_expression": facts.read_new, "decorator": facts.read_decorator},
    typed={
        "required_parameter optional_parameter": facts.typed_parameter,
        "variable_declarator public_field_definition property_signature": facts.typed_variable,
        "assignment_expression": facts.typed_assignment,
    },
)
