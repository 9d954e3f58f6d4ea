"""Small repositories of each family: all edges between their files."""

import pytest

from codesum_pipeline_tests.graph.sources import Edges, bases_of, calls_of, external_calls_of, imports_of

GO = {
    "go.mod": "module example.com/app\n",
    "store/store.go": (
        'package store\n\nimport "fmt"\n\n'
        "type Store struct {\n\trepo *Repo\n\tBase\n}\n\ntype Base struct{}\n\nfunc (b *Base) Close() {}\n\n"
        "type Finder interface {\n\tFind(id string) *Item\n}\n\ntype Item struct{}\n\n"
        'func (i *Item) Show() { fmt.Println("x") }\n\n'
        "func New(r *Repo) *Store { return &Store{repo: r} }\n\n"
        "func (s *Store) Get(id string) *Item {\n\thelper()\n\ts.Close()\n\treturn s.repo.Find(id)\n}\n"
    ),
    "store/repo.go": (
        "package store\n\ntype Repo struct{}\n\n"
        "func (r *Repo) Find(id string) *Item { return nil }\n\nfunc helper() {}\n"
    ),
    "main.go": (
        'package main\n\nimport (\n\t"example.com/app/store"\n\n\t"github.com/x/log"\n)\n\n'
        'func run(f store.Finder) {\n\ts := store.New(nil)\n\ts.Get("a").Show()\n\tf.Find("x")\n\tlog.Info(s)\n}\n'
    ),
}
GO_CALLS = {
    ("main.go::run", "store/store.go::New"): "ast:import",
    ("main.go::run", "store/store.go::Store::Get"): "ast:inferred-return",
    ("main.go::run", "store/store.go::Item::Show"): "ast:inferred-return",
    ("main.go::run", "store/store.go::Finder::Find"): "ast:annotation",
    ("store/store.go::Store::Get", "store/repo.go::helper"): "ast:package",
    ("store/store.go::Store::Get", "store/store.go::Base::Close"): "ast:annotation",
    ("store/store.go::Store::Get", "store/repo.go::Repo::Find"): "ast:annotation",
}

TYPESCRIPT = {
    "package.json": '{"name": "root", "workspaces": ["packages/*"]}',
    "packages/a/package.json": '{"name": "@x/a", "main": "dist/index.js"}',
    "packages/a/src/index.ts": (
        "export { Foo } from './foo.js';\nexport * from './bar';\nimport * as self from './index';\n"
    ),
    "packages/a/src/foo.ts": (
        "import Base from '../../b/src/base';\n"
        "export class Foo extends Base {\n  constructor(private r: Repo) { super(); }\n"
        "  go(): Repo { this.r.find(); this.up(); return this.r }\n}\n"
        "export class Repo { find() {} }\n"
    ),
    "packages/a/src/bar.ts": "export * from './index';\nexport const bar = (x: number) => x;\n",
    "packages/b/src/base.ts": "export default class Base { up() {} }\n",
    "packages/b/src/main.ts": (
        "import { Foo, bar as b, Missing } from '@x/a';\nimport * as ns from '@x/a';\n"
        "import react, { useState } from 'react';\n"
        "function go(f: () => void) {\n  const x = new Foo();\n  x.go().find();\n  b(1);\n  ns.bar(2);\n"
        "  useState();\n  Missing();\n  f();\n  console.log(1);\n  react.memo();\n}\nfunction f() {}\n"
    ),
    "tsconfig.json": (
        '{ // where modules are\n "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["packages/a/src/*",],}}}'
    ),
    "packages/c/x.tsx": (
        "import { bar } from '@/bar';\nexport function X() { return <Y a={bar(1)} /> }\nfunction Y() {}\n"
    ),
}
TYPESCRIPT_CALLS = {
    ("packages/a/src/foo.ts::Foo::constructor", "packages/b/src/base.ts::Base"): "ast:super",
    ("packages/a/src/foo.ts::Foo::go", "packages/a/src/foo.ts::Repo::find"): "ast:annotation",
    ("packages/a/src/foo.ts::Foo::go", "packages/b/src/base.ts::Base::up"): "ast:self",
    ("packages/b/src/main.ts::go", "packages/a/src/bar.ts::bar"): "ast:import",
    ("packages/b/src/main.ts::go", "packages/a/src/foo.ts::Foo"): "ast:import",
    ("packages/b/src/main.ts::go", "packages/a/src/foo.ts::Foo::go"): "ast:annotation",
    ("packages/b/src/main.ts::go", "packages/a/src/foo.ts::Repo::find"): "ast:inferred-return",
    ("packages/c/x.tsx::X", "packages/a/src/bar.ts::bar"): "ast:import",
    ("packages/c/x.tsx::X", "packages/c/x.tsx::Y"): "ast:same-file",
}

JVM = {
    "src/com/x/A.java": (
        "package com.x;\nimport com.x.sub.B;\nimport static com.x.sub.B.util;\nimport java.util.List;\n"
        "public class A extends Base implements I {\n  private B b;\n  private Optional<B> ob;\n"
        "  A() { super(1); }\n"
        "  void go(List<B> bs) {\n    b.run();\n    ob.get().run();\n    util();\n    inherited();\n"
        "    new B().run();\n"
        "    bs.get(0).run();\n    this.go(null);\n    over(1);\n    over(1, 2);\n    List.of();\n    ext.foo();\n  }\n"
        "  void over(int a) {}\n  void over(int a, int b) {}\n"
        "  static class In { void q() { go(null); new A(); } }\n}\n"
    ),
    "src/com/x/Base.java": "package com.x;\nclass Base { void inherited() {} }\ninterface I { void go(); }\n",
    "src/com/x/sub/B.java": (
        "package com.x.sub;\npublic class B { public void run() {} public static void util() {} }\n"
    ),
    "src/S.scala": (
        "package com.x\n\nimport com.x.sub.B\n\nclass Store(b: B) extends Base {\n"
        "  def go(): Unit = { inherited(); new B().run(); Store.make() }\n}\n\n"
        "object Store { def make(): Store = new Store(new B) }\n"
    ),
}
JVM_CALLS = {
    ("src/com/x/A.java::A::A", "src/com/x/Base.java::Base"): "ast:super",
    ("src/com/x/A.java::A::In::q", "src/com/x/A.java::A::go"): "ast:same-file",
    ("src/com/x/A.java::A::In::q", "src/com/x/A.java::A"): "ast:same-file",
    ("src/com/x/A.java::A::go", "src/com/x/A.java::A::go"): "ast:self",
    ("src/com/x/A.java::A::go", "src/com/x/A.java::A::over"): "ast:self",
    ("src/com/x/A.java::A::go", "src/com/x/A.java::A::over#c94681"): "ast:self",
    ("src/com/x/A.java::A::go", "src/com/x/Base.java::Base::inherited"): "ast:self",
    ("src/com/x/A.java::A::go", "src/com/x/sub/B.java::B"): "ast:import",
    ("src/com/x/A.java::A::go", "src/com/x/sub/B.java::B::run"): "ast:constructor-type",
    ("src/com/x/A.java::A::go", "src/com/x/sub/B.java::B::util"): "ast:import",
    ("src/S.scala::Store::go", "src/com/x/Base.java::Base::inherited"): "ast:self",
    ("src/S.scala::Store::go", "src/com/x/sub/B.java::B"): "ast:import",
    ("src/S.scala::Store::go", "src/com/x/sub/B.java::B::run"): "ast:constructor-type",
    ("src/S.scala::Store::go", "src/S.scala::Store::make"): "ast:same-file",
    ("src/S.scala::Store::make", "src/S.scala::Store"): "ast:same-file",
    ("src/S.scala::Store::make", "src/com/x/sub/B.java::B"): "ast:import",
}

RUST = {
    "Cargo.toml": "[workspace]\nmembers = ['a', 'b']\n",
    "a/Cargo.toml": "[package]\nname = 'my-a'\n",
    "b/Cargo.toml": "[package]\nname = 'b'\n[dependencies]\nmy-a = {path = '../a'}\nserde = '1'\n",
    "a/src/lib.rs": (
        "pub mod net;\nmod util;\npub use net::open;\npub use util::Helper as H;\npub trait Draw { fn draw(&self); }\n"
    ),
    "a/src/net.rs": (
        "use crate::util::Helper;\npub fn open() -> Conn { let h = Helper::new(); h.help(); Conn { h } }\n"
        "pub struct Conn { h: Helper }\n"
        "impl Conn { pub fn send(&self) { self.h.help(); Self::make(); inner::deep(); } fn make() {} }\n"
        "mod inner { pub fn deep() { super::open(); new(); } }\n"
    ),
    "a/src/util.rs": (
        "pub struct Helper;\nimpl Helper { pub fn new() -> Self { Helper } pub fn help(&self) {} }\n"
        "#[cfg(test)] mod tests { use super::*; #[test] fn t() { Helper::new().help(); } }\n"
    ),
    "b/src/main.rs": (
        "use my_a::{open, H, Draw};\nmod cli;\n"
        "fn main() { let c = open(); c.send(); let h = H::new(); h.help(); my_a::net::open().send(); cli::run(); "
        "serde::x(); }\n"
        "fn d(x: &dyn Draw, v: Vec<H>) { x.draw(); v[0].help(); v.first().unwrap().help(); }\n"
    ),
    "b/src/cli/mod.rs": 'pub fn run() { crate::d(1); println!("x"); std::mem::swap(1, 2) }\n',
}
RUST_CALLS = {
    ("a/src/net.rs::Conn::send", "a/src/net.rs::Conn::make"): "ast:self",
    ("a/src/net.rs::Conn::send", "a/src/net.rs::inner::deep"): "ast:same-file",
    ("a/src/net.rs::Conn::send", "a/src/util.rs::Helper::help"): "ast:annotation",
    ("a/src/net.rs::inner::deep", "a/src/net.rs::open"): "ast:same-file",
    ("a/src/net.rs::open", "a/src/net.rs::Conn"): "ast:same-file",
    ("a/src/net.rs::open", "a/src/util.rs::Helper::help"): "ast:annotation",
    ("a/src/net.rs::open", "a/src/util.rs::Helper::new"): "ast:import",
    ("a/src/util.rs::tests::t", "a/src/util.rs::Helper::help"): "ast:inferred-return",
    ("a/src/util.rs::tests::t", "a/src/util.rs::Helper::new"): "ast:same-file",
    ("b/src/cli/mod.rs::run", "b/src/main.rs::d"): "ast:import",
    ("b/src/main.rs::d", "a/src/lib.rs::Draw::draw"): "ast:annotation",
    ("b/src/main.rs::d", "a/src/util.rs::Helper::help"): "ast:annotation",
    ("b/src/main.rs::main", "a/src/net.rs::Conn::send"): "ast:inferred-return",
    ("b/src/main.rs::main", "a/src/net.rs::open"): "ast:import",
    ("b/src/main.rs::main", "a/src/util.rs::Helper::help"): "ast:annotation",
    ("b/src/main.rs::main", "a/src/util.rs::Helper::new"): "ast:import",
    ("b/src/main.rs::main", "b/src/cli/mod.rs::run"): "ast:import",
}

C = {
    "src/main.c": (
        '#include <stdio.h>\n#include "util.h"\nstatic int own(void) { return 1; }\n'
        'int main(void) { own(); shown(); linked(); twice(); printf("x"); read_it(1); return 0; }\n'
    ),
    "src/util.h": "int shown(void);\nstatic inline int quick(void) { return 1; }\n",
    "src/util.c": (
        '#include "util.h"\nint shown(void) { return quick(); }\nstatic int own(void) { return 2; }\n'
        "int twice(void) { return own(); }\n"
    ),
    "src/other.c": "int linked(void) { return 1; }\n",
    "tools/t.c": (
        "int twice(void) { return 1; }\nstatic int read_it(int x) { return x; }\nint main(void) { return twice(); }\n"
    ),
}
C_CALLS = {
    ("src/main.c::main", "src/main.c::own"): "ast:same-file",
    ("src/main.c::main", "src/other.c::linked"): "ast:link",
    ("src/main.c::main", "src/util.c::shown"): "ast:include",
    ("src/main.c::main", "src/util.c::twice"): "ast:include",
    ("src/util.c::shown", "src/util.h::quick"): "ast:include",
    ("src/util.c::twice", "src/util.c::own"): "ast:same-file",
    ("tools/t.c::main", "tools/t.c::twice"): "ast:same-file",
}

C_SHARP = {
    "A.cs": (
        "using System;\nusing Shop.Data;\nusing static Shop.Util.Maths;\nusing R = Shop.Data.Repo;\n"
        "namespace Shop.Web\n{\n  public partial class Page : Base, IPage\n  {\n    private readonly Repo _repo;\n"
        "    R other;\n    public Page(Repo repo) : base(repo) { _repo = repo; }\n"
        "    public void Go(Item item)\n    {\n      _repo.Save(item);\n      other.Save(item);\n      Add(1, 2);\n"
        "      Inherited();\n      this.Other();\n      var x = new Repo();\n      x.Save(item);\n"
        '      Console.WriteLine("x");\n'
        "      Repo.Make().Save(item);\n    }\n  }\n}\n"
    ),
    "B.cs": (
        "namespace Shop.Web\n{\n  public partial class Page { void Other() { Go(null); } }\n"
        "  public class Base { public Base(Shop.Data.Repo r) {} protected void Inherited() {} }\n"
        "  interface IPage { void Go(Shop.Data.Item i); }\n}\n"
    ),
    "C.cs": (
        "namespace Shop.Data;\npublic class Repo { public void Save(Item i) {} "
        "public static Repo Make() { return new Repo(); } }\npublic class Item {}\n"
    ),
    "D.cs": "namespace Shop.Util;\npublic static class Maths { public static int Add(int a, int b) => a; }\n",
}
C_SHARP_CALLS = {
    ("A.cs::Page::Go", "B.cs::Base::Inherited"): "ast:self",
    ("A.cs::Page::Go", "B.cs::Page::Other"): "ast:self",
    ("A.cs::Page::Go", "C.cs::Repo"): "ast:import",
    ("A.cs::Page::Go", "C.cs::Repo::Make"): "ast:import",
    ("A.cs::Page::Go", "C.cs::Repo::Save"): "ast:annotation",
    ("A.cs::Page::Go", "D.cs::Maths::Add"): "ast:import",
    ("A.cs::Page::Page", "B.cs::Base"): "ast:super",
    ("B.cs::Page::Other", "A.cs::Page::Go"): "ast:self",
    ("C.cs::Repo::Make", "C.cs::Repo"): "ast:same-file",
}

PHP = {
    "src/Page.php": (
        "<?php\nnamespace Shop\\Web;\nuse Shop\\Data\\Repo;\nuse Shop\\Data\\{Item, Other as O};\n"
        "use function Shop\\Util\\add;\nuse Symfony\\Component\\Request;\n"
        "class Page extends Base implements Shown\n{\n    private Repo $repo;\n"
        "    public function __construct(Repo $repo) { parent::__construct($repo); $this->repo = $repo; }\n"
        "    public function go(Item $item): Item\n    {\n        $this->repo->save($item);\n        add(1);\n"
        "        self::make();\n        $x = new O();\n        $x->run();\n        $this->inherited();\n"
        '        strlen("x");\n        new Request();\n        helper();\n        return $item;\n    }\n'
        "    static function make() {}\n}\n"
    ),
    "src/Base.php": (
        "<?php\nnamespace Shop\\Web;\nclass Base { public function __construct($r) {} function inherited() {} }\n"
        "interface Shown {}\nfunction helper() {}\n"
    ),
    "src/Repo.php": (
        "<?php\nnamespace Shop\\Data;\nclass Repo { function save(Item $i) {} }\nclass Item {}\n"
        "class Other { function run() {} }\n"
    ),
    "src/util.php": "<?php\nnamespace Shop\\Util;\nfunction add($x) {}\n",
}
PHP_CALLS = {
    ("src/Page.php::Page::__construct", "src/Base.php::Base::__construct"): "ast:super",
    ("src/Page.php::Page::go", "src/Base.php::Base::inherited"): "ast:self",
    ("src/Page.php::Page::go", "src/Base.php::helper"): "ast:package",
    ("src/Page.php::Page::go", "src/Page.php::Page::make"): "ast:self",
    ("src/Page.php::Page::go", "src/Repo.php::Other"): "ast:import",
    ("src/Page.php::Page::go", "src/Repo.php::Other::run"): "ast:annotation",
    ("src/Page.php::Page::go", "src/Repo.php::Repo::save"): "ast:annotation",
    ("src/Page.php::Page::go", "src/util.php::add"): "ast:import",
}

SWIFT = {
    "Sources/App/a.swift": (
        "import Foundation\nclass Store: Base {\n  let repo: Repo\n"
        "  init(repo: Repo) {\n    self.repo = repo\n    super.init()\n  }\n"
        "  func add(_ item: Item) -> Item {\n    repo.save(item)\n    self.other()\n    inherited()\n    helper()\n"
        "    Store.make().other()\n    return item\n  }\n  func other() {}\n"
        "  static func make() -> Store { return Store(repo: Repo()) }\n}\n"
    ),
    "Sources/App/b.swift": (
        "class Repo { func save(_ i: Item) {} }\nstruct Item {}\nclass Base {\n  init() {}\n  func inherited() {}\n}\n"
        "func helper() {}\nextension Repo { func more() { save(Item()) } }\n"
    ),
}
SWIFT_CALLS = {
    ("Sources/App/a.swift::Store::add", "Sources/App/a.swift::Store::make"): "ast:same-file",
    ("Sources/App/a.swift::Store::add", "Sources/App/a.swift::Store::other"): "ast:self",
    ("Sources/App/a.swift::Store::add", "Sources/App/b.swift::Base::inherited"): "ast:self",
    ("Sources/App/a.swift::Store::add", "Sources/App/b.swift::Repo::save"): "ast:annotation",
    ("Sources/App/a.swift::Store::add", "Sources/App/b.swift::helper"): "ast:package",
    ("Sources/App/a.swift::Store::init", "Sources/App/b.swift::Base::init"): "ast:super",
    ("Sources/App/a.swift::Store::make", "Sources/App/a.swift::Store"): "ast:same-file",
    ("Sources/App/a.swift::Store::make", "Sources/App/b.swift::Repo"): "ast:package",
    ("Sources/App/b.swift::Repo::more", "Sources/App/b.swift::Item"): "ast:same-file",
    ("Sources/App/b.swift::Repo::more", "Sources/App/b.swift::Repo::save"): "ast:self",
}

LUA = {
    "lua/a/init.lua": (
        'local util = require("a.util")\nlocal Class = require("a.class")\nlocal M = {}\nlocal function own() end\n'
        "function M.go(own2)\n  own()\n  util.help()\n  M.other()\n  local c = Class.new()\n  c:run()\n  own2()\n"
        '  print("x")\nend\nfunction M.other() end\nreturn M\n'
    ),
    "lua/a/util.lua": "local M = {}\nfunction M.help() end\nreturn M\n",
    "lua/a/class.lua": (
        "local Class = {}\nClass.__index = Class\nfunction Class.new() return setmetatable({}, Class) end\n"
        "function Class:run() self:step() end\nfunction Class:step() end\nreturn Class\n"
    ),
}
LUA_CALLS = {
    ("lua/a/class.lua::Class::run", "lua/a/class.lua::Class::step"): "ast:self",
    ("lua/a/init.lua::M::go", "lua/a/class.lua::Class::new"): "ast:import",
    ("lua/a/init.lua::M::go", "lua/a/init.lua::M::other"): "ast:same-file",
    ("lua/a/init.lua::M::go", "lua/a/init.lua::own"): "ast:same-file",
    ("lua/a/init.lua::M::go", "lua/a/util.lua::M::help"): "ast:import",
}

ZIG = {
    "src/main.zig": (
        'const std = @import("std");\nconst Store = @import("store.zig").Store;\nconst util = @import("util.zig");\n'
        "pub fn main() void {\n    var s = Store.init();\n    s.add(1);\n    util.help();\n    own();\n"
        '    std.debug.print("x", .{});\n}\nfn own() void {}\n'
    ),
    "src/store.zig": (
        "pub const Store = struct {\n    const Self = @This();\n    n: Item,\n"
        "    pub fn init() Store {\n        return Store{};\n    }\n"
        "    pub fn add(self: *Self, x: i32) void {\n        self.grow();\n        self.n.show();\n    }\n"
        "    fn grow(self: *Store) void {}\n};\nconst Item = struct {\n    pub fn show(self: Item) void {}\n};\n"
    ),
    "src/util.zig": "pub fn help() void {}\n",
}
ZIG_CALLS = {
    ("src/main.zig::main", "src/main.zig::own"): "ast:same-file",
    ("src/main.zig::main", "src/store.zig::Store::add"): "ast:annotation",
    ("src/main.zig::main", "src/store.zig::Store::init"): "ast:import",
    ("src/main.zig::main", "src/util.zig::help"): "ast:import",
    ("src/store.zig::Store::add", "src/store.zig::Item::show"): "ast:annotation",
    ("src/store.zig::Store::add", "src/store.zig::Store::grow"): "ast:annotation",
}

KOTLIN = {
    "a/Store.kt": (
        "package shop\n\nimport shop.prices.total\nimport shop.prices.Price as P\nimport java.util.UUID\n\n"
        "class Store(private val repo: Repo) : Base() {\n    fun add(item: Item): Item {\n        repo.save(item)\n"
        "        total(1)\n        val p = P(1)\n        p.show()\n        inherited()\n        helper()\n"
        "        UUID.randomUUID()\n        return item\n    }\n\n"
        "    companion object {\n        fun create(): Store = Store(Repo())\n    }\n}\n\n"
        "open class Base {\n    fun inherited() {}\n}\n\n"
        "fun helper() {\n    Store.create().add(Item())\n    Legacy().run()\n}\n"
    ),
    "a/Repo.kt": "package shop\n\nclass Repo {\n    fun save(i: Item) {}\n}\n\nclass Item\n",
    "a/prices.kt": (
        "package shop.prices\n\nfun total(x: Int) = x\n\nclass Price(val x: Int) {\n    fun show() {}\n}\n"
    ),
    "a/Legacy.java": "package shop;\nclass Legacy { void run() { new Repo().save(null); } }\n",
}
KOTLIN_CALLS = {
    ("a/Legacy.java::Legacy::run", "a/Repo.kt::Repo"): "ast:package",
    ("a/Legacy.java::Legacy::run", "a/Repo.kt::Repo::save"): "ast:constructor-type",
    ("a/Store.kt::Store::add", "a/Repo.kt::Repo::save"): "ast:annotation",
    ("a/Store.kt::Store::add", "a/Store.kt::Base::inherited"): "ast:self",
    ("a/Store.kt::Store::add", "a/Store.kt::helper"): "ast:same-file",
    ("a/Store.kt::Store::add", "a/prices.kt::Price"): "ast:import",
    ("a/Store.kt::Store::add", "a/prices.kt::Price::show"): "ast:annotation",
    ("a/Store.kt::Store::add", "a/prices.kt::total"): "ast:import",
    ("a/Store.kt::Store::create", "a/Repo.kt::Repo"): "ast:package",
    ("a/Store.kt::Store::create", "a/Store.kt::Store"): "ast:same-file",
    ("a/Store.kt::helper", "a/Legacy.java::Legacy"): "ast:package",
    ("a/Store.kt::helper", "a/Legacy.java::Legacy::run"): "ast:constructor-type",
    ("a/Store.kt::helper", "a/Repo.kt::Item"): "ast:package",
    ("a/Store.kt::helper", "a/Store.kt::Store::add"): "ast:inferred-return",
    ("a/Store.kt::helper", "a/Store.kt::Store::create"): "ast:same-file",
}

RUBY = {
    "lib/shop.rb": (
        'require "json"\nrequire_relative "shop/repo"\nrequire "shop/item"\n\nmodule Shop\n  class Store < Base\n'
        "    def initialize(repo)\n      super(repo)\n      @repo = Repo.new\n    end\n\n"
        "    def add(item)\n      @repo.save(item)\n      inherited()\n      self.own(2)\n      Item.build(1)\n"
        '      Shop::Item.new(1)\n      JSON.parse("x")\n      Store.make\n    end\n\n'
        "    def own(x)\n    end\n\n    def self.make\n    end\n  end\nend\n"
    ),
    "lib/shop/repo.rb": (
        "module Shop\n  class Base\n    def inherited\n    end\n  end\n\n"
        "  class Repo\n    def save(item)\n    end\n  end\nend\n"
    ),
    "lib/shop/item.rb": "module Shop\n  class Item\n    def self.build(x)\n    end\n  end\nend\n",
}
RUBY_CALLS = {
    ("lib/shop.rb::Shop::Store::initialize", "lib/shop/repo.rb::Shop::Base"): "ast:super",
    ("lib/shop.rb::Shop::Store::initialize", "lib/shop/repo.rb::Shop::Repo"): "ast:package",
    ("lib/shop.rb::Shop::Store::add", "lib/shop/repo.rb::Shop::Repo::save"): "ast:annotation",
    ("lib/shop.rb::Shop::Store::add", "lib/shop/repo.rb::Shop::Base::inherited"): "ast:self",
    ("lib/shop.rb::Shop::Store::add", "lib/shop.rb::Shop::Store::own"): "ast:self",
    ("lib/shop.rb::Shop::Store::add", "lib/shop.rb::Shop::Store::make"): "ast:same-file",
    ("lib/shop.rb::Shop::Store::add", "lib/shop/item.rb::Shop::Item"): "ast:package",
    ("lib/shop.rb::Shop::Store::add", "lib/shop/item.rb::Shop::Item::build"): "ast:package",
}

BASH = {
    "bin/run.sh": (
        '#!/bin/bash\nsource "$(dirname "$0")/../lib/util.sh"\n. ./near.sh\nown() { log "x"; }\nown\nnear\necho 1\n'
    ),
    "lib/util.sh": "log() { echo $1; }\n",
    "bin/near.sh": "near() { log y; }\n",
}
BASH_CALLS = {
    ("bin/run.sh", "bin/near.sh::near"): "ast:import",
    ("bin/run.sh", "bin/run.sh::own"): "ast:same-file",
    ("bin/run.sh::own", "lib/util.sh::log"): "ast:import",
}

ELIXIR = {
    "lib/shop/store.ex": (
        "defmodule Shop.Store do\n  alias Shop.Repo\n  alias Shop.Prices, as: P\n  import Shop.Helpers\n\n"
        "  def add(item) do\n    Repo.save(item)\n    P.total(1)\n    help(1)\n    own(2)\n    Enum.map([1], &own/1)\n"
        "    Shop.Repo.save(1)\n    __MODULE__.own(1)\n  end\n\n  defp own(x), do: x\nend\n"
    ),
    "lib/shop/repo.ex": "defmodule Shop.Repo do\n  def save(item), do: item\nend\n",
    "lib/shop/prices.ex": (
        "defmodule Shop.Prices do\n  def total(x), do: x\nend\n\ndefmodule Shop.Helpers do\n  def help(x), do: x\nend\n"
    ),
}
ELIXIR_CALLS = {
    ("lib/shop/store.ex::Shop::Store::add", "lib/shop/prices.ex::Shop::Helpers::help"): "ast:import",
    ("lib/shop/store.ex::Shop::Store::add", "lib/shop/prices.ex::Shop::Prices::total"): "ast:import",
    ("lib/shop/store.ex::Shop::Store::add", "lib/shop/repo.ex::Shop::Repo::save"): "ast:import",
    ("lib/shop/store.ex::Shop::Store::add", "lib/shop/store.ex::Shop::Store::own"): "ast:self",
}


@pytest.mark.parametrize(
    ("sources", "calls"),
    [
        pytest.param(GO, GO_CALLS, id="go"),
        pytest.param(TYPESCRIPT, TYPESCRIPT_CALLS, id="typescript"),
        pytest.param(JVM, JVM_CALLS, id="java and scala"),
        pytest.param(RUST, RUST_CALLS, id="rust"),
        pytest.param(C, C_CALLS, id="c"),
        pytest.param(C_SHARP, C_SHARP_CALLS, id="c-sharp"),
        pytest.param(PHP, PHP_CALLS, id="php"),
        pytest.param(SWIFT, SWIFT_CALLS, id="swift"),
        pytest.param(LUA, LUA_CALLS, id="lua"),
        pytest.param(ZIG, ZIG_CALLS, id="zig"),
        pytest.param(KOTLIN, KOTLIN_CALLS, id="kotlin and java"),
        pytest.param(RUBY, RUBY_CALLS, id="ruby"),
        pytest.param(BASH, BASH_CALLS, id="bash"),
        pytest.param(ELIXIR, ELIXIR_CALLS, id="elixir"),
    ],
)
def test_calls_inside_a_repository(sources: dict[str, str], calls: Edges) -> None:
    assert calls_of(sources) == calls


@pytest.mark.parametrize(
    ("sources", "imports"),
    [
        pytest.param(
            GO,
            {("main.go", "store/store.go"), ("main.go", "github.com/x/log"), ("store/store.go", "fmt")},
            id="go: of a package the files whose names are used",
        ),
        pytest.param(
            C,
            {("src/main.c", "src/util.h"), ("src/main.c", "stdio.h"), ("src/util.c", "src/util.h")},
            id="c: headers",
        ),
        pytest.param(
            RUST,
            {
                ("a/src/lib.rs", "a/src/net.rs"),
                ("a/src/lib.rs", "a/src/util.rs"),
                ("a/src/net.rs", "a/src/util.rs"),
                ("b/src/main.rs", "a/src/lib.rs"),
                ("b/src/main.rs", "a/src/net.rs"),
                ("b/src/main.rs", "b/src/cli/mod.rs"),
                ("b/src/cli/mod.rs", "b/src/main.rs"),
            },
            id="rust: modules and what paths lead to",
        ),
        pytest.param(
            C_SHARP,
            {("A.cs", "C.cs"), ("A.cs", "D.cs"), ("A.cs", "System")},
            id="c-sharp: of a namespace the files whose names are used",
        ),
    ],
)
def test_imports(sources: dict[str, str], imports: set[tuple[str, str]]) -> None:
    assert imports_of(sources) == imports


@pytest.mark.parametrize(
    ("sources", "calls"),
    [
        pytest.param(
            GO, {("main.go::run", "github.com/x/log.Info"), ("store/store.go::Item::Show", "fmt.Println")}, id="go"
        ),
        pytest.param(
            TYPESCRIPT,
            {("packages/b/src/main.ts::go", "react.useState"), ("packages/b/src/main.ts::go", "react.memo")},
            id="typescript",
        ),
        pytest.param(JVM, {("src/com/x/A.java::A::go", "java.util.List.of")}, id="java"),
        pytest.param(
            RUST,
            {("b/src/cli/mod.rs::run", "std::mem::swap"), ("b/src/main.rs::main", "serde::x")},
            id="rust",
        ),
        pytest.param(PHP, {("src/Page.php::Page::go", "Symfony\\Component\\Request")}, id="php"),
    ],
)
def test_calls_that_leave_a_repository(sources: dict[str, str], calls: set[tuple[str, str]]) -> None:
    assert external_calls_of(sources) == calls


def test_a_class_derives_from_what_its_bases_name() -> None:
    assert bases_of({**GO, **JVM, **C_SHARP}) == {
        ("store/store.go::Store", "store/store.go::Base"),
        ("src/com/x/A.java::A", "src/com/x/Base.java::Base"),
        ("src/com/x/A.java::A", "src/com/x/Base.java::I"),
        ("src/S.scala::Store", "src/com/x/Base.java::Base"),
        ("A.cs::Page", "B.cs::Base"),
        ("A.cs::Page", "B.cs::IPage"),
    }


@pytest.mark.parametrize("named", ["lib", "dist/", "./build", "out/", ".", "lib//", "inner"])
def test_a_package_that_names_a_folder_that_is_not_there_or_itself_has_no_file(named: str) -> None:
    sources = {
        "packages/a/package.json": f'{{"name": "a", "main": "{named}"}}',
        "packages/a/inner/package.json": '{"main": ".."}',
        "packages/a/go.ts": "export function go() {}\n",
        "packages/b/main.ts": "import { go } from 'a';\nimport '../a';\nexport function run() { go(); }\n",
    }

    assert calls_of(sources) == {}


def test_a_header_is_found_by_the_end_of_its_path_and_nearer_ones_before_others() -> None:
    body = "int shown(void);\n"
    sources = {
        "one/src/main.c": '#include "../../../gen/util.h"\n#include <api/own.h>\nint f(void) { return shown(); }\n',
        "lib/gen/util.h": body,
        "one/include/api/own.h": body,
        "two/include/api/own.h": body,
    }

    assert imports_of(sources) == {
        ("one/src/main.c", "lib/gen/util.h"), ("one/src/main.c", "one/include/api/own.h"),
    }  # fmt: skip
