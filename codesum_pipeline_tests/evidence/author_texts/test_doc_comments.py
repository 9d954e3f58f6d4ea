"""Documentation comments of every tool are read: prose, parameters and result."""

import pytest

from codesum_pipeline.evidence.author_texts.docstrings import Docstring, read_doc_comment

COMMENTS = {
    "Doxygen": (
        "cpp", "\\brief Adds \\p a.\n\n\\param[in] a the one\n\\return the sum\n",
        Docstring(("Adds a.",), {"a": "the one"}, "the sum"),
    ),
    "YARD": (
        "ruby", "Adds.\n\n@param a [Integer] the one\n@return [Integer] the sum\n@raise [Oops] never\n",
        Docstring(("Adds.",), {"a": "the one"}, "the sum", {"a": "Integer"}, "Integer"),
    ),
    "LDoc": (
        "lua", "Adds.\n@param a number: the one\n@return number\n",
        Docstring(("Adds.",), {"a": "the one"}, None, {"a": "number"}, "number"),
    ),
    "JSDoc": (
        "javascript", "Adds.\n@param {number} [a=1] - the one\n@returns {Promise<{b: number}>}\n",
        Docstring(("Adds.",), {"a": "the one"}, None, {"a": "number"}, "Promise<{b: number}>"),
    ),
    "KDoc": ("kotlin", "Adds to [Sum].\n@param[a] the one\n", Docstring(("Adds to Sum.",), {"a": "the one"})),
    "ExDoc": ("elixir", "Adds.\n\n## Examples\n\n    iex> add(1)\n    2\n", Docstring(("Adds.",))),
    "Scaladoc": (
        "scala", "Around [[java.lang.Process]]: see [[Sum]].\n", Docstring(("Around java.lang.Process: see Sum.",)),
    ),
    "TomDoc": ("ruby", "Public: Adds.\n\na - The one.\n", Docstring(("Adds.",), {"a": "The one."})),
    "YARD's directives": ("ruby", "@!attribute [r] a\n  @return [Integer]\n", Docstring(return_type="Integer")),
    "RDoc's calls": ("c", "call-seq:\n   a.add -> b\n\nAdds.\n", Docstring(("Adds.",))),
    "Haddock's code at the start of a line": (
        "haskell", "Adds,\n@take a@ of it.\n",
        Docstring(("Adds, take a of it.",)),
    ),
    "code in HTML": (
        "php", "Adds.\n\n<pre>\nadd(1);\n</pre>\n\n@return int the sum\n",
        Docstring(("Adds.",), {}, "the sum", {}, "int"),
    ),
    "headings": ("zig", "Adds.\n# Arguments\n* `a` - the one\n", Docstring(("Adds.",), {"a": "the one"})),
}  # fmt: skip


@pytest.mark.parametrize(("language", "comment", "read"), COMMENTS.values(), ids=COMMENTS.keys())
def test_a_comment_of_each_tool_gives_prose_parameters_and_result(language, comment, read):
    assert read_doc_comment(comment, language, ("a",)) == read
