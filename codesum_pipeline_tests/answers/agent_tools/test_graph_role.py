"""What the graph adds to a function when it is read: what it overrides, whom it serves, which test is about it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.graph_role import role_of
from codesum_pipeline.answers.agent_tools.start_names import lines_beside, start_names
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.homes import built_once, copy_built

FILES = {
    "store.py": '''"""Where values are kept."""


class Storage:
    """A place for values."""

    def save(self, value):
        """Stores a value for good. It may take a while."""
        raise NotImplementedError

    def __init__(self, path):
        """Remembers the path of its file."""
        self.path = path

    def __secret(self, value):
        """Hides a value from all."""
        return [value, value]


class Middle(Storage):
    """Between the two."""


class Disk(Middle):
    """A disk."""

    def __init__(self, path):
        if path:
            self.path = path + "/disk"

    def save(self, value):
        if value:
            write_block(value)

    def __secret(self, value):
        if value:
            write_block(value)


class Tape(Storage):
    def save(self, value):
        """Winds the tape and writes."""
        if value:
            write_block(value)


def write_block(value):
    if value:
        print(value)
    return value


def count_faraway_blocks(value):
    if value:
        return value
    return 0
''',
    "app.py": '''"""The application."""

from store import Disk, write_block


@app.route("/orders", methods=["POST"])
def orders():
    """Takes an order."""
    return accept(1)


def accept(order):
    if order:
        return keep(order)
    return None


def keep(order):
    if order:
        return note(order)
    return None


def note(order):
    if order:
        return deepest(order)
    return None


def deepest(order):
    if order:
        return order
    return None


def flush_all():
    """Writes all that waits. \\x1b[31m<script>alert(1)</script>"""
    write_block(1)


def sync_now():
    if flush_all():
        write_block(2)


def tool(value):
    if value:
        return value
    return 0


@app.get("/a")
def route_a():
    """Serves a page by its name."""
    return tool(1)


@app.get("/b")
def route_b():
    """Serves another page by its name."""
    return tool(2)


@app.get("/c")
def route_c():
    return tool(3)


@app.get("/d")
def route_d():
    return tool(4)


@app.get("/e")
def route_e():
    return tool(5)
''',
    "tests/test_store.py": '''from store import count_faraway_blocks, write_block
from app import deepest


def setup():
    write_block(0)


def test_a_block_is_written():
    if write_block(1):
        assert write_block(1)
        assert write_block(2)


def test_write_block():
    assert write_block(1)


def test_blocks():
    assert count_faraway_blocks(1)


def test_something_else():
    """Looks at the deepest of all values."""
    assert deepest(1)
''',
}
STRANGERS = {
    "O.java": """class P {
  /** Counts the words of a text. */
  int count(String a) { return f(a) + f(a); }
  /** Finds the best of all. */
  private int best(int a) { return f(a) + f(a); }
  /** Makes a text of it. */
  String text(int width) { return f(width) + f(width); }
}
class Q extends P {
  int count(int a) { return f(a) + g(a); }
  int count(int a, int b) { return f(a) + g(b); }
  private int best(int a) { return f(a) + g(a); }
  String text(final int columns) { return g(columns) + f(columns); }
}
""",
    "I.cs": """public interface IStorage {
  /// <summary>Stores a value.</summary>
  void Save(int v);
}
public class Memory : IStorage { public void Save(int v) { Write(v); Write(v); } }
public class Base {
  /// <summary>Loads a value.</summary>
  public virtual int Load(int v) { return F(v) + F(v); }
}
public class Der : Base { public override int Load(int v) { return G(v) + F(v); } }
public class Hid : Base { public new int Load(int v) { return G(v) + F(v); } }
""",
    "v.cpp": """class Shape { public:
  /// Draws the shape.
  virtual void draw(int v) = 0;
  /// Moves the shape.
  void move(int v) { write(v); write(v); }
};
class Ring : public Shape { public:
  void draw(int v) { write(v); write(v); }
  void move(int v) { read(v); write(v); }
};
""",
    "t.ts": """export interface Queue {
  /** Takes the first message. */
  take(wait: number): string
}
export class Mail implements Queue { take(wait: number): string { write(wait); return read(wait) } }
""",
    "t.rs": """pub trait Cache {
    /// Forgets what is old.
    fn prune(&self, age: u32);
}
pub struct Ram;
impl Cache for Ram {
    fn prune(&self, age: u32) {
        write(age);
        write(age)
    }
}
""",
    "t.kt": """interface Clock {
    /** Tells the time. */
    fun now(zone: Int): Int
}
class Wall : Clock {
    override fun now(zone: Int): Int {
        write(zone)
        return read(zone)
    }
}
""",
    "t.scala": """trait Door {
  /** Opens the door. */
  def open(key: Int): Int
}
class Gate extends Door {
  override def open(key: Int): Int = {
    write(key)
    read(key)
  }
}
""",
    "t.swift": """protocol Engine {
    /// Starts the engine.
    func start(key: Int)
}
struct Car {}
extension Car: Engine {
    func start(key: Int) {
        write(key)
        write(key)
    }
}
""",
    "t.php": """<?php
interface Lamp {
    /** Lights the room. */
    public function shine(int $v): void;
}
class Bulb implements Lamp {
    public function shine(int $v): void { write($v); write($v); }
}
""",
    "t.rb": """class Bird
  # Sings a song.
  def sing(song)
    raise NotImplementedError
  end
end
class Crow < Bird
  def sing(song)
    write(song)
    write(song)
  end
end
""",
    "t.js": """class Pump {
  /** Pumps the water up. */
  pump(v) { throw new Error("no") }
}
class Hand extends Pump { pump(v) { write(v); write(v) } }
""",
    "t.ex": """defmodule Store do
  @doc "Keeps a value."
  @callback keep(integer) :: :ok
end
defmodule Shelf do
  @behaviour Store
  @impl true
  def keep(value) do
    write(value)
    write(value)
  end
end
""",
    "T.hs": """module T where
-- | A thing that speaks.
class Speaker a where
  -- | Says a word aloud.
  say :: a -> Int -> IO ()
data Radio = Radio
instance Speaker Radio where
  say d v = do
    write v
    write v
""",
}
USES = ["flush_all: Writes all that waits", "Tape.save: Winds the tape and writes"]
Role = Callable[[str], dict[str, list[str]]]


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    return built_once(tmp_path_factory.mktemp("role"), FILES | STRANGERS)


def role_in(folder: Path, *, where: Path = Path("/")) -> Role:
    call = ToolContext(IndexCatalogue.of(load_settings({"home": folder / "home"}, environ={})), where)
    documents, starts = call.documents("shop"), start_names(call, "shop")

    def role(id_: str) -> dict[str, list[str]]:
        number = documents.number(id_)
        assert number is not None, id_
        return role_of(documents, number, starts).facts()

    return role


@pytest.fixture(scope="module")
def role(once) -> Role:
    return role_in(once)


def above_of(role: Role, id_: str) -> dict[str, list[str]]:
    return {name: lines for name, lines in role(id_).items() if name in ("implements", "overrides")}


@pytest.mark.parametrize(
    ("id_", "label", "line"),
    [
        ("store.py::Disk::save", "overrides", "Storage.save: Stores a value for good"),
        ("O.java::Q::text", "overrides", "P.text: Makes a text of it"),
        ("I.cs::Memory::Save", "implements", "IStorage.Save: Stores a value"),
        ("I.cs::Der::Load", "overrides", "Base.Load: Loads a value"),
        ("v.cpp::Ring::draw", "implements", "Shape.draw: Draws the shape"),
        ("t.ts::Mail::take", "implements", "Queue.take: Takes the first message"),
        ("t.rs::Ram::prune", "implements", "Cache.prune: Forgets what is old"),
        ("t.kt::Wall::now", "implements", "Clock.now: Tells the time"),
        ("t.scala::Gate::open", "implements", "Door.open: Opens the door"),
        ("t.swift::Car::start", "implements", "Engine.start: Starts the engine"),
        ("t.php::Bulb::shine", "implements", "Lamp.shine: Lights the room"),
        ("t.rb::Crow::sing", "overrides", "Bird.sing: Sings a song"),
        ("t.js::Hand::pump", "overrides", "Pump.pump: Pumps the water up"),
        ("t.ex::Shelf::keep", "implements", "Store.keep: Keeps a value"),
        ("T.hs::Radio::say", "implements", "Speaker.say: Says a word aloud"),
    ],
)
def test_a_method_without_words_has_those_of_what_it_overrides(role, id_, label, line):
    assert above_of(role, id_) == {label: [line]}


@pytest.mark.parametrize(
    "id_",
    [
        "store.py::Tape::save",
        "store.py::Disk::__init__",
        "store.py::Disk::__secret",
        "store.py::write_block",
        "O.java::Q::best",
        "I.cs::Hid::Load",
        "v.cpp::Ring::move",
    ],
    ids=["own words", "constructor", "private name", "no method", "private", "hidden, not overridden", "not virtual"],
)
def test_a_method_that_overrides_nothing_or_has_words_gets_none(role, id_):
    assert above_of(role, id_) == {}


def test_an_overload_with_other_types_overrides_nothing(once, role):
    index = IndexCatalogue.of(load_settings({"home": once / "home"}, environ={})).open("shop")
    overloads = [id_ for id_ in index.ids if id_.startswith("O.java::Q::count")]

    assert len(overloads) == 2
    assert [above_of(role, id_) for id_ in overloads] == [{}, {}]


def test_callers_that_somebody_described_say_what_a_function_is_used_for(role):
    assert role("store.py::write_block")["used by"] == USES


def test_callers_without_a_word_of_their_own_say_nothing(role):
    assert "used by" not in role("app.py::keep")


def test_a_route_is_named_where_at_most_three_calls_lead_from_it(role):
    assert role("app.py::orders")["serves"] == ["route POST /orders"]
    assert role("app.py::note")["serves"] == ["route POST /orders"]
    assert "serves" not in role("app.py::deepest")


def test_a_tool_of_many_routes_serves_none_in_particular(role):
    assert role("app.py::route_a")["serves"] == ["route GET /a"]
    assert "serves" not in role("app.py::tool")


def test_the_test_that_is_most_about_a_function_is_named(role):
    assert role("store.py::write_block")["tested by"] == ["test_write_block"]


@pytest.mark.parametrize("id_", ["app.py::deepest", "store.py::count_faraway_blocks"], ids=["no word", "one of three"])
def test_a_test_with_less_than_half_of_the_words_is_not_named(role, id_):
    assert "tested by" not in role(id_)


def test_files_and_folders_have_no_role(role):
    assert (role("app.py"), role("tests")) == ({}, {})


def test_what_differs_in_a_work_tree_serves_what_the_tree_says(once, tmp_path):
    repo = copy_built(once, tmp_path)
    repo.write({"app.py": FILES["app.py"].replace('"/orders"', '"/sales"')})

    role = role_in(tmp_path, where=repo.path)

    assert "serves" not in role("app.py::orders")
    assert role("store.py::write_block")["used by"] == USES


@pytest.mark.parametrize("content", [None, "{", '{"commit": "0", "content_digest": "0", "names": {}}', "[]"])
def test_without_the_names_of_the_answering_version_nothing_is_served(once, tmp_path, content):
    copy_built(once, tmp_path)
    file = HomeLayout(tmp_path / "home").start_names("shop")
    file.unlink()
    if content is not None:
        file.write_text(content)

    assert "serves" not in role_in(tmp_path)("app.py::orders")


def test_the_command_and_the_tool_say_the_same(once):
    done = fork_codesum("--home", once / "home", "show", "store.py::write_block", cwd="/")
    as_json = fork_codesum("--home", once / "home", "show", "store.py::write_block", "--json", cwd="/")
    call = ToolContext(IndexCatalogue.of(load_settings({"home": once / "home"}, environ={})), Path("/"))
    text = tools_by_name()["read"].ask(call, {"ids": ["store.py::write_block"], "parts": "summary"}).text()

    assert json.loads(as_json.stdout)["role"] == {
        "used_by": USES,
        "tested_by": ["test_write_block"],
    }
    assert f"used by       {USES[0]}\n                {USES[1]}\n" in done.stdout
    assert f"    used by: {'; '.join(USES)}\n    tested by: test_write_block\n" in text


def test_hits_and_documents_for_agents_have_one_line_of_what_is_called(once):
    call = ToolContext(IndexCatalogue.of(load_settings({"home": once / "home"}, environ={})), Path("/"))
    ask = {name: tool.ask for name, tool in tools_by_name().items()}

    found = ask["search"](call, {"query": "flush_all", "levels": ["function"], "excerpt": 1}).hits[0]
    read = ask["read"](call, {"ids": ["app.py::sync_now"], "parts": "summary"}).text()

    assert "\n    calls: write_block" in found.model_copy(update={"excerpt": []}).line()
    assert "\n    calls: flush_all, write_block\n" in read


@pytest.fixture(scope="module")
def beside(once) -> Callable[[str], str]:
    call = ToolContext(IndexCatalogue.of(load_settings({"home": once / "home"}, environ={})), Path("/"))
    return lambda id_: lines_beside(call, [("shop", id_)])["shop", id_]


@pytest.mark.parametrize(
    ("id_", "line"),
    [
        ("store.py::Disk::save", "Overrides Storage.save: Stores a value for good"),
        ("app.py::keep", "Serves route POST /orders"),
        ("app.py::route_d", "Serves route GET /d"),
        ("app.py::flush_all", ""),
        ("tests/test_store.py::test_blocks", "Calls count_faraway_blocks"),
        ("store.py::count_faraway_blocks", "Called by test_blocks"),
        ("store.py", ""),
        ("app.py", ""),
        ("O.java::Q", "Defines best, count, text"),
        ("O.java", "Defines Q, P"),
        ("nowhere.py::nothing", ""),
    ],
)
def test_a_text_has_beside_it_the_role_or_what_nobody_describes_calls_or_defines(beside, id_, line):
    assert beside(id_) == line
