"""What documentation tools mark is read as the words that a reader of the page sees."""

import pytest

from codesum_pipeline.evidence.author_texts.inline_marks import remove_markup

EVERY_LANGUAGE = "python", "javascript", "kotlin", "rust", "ruby", "swift", "haskell", "scala", "java", "cpp", ""

READ = {
    "a link": ("go", "Reads [a row](https://x.org/a_(b)) of it.", "Reads a row of it."),
    "a link with brackets in its words": ("", "See [the `a[b]` form](x.md) first.", "See the a[b] form first."),
    "a link by reference": ("kotlin", "Converts to [a unit][unit.Of] value.", "Converts to a unit value."),
    "a link by reference, of code": ("rust", "Builds a [`Client`][client].", "Builds a Client."),
    "a link to a name": ("kotlin", "Reads [offset] of [Row.data].", "Reads offset of Row.data."),
    "a link to names in the plural": ("rust", "Joins [`Part`]s and [Row]s.", "Joins Parts and Rows."),
    "a link to a method": ("rust", "See [`Row::read()`] and [fn@open].", "See Row::read() and open."),
    "a link of Go": ("go", "Wraps a [*http.Request].", "Wraps a *http.Request."),
    "an index is no link": ("rust", "Sorts rows[i] and a[i][j].", "Sorts rows[i] and a[i][j]."),
    "a range is no link": ("kotlin", "Copies [from..to] of it.", "Copies [from..to] of it."),
    "code keeps its brackets": ("kotlin", "Fills `[from][to]` and `*a*`.", "Fills [from][to] and *a*."),
    "code keeps its tags": ("", "Renders `<p>` and <b>more</b>.", "Renders <p> and more."),
    "Scaladoc's links": ("scala", "Wraps a [[a.b.Row row]] of [[Table]].", "Wraps a row of Table."),
    "Scaladoc's emphasis": ("scala", "Is '''never''' ''lazy'' {{{x}}}.", "Is never lazy x."),
    "Javadoc's links": ("php", "Is {@link Row#read() the reading} of {@see Row}.", "Is the reading of Row."),
    "Javadoc's methods": ("java", "As Row#read(int, int) read, or #close().", "As Row.read(int, int), or close()."),
    "Javadoc's classes": ("java", "Takes a a.b.Filter filter of it.", "Takes a filter of it."),
    "Javadoc's code": ("javascript", "Gives {@code {a}} {@inheritDoc}back.", "Gives {a} back."),
    "JSDoc's links": ("typescript", "Is [the row]{@link Row} or {@link Row|a row}.", "Is the row or a row."),
    "Doxygen's words": ("cpp", 'Adds \\p a to @c b, see \\ref Row "the row".', "Adds a to b, see the row."),
    "Sphinx' roles": ("python", "Is a :py:class:`~a.Row` of :meth:`open <a.open>`.", "Is a Row of open."),
    "Sphinx' short names": ("python", "Returns the `.Row` of `~a.b`.", "Returns the Row of a.b."),
    "C#'s elements": ("c-sharp", "Is a<see\n langword='x'/> of List{T}.", "Is a of List<T>."),
    "YARD's links": ("ruby", "A {Row} by {Row#read reading} of {file:A.md this}.", "A Row by reading of this."),
    "RDoc's code": ("ruby", 'Sets +env["a"]+ and +b+. :nodoc:', 'Sets env["a"] and b.'),
    "a sum is no code": ("ruby", "Gives a + b + c.", "Gives a + b + c."),
    "Haddock's marks": ("haskell", "Runs @take n@ /each/ 'Row' of \"Data.Row\".", "Runs take n each Row of Data.Row."),
    "Haddock's code with an ending": ("haskell", "Stops @await@ing.", "Stops awaiting."),
    "Haddock's escapes": ("haskell", 'Reads \\"all\\" of I\\/O.', 'Reads "all" of I/O.'),
    "a quoted letter is a letter": ("haskell", "Reads 'x' or 'y'.", "Reads 'x' or 'y'."),
    "ExDoc's arities": ("elixir", "Calls `c:Row.read/2` or `t:row/0`.", "Calls Row.read or row."),
    "DocC's paths": ("swift", "Is ``Row/read(at:)-7jx`` of ``Table``.", "Is read of Table."),
    "LDoc's links": ("lua", "Is @{row.read|reading} of @{row}.", "Is reading of row."),
    "Vim's marks": ("lua", "Is |vim.fn()| of {name}.", "Is vim.fn() of name."),
    "macros of R": ("r", "Is \\code{\\link[a]{row}} of [a::b()]\\%.", "Is row of a::b()%."),
    "Julia's links": ("julia", "Is a [`Row`](@ref) of [it](@ref Row).", "Is a Row of it."),
    "parameters between bars": ("cpp", "Reads |row_at| of it.", "Reads row_at of it."),
    "an amount is no parameter": ("cpp", "Holds |r| <= n.", "Holds |r| <= n."),
    "TeX's quotes": ("c", "Is ``all'' or `one' of it.", "Is \"all\" or 'one' of it."),
    "a lone full stop is the author's": ("javascript", "Resolves . and .. in a path.", "Resolves . and .. in a path."),
    "pointers stay": ("cpp", "Moves *from to *to.", "Moves *from to *to."),
}  # fmt: skip


@pytest.mark.parametrize(("language", "text", "read"), READ.values(), ids=READ.keys())
def test_marks_of_a_tool_are_read_as_words(language, text, read):
    assert remove_markup(text, language) == read


PROSE = "Reads it, e.g. a row (or two) and 50 % of C++ and/or I/O: see a/b.txt, UTF-8, O'Neil's \"own\" words & so on."


@pytest.mark.parametrize("language", EVERY_LANGUAGE)
def test_prose_without_marks_stays_as_it_is(language):
    assert remove_markup(PROSE, language) == PROSE


def test_characters_that_stand_for_code_come_from_nowhere_else():
    assert remove_markup("Reads \ue000 `rows` \ue001.") == "Reads rows."
