"""Names that are used without a call in the languages whose calls follow rules, and what only looks so."""

import pytest

from codesum_pipeline_tests.graph.sources import references_of

JAVASCRIPT = {
    "b.js": "export const LIMIT = 3;\nexport function helper() {}\nexport function other() {}\nexport class Store { load() {} }",
    "a.js": """
import { helper, LIMIT, Store, other as second } from './b';
import * as b from './b';

function local() {}

const table = { local, go: helper, [LIMIT]: b.other };

export class Worker {
  constructor() { this.go = this.step.bind(this); }
  step() { document.addEventListener('click', this.step); }
  run(rows) { rows.map(helper); return rows.filter(second); }
  show() { return `${LIMIT} ${LIMIT}`; }
  check(x) { return x instanceof Store; }
  hand() { const store = new Store(); submit(store.load); }
}
function shadowed(helper) { return f(helper); }
function block() { const helper = 1; { return f(helper); } }
function keys(x) { return { helper: 1, second: x.helper }; }
function labelled() { helper: for (;;) { break helper; } }
function text() { return 'helper' /* helper */; }
""",
}
TYPESCRIPT = {
    "b.ts": "export type Id = string;\nexport interface Shape { area(): number }\nexport enum Color { Red }\nexport function helper() {}\n"
            "export const LIMIT = 3;",
    "a.ts": """
import { Shape, Id, helper, LIMIT, Color } from './b';
import type * as b from './b';

function parameter(x: Shape): void {}
function result(): Promise<Shape> { return null as any; }
function listed(x: Shape[], y: Map<string, b.Id>) {}
function asserted(x: unknown) { return x as Shape; }
function asked(): typeof helper { return null as any; }
function bounded<T extends Shape>(x: T) {}
function handed() { subscribe(helper); return Color.Red; }
class Box { item: Shape; constructor(private id: Id, readonly max = LIMIT) {} @Input(helper) name = ''; }
function generic<Shape>(x: Shape) {}
function variable(Color: number) { return Color + 1; }
function text() { return 'Shape'; }
""",
}  # fmt: skip
GO = {
    "go.mod": "module example.com/app\n",
    "app/b.go": "package app\n\nconst Limit = 3\n\nfunc helper(x int) {}\n\ntype Shape interface { Area() int }\n",
    "store/store.go": "package store\n\nvar Default = 1\n\ntype Store struct{}\n\nfunc Serve() {}\n",
    "app/a.go": """package app

import "example.com/app/store"

var table = map[string]func(int){"a": helper}

type Server struct { shape Shape; items []store.Store }

func (s *Server) show() {}
func (s *Server) routes() { http.HandleFunc("/", s.show) }
func handed() { go run(helper, store.Serve) }
func named() { f := helper; f(1) }
func constant() int { return Limit + store.Default }
func parameter(x Shape, y *store.Store) {}
func switched(x any) { switch x.(type) { case Shape: } }
func made() any { return make(map[string]Shape) }
func shadowed(helper int) { run(helper) }
func assigned() { Limit := 1; run(Limit) }
func keyed() any { return Options{helper: 1} }
func labelled() { helper: for { break helper } }
func field(x Options) any { return x.helper }
""",
}
RUST = {
    "src/lib.rs": """
mod b;
use crate::b::{helper, Store, LIMIT};

static TABLE: &[fn(u8)] = &[helper];

struct Worker { store: Option<Store> }
impl Worker {
    fn step(x: u8) {}
    fn run(&self, xs: Vec<u8>) { xs.iter().map(helper).for_each(Self::step); }
}
fn typed(x: &Store) -> Vec<Store> { todo() }
fn constant() -> usize { LIMIT }
fn module(xs: Vec<u8>) { xs.map(b::other); }
fn method(xs: Vec<Store>) { xs.map(Store::load); }
fn cast(x: u8) { let y: fn(u8) = helper; }
fn shadowed(helper: u8) { run(helper) }
fn bound() { let helper = 1; run(helper) }
fn matched(x: Option<u8>) { match x { Some(helper) => run(helper), None => {} } }
fn field(x: Other) { run(x.helper) }
fn text() -> &str { "helper" }
""",
    "src/b.rs": "pub const LIMIT: usize = 3;\npub fn helper(x: u8) {}\npub fn other(x: u8) {}\npub struct Store {}\nimpl Store { pub fn load(&self) {} }\n",
}
JAVA = {
    "p/Store.java": "package p;\npublic class Store { public static final int MAX = 1; static Store of() { return null; } enum Mode { FAST } }",
    "p/Trouble.java": "package p;\npublic class Trouble extends Exception {}",
    "p/Marker.java": "package p;\npublic @interface Marker {}",
    "q/A.java": """package q;
import p.Store;
import p.Trouble;
import p.Marker;

class A {
  Store field;
  void parameter(Store x) {}
  Store result() { return null; }
  void argument(java.util.List<Store> xs) {}
  boolean asked(Object o) { return o instanceof Store; }
  Object cast(Object o) { return (Store) o; }
  Class literal() { return Store.class; }
  int constant() { return Store.MAX; }
  void caught() { try { run(); } catch (Trouble e) { run(); } }
  void thrown() throws Trouble {}
  @Marker void marked() {}
  void called() { Store.of(); }
  void text() { run("Store"); }
  void variable() { int Store = 1; run(Store); }
  String name() { return null; }
  void named(String name) { run(name); }
}
""",
}
C = {
    "b.h": "#define LIMIT 3\nstruct ops { int (*open)(int); };\nint helper(int x);\n",
    "b.c": '#include "b.h"\nint helper(int x) { return x; }\n',
    "a.c": """
#include "b.h"

static int local(int x) { return x; }
static int other(int x) { return x; }
static const struct ops table = { .open = local };
static int (*list[])(int) = { other, &local };

void handed(void) { qsort(0, LIMIT, 1, local); }
void address(void) { signal(2, &local); }
void given(void) { int (*f)(int) = other; f(1); }
void parameter(struct ops *x) {}
int condition(int x) { return x ? LIMIT : 0; }
void shadowed(int local) { run(local); }
void declared(void) { int other; run(other); }
void member(struct ops *x) { run(x->local); }
void labelled(void) { goto local; local: return; }
void text(void) { run("local"); }
""",
}
CPP = {
    "b.hpp": "namespace ns { class Store { public: void load(); static int count; }; void helper(int x); enum class Color { Red }; }\n",
    "b.cpp": '#include "b.hpp"\nnamespace ns { void Store::load() {} void helper(int x) {} }\n',
    "a.cpp": """
#include "b.hpp"

static void local(int x) {}

void handed(std::vector<int> v) { std::for_each(v.begin(), v.end(), local); }
void address() { connect(&ns::Store::load, &ns::helper); }
void typed(const ns::Store& x) {}
std::unique_ptr<ns::Store> result() { return nullptr; }
void argument(std::vector<ns::Store> xs) {}
void cast(void* x) { auto y = static_cast<ns::Store*>(x); }
int enumerated() { return int(ns::Color::Red); }
void lambda() { auto f = [] { return local; }; }
void shadowed(int local) { run(local); }
void member(Other x) { run(x.local); }
void text() { run("local"); }
""",
}
C_SHARP = {
    "B.cs": "namespace N { public class Store { public const int Max = 1; public static void Load(int x) {} } public enum Mode { Fast } public class Trouble {} }",
    "A.cs": """
namespace N {
  public class A {
    Store field;
    Store Property { get; set; }
    void Helper(int x) {}
    static void Other(int x) {}
    void Handed(List<int> xs) { xs.ForEach(Helper); }
    void Event(Button b) { b.Click += Helper; b.Click -= this.Helper; }
    void Member(List<int> xs) { xs.ForEach(Store.Load); }
    void Delegate() { Action<int> f = Other; }
    void Table() { var t = new Dictionary<string, Action<int>> { { "a", Other } }; }
    void Parameter(Store x, List<Trouble> ys) {}
    object Asked(object o) { return o is Store ? typeof(Trouble) : null; }
    int Constant() { return Store.Max; }
    Mode Enumerated() { return Mode.Fast; }
    void Shadowed(int Helper) { Run(Helper); }
    void Named() { Run(Helper: 1); }
    void Text() { Run("Helper"); }
    void Elsewhere(Other x) { Run(x.Helper); }
  }
}
""",
}
RUBY = {
    "b.rb": "LIMIT = 3\nmodule M\n  class Store\n    MAX = 1\n    def self.load; end\n  end\n  class Trouble < StandardError; end\nend\n",
    "a.rb": """
class Worker
  before_action :check
  rescue_from M::Trouble, with: :bad
  KINDS = { store: M::Store }

  def check; end
  def bad; end
  def step(x); end
  def mapped(xs) = xs.map(&method(:step))
  def sent; send(:step); end
  def asked(x); x.is_a?(M::Store); end
  def constant; LIMIT; end
  def caught
    run
  rescue M::Trouble => e
    run(e)
  end
  def called; M::Store.load; end
  def option; run(kind: M::Store); end
  def key(x); x[:step]; end
  def symbol(x); x.map(&:step); end
  def others(x); x.method(:step); end
  def text; "step"; end
end
""",
}
PHP = {
    "b.php": "<?php\nnamespace App;\nconst LIMIT = 3;\nfunction helper($x) {}\nclass Store { const MAX = 1; public static function load($x) {} }\nclass Trouble extends \\Exception {}\ninterface Shape {}\n",
    "a.php": """<?php
namespace App;

class Worker {
    private Store $store;
    public function step($x) {}
    public function pair($xs) { array_map([$this, 'step'], $xs); }
    public function other($xs) { usort($xs, [Store::class, 'load']); }
    public function named($xs) { array_map('helper', $xs); }
    public function parameter(Shape $x): ?Store { return null; }
    public function asked($x) { return $x instanceof Store; }
    public function constant() { return Store::MAX . LIMIT; }
    public function literal() { return Store::class; }
    public function caught() { try { run(); } catch (Trouble $e) { run(); } }
    public function key($x) { return $x['step']; }
    public function text() { return 'helper'; }
    public function variable($helper) { return run($helper); }
    public function keyed() { return run(Store: 1); }
}
""",
}
KOTLIN = {
    "b.kt": "package com.app.p\nconst val LIMIT = 3\nfun helper(x: Int) = x\nclass Store { fun load() {} }\nenum class Mode { FAST }\nclass Trouble : Exception()\nannotation class Marker\n",
    "a.kt": """package com.app.q
import com.app.p.Store
import com.app.p.Mode
import com.app.p.LIMIT
import com.app.p.Trouble
import com.app.p.Marker

class Worker(val store: Store) {
    fun parameter(x: Store) {}
    fun result(): List<Store>? = null
    fun asked(x: Any) = x is Store
    fun cast(x: Any) = x as Store
    fun constant() = LIMIT + 1
    fun enumerated() = Mode.FAST
    fun caught() { try { run() } catch (e: Trouble) { run() } }
    fun literal() = Store::class
    @Marker fun marked() {}
    fun shadowed(LIMIT: Int) = run(LIMIT)
    fun text() = "Store"
    fun member(x: Other) = x.LIMIT
}
""",
}
SWIFT = {
    "Sources/App/B.swift": "let limit = 3\nfunc helper(_ x: Int) -> Int { return x }\nclass Store { func load() {}\n static func make(_ x: Int) {} }\nenum Mode { case fast }\nstruct Trouble: Error {}\nprotocol Shape {}\n",
    "Sources/App/A.swift": """
class Worker {
    var store: Store? = nil
    func step(_ x: Int) {}
    func mapped(_ xs: [Int]) { xs.map(helper) }
    func own(_ xs: [Int]) { xs.forEach(self.step) }
    func member(_ xs: [Int]) { xs.forEach(Store.make) }
    func parameter(x: Shape, y: [Store]) -> Mode? { return nil }
    func asked(_ x: Any) -> Bool { return x is Store }
    func cast(_ x: Any) { let y = x as? Store }
    func constant() -> Int { return limit }
    func enumerated() { run(Mode.fast) }
    func shadowed(helper: Int) { run(helper) }
    func labelled() { run(helper: 1) }
    func text() -> String { return "helper" }
    func elsewhere(x: Other) { run(x.helper) }
}
""",
}
SCALA = {
    "b.scala": "package p\nclass Store { def load(): Unit = () }\nobject Tools { def helper(x: Int): Int = x }\ntrait Shape\nclass Trouble extends Exception\n",
    "a.scala": """package p
import p.Tools.helper

class Worker(store: Store) {
  def step(x: Int): Int = x
  def mapped(xs: List[Int]) = xs.map(helper)
  def own(xs: List[Int]) = xs.map(this.step)
  def member(xs: List[Int]) = xs.map(Tools.helper)
  def parameter(x: Shape, ys: List[Store]): Option[Shape] = None
  def matched(x: Any) = x match { case s: Store => 1 }
  def asked(x: Any) = x.isInstanceOf[Store]
  def caught() = try { 1 } catch { case e: Trouble => 2 }
  def shadowed(helper: Int) = run(helper)
  def named() = run(helper = 1)
  def text() = "helper"
  def elsewhere(x: Other) = x.helper
}
""",
}
BASH = {
    "lib.sh": "LIMIT=3\ncleanup() { echo bye; }\nsetup() { echo hi; }\n_done() { echo; }\n",
    "a.sh": """
source ./lib.sh
trap cleanup EXIT
STEPS=(setup)
registered() { complete -F _done tool; }
exported() { export -f setup; }
looped() { for step in setup cleanup; do $step; done; }
quoted() { trap 'cleanup 1' INT; }
timed() { time setup; }
printed() { echo setup; }
passed() { git cleanup; }
text() { echo "cleanup"; }
""",
}
LUA = {
    "b.lua": "local M = {}\nfunction M.helper(x) return x end\nM.limit = 3\nreturn M\n",
    "a.lua": """
local b = require("b")
local LIMIT = 3
local function by(x) return x end
local A = { go = by }
function A.sorted(xs) table.sort(xs, by) end
function A.protected() pcall(b.helper, A.sorted) end
function A.given(x) x.handler = by end
function A.returned() return by, LIMIT end
function A.listed() return { by, b.helper } end
function A.shadowed(by) run(by) end
function A.declared() local by = 1; run(by) end
function A.keyed() return { helper = 1, by = 2 } end
function A.member(x) run(x.by) end
function A.text() return "by" end
return A
""",
}
ELIXIR = {
    "b.ex": "defmodule App.Store do\n  defstruct [:a]\n  def load(x), do: x\n  def load(x, y), do: {x, y}\nend\ndefmodule App.Trouble do\n  defexception [:message]\nend\n",
    "a.ex": """
defmodule App.Worker do
  alias App.Store
  def step(x), do: x
  def step(x, y), do: {x, y}
  def mapped(xs), do: Enum.map(xs, &step/1)
  def two(xs), do: Enum.reduce(xs, &step/2)
  def member(xs), do: Enum.each(xs, &Store.load/1)
  def listed(xs), do: [&step/1 | xs]
  def struct(), do: %Store{a: 1}
  def child(), do: [{Store, 1}]
  def caught() do
    run()
  rescue
    e in App.Trouble -> e
  end
  def variable(step), do: run(step)
  def atom(), do: :step
  def text(), do: "step"
end
""",
}
HASKELL = {
    "B.hs": "module B where\n\nhelper :: Int -> Int\nhelper x = x\n\nlimit :: Int\nlimit = 3\n\ndata Store = Store Int\n\nclass Shape a where\n  area :: a -> Int\n",
    "A.hs": """module A where

import B
import qualified B as Q

mapped :: [Int] -> [Int]
mapped xs = map helper xs

qualified' :: [Int] -> [Int]
qualified' xs = map Q.helper xs

listed :: [Int -> Int]
listed = [helper]

typed :: Store -> Maybe Store
typed x = Nothing

bounded :: Shape a => a -> Int
bounded x = 1

operand :: Int
operand = 1 + limit

shadowed :: Int -> [Int]
shadowed helper = run [helper]

matched :: Maybe Int -> [Int]
matched x = case x of { Just helper -> [helper] }

lambda :: Int
lambda = run (\\helper -> [helper])
""",
}
ZIG = {
    "b.zig": "pub const limit = 3;\npub fn helper(x: u8) void {}\npub const Store = struct { a: u8 };\n",
    "a.zig": """
const b = @import("b.zig");
const max = 3;
fn local(x: u8) void {}
const table = [_]*const fn (u8) void{ local, b.helper };
fn handed() void { run(local, &b.helper); }
fn given() void { const f = local; f(1); }
fn member() void { run(.{ .go = local }); }
fn typed(x: b.Store) ?b.Store { return null; }
fn constant() u8 { return max + b.limit; }
fn returned() *const fn (u8) void { return local; }
fn shadowed(local_: u8, limit: u8) void { run(limit); }
fn elsewhere(x: Other) void { run(x.local); }
fn text() []const u8 { return "local"; }
""",
}

# For each language, its files and what each user in them uses.
LANGUAGES = {
    "bash": (BASH, {
        "a.sh": "lib.sh::cleanup lib.sh::setup",
        "a.sh::looped": "lib.sh::cleanup lib.sh::setup",
        "a.sh::quoted": "lib.sh::cleanup",
        "a.sh::registered": "lib.sh::_done",
        "a.sh::timed": "lib.sh::setup",
    }),
    "c": (C, {
        "a.c": "a.c::local a.c::other b.h::ops",
        "a.c::address": "a.c::local",
        "a.c::condition": "b.h::LIMIT",
        "a.c::given": "a.c::other",
        "a.c::handed": "a.c::local b.h::LIMIT",
        "a.c::member": "b.h::ops",
        "a.c::parameter": "b.h::ops",
    }),
    "cpp": (CPP, {
        "a.cpp::address": "b.cpp::ns::Store::load b.cpp::ns::helper b.hpp::ns::Store",
        "a.cpp::argument": "b.hpp::ns::Store",
        "a.cpp::cast": "b.hpp::ns::Store",
        "a.cpp::enumerated": "b.hpp::ns::Color",
        "a.cpp::handed": "a.cpp::local",
        "a.cpp::lambda::f": "a.cpp::local",
        "a.cpp::result": "b.hpp::ns::Store",
        "a.cpp::typed": "b.hpp::ns::Store",
    }),
    "c_sharp": (C_SHARP, {
        "A.cs::A": "B.cs::Store",
        "A.cs::A::Asked": "B.cs::Store B.cs::Trouble",
        "A.cs::A::Constant": "B.cs::Store",
        "A.cs::A::Delegate": "A.cs::A::Other",
        "A.cs::A::Enumerated": "B.cs::Mode",
        "A.cs::A::Event": "A.cs::A::Helper",
        "A.cs::A::Handed": "A.cs::A::Helper",
        "A.cs::A::Member": "B.cs::Store B.cs::Store::Load",
        "A.cs::A::Parameter": "B.cs::Store B.cs::Trouble",
        "A.cs::A::Table": "A.cs::A::Other",
    }),
    "elixir": (ELIXIR, {
        "a.ex::App::Worker::caught": "b.ex::App::Trouble",
        "a.ex::App::Worker::child": "b.ex::App::Store",
        "a.ex::App::Worker::listed": "a.ex::App::Worker::step",
        "a.ex::App::Worker::mapped": "a.ex::App::Worker::step",
        "a.ex::App::Worker::member": "b.ex::App::Store",
        "a.ex::App::Worker::struct": "b.ex::App::Store",
        "a.ex::App::Worker::two": "a.ex::App::Worker::step#50ed32",
    }),
    "go": (GO, {
        "app/a.go": "app/b.go::helper",
        "app/a.go::Server": "app/b.go::Shape store/store.go::Store",
        "app/a.go::Server::routes": "app/a.go::Server::show",
        "app/a.go::constant": "app/b.go::Limit store/store.go::Default",
        "app/a.go::handed": "app/b.go::helper store/store.go::Serve",
        "app/a.go::made": "app/b.go::Shape",
        "app/a.go::named": "app/b.go::helper",
        "app/a.go::parameter": "app/b.go::Shape store/store.go::Store",
        "app/a.go::switched": "app/b.go::Shape",
    }),
    "haskell": (HASKELL, {
        "A.hs::bounded": "B.hs::Shape",
        "A.hs::listed": "B.hs::helper",
        "A.hs::mapped": "B.hs::helper",
        "A.hs::operand": "B.hs::limit",
        "A.hs::qualified'": "B.hs::helper",
        "A.hs::typed": "B.hs::Store",
    }),
    "java": (JAVA, {
        "q/A.java::A": "p/Store.java::Store",
        "q/A.java::A::argument": "p/Store.java::Store",
        "q/A.java::A::asked": "p/Store.java::Store",
        "q/A.java::A::called": "p/Store.java::Store",
        "q/A.java::A::cast": "p/Store.java::Store",
        "q/A.java::A::caught": "p/Trouble.java::Trouble",
        "q/A.java::A::constant": "p/Store.java::Store",
        "q/A.java::A::literal": "p/Store.java::Store",
        "q/A.java::A::marked": "p/Marker.java::Marker",
        "q/A.java::A::parameter": "p/Store.java::Store",
        "q/A.java::A::result": "p/Store.java::Store",
        "q/A.java::A::thrown": "p/Trouble.java::Trouble",
    }),
    "javascript": (JAVASCRIPT, {
        "a.js": "a.js::local b.js::LIMIT b.js::helper b.js::other",
        "a.js::Worker::check": "b.js::Store",
        "a.js::Worker::constructor": "a.js::Worker::step",
        "a.js::Worker::hand": "b.js::Store::load",
        "a.js::Worker::run": "b.js::helper b.js::other",
        "a.js::Worker::show": "b.js::LIMIT",
    }),
    "kotlin": (KOTLIN, {
        "a.kt::Worker": "b.kt::Store",
        "a.kt::Worker::asked": "b.kt::Store",
        "a.kt::Worker::cast": "b.kt::Store",
        "a.kt::Worker::caught": "b.kt::Trouble",
        "a.kt::Worker::constant": "b.kt::LIMIT",
        "a.kt::Worker::enumerated": "b.kt::Mode",
        "a.kt::Worker::literal": "b.kt::Store",
        "a.kt::Worker::marked": "b.kt::Marker",
        "a.kt::Worker::parameter": "b.kt::Store",
        "a.kt::Worker::result": "b.kt::Store",
    }),
    "lua": (LUA, {
        "a.lua": "a.lua::A",
        "a.lua::A": "a.lua::by",
        "a.lua::A::given": "a.lua::by",
        "a.lua::A::listed": "a.lua::by b.lua::M::helper",
        "a.lua::A::protected": "a.lua::A::sorted b.lua::M::helper",
        "a.lua::A::returned": "a.lua::LIMIT a.lua::by",
        "a.lua::A::sorted": "a.lua::by",
        "b.lua": "b.lua::M",
    }),
    "php": (PHP, {
        "a.php::Worker": "b.php::Store",
        "a.php::Worker::asked": "b.php::Store",
        "a.php::Worker::caught": "b.php::Trouble",
        "a.php::Worker::constant": "b.php::LIMIT b.php::Store",
        "a.php::Worker::literal": "b.php::Store",
        "a.php::Worker::named": "b.php::helper",
        "a.php::Worker::other": "b.php::Store b.php::Store::load",
        "a.php::Worker::pair": "a.php::Worker::step",
        "a.php::Worker::parameter": "b.php::Shape b.php::Store",
    }),
    "ruby": (RUBY, {
        "a.rb::Worker": "a.rb::Worker::bad a.rb::Worker::check b.rb::M::Store b.rb::M::Trouble",
        "a.rb::Worker::asked": "b.rb::M::Store",
        "a.rb::Worker::called": "b.rb::M::Store",
        "a.rb::Worker::caught": "b.rb::M::Trouble",
        "a.rb::Worker::constant": "b.rb::LIMIT",
        "a.rb::Worker::mapped": "a.rb::Worker::step",
        "a.rb::Worker::option": "b.rb::M::Store",
        "a.rb::Worker::sent": "a.rb::Worker::step",
    }),
    "rust": (RUST, {
        "src/lib.rs": "src/b.rs::helper",
        "src/lib.rs::Worker": "src/b.rs::Store",
        "src/lib.rs::Worker::run": "src/b.rs::helper src/lib.rs::Worker::step",
        "src/lib.rs::cast": "src/b.rs::helper",
        "src/lib.rs::constant": "src/b.rs::LIMIT",
        "src/lib.rs::method": "src/b.rs::Store src/b.rs::Store::load",
        "src/lib.rs::module": "src/b.rs::other",
        "src/lib.rs::typed": "src/b.rs::Store",
    }),
    "scala": (SCALA, {
        "a.scala::Worker": "b.scala::Store",
        "a.scala::Worker::asked": "b.scala::Store",
        "a.scala::Worker::caught": "b.scala::Trouble",
        "a.scala::Worker::mapped": "b.scala::Tools::helper",
        "a.scala::Worker::matched": "b.scala::Store",
        "a.scala::Worker::member": "b.scala::Tools b.scala::Tools::helper",
        "a.scala::Worker::own": "a.scala::Worker::step",
        "a.scala::Worker::parameter": "b.scala::Shape b.scala::Store",
    }),
    "swift": (SWIFT, {
        "Sources/App/A.swift::Worker": "Sources/App/B.swift::Store",
        "Sources/App/A.swift::Worker::asked": "Sources/App/B.swift::Store",
        "Sources/App/A.swift::Worker::cast": "Sources/App/B.swift::Store",
        "Sources/App/A.swift::Worker::constant": "Sources/App/B.swift::limit",
        "Sources/App/A.swift::Worker::enumerated": "Sources/App/B.swift::Mode",
        "Sources/App/A.swift::Worker::mapped": "Sources/App/B.swift::helper",
        "Sources/App/A.swift::Worker::member": "Sources/App/B.swift::Store Sources/App/B.swift::Store::make",
        "Sources/App/A.swift::Worker::own": "Sources/App/A.swift::Worker::step",
        "Sources/App/A.swift::Worker::parameter": "Sources/App/B.swift::Mode Sources/App/B.swift::Shape Sources/App/B.swift::Store",
    }),
    "typescript": (TYPESCRIPT, {
        "a.ts::Box": "b.ts::Shape b.ts::helper",
        "a.ts::Box::constructor": "b.ts::Id b.ts::LIMIT",
        "a.ts::asked": "b.ts::helper",
        "a.ts::asserted": "b.ts::Shape",
        "a.ts::bounded": "b.ts::Shape",
        "a.ts::handed": "b.ts::Color b.ts::helper",
        "a.ts::listed": "b.ts::Id b.ts::Shape",
        "a.ts::parameter": "b.ts::Shape",
        "a.ts::result": "b.ts::Shape",
    }),
    "zig": (ZIG, {
        "a.zig": "a.zig::local b.zig::helper",
        "a.zig::constant": "a.zig::max b.zig::limit",
        "a.zig::given": "a.zig::local",
        "a.zig::handed": "a.zig::local b.zig::helper",
        "a.zig::member": "a.zig::local",
        "a.zig::returned": "a.zig::local",
        "a.zig::typed": "b.zig::Store",
    }),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_used_has_its_user_and_what_only_looks_so_has_none(language: str) -> None:
    sources, users = LANGUAGES[language]

    assert references_of(sources) == {(user, used) for user, all_used in users.items() for used in all_used.split()}
