"""TypeScript."""

import tree_sitter_typescript
from msgspec.structs import replace

from codesum_pipeline.languages.ecmascript import definitions, facts, javascript, layout
from codesum_pipeline.languages.ecmascript.brackets import is_bare_type
from codesum_pipeline.languages.spec import LanguageSpec, spaced, spaced_in, words
from codesum_pipeline.languages.spelling import is_always, lists

_DECLARED = words("""
    abstract_class_declaration ambient_declaration enum_declaration function_signature import_alias
    interface_declaration internal_module module type_alias_declaration
""")
_ROWS = layout.ROWS | {"enum_body", "interface_body", "object_type"}
_ENDED = words("""
    abstract_method_signature function_signature import_alias type_alias_declaration
""")
_MEMBERS = words("""
    call_signature construct_signature index_signature method_signature property_signature public_field_definition
""")
# The signatures of a function that come before it, or stand alone.
HEADS = words("abstract_method_signature function_signature method_signature")


SPEC = LanguageSpec(
    name="typescript",
    version=4,
    grammar=tree_sitter_typescript.language_typescript,
    lines=layout.LINES | _DECLARED,
    restarts=layout.RESTARTS,
    blocks=words("program"),
    containers=layout.CASES,
    hanging=layout.CASES,
    rows=_ROWS,
    braced=layout.BRACED | _ROWS,
    atoms=layout.ATOMS | {"predefined_type"},
    comments=layout.COMMENTS,
    branches=layout.BRANCHES,
    wrappers=layout.WRAPPERS | {"ambient_declaration"},
    bare={**layout.BARE, "parenthesized_type": is_bare_type},
    lists={
        **layout.LISTS,
        **lists("type_arguments type_parameters tuple_type enum_body object_type interface_body"),
    },
    respelled=layout.RESPELLED,
    terminated={
        **layout.TERMINATED,
        **dict.fromkeys(_ENDED, is_always),
        **dict.fromkeys(_MEMBERS, layout.is_ended_member),
    },
    tokens=layout.TOKENS
    | spaced("""
        TIGHT ?.
        COMMA ?: -?: +?:
    """),
    tokens_in=layout.TOKENS_IN
    | spaced_in("""
        OMITTED   interface_body|object_type ,  interface_body|object_type ;
        CLOSE     abstract_method_signature|method_definition|method_signature|optional_parameter ?
           optional_type|property_signature|public_field_definition ?
           non_null_expression|public_field_definition|variable_declarator !  type_arguments|type_parameters >
        BETWEEN   union_type |  intersection_type &
        INFIX     conditional_type :
        OPEN      type_arguments|type_parameters <
        WORD      import_require_clause require
        TIGHT     template_literal_type string_fragment
        QUOTE     template_type }
    """),
)

DECLARATION = replace(
    javascript.DECLARATION,
    spec=SPEC,
    definition_lines=(
        *definitions.LINES,
        r"[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?interface[ \t]+(?P<name>[A-Za-z_$][\w$]*)",
        r"[ \t]*(?:export[ \t]+)?(?:declare[ \t]+)?(?:const[ \t]+)?enum[ \t]+(?P<name>[A-Za-z_$][\w$]*)[ \t]*\{",
    ),
    definitions=definitions.TYPESCRIPT,
    heads=HEADS,
    facts=facts.TYPESCRIPT_FACTS,
    # What comments say of types counts in JavaScript alone.
    documented=lambda docstring: (),
    calls={"call_expression": facts.read_call, "new_expression": facts.read_new, "decorator": facts.read_decorator},
    typed={
        "required_parameter optional_parameter": facts.typed_parameter,
        "variable_declarator public_field_definition property_signature": facts.typed_variable,
        "assignment_expression": facts.typed_assignment,
    },
)
