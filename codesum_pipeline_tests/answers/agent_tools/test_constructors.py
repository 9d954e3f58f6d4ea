"""Who calls a constructor: what creates an object of its class, or of a subclass that inherits it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline_tests.support.homes import built_once

FILES = {
    "py/plain.py": '''class Base:
    def __new__(cls):
        return object.__new__(cls)

    def __init__(self):
        self.x = 1

    def other(self):
        return self.x


class Heir(Base):
    pass


class HeirOfHeir(Heir):
    """One more."""


class Own(Base):
    def __init__(self):
        super().__init__()


def base():
    return Base()


def heir():
    return Heir()


def far():
    return HeirOfHeir()


def own():
    """Keep a thing of its own."""
    return Own()


def asked():
    return own()
''',
    "py/several.py": """from abc import ABC
from typing import Generic, TypeVar

T = TypeVar("T")


class First:
    def __init__(self):
        self.a = 1


class Second:
    def __init__(self):
        self.b = 1


class Both(First, Second):
    pass


class Outside(dict, Second):
    pass


class Typed(ABC, Generic[T, dict[str, list[T]]], Second, metaclass=type):
    pass


def both():
    return Both()


def outside():
    return Outside()


def typed():
    return Typed()
""",
    "ts/a.ts": """export class Base { x: number; constructor(x: number) { this.x = x } init() { return 1 } }
export class Heir extends Base { go() { return 1 } }
export class Own extends Base { constructor() { super(1) } }
export function heir() { return new Heir(1) }
export function own() { return new Own() }
""",
    "js/a.js": """class Shelf { constructor(x) { this.x = x } }
class Rack extends Shelf { go() { return 1 } }
function rack() { return new Rack(1) }
""",
    "java/A.java": """class Base { int x; Base(int x) { this.x = x; } }
class Heir extends Base { void go() { } }
class Own extends Base {
  Own() { super(2); }
  static Object own() { return new Own(); }
  static Object heir() { return new Heir(); }
}
class Two { Two(int a) { } Two() { } static Two two() { return new Two(); } }
""",
    "cs/a.cs": """class Lamp { public int X; public Lamp(int x) { X = x; } }
class Bulb : Lamp { public Bulb() : base(1) { } }
class Maker {
  object Light() { return new Bulb(); }
  object Other() { return new Lamp(2); }
}
""",
    "cpp/a.h": "class Pump { public: explicit Pump(int y); int x; };\n",
    "cpp/a.cpp": '#include "a.h"\nPump::Pump(int y) { x = y; }\n\nPump *pump() {\n  return new Pump(1);\n}\n',
    "php/a.php": """<?php
class Door { public function __construct($x) { $this->x = $x; } }
class Gate extends Door {}
class Hatch extends Door { public function __construct() { parent::__construct(1); } }
function gate() { return new Gate(1); }
function hatch() { return new Hatch(); }
""",
    "rb/a.rb": """class Bird
  def initialize(x)
    @x = x
  end
end
class Crow < Bird
end
class Wren < Bird
  def initialize
    super(1)
  end
end
def crow
  Crow.new(1)
end
""",
    "swift/a.swift": """class Boat { var x: Int
  init(x: Int) { self.x = x } }
class Raft: Boat {}
class Ship: Boat { init() { super.init(x: 1) } }
func raft() -> Boat { return Raft(x: 1) }
func ship() -> Boat { return Ship() }
""",
    "kt/a.kt": """open class Clock {
    constructor(y: Int) { println(y) }
}
fun clock(): Clock {
    return Clock(1)
}
""",
    "rs/a.rs": """pub struct Cache { x: i32 }
impl Cache { pub fn new(x: i32) -> Self { Cache { x } } }
fn cache() -> Cache { Cache::new(1) }
""",
    "go/a.go": """package a

type Store struct{ x int }

func NewStore(x int) *Store { return &Store{x: x} }

func use() *Store { return NewStore(1) }
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory.mktemp("constructors"), FILES)


def ask(folder: Path, here: Path, tool: str, **arguments: object) -> AnswerPage:
    catalogue = IndexCatalogue.of(load_settings({"home": folder / "home"}, environ={}))
    return tools_by_name()[tool].ask(ToolContext(catalogue, here), arguments)


@pytest.mark.parametrize(
    ("constructor", "callers"),
    [
        pytest.param(
            "py/plain.py::Base::__init__", ["base", "far", "heir", "Own::__init__"],
            id="Python: creators, those of heirs at any depth, and super()",
        ),
        pytest.param("py/plain.py::Base::__new__", ["base", "far", "heir"], id="Python: __new__ runs too"),
        pytest.param("py/plain.py::Own::__init__", ["own"], id="Python: a constructor of its own"),
        pytest.param("py/plain.py::Base::other", [], id="Python: another method is none"),
        pytest.param("py/several.py::First::__init__", ["both"], id="Python: the first base's constructor runs"),
        pytest.param(
            "py/several.py::Second::__init__", ["typed"],
            id="Python: not where another base comes first, but behind ABC and Generic",
        ),
        pytest.param("ts/a.ts::Base::constructor", ["Own::constructor", "heir"], id="TypeScript"),
        pytest.param("ts/a.ts::Base::init", [], id="TypeScript: init is a method"),
        pytest.param("js/a.js::Shelf::constructor", ["rack"], id="JavaScript"),
        pytest.param("java/A.java::Base::Base", ["Own::Own", "Own::heir"], id="Java"),
        pytest.param("cs/a.cs::Lamp::Lamp", ["Bulb::Bulb", "Maker::Other"], id="C#"),
        pytest.param("cpp/a.cpp::Pump::Pump", ["pump"], id="C++: a body in another file than its class"),
        pytest.param("php/a.php::Door::__construct", ["Hatch::__construct", "gate"], id="PHP"),
        pytest.param("rb/a.rb::Bird::initialize", ["Wren::initialize", "crow"], id="Ruby"),
        pytest.param("swift/a.swift::Boat::init", ["Ship::init", "raft"], id="Swift"),
        pytest.param("kt/a.kt::Clock::constructor", ["clock"], id="Kotlin"),
        pytest.param("rs/a.rs::Cache::new", ["cache"], id="Rust: a plain function"),
        pytest.param("go/a.go::NewStore", ["use"], id="Go: a plain function"),
    ],
)  # fmt: skip
def test_a_constructor_is_called_by_what_creates_an_object_with_it(
    folder: Path, tmp_path: Path, constructor: str, callers: Sequence[str]
) -> None:
    page = ask(folder, tmp_path, "graph", id=constructor, relations=["callers"])

    found = [row.id.partition("::")[2] for group in page.groups for row in group.rows]
    assert sorted(found) == sorted(callers)


def test_a_class_shows_who_creates_it(folder: Path, tmp_path: Path) -> None:
    page = ask(folder, tmp_path, "graph", id="py/plain.py::Heir", relations=["callers"])

    assert [row.id for group in page.groups for row in group.rows] == ["py/plain.py::heir"]


def test_depth_goes_on_from_the_creators(folder: Path, tmp_path: Path) -> None:
    page = ask(folder, tmp_path, "graph", id="py/plain.py::Own::__init__", relations=["callers"], depth=2)

    assert {row.id: row.distance for group in page.groups for row in group.rows} == {
        "py/plain.py::own": 1, "py/plain.py::asked": 2,
    }  # fmt: skip


def test_overloads_share_their_creators_and_it_is_said(folder: Path, tmp_path: Path) -> None:
    page = ask(folder, tmp_path, "graph", id="Two.Two", relations=["callers"])

    assert [row.id for group in page.groups for row in group.rows] == ["java/A.java::Two::two"]
    assert "java/A.java::Two has 2 constructors: whoever creates an object is shown at each of them" in page.notes


def test_a_reader_of_a_constructor_learns_who_creates_objects(folder: Path, tmp_path: Path) -> None:
    (item,) = ask(folder, tmp_path, "read", ids=["py/plain.py::Own::__init__"], parts="summary").items

    assert item.facts["used by"] == "own: Keep a thing of its own"
