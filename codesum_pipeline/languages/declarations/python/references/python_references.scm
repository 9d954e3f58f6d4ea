; What the facts of a Python file are read from.
(function_definition) @function
(class_definition) @class
(decorated_definition) @decorated
(lambda) @lambda
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @comprehension
(call function: (_) @callee)
(decorator (identifier) @callee)
(decorator (attribute attribute: (identifier) @accessor) @callee (#not-any-of? @accessor "setter" "getter" "deleter"))
(assignment) @assignment
(augmented_assignment left: (identifier) @augmented)
(named_expression) @walrus
[(for_statement) (for_in_clause)] @loop
(as_pattern) @as
(except_clause (as_pattern) @except_as)
(case_pattern (as_pattern) @case_as)
(case_pattern (dotted_name . (identifier) @captured .))
(union_pattern (dotted_name . (identifier) @captured .))
(keyword_pattern (dotted_name . (identifier) @captured .))
(splat_pattern (identifier) @captured)
(type_alias_statement left: (type (identifier) @captured))
(interpolation expression: (_) @interpolated)
(type (string) @quoted)
(import_statement) @import
(import_from_statement) @from
(global_statement) @global
(nonlocal_statement) @nonlocal
(delete_statement) @delete
(return_statement) @return
(yield) @yield
[(if_statement) (elif_clause) (else_clause) (for_statement) (while_statement) (try_statement) (except_clause)
  (case_clause)] @branch
[(break_statement) (continue_statement)] @jump
(call function: (identifier) @isinstance (#eq? @isinstance "isinstance")) @narrowing
