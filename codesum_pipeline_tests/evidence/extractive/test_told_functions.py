"""What a text says beyond a function's name: its result in words, what it prints, lays out, migrates, adds to, asks."""

import time

import pytest

from codesum_pipeline.evidence.extractive.extractive_functions import write_function
from codesum_pipeline.evidence.extractive.spoken_code import condition_in_words, thing_in_words
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline_tests.evidence.extractive.shown_inputs import function_of


def text_of(path: str, source: str, name: str) -> str:
    language = language_of_path(path)
    assert language is not None
    parsed = parse_file(path, language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
    (function,) = [function_of(one) for one in parsed.symbols if one.qualified_name == name]
    return write_function(function).text.summary


OWN = frozenset(("rows", "story", "key", "watchedat"))
THINGS = {
    "a name of the function's own": ("rows", "rows"),
    "a field": ("this.orderTotal", "its order total"),
    "a part of a field": ("self.config.name", "the name of its config"),
    "a part of a parameter": ("story.title", "the title of story"),
    "how many there are": ("story.rows.length", "the number of rows of story"),
    "a constant of another class": ("FlagType.COMPASS_ITEM", "the flag type compass item"),
    "no call with arguments": ("story.rows(1)", ""),
    "no call that does something": ("story.save!", ""),
    "no name of other code": ("Story.rows", ""),
    "nothing of the class above": ("super.rows", ""),
}
CONDITIONS = {
    "no value": ("key === undefined", "key is missing"),
    "any value": ("key is not None", "key is present"),
    "a number": ("story.rows.length < 2", "the number of rows of story is less than 2"),
    "what it contains": ("rows.includes(key)", "rows contain key"),
    "what it does not contain": ("!rows.includes(key)", "rows do not contain key"),
    "both of two": ("key != null && rows.includes(key)", "key is present and rows contain key"),
    "nothing of a state": ("!rows.isEmpty()", ""),
    "nothing of a sum": ("rows + key > 3", ""),
    "nothing of a call with arguments": ("Other.valid(key)", ""),
}


@pytest.mark.parametrize("case", THINGS)
def test_a_chain_of_names_is_said_as_a_thing_or_not_at_all(case):
    written, said = THINGS[case]

    assert thing_in_words(written, OWN) == said


@pytest.mark.parametrize("case", CONDITIONS)
def test_a_condition_is_said_in_words_or_not_at_all(case):
    written, said = CONDITIONS[case]

    assert condition_in_words(written, OWN) == said


JAVA = "class Enchants {{ {} }}"
RUBY = "class Row\n  def label\n    {}\n  end\nend\n"
TYPESCRIPT = "class Store {{ label() {{ {} }} }}"
TEXTS = {
    "the same on every call": (
        "Enchants.java",
        JAVA.format("boolean hasBooks() { return false; }"),
        "Enchants.hasBooks",
        "Reports whether it has books. Always returns false.",
    ),
    "a constant of other code": (
        "Enchants.java",
        JAVA.format("String getFlagType() { return FlagType.COMPASS_ITEM; }"),
        "Enchants.getFlagType",
        "Returns the flag type. Returns the flag type compass item.",
    ),
    "two ways": (
        "store.ts",
        TYPESCRIPT.format('if (this.isDone) { return "done"; } return this.title;'),
        "Store.label",
        'Returns "done" when isDone, else its title.',
    ),
    "a local name says nothing": (
        "row.py",
        "def label(found):\n    result = found\n    total = result\n    return total\n",
        "label",
        "Label.",
    ),
    "what is printed": ("row.py", 'def label():\n    print("Nothing to do")\n', "label", 'Prints "Nothing to do".'),
    "what is printed under a condition": (
        "row.py",
        'def label(rows):\n    if not rows:\n        print("Nothing to do")\n',
        "label",
        'Prints "Nothing to do" in some cases.',
    ),
    "a table that is created": (
        "1_create_users.rb",
        "class CreateUsers < ActiveRecord::Migration[5.1]\n  def change\n    create_table :users do |t|\n"
        "      t.string :name\n    end\n  end\nend\n",
        "CreateUsers.change",
        "Creates the database table users.",
    ),
    "a column that is added": (
        "1_lock.rb",
        "class Lock < ActiveRecord::Migration[5.1]\n  def change\n"
        "    add_column :projects, :locked, :boolean\n  end\nend\n",
        "Lock.change",
        "Adds locked to projects.",
    ),
    "elements that are laid out": (
        "Sync.tsx",
        "const Sync = ({ on }) => {\n  return <Box><SwitchOption value={on} /><Button>Save</Button></Box>;\n};\n",
        "Sync",
        "Renders the sync. Lays out a switch option and a button.",
    ),
    "the command that is defined": (
        "qr.rs",
        'impl CmdQr {\n    pub fn build() -> Command {\n        Command::new("qr").about("Show the code of a token")'
        '.arg(Arg::new("size").help("Width of the code in characters"))\n    }\n}\n',
        "CmdQr.build",
        "Defines the command that shows the code of a token. Creates an argument.",
    ),
    "who is told": (
        "Cell.swift",
        "class Cell {\n    func postPress() {\n        delegate?.didPressSave()\n    }\n}\n",
        "Cell.postPress",
        "Tells its delegate (did press save).",
    ),
    "a field that is filled once": (
        "store.py",
        "class Store:\n    def rows(self):\n        if self._rows is None:\n            self._rows = read()\n"
        "        return self._rows\n",
        "Store.rows",
        "Returns rows. Sets its rows when missing.",
    ),
    "what a constructor sets up": (
        "store.py",
        "class Store:\n    def __init__(self, path):\n        self.path = path\n        self.cache = {}\n"
        "        self.lock = None\n",
        "Store.__init__",
        "Creates a store with a path. Sets up its cache and lock.",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_text_says_what_the_body_shows_beyond_the_name(case):
    path, source, name, summary = TEXTS[case]

    assert text_of(path, source, name) == summary


@pytest.mark.parametrize(
    "body",
    [
        "self.rows.append(x)\n    " * 10_000,
        "return " + "a.b " * 250_000,
        "x = [" + "(" * 5_000,
        'print("' + "a" * 1_000_000,
    ],
    ids=["ten thousand calls", "a long expression", "open brackets", "a long text"],
)
def test_a_function_of_any_size_is_written_in_seconds(body):
    started = time.process_time()

    text_of("row.py", f"def label(self, x):\n    {body}\n", "label")

    assert time.process_time() - started < 20
