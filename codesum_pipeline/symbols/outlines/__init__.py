"""Languages that are read by a query of their grammar alone: a table for each, and the door to the grammars."""

# How to write a table. The query has these captures, named as those of tree-sitter's tags files:
#
#   @definition.function   also method, macro: the node of a definition that runs
#   @definition.class      also interface, module, type: one that holds or describes
#   @name                  its name; several are joined with a dot, and quotes around one fall off
#   @scope                 the owner of what is defined outside of it: its name comes before
#   @body                  where the signature ends; it may stand behind the definition's node
#   @doc                   documentation that is no comment right above: a description, a text
#   @preamble              marks above a definition that belong to it: annotations, a specification
#   @private               anything that says that nobody else may use it
#   @parameters            their number tells clauses of one name apart
#   @definition.field      a name that the class around holds
#   @definition.constant   a name outside of all definitions
#   @reference.call        a call, with @name and perhaps @scope: what stands before the name
#   @reference.class       a type that is named
#   @branch                what adds to the complexity
#
# The first pattern that names a place decides what is defined there: put special ones before general ones. Captures of
# your own, for predicates, begin with an underscore. A pattern with several siblings that are not beside each other (no
# `.` between them) takes time that grows with the square of a node's children: avoid it.
