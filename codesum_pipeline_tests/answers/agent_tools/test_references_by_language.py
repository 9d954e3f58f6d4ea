"""In every deep language: who uses a function that is handed over, a type and a constant; and who does not.

A method reference of Java and Kotlin, `A::trim`, is a call.
"""

from collections.abc import Callable, Mapping

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline_tests.support.homes import built_once

FILES: Mapping[str, str] = {
    "py/a.py": """def handler(event):
    return event


def install(server):
    server.on("save", handler)


def shadowed(handler):
    return handler
""",
    "js/a.js": """function handler(event) { return event }
function install(button) { button.addEventListener('click', handler) }
function rows(all) { return all.map(handler) }
function shadowed(handler) { return [handler] }
module.exports = { install, rows, shadowed }
""",
    "ts/a.ts": """export interface Shape { area(): number }
export const LIMIT = 3
export function weigh(row: Shape) { return row.area() }
export function order(rows: Shape[]) { return rows.map(weigh) }
export function bound(rows: number[]) { return rows.slice(LIMIT) }
export function other(weigh: number) { return { weigh: weigh } }
""",
    "go/a.go": """package a

import "net/http"

const Limit = 3

func serve(w http.ResponseWriter, r *http.Request) {}

func Install() { http.HandleFunc("/", serve) }

func bound(rows []int) []int { return rows[:Limit] }

func other(serve int) int { return serve }
""",
    "java/A.java": """import java.util.List;
class A {
  static final int LIMIT = 3;
  static String trim(String s) { return s; }
  static Object all(List<String> rows) { return rows.stream().map(A::trim).toList(); }
  static int bound() { return LIMIT; }
  static int other(int trim) { return trim; }
}
""",
    "kt/a.kt": """fun isOdd(x: Int): Boolean {
    return x % 2 == 1
}
fun odd(rows: List<Int>): List<Int> {
    return rows.filter(::isOdd)
}
fun other(isOdd: Int): Int {
    return isOdd
}
""",
    "scala/a.scala": """object Tools {
  def twice(x: Int): Int = { x * 2 }
  def all(rows: List[Int]): List[Int] = { rows.map(twice) }
  def other(twice: Int): Int = { twice }
}
""",
    "rs/a.rs": """pub const LIMIT: usize = 3;
fn weigh(x: &u8) -> u8 { *x }
fn all(rows: &[u8]) -> Vec<u8> { rows.iter().map(weigh).collect() }
fn bound(rows: &[u8]) -> usize { rows.len().min(LIMIT) }
fn other(weigh: u8) -> u8 { weigh }
""",
    "c/a.c": """static int compare(const void *a, const void *b) { return a > b; }
void sort_all(int *rows, int count) { qsort(rows, count, sizeof(int), compare); }
int other(int compare) { return compare; }
""",
    "cpp/a.cpp": """struct Row { int weight; };
static bool lighter(const Row &a, const Row &b) { return a.weight < b.weight; }
void sort_all(Row *rows, int count) { sort(rows, rows + count, lighter); }
int other(int lighter) { return lighter; }
""",
    "cs/a.cs": """using System.Linq;
class Tools {
  static int Twice(int x) { return x * 2; }
  static object All(int[] rows) { return rows.Select(Twice); }
  static int Other(int Twice) { return Twice; }
}
""",
    "php/a.php": """<?php
class Handlers {
  public function save($x) { return $x; }
  public function install($server) { $server->on('save', [$this, 'save']); }
  public function other($save) { return $save; }
}
""",
    "rb/a.rb": """class Reader
  def parse(line)
    line.strip
  end
  def all(lines)
    lines.map(&method(:parse))
  end
  def other(parse)
    parse
  end
end
""",
    "swift/a.swift": """func double(x: Int) -> Int { return x * 2 }
func all(rows: [Int]) -> [Int] { return rows.map(double) }
func other(double: Int) -> Int { return double }
""",
    "lua/a.lua": """local function weigh(row)
  return row[1]
end
local function all(rows)
  table.sort(rows, weigh)
end
local function other(weigh)
  return weigh
end
return { all = all, other = other }
""",
    "ex/a.ex": """defmodule Reader do
  def parse(line), do: line
  def all(lines), do: Enum.map(lines, &parse/1)
  def other(parse), do: parse
end
""",
    "hs/A.hs": """module A where

weigh :: Int -> Int
weigh x = x + 1

allRows :: [Int] -> [Int]
allRows rows = map weigh rows

other :: Int -> Int
other weigh = weigh
""",
    "zig/a.zig": """fn lighter(a: u8, b: u8) bool {
    return a < b;
}
pub fn sortAll(rows: []u8) void {
    sort(rows, lighter);
}
fn other(lighter_: u8) u8 {
    return lighter_;
}
""",
    "sh/a.sh": """cleanup() {
  rm -f "$1"
}
install() {
  trap cleanup EXIT
}
""",
}


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    folder = built_once(tmp_path_factory.mktemp("languages"), FILES)
    catalogue = IndexCatalogue.of(load_settings({"home": folder / "home"}, environ={}))

    def found(id_: str) -> list[str]:
        page = tools_by_name()["graph"].ask(
            ToolContext(catalogue, folder), {"id": id_, "relations": ["callers", "referenced_by"]}
        )
        return sorted({row.id.partition("::")[2] for group in page.groups for row in group.rows})

    return found


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        pytest.param("py/a.py::handler", ["install"], id="Python"),
        pytest.param("js/a.js::handler", ["install", "rows"], id="JavaScript"),
        pytest.param("ts/a.ts::weigh", ["order"], id="TypeScript"),
        pytest.param("ts/a.ts::Shape", ["order", "weigh"], id="TypeScript: a type"),
        pytest.param("ts/a.ts::LIMIT", ["bound"], id="TypeScript: a constant"),
        pytest.param("go/a.go::serve", ["Install"], id="Go"),
        pytest.param("go/a.go::Limit", ["bound"], id="Go: a constant"),
        pytest.param("java/A.java::A::trim", ["A::all"], id="Java"),
        pytest.param("kt/a.kt::isOdd", ["odd"], id="Kotlin"),
        pytest.param("scala/a.scala::Tools::twice", ["Tools::all"], id="Scala"),
        pytest.param("rs/a.rs::weigh", ["all"], id="Rust"),
        pytest.param("rs/a.rs::LIMIT", ["bound"], id="Rust: a constant"),
        pytest.param("c/a.c::compare", ["sort_all"], id="C"),
        pytest.param("cpp/a.cpp::lighter", ["sort_all"], id="C++"),
        pytest.param("cpp/a.cpp::Row", ["lighter", "sort_all"], id="C++: a type"),
        pytest.param("cs/a.cs::Tools::Twice", ["Tools::All"], id="C#"),
        pytest.param("php/a.php::Handlers::save", ["Handlers::install"], id="PHP"),
        pytest.param("rb/a.rb::Reader::parse", ["Reader::all"], id="Ruby"),
        pytest.param("swift/a.swift::double", ["all"], id="Swift"),
        pytest.param("lua/a.lua::weigh", ["all"], id="Lua"),
        pytest.param("ex/a.ex::Reader::parse", ["Reader::all"], id="Elixir"),
        pytest.param("hs/A.hs::weigh", ["allRows"], id="Haskell"),
        pytest.param("zig/a.zig::lighter", ["sortAll"], id="Zig"),
        pytest.param("sh/a.sh::cleanup", ["install"], id="Bash"),
    ],
)
def test_who_hands_something_over_uses_it_and_a_parameter_of_that_name_does_not(
    users: Callable[[str], list[str]], used: str, expected: list[str]
) -> None:
    assert users(used) == expected
