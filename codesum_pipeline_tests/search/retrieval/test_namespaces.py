"""What only nests is part of names, and no hit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.tables import tables_of
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.version_folder import LANES
from codesum_pipeline.indexes.publishing.namespaces import find_namespaces
from codesum_pipeline.search.overviews.overview_inputs import RepositoryView
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline.search.retrieval.shelf import parse_filters
from codesum_pipeline_tests.support.homes import built_once, open_home

# By language: a source that opens `Tollway` or `Tollway::Booth` only to nest the class `Barrier`.
NESTING = {
    "ruby/tollway/booth/barrier.rb": """\
module Tollway
  module Booth
    # Lifts the boom for a paid car.
    class Barrier
      def lift(car)
        raise "unpaid" unless car.paid?
        @boom.raise_up
      end
    end
  end
end
""",
    "elixir/tollway.ex": """\
defmodule Tollway do
  @moduledoc false
  alias Some.Other

  defmodule Barrier do
    @moduledoc "Lifts the boom for a paid car."
    def lift(car), do: Motor.up(car)
  end
end
""",
    "scala/Tolls.scala": """\
package roads

object Tollway {
  class Barrier {
    def lift(car: Car): Unit = motor.up(car)
  }
}
""",
    "kotlin/Tolls.kt": """\
package roads

object Tollway {
    class Barrier {
        fun lift(car: Car) {
            motor.up(car)
        }
    }
}
""",
    "java/Tollway.java": """\
package roads;

public final class Tollway {
    public static class Barrier {
        void lift(Car car) {
            motor.up(car);
        }
    }
}
""",
    "csharp/Tolls.cs": """\
namespace Roads
{
    public static partial class Tollway
    {
        public class Barrier
        {
            public void Lift(Car car)
            {
                motor.Up(car);
            }
        }
    }
}
""",
    "swift/Tolls.swift": """\
enum Tollway {
    struct Barrier {
        func lift(car: Car) {
            motor.up(car)
        }
    }
}
""",
    "zig/tolls.zig": """\
pub const Tollway = struct {
    pub const Barrier = struct {
        pub fn lift(car: Car) void {
            motor.up(car);
        }
    };
};
""",
    "python/tolls.py": """\
class Tollway:
    class Barrier:
        def lift(self, car):
            self.motor.up(car)
""",
    "lua/tolls.lua": """\
local Tollway = {}
Tollway.Barrier = {}

function Tollway.Barrier:lift(car)
  self.motor:up(car)
end

return Tollway
""",
}
# By language, where a namespace is no class.
WITH_SYNTAX = {
    "cpp/tolls.cpp": "namespace Turnpike { namespace inner { class Gate { public: void lift() {} }; } }\n",
    "php/tolls.php": "<?php\nnamespace Turnpike\\Inner;\nclass Gate { function lift() { return 1; } }\n",
    "rust/tolls.rs": "mod turnpike { pub mod inner { pub struct Gate { up: bool } } }\n",
    "ts/tolls.ts": "export namespace Turnpike { export class Gate { lift() { return 1; } } }\n",
    "csharp/Pike.cs": "namespace Turnpike.Inner;\n\npublic class Gate\n{\n    public void Lift() { up = 1; }\n}\n",
}
# Classes that hold classes, and are something themselves.
ANSWERS = {
    "ruby/documented.rb": "# Prices of all roads.\nmodule Priced\n  class Price\n    def of(car); 1; end\n  end\nend\n",
    "ruby/doing.rb": "module Doing\n  def self.go; 1; end\n  class Thing\n    def x; 1; end\n  end\nend\n",
    "ruby/constants.rb": "module Constants\n  LIMIT = 3\n  class Thing2\n    def x; 1; end\n  end\nend\n",
    "ruby/mixing.rb": "module Mixing\n  include Other\n  class Thing3\n    def x; 1; end\n  end\nend\n",
    "kotlin/Sealed.kt": "sealed class Verdict {\n    class Yes(val x: Int) : Verdict()\n    object No : Verdict()\n}\n",
    "kotlin/Made.kt": "class Made(size: Int) {\n    class Part {\n        fun x() = 1\n    }\n}\n",
    "java/Expr.java": "class Expr {\n    static class Num extends Expr {}\n    static class Add extends Expr {}\n}\n",
    "scala/Shape.scala": "trait Shape {\n  type Unit2 = Int\n  class Round {\n    def r = 1\n  }\n}\n",
    "cpp/traits.cpp": "template <class T> struct Traits {\n  using type = T;\n  struct Slot { int x; };\n};\n",
    "python/meta.py": "class Model(Base):\n    class Meta:\n        ordering = 1\n",
    "elixir/typed.ex": "defmodule Typed do\n  @type t :: integer\n  defmodule Deep do\n    def z, do: 1\n  end\nend\n",
}
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory.mktemp("nesting"), NESTING | WITH_SYNTAX | ANSWERS, key="roads") / "home"


@pytest.fixture(scope="module")
def roads(home: Path) -> PublishedIndex:
    return PublishedIndex.open(open_home(home).layout.published("roads"))


@pytest.fixture
def ask(home: Path, tmp_path: Path) -> Ask:
    catalogue = IndexCatalogue.of(open_home(home).settings)
    return lambda tool, /, **given: tools_by_name()[tool].ask(ToolContext(catalogue, tmp_path), given)


def namespaces(index: PublishedIndex) -> list[str]:
    return [index.ids[row] for row in np.flatnonzero(index.arrays["is_namespace"]).tolist()]


def nested_ids() -> list[str]:
    own = [f"{path}::Tollway" for path in NESTING]
    return sorted([*own, "ruby/tollway/booth/barrier.rb::Tollway::Booth"])


def test_what_only_nests_is_a_namespace_in_every_language(roads: PublishedIndex) -> None:
    assert sorted(namespaces(roads)) == nested_ids()


def test_a_syntax_for_namespaces_makes_no_document_at_all(roads: PublishedIndex) -> None:
    assert {id_.rpartition("::")[2] for id_ in roads.ids if id_.startswith(tuple(WITH_SYNTAX)) and "::" in id_} <= {
        *("Gate", "lift", "Lift"),
    }


def test_the_documents_stay_with_their_members_ids_and_parents(home: Path, roads: PublishedIndex) -> None:
    path = "ruby/tollway/booth/barrier.rb"
    documents = tables_of(HomeLayout(home)).read("documents", "roads", columns=["id", "parent_id"]).to_pylist()

    assert {row["id"]: row["parent_id"] for row in documents if row["id"].startswith(f"{path}::")} == {
        f"{path}::Tollway": path,
        f"{path}::Tollway::Booth": f"{path}::Tollway",
        f"{path}::Tollway::Booth::Barrier": f"{path}::Tollway::Booth",
        f"{path}::Tollway::Booth::Barrier::lift": f"{path}::Tollway::Booth::Barrier",
    }
    assert roads.row(f"{path}::Tollway") is not None


@pytest.mark.parametrize(
    "query", ["Tollway", "Tollway::Booth", "tollway booth", "lift the boom for a paid car", "motor up"]
)
@pytest.mark.parametrize("levels", [(Level.FUNCTION, Level.CLASS), tuple(Level)], ids=["symbols", "all"])
def test_no_search_finds_a_namespace(
    roads: PublishedIndex, embedder: Embedder, query: str, levels: tuple[Level, ...]
) -> None:
    hits = search_indexes([roads], query, embedder=embedder, levels=levels, top=50)
    only_source = search_indexes(
        [roads], query, embedder=embedder, levels=levels, top=50, filters=parse_filters(paths=["ruby/", "java/"])
    )

    assert not {hit.id for hit in [*hits, *only_source]} & {*nested_ids()}
    assert "ruby/tollway/booth/barrier.rb::Tollway::Booth::Barrier" in {hit.id for hit in hits} or "motor" in query


@pytest.mark.parametrize("lane", LANES)
def test_no_lane_alone_finds_a_namespace(roads: PublishedIndex, embedder: Embedder, lane: str) -> None:
    hits = search_indexes([roads], "Tollway", embedder=embedder, lanes=[lane], top=50)

    assert hits
    assert not {hit.id for hit in hits} & {*nested_ids()}


def test_the_name_of_a_namespace_leads_to_the_file_or_folder_called_so(
    roads: PublishedIndex, embedder: Embedder
) -> None:
    hits = search_indexes([roads], "Tollway", embedder=embedder)

    assert hits[0].id in ("elixir/tollway.ex", "java/Tollway.java", "ruby/tollway")


def test_the_name_of_a_namespace_whose_file_is_called_otherwise_leads_to_that_file(
    tmp_path: Path, embedder: Embedder
) -> None:
    once = built_once(tmp_path, {name: NESTING[name] for name in ("swift/Tolls.swift", "zig/tolls.zig")}, key="roads")
    index = PublishedIndex.open(open_home(once / "home").layout.published("roads"))

    assert {hit.id for hit in search_indexes([index], "Tollway", embedder=embedder)[:2]} == {
        "swift/Tolls.swift",
        "zig/tolls.zig",
    }


def test_what_holds_classes_and_is_something_itself_is_found(roads: PublishedIndex, embedder: Embedder) -> None:
    names = ["Priced", "Doing", "Constants", "Mixing", "Verdict", "Made", "Expr", "Shape", "Traits", "Model", "Typed"]
    first = {name: search_indexes([roads], name, embedder=embedder, levels=[Level.CLASS], top=1) for name in names}

    assert {name: hits[0].qualified_name for name, hits in first.items()} == {name: name for name in names}


def test_agents_find_no_namespace_by_name_and_can_read_one_by_its_id(ask: Ask) -> None:
    found = ask("search_symbols", name="Tollway").hits
    read = ask("read", ids=["ruby/tollway/booth/barrier.rb::Tollway"])

    assert found
    assert not {hit.id for hit in found} & {*nested_ids()}
    assert "Tollway" in read.text()


def test_a_line_in_a_namespace_means_its_file(ask: Ask, roads: PublishedIndex, embedder: Embedder) -> None:
    hits = search_indexes([roads], "ruby/tollway/booth/barrier.rb:1", embedder=embedder)

    assert hits[0].id == "ruby/tollway/booth/barrier.rb"
    assert "Tollway::Booth" not in ask("read", ids=["ruby/tollway/booth/barrier.rb:2"]).text().splitlines()[1]


def test_an_overview_lists_no_namespace(home: Path, ask: Ask) -> None:
    ws = open_home(home).workspace("roads", run_id="view")
    documents = RepositoryView.of(ws, (), find_namespaces(ws.tables, ws.key)).documents

    assert not {*documents} & {*nested_ids()}
    assert "ruby/tollway/booth/barrier.rb::Tollway::Booth::Barrier" in documents
    assert "Tollway::Booth" not in ask("overview").text().replace("Tollway::Booth::", "")


def test_a_class_in_prose_that_the_filters_leave_out_does_not_bring_its_file(
    roads: PublishedIndex, embedder: Embedder
) -> None:
    hits = search_indexes(
        [roads],
        "how is a ThingTwo or Barrier lifted",
        embedder=embedder,
        filters=parse_filters(paths=["java/"]),
        top=50,
    )

    assert {hit.file_path.partition("/")[0] for hit in hits} == {"java"}


def test_a_namespace_without_symbols_tables_is_none(tmp_path: Path) -> None:
    assert find_namespaces(tables_of(HomeLayout(tmp_path)), "roads") == frozenset()
