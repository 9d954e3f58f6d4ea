"""A file becomes symbols: canonical source, definitions, facts.

# How canonical sources are laid out

The canonical source of a symbol is its program text with only what its meaning depends on. Its hash says whether the
symbol has changed, so a formatter, a comment or a moved method must not change it, and any other edit must. Everything
that knows one language is a table (`LanguageSpec`, in `*.syntax.toml`); what is described here is one engine for all.

**The example.** Of these five lines the engine makes the three behind the arrow:

    class A :                                   class A:
        def f( self,b, ):                 ->        def f(self, b):
            # why                                       return b[0] + "x"
            return (b [0]
                 + 'x')

**1. A table becomes numbers** (`grammar.py`, once for each language). `compile_grammar` looks up every name of the
table in the tree-sitter grammar; one that is not there is an error. Each kind of node gets its *roles*, bits of one
number (`node_roles.py`): starts a line, is indented, is left out, is written as it stands, may define something. Each
token gets a class of `TokenSpacing`. `follow[class before][kind of token]` is the step to take: the text to write, with
its blank if it has one, and the class that the token settles to. So the rules are looked up, never computed, for a
token.

**2. One walk** (`walk.py`). `read_tokens` goes over all nodes in source order with a cursor, never by recursion, since
a file can be as deep as it likes. For each node it looks up the roles and, if they ask for it, does one of these:

- *The shape* (`_shape`): hooks say whether this node is laid out as its kind usually is. It may be `FLAT` (a block that
  stays on its line, such as a lambda's) or `BARE` (its brackets say nothing: those around the sum above). Such a kind
  is its number plus a constant, with roles and steps of its own, so nothing further on has to ask.
- *Lines and depth* (`_begin_row`, `_enter`, `_leave`): a node with the role `LINE`, or directly in one of `ROWS`, makes
  the next token start a line; a `BLOCK`, or what is between the braces of a `BRACED` node, is one level deeper. Line
  breaks of the file play no part.
- *What it is kept for* (`kept_nodes.py`): definitions, comments, branches and whatever a language marks are put aside,
  so that the readers of facts need no walk of their own.
- *Its text*: a leaf is written as the step says, and what the step is not enough for goes through `_read_unusual`:
  literals are respelled (`'x'`), the last comma of a list is taken back (`closing_marks.py`), missing `;` are
  written, text behind a line (a here-document) is moved to its place, directives are folded (`directives.py`).

What comes out is `Tokens` (`file_tokens.py`): the written texts, the first byte of each in the file, and the tokens at
which lines start, with their depths. In the example these are

    parts        class| A|:|def| f|(|self|,| b|)|:|return|| b|[|0|]| +| "x"|
    line_tokens  0 3 11       line_depths  0 1 2

The two empty parts are the brackets that are left out; they keep their places, so that a byte of the file always finds
its token. Where a text is longer or shorter than the file's, `ends` has its end.

**3. Lines** (`canonical.py`). `lay_out` joins the tokens of each line. A literal over several lines stays as written,
so its lines have no depth; only the margin of a docstring follows the depth. Lines are kept without indent: the source
of one symbol is a slice of them relative to the depth of its first, so a method is the same text in a class and
outside. Each line knows its first byte, from which the line numbers that people see are found.

**4. What does not parse.** Inside an error nobody knows the statements, so there lines are the file's own, nothing is
respelled or left out, and text that no token covers becomes a line (`gaps.py`): an edit there always shows. Before
that, a file may be read in another form than it has. A language may *mask* what its grammar cannot read (macros, old
syntax) with something of equal length; and where errors, or lines that look like a definition and became none, remain,
`recovery.py` blanks the least that hides definitions. Equal lengths are what makes both simple: offsets stay true, and
the walk writes the file's text wherever the grammar was shown another (`_is_replaced`, `_read_foreign`).

**5. After the walk.** `file_reader.py` pairs the definitions that were put aside with their lines, and the readers of
facts (`facts.py`, `branches.py`, `reference_facts.py` and what they use) ask `Tokens` for canonical texts of parts.
`parsers.py` has the order of all this for one file; `batches.py` and `bounded.py` bound time and memory for many.

**Changing it.** A language's own layout is its table: raise `version` there. What all share is here: raise
`READING_VERSION` (`text.py`). `codesum_pipeline_tests/languages/declarations/test_laws.py` checks for every language
that a file which is laid out again stays the same, and that comments, blanks and line breaks change nothing.
"""
