"""What the text of a function states, in each family of languages: one headline, then effects of its code."""

import pytest
from msgspec import to_builtins

from codesum_pipeline.evidence.extractive.extractive_functions import write_function
from codesum_pipeline.evidence.inputs import FunctionInput, Holder
from codesum_pipeline.foundation.data_model.document import PurposeSource, WrittenText
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline.texts.summaries.told_fields import told_inputs, told_result
from codesum_pipeline_tests.evidence.extractive.shown_inputs import function_in, function_of, summary_of

PYTHON = '''
class Session:
    def __init__(self, base_url, timeout=5):
        self.base_url = base_url
        self._timeout = timeout

    def fetch(self, path: str, ids):
        if not path:
            raise ValueError(f"no path for {path}")
        self.last_path = path
        answer = requests.get(self.base_url + "/users/active", timeout=self._timeout)
        return Answer(answer)

    def ages(self):
        """Yield ages.

        Oldest first.
        """
        for row in self.rows.fetch_all():
            yield row.age


def is_open(gate):
    return gate.state == "open"


def by_name(rows):
    return {row.name: row for row in rows}


def run_all(jobs, *args, **kwargs):
    total = load_total(jobs)
    return total
'''
RUBY = """
class Mail
  def deliver(message, to)
    raise ArgumentError, "no #{to} given" unless to
    @sent = transport.push_out(message)
    logger.info "sent"
  end
end
"""
C = """
#include <stdlib.h>

int uv__loop_close(uv_loop_t *loop, int flags) {
  uv__queue_clear(loop);
  uv__handles_close(loop);
  uv__signal_stop(loop);
  loop->active_count = 0;
  return 0;
}
"""
LUA = """
function M.read_config(path)
  local file = io.open(path)
  if not file then error("cannot open the config") end
  M.loaded = true
  return file:read_all()
end
"""
ELIXIR = """
defmodule Mail do
  def deliver(message, to) do
    if to == nil, do: raise(ArgumentError, "no one to send to")
    Transport.push_out(message)
  end
end
"""
KOTLIN = """
class Queue {
    fun take(wait: Long): Job? {
        check(wait > 0)
        state = State.BUSY
        return jobs.removeFirst(wait)
    }
}
"""
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
SOURCES |= {
    "session.py": PYTHON,
    "mail.rb": RUBY,
    "loop.c": C,
    "config.lua": LUA,
    "mail.ex": ELIXIR,
    "Queue.kt": KOTLIN,
}


def functions_in(path: str) -> dict[str, FunctionInput]:
    language = language_of_path(path)
    assert language is not None
    parsed = parse_file(path, language, SOURCES[path].encode(), blob="0", hash_policy=HashPolicy.CANONICAL)
    return {one.name: function_of(one) for one in parsed.symbols if one.type is SymbolType.FUNCTION}


SUMMARIES = {
    ("store.go", "Find"): "Returns the rows of a user. Changes its state.",
    ("store.go", "BenchmarkParseRows"): "Parses rows.",
    ("store.go", "TestFindSkipsDeleted"): "Tests that finding skips deleted. Expects store.Count() to equal 1.",
    ("rows.ts", "readRows"): "Reads the rows of a file. Raises a range error: no path.",
    ("Queue.java", "take"): "Takes the next job.",
    ("Queue.java", "Queue"): "Creates a queue with a size.",
    ("Policy.cs", "Execute"): "Runs the action.",
    ("send.swift", "send"): "Sends a request.",
    ("row.rs", "parse_row"): "Parses a Row of text.",
    ("session.py", "__init__"): "Creates a session with a base URL and a timeout.",
    ("session.py", "fetch"): (
        "Sends an HTTP request and sets its last path; raises a value error: no path for … Creates an answer."
    ),
    ("session.py", "ages"): "Yield ages. Oldest first.",
    ("session.py", "is_open"): 'Reports whether a gate is open. True when the state of gate is "open".',
    ("session.py", "by_name"): "By name.",
    ("mail.rb", "deliver"): "Changes its state and logs; raises an argument error: no … given.",
    ("loop.c", "uv__loop_close"): "Closes the loop. Changes its argument loop.",
    ("config.lua", "read_config"): (
        "Reads the config from a path. Opens a file for reading; raises an error: cannot open the config."
    ),
    ("mail.ex", "deliver"): "Raises an argument error: no one to send to.",
    ("Queue.kt", "take"): "Sets its state.",
}


@pytest.mark.parametrize(("path", "name"), SUMMARIES, ids=[f"{path} {name}" for path, name in SUMMARIES])
def test_a_text_is_one_headline_and_then_what_the_code_does_to_the_world(path, name):
    assert write_function(functions_in(path)[name]).text.summary == SUMMARIES[path, name]


def test_effects_say_what_is_read_written_emitted_raised_and_mutated():
    effects = {name: write_function(function).text.side_effects for name, function in functions_in("mail.rb").items()}

    assert effects == {
        "deliver": ("raises ArgumentError when not to: no … given", "emits: logs", "mutates: changes its state"),
    }


def test_a_parameter_has_its_authors_words_else_its_name_and_default():
    def descriptions(function):
        return {one.name: one.description for one in write_function(function).text.inputs}

    documented, undocumented = functions_in("rows.ts")["readRows"], functions_in("session.py")["__init__"]
    assert descriptions(documented) == {"path": "Where the file lies.", "limit": "Parameter limit, required."}
    assert descriptions(undocumented) == {
        "base_url": "Parameter base URL, required.",
        "timeout": "Parameter timeout, 5 by default.",
    }


def test_a_purpose_is_what_it_is_part_of_and_what_the_author_says_of_that():
    def purposes(path):
        return {name: write_function(function).text.business_intent for name, function in functions_in(path).items()}

    assert purposes("store.go")["Find"] == "Part of store."
    assert purposes("session.py")["ages"] == "Part of session."
    holders = {
        "python": Holder("src/auth/login.py", "src/auth/login.py", "python", "Lets people in.\nBy key."),
        "nothing said": Holder("src/auth/login.py", "src/auth/login.py", "python", "TODO"),
        "a class": Holder("src/auth/login.py::Door", "Door", "python", "HTTP doors of houses."),
    }
    function = function_in("def f(a):\n    return g(a)\n")
    assert {name: write_function(function, holder).text.business_intent for name, holder in holders.items()} == {
        "python": "Part of auth/login: lets people in.",
        "nothing said": "Part of auth/login.",
        "a class": "Part of door: HTTP doors of houses.",
    }


def test_a_comment_that_opens_the_body_is_the_headline_where_the_author_says_no_more():
    source = "def f(a):\n    # Find the user in the directory.\n    return g(a)\n"
    written = write_function(function_in(source))
    cited = [(one.start_line, one.end_line) for one in written.text.citations if one.field == "summary"]

    assert written.text.summary == "Find the user in the directory."
    assert (written.purpose_source, cited) == (PurposeSource.COMMENT, [(1, 2)])


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("def size(a):\n    if a is None:\n        return -1\n    return g(a)\n", "Returns -1 when a is None."),
        (
            "class A:\n    def area(self):\n        return self.width * self.height\n",
            "Returns the area. Computes width * height.",
        ),
        ("def both(a, b):\n    return a.x == b.x\n", "True when a.x == b.x."),
        ("def size(a):\n    if other_code.is_odd(a):\n        return -1\n    return g(a)\n", "Size."),
        ("def size(a):\n    return [x for x in a]\n", "Size."),
    ],
    ids=("a value under a condition", "an expression", "a comparison", "names of other code", "no plain expression"),
)
def test_a_result_is_said_where_neither_signature_nor_name_says_it(source, summary):
    assert summary_of(source, "A.area" if "area" in source else "") == summary


@pytest.mark.parametrize(("owner", "summary"), [("X", "Constructor."), ("Q1", "Constructor of q1.")])
def test_a_constructor_is_said_to_be_of_its_class_only_where_that_has_a_name(owner, summary):
    source = f"class {owner}:\n    def __init__(self, a):\n        self.a = a\n"

    assert summary_of(source, f"{owner}.__init__").startswith(summary)


def test_names_lose_the_prefix_of_their_library_and_verbs_that_many_share_stay():
    shared = "int {0}_open(int a) {{ return {0}_check(a) + {0}_start(a) + {0}_count(a); }}\n"

    def opening(prefix):
        parsed = parse_file("a.c", "c", shared.format(prefix).encode(), blob="0", hash_policy=HashPolicy.CANONICAL)
        return write_function(function_of(parsed.symbols[0])).text.summary

    assert opening("curl_easy") == "Open."
    assert opening("parse") == "Parse open."


def test_texts_in_code_that_somebody_would_search_for_are_mentioned_and_are_keywords():
    source = (
        '@app.route("/invoices/overdue")\ndef show(request):\n    "Show."\n'
        '    header = request.headers["X-Forwarded-For"]\n'
        '    log("%s of %d\\n", "a_b", "{}", "…", header)\n    return render("x", "y.z.html", many="Overdue: {}")\n'
    )

    text = write_function(function_in(source)).text

    assert text.summary == 'Mentions "/invoices/overdue", "X-Forwarded-For", "Overdue".'
    assert {"invoices", "overdue", "forwarded"} <= {*text.keywords}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(a):\n    return a + g(a) * 2\n", id="a sum is no name"),
        pytest.param("def f(a):\n    return helper.find(a)\n", id="what a call gives is not known"),
        pytest.param("def f(a):\n    for result in a:\n        yield result\n", id="a name that says nothing"),
    ],
)
def test_a_result_that_nothing_shows_is_left_out(source):
    assert "Returns" not in summary_of(source) and "Yields" not in summary_of(source)


def test_names_of_other_code_stand_in_words():
    summary = summary_of(
        'def f(a):\n    raise NoSuchUser("x")\n    a.load_rows()\n    Kept_Row()\n    return os.dup2(a)\n'
    )

    assert summary == "Raises a no such user error. Loads rows and creates a kept row."


def test_the_id_adds_the_place_and_nothing_else():
    source = "def load(path, limit):\n    path.open_all()\n    return limit\n"
    texts = [write_function(function_in(source, path=path)).text for path in ("x/one.py", "y/two.py")]

    assert texts[0].summary == texts[1].summary
    assert [text.business_intent for text in texts] == ["Part of x/one.", "Part of y/two."]


@pytest.mark.parametrize("path", SOURCES)
def test_every_filled_field_is_cited_and_no_other(path):
    for function in functions_in(path).values():
        text = write_function(function).text
        filled = {name for name in ("summary", "inputs", "returns", "side_effects") if getattr(text, name)}
        last = function.canonical_source.count("\n") + 1

        assert {one.field for one in text.citations} == filled
        assert all(1 <= one.start_line <= one.end_line <= last for one in text.citations)


def test_a_summary_is_cited_by_the_signature_and_what_documents_it():
    def cited(path, name):
        text = write_function(functions_in(path)[name]).text
        return [(one.start_line, one.end_line) for one in text.citations if one.field == "summary"]

    assert cited("rows.ts", "readRows") == [(1, 13)]
    assert cited("session.py", "ages") == [(1, 5)]
    assert cited("session.py", "is_open") == [(1, 1)]


def text_in(path: str, source: str, name: str) -> WrittenText:
    language = language_of_path(path)
    assert language is not None
    parsed = parse_file(path, language, source.encode(), blob="0", hash_policy=HashPolicy.CANONICAL)
    return next(
        write_function(function_of(one)).text
        for one in parsed.symbols
        if one.name == name and one.type is SymbolType.FUNCTION
    )


def summary_in(path: str, source: str, name: str) -> str:
    return text_in(path, source, name).summary


@pytest.mark.parametrize(
    ("path", "source", "name"),
    [
        pytest.param(
            "a.hs", "step acc = do\n  found <- await\n  pure (next == found)\n", "step", id="a block that compares"
        ),
        pytest.param("a.hs", "first pair = let (one, _) = pair in one\n", "first", id="what follows `in`"),
        pytest.param("a.exs", 'test ":eof" do\n  assert encode(:eof) == 0\nend\n', ":eof", id="a check of a test"),
        pytest.param("a.lua", "function check(a)\n  return a == 1, a\nend\n", "check", id="several values"),
        pytest.param(
            "a.js", "function visit(one) { if (one) { cut(one); return false } }", "visit", id="one constant alone"
        ),
        pytest.param(
            "a.py", "def ask(a):\n    if a:\n        return None\n    return a == 1", "ask", id="or nothing at all"
        ),
    ],
)
def test_true_or_false_comes_back_only_where_every_way_out_gives_it(path, source, name):
    assert text_in(path, source, name).returns is None


@pytest.mark.parametrize(
    ("path", "source", "name", "summary"),
    [
        pytest.param(
            "a_test.go", "package a\nfunc TestFind(t *testing.T) {\n rows := load()\n assert.Equal(t, 1, rows)\n}",
            "TestFind", "Tests finding. Expects load to equal 1.", id="checks of a test",
        ),
        pytest.param(
            "a.py", "def _start(self):\n    self._get_context()['a'] = 1\n", "_start",
            "Start.", id="an item of what a call gives is nothing of its own",
        ),
        pytest.param(
            "a.ts", "function isIndex(value: string): value is Digits { return work(value) }", "isIndex",
            "Reports whether it is an index.", id="a guard of a type",
        ),
        pytest.param(
            "a.hs", "draw :: Shape -> Int\ndraw (Shape colour rest) = paint colour\n", "draw",
            "Draws a shape.", id="a type of Haskell",
        ),
        pytest.param(
            "a.js", "// Shuffle a collection.\nfunction shuffle(list) { return sample(list, 1) }", "shuffle",
            "Shuffle a collection.", id="a comment right above",
        ),
        pytest.param(
            "a.rb", "# Render layouts.\n#\n# == Usage\n#\n#   render 1\n"
            "def render(layouts)\n  paint(1)\nend\n", "render", "Render layouts.", id="headings of Ruby",
        ),
        pytest.param(
            "a.js", "function isOpen(door) { if (door) return true; return door.bolt === 2 }", "isOpen",
            "Reports whether a door is open.", id="an answer is said once",
        ),
        pytest.param(
            "a.swift", "func testOpen() { XCTAssertTrue(door.isOpen); AssertParse(door) }\n", "testOpen",
            "Tests opening. Expects door is open to be true.", id="checks that are written like classes",
        ),
    ],
)  # fmt: skip
def test_what_says_nothing_or_is_not_sure_is_left_out(path, source, name, summary):
    assert summary_in(path, source, name) == summary


def test_a_name_alone_has_its_place_in_its_purpose():
    text = write_function(function_in("class Row:\n    def later(self):\n        g(1)\n", "Row.later")).text

    assert (text.summary, text.business_intent) == ("Later.", "Part of row in auth/login.")


def test_of_fields_that_the_signature_shows_nothing_is_told():
    source = 'def find(rows: list, limit=5, *, key):\n    """Find.\n\n    :param key: how rows are ordered\n    """\n'
    untyped, typed = source + "    return [rows]\n", source.replace("key):", "key) -> list:") + "    return [rows]\n"
    documented = 'def find(rows):\n    """Find rows.\n\n    :returns: the rows that match\n    """\n    return [rows]\n'
    texts = [to_builtins(write_function(function_in(each)).text) for each in (untyped, typed, documented)]

    assert told_inputs(texts[0]["inputs"]) == ["key:  - How rows are ordered."]
    assert [told_result(each["returns"], "def find(rows: list) -> list") for each in texts] == [
        "",
        "",
        "list: The rows that match.",
    ]
    assert told_result(texts[0]["returns"], "def find(rows, limit=5, *, key)") == "list"
    assert told_result(None, "def find()") == ""
