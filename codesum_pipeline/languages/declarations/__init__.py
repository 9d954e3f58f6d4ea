r'''All that is particular to a language: one module, or one package, for each.

This page says how to add the next one.

A language is a module with a `DECLARATION`; `language_registry.py` finds it by itself. Beside it are a table of what
its parser must know (`*.syntax.toml`), and the `Rules` by which its imports are resolved, which languages whose files
may name each other share. What the rest of the program must know of it is in `foundation/language_facts/*.toml`. The
other modules of this folder are what several languages share.

Fill in what follows in this order; after each step,
`codesum_pipeline_tests/languages/declarations/test_laws.py` fails for less. Names of node types are those of the
tree-sitter grammar: look at the tree of an example first
(`print(Parser(Language(tree_sitter_lua.language())).parse(source).root_node)`).

1. **The layout**: `[spec]` of `<language>.syntax.toml`. Its keys are the fields of `LanguageSpec` (`spec.py`), which
   are in groups there, each with an example. Every language needs `name`, `version`, and of the groups
   - *Lines* `rows`, or `lines` and `containers`: what starts a line;
   - *Blocks* `blocks` or `braced`: what is indented. Look how the grammar holds the statements of a function: in a node
     of their own (Lua's `block`: `blocks`), or in one with braces (Java's `block`: `braced`);
   - *Texts* `atoms` and `comments`: what is kept as written, and what is left out;
   - *Spaces* `tokens`: brackets, commas and signs, by the words of `TokenSpacing` (`token_spacing.py`);
   - *Definitions and facts* `branches`: what adds to the complexity.

   Most need `tokens_in`, `lists`, `hanging` and `wrappers` too, and a function in `respelled`. The rest is for few.
2. **The definitions**: `definitions` of `Declaration` (`declaration.py`) and what is read of each: `parameters`,
   `return_type`, `bases`, `modifiers`, `is_public`. Hooks answer about one node each with the values of
   `hook_values.py`; `hooks.py` has what they are made with, `nodes.py` finds what is in a node, `kin.py` what is around
   it, and `node_code.py` has its text. Without a block node, `DefinitionHead.body` is the first child behind the head:
   there the signature ends.
3. **The facts**: `calls`, `fields` and `globals` in the module; `returns`, `raises`, `assignments`, `closures` in
   `[declaration]` of the table; and `[conditions]`, the fields of `ConditionSyntax` (`condition_syntax.py`): what
   decides which of these are run, and what is asked for that.
4. **The edges**: `imports`, `typed`, `package`; and a subclass of `Rules` (`rules.py`), without which there are none.
5. **What does not parse**: `definition_lines` in `[declaration]`, patterns of lines that look like a definition.
6. **Tests of its own**: `[tests]`, the fields of `FrameworkRules` (`framework_rules.py`).

A key that is unknown or missing, and a name that the grammar does not have, are errors that say where. Whatever a law
still fails for has a field: read the group that the law is about. This is a whole language:

    # moonlet.syntax.toml
    [spec]
    name = "moonlet"
    version = 1
    rows = "chunk block"
    blocks = "chunk block"
    atoms = "string"
    comments = "comment"
    branches = "if_statement elseif_statement for_statement while_statement"
    tokens = """
    OPEN   ( [
    CLOSE  ) ] }
    COMMA  ,
    TIGHT  . :
    EITHER -
    PREFIX #
    """
    tokens_in = "OMITTED return_statement ;"

    [declaration]
    definition_lines = ['[ \t]*(?:local[ \t]+)?function[ \t]+(?P<name>\w+)[ \t]*\(']
    returns = "return_statement"

    [conditions.choices]
    if_statement = "condition : elseif_statement else_statement"
    elseif_statement = "condition"

    # moonlet.py
    """Moonlet: functions, and calls by their names."""

    import tree_sitter_lua

    from codesum_pipeline.foundation.data_model.symbol import SymbolType
    from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
    from codesum_pipeline.languages.declarations.hooks import call_reader, definition_reader, spell_quoted

    DECLARATION = Declaration(
        **syntax_beside(__file__, tree_sitter_lua.language, spec={"respelled": {"string": spell_quoted}}),
        definitions={"function_declaration": definition_reader(SymbolType.FUNCTION)},
        is_public=lambda parts, modifiers: not parts[-1].startswith("_"),
        calls={"function_call": call_reader("name", "dot_index_expression table . field")},
    )
'''
