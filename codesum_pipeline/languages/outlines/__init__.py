"""Languages that are read by a query of their grammar alone: a table for each, and how grammars are loaded."""

# How to write a table. The query has these captures, named as those of tree-sitter's tags files:
#
#   @definition.function   also method, macro: the node of a definition that runs
#   @definition.class      also interface, module, type: one that holds or describes
# and in the pattern of a definition
#   @name                  its name; several are joined with a dot, and quotes around one fall off
#   @scope                 the owner of what is defined outside of it: its name comes before
#   @body                  where the signature ends; it may stand behind the definition's node
#   @doc                   documentation that is no comment right above: a description, a text
#   @private               anything that says that nobody else may use it; for a rule about names there is `hidden`
#   @local                 a definition that others may use only where the file lists its name as given away
#   @parameters            their number tells clauses of one name apart
# Patterns of their own have
#   @preamble              marks above a definition that belong to it: annotations, a specification
#   @definition.field      a name that the class around holds: the name itself, or the node around a @name
#   @definition.constant   a name outside of all definitions, in the same way
#   @reference.call        a call: its name, or the node around a @name, and a @scope for all that is before the name
#   @self                  in the pattern of a call: the object around, where the method is its own
#   @reference.class       a type that is named, in the same way
#   @export                a name that the file gives away; @export.all says that it gives away all
#   @branch                what adds to the complexity
#
# Of several patterns of definitions that name a place, the first one decides: put special ones before general ones. The
# name of a definition is no field and no constant. Captures of your own, for predicates, begin with an underscore. Of
# the predicates, #eq? #not-eq? #match? #not-match? #any-of? work. A pattern with several siblings that are not beside
# each other (no `.` between them) takes time that grows with the square of a node's children: avoid it.
#
# A table without a query has `marks`: patterns for a language that no grammar reads as people write it
# (`outline_table.py` explains them, `sql.toml` has some). What a grammar almost knows is `respelled` for it.
