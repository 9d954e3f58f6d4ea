"""What the texts of functions and types say in other languages than Python, one family at a time."""

import pytest

from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.model.symbols import SymbolType
from codesum_pipeline.parsing.parsers import parse_file
from codesum_pipeline.summaries.extractive import write_class, write_function
from codesum_pipeline.summaries.extractive.doc_comments import read_doc_comment
from codesum_pipeline.summaries.extractive.docstrings import Docstring
from codesum_pipeline.summaries.extractive.foreign_types import as_python
from codesum_pipeline.summaries.extractive.type_words import type_words
from codesum_pipeline.summaries.inputs import ClassInput, FunctionInput
from codesum_pipeline_tests.summaries.extractive.shown_inputs import says

GO = """package store

// Find returns the rows of a user.
func (s *Store) Find(ctx context.Context, ids []string, byName map[string]int) ([]Row, error) {
	rows := s.db.QueryRows(ids)
	s.last = rows
	return rows, nil
}

func BenchmarkParseRows(b *testing.B) {
	parseRows(b.N)
}

func TestFindSkipsDeleted(t *testing.T) {
	store := NewStore()
	assert.Equal(t, 1, store.Count())
}
"""
TYPESCRIPT = """
/**
 * Reads the rows of a file.
 *
 * @param path - Where the file lies
 * @param {Options} options.depth How deep
 * @returns The rows in file order
 * @throws {RangeError} if the file ends early
 * @example
 * readRows("a")
 *
 * readRows("b")
 */
export async function readRows(path: string, limit?: number | null): Promise<Row[]> {
  if (!path) throw new RangeError("no path");
  return new RowReader(path).readAll(limit);
}
"""
JAVA = """
class Queue {
  /**
   * Takes the next job.
   *
   * @param wait how long to wait,
   *     in seconds
   * @return the job, or null
   * @throws IllegalStateException if closed
   */
  public Job take(long wait, List<String> names) { return jobs.removeFirst(); }
  Queue(int size) { this.size = size; }
}
"""
C_SHARP = """
class Policy {
    /// <summary>Runs the action.</summary>
    /// <param name="action">What to run.</param>
    /// <returns>What the action gave.</returns>
    /// <exception cref="ArgumentNullException">Without an action.</exception>
    public TResult Execute<TResult>(Func<TResult> action) { Validate(action); return action(); }
}
"""
SWIFT = """
/// Sends a request.
///
/// - Parameters:
///   - url: Where to.
///   - retries: How often, at most.
/// - Returns: The answer.
func send(url: URL, retries: Int?) -> Answer { return transport.deliver(url) }
"""
RUST = """
/// Parses a [`Row`] of text.
///
/// # Errors
///
/// If it is empty.
pub fn parse_row(text: &str, sizes: Vec<usize>) -> Result<Option<Row>, Error> { Ok(Some(split(text)?)) }
"""
PHP = """<?php
/**
 * Sends a request.
 *
 * @param string|Uri $uri where to
 *
 * @return Response the answer
 */
function send($uri, array $options = []) { return $this->client->request($uri); }
"""
SOURCES = {"store.go": GO, "rows.ts": TYPESCRIPT, "Queue.java": JAVA, "Policy.cs": C_SHARP, "send.swift": SWIFT}
SOURCES |= {"row.rs": RUST, "send.php": PHP}
LANGUAGES = {"go": "go", "ts": "typescript", "java": "java", "cs": "c-sharp", "swift": "swift", "rs": "rust"}
LANGUAGES |= {"php": "php"}


def functions_in(path):
    language = LANGUAGES[path.rpartition(".")[2]]
    parsed = parse_file(path, language, SOURCES[path].encode(), blob="0", hash_policy=HashPolicy.CANONICAL)
    return {one.name: FunctionInput.of(one) for one in parsed.symbols if one.type is SymbolType.FUNCTION}


# How a summary opens, what else it says, what it says of each parameter, and of the result.
EXPECTED = {
    ("store.go", "Find"): (
        "Returns the rows of a user.",
        ("queries rows", "last"),
        {
            "ctx (context.Context)": "deadlines, cancellation and values of the request",
            "ids ([]string)": "a list of strings",
            "byName (map[string]int)": "a mapping of strings to integers",
        },
        "a tuple of a list of rows and an error",
    ),
    ("store.go", "BenchmarkParseRows"): (
        "Measures parsing rows",
        ("benchmark", "store"),
        {"b (*testing.B)": "the benchmark reports to"},
        None,
    ),
    ("store.go", "TestFindSkipsDeleted"): (
        "Tests",
        ("find", "skips deleted", "store"),
        {"t (*testing.T)": "the test reports to"},
        None,
    ),
    ("rows.ts", "readRows"): (
        "Reads the rows of a file.",
        ("row reader", "range error", "no path"),
        {"path (string)": "Where the file lies.", "limit (number | null)": "a number, or nothing"},
        "The rows in file order.",
    ),
    ("Queue.java", "take"): (
        "Takes the next job.",
        ("first",),
        {"wait (long)": "How long to wait, in seconds.", "names (List<String>)": "a list of strings"},
        "The job, or null.",
    ),
    ("Queue.java", "Queue"): (
        "Sets up a new queue",
        ("size",),
        {"size (int)": "an integer"},
        None,
    ),
    ("Policy.cs", "Execute"): (
        "Runs the action.",
        ("validate",),
        {"action (Func<TResult>)": "What to run."},
        "What the action gave.",
    ),
    ("send.swift", "send"): (
        "Sends a request.",
        ("deliver", "transport"),
        {"url (URL)": "Where to.", "retries (Int?)": "How often, at most."},
        "The answer.",
    ),
    ("row.rs", "parse_row"): (
        "Parses a Row of text.",
        ("split",),
        {"text (&str)": "a string", "sizes (Vec<usize>)": "a list of integers"},
        "a row, or nothing",
    ),
    ("send.php", "send"): (
        "Sends a request.",
        ("request", "client"),
        {"uri (string|Uri)": "Where to.", "options (array)": "[] by default"},
        "The answer.",
    ),
}


@pytest.mark.parametrize(("path", "name"), EXPECTED.keys())
def test_a_function_of_each_family_is_told_with_its_comment_and_its_facts(path, name):
    opening, facts, inputs, result = EXPECTED[path, name]

    text = write_function(functions_in(path)[name]).text

    assert text.summary.startswith(opening)
    assert says(text.summary, *facts)
    described = {f"{one.name} ({one.type})": one.description for one in text.inputs}
    assert described.keys() == inputs.keys()
    assert [each for each, words in inputs.items() if words not in described[each]] == []
    assert (text.returns is None) == (result is None)
    assert text.returns is None or result in text.returns.details
    assert 20 <= len(text.summary) <= 400
    assert write_function(functions_in(path)[name]).text == text


TYPES = {
    "[]string": "a list of strings",
    "map[string]int": "a mapping of strings to integers",
    "*Store": "a store",
    "&str": "a string",
    "&mut Vec<Row>": "a list of rows",
    "Option<Row>": "a row, or nothing",
    "Result<Row, Error>": "a row",
    "Promise<Row[]>": "a list of rows",
    "IEnumerable<Row>": "an iterable of rows",
    "Row?": "a row, or nothing",
    "?int": "an integer, or nothing",
    "Row | null": "a row, or nothing",
    "const std::vector<std::string> &": "a list of strings",
    "func(int) error": "a function",
    "(x: Row) => string": "a function",
    "(Int) -> Unit": "a function",
    "[String: Int]": "a mapping of strings to integers",
    "{ name: string }": "an object",
    "interface{}": "any value",
    "void": "nothing",
    "never": "nothing: it never returns",
    "'a' | 'b'": "one of 'a', 'b'",
    "List<? extends Row>": "a list of rows",
    "[]const u8": "bytes",
    "(string, error)": "a tuple of a string and an error",
}


@pytest.mark.parametrize(("written", "said"), TYPES.items())
def test_a_type_of_any_language_is_said_in_words(written, said):
    assert type_words(as_python(written)) == said


COMMENTS = {
    "Doxygen": (
        "cpp", "\\brief Adds \\p a.\n\n\\param[in] a the one\n\\return the sum\n",
        Docstring(("Adds a.",), {"a": "the one"}, "the sum"),
    ),
    "YARD": (
        "ruby", "Adds.\n\n@param a [Integer] the one\n@return [Integer] the sum\n@raise [Oops] never\n",
        Docstring(("Adds.",), {"a": "the one"}, "the sum", (("Oops", "never"),), {"a": "Integer"}, "Integer"),
    ),
    "LDoc": (
        "lua", "Adds.\n@param a number: the one\n@return number\n",
        Docstring(("Adds.",), {"a": "the one"}, None, (), {"a": "number"}, "number"),
    ),
    "JSDoc": (
        "javascript", "Adds.\n@param {number} [a=1] - the one\n@returns {Promise<{b: number}>}\n",
        Docstring(("Adds.",), {"a": "the one"}, None, (), {"a": "number"}, "Promise<{b: number}>"),
    ),
    "KDoc": ("kotlin", "Adds to [Sum].\n@param[a] the one\n", Docstring(("Adds to Sum.",), {"a": "the one"})),
    "ExDoc": ("elixir", "Adds.\n\n## Examples\n\n    iex> add(1)\n    2\n", Docstring(("Adds.",))),
    "headings": ("zig", "Adds.\n# Arguments\n* `a` - the one\n", Docstring(("Adds.",), {"a": "the one"})),
}  # fmt: skip


@pytest.mark.parametrize(("language", "comment", "read"), COMMENTS.values(), ids=COMMENTS.keys())
def test_a_comment_of_each_tool_gives_prose_parameters_result_and_errors(language, comment, read):
    assert read_doc_comment(comment, language, ("a",)) == read


NAMED = {
    "a name before a verb goes": ("Row holds a line.", "Holds a line."),
    "a name before a definition goes": ("Row is a line.", "A line."),
    "a name before an ellipsis says nothing": ("Row ...", "Represents a row"),
    "a name inside a sentence stays": ("Row must be closed.", "Row must be closed."),
}


@pytest.mark.parametrize(("comment", "summary"), NAMED.values(), ids=NAMED.keys())
def test_a_type_is_not_introduced_by_its_own_name(comment, summary):
    given = ClassInput("a.go::Row", "Row", "Row", "go", "type Row struct", comment, (), (), ("Key string",), ())

    text = write_class(given).text

    assert text.summary.startswith(summary)
    assert says(text.summary, "key") or comment not in text.summary
    assert says(text.business_intent, "struct")


@pytest.mark.parametrize("path", SOURCES)
def test_every_filled_field_is_cited_and_no_other(path):
    for given in functions_in(path).values():
        text = write_function(given).text
        filled = {
            name for name in ("summary", "inputs", "returns", "side_effects", "invariants") if getattr(text, name)
        }
        last = given.canonical_source.count("\n") + 1

        assert {one.field for one in text.citations} == filled
        assert all(1 <= one.start_line <= one.end_line <= last for one in text.citations)


def test_parameters_are_cited_by_the_line_that_names_them_and_by_what_documents_them():
    cited = {
        path: {(one.start_line, one.end_line) for one in write_function(given).text.citations if one.field == "inputs"}
        for path, name in (("rows.ts", "readRows"), ("store.go", "Find"))
        for given in [functions_in(path)[name]]
    }

    assert cited == {"rows.ts": {(1, 13)}, "store.go": {(2, 2)}}
