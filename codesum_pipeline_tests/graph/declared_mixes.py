"""Small repositories of each family of declared languages whose few names mean many things in many files."""

from collections.abc import Sequence

from codesum_pipeline_tests.graph.code_mixes import Vocabulary

_PROJECTS = {
    "package.json": ('{"name": "m"}', '{"name": "outside", "exports": {"./deep": "./a.ts"}}', "{"),
    "tsconfig.json": ("{}", '{"compilerOptions": {"paths": {"./b": ["./one.tsx"], "outside/*": ["./lib/c.ts"]}}}'),
    "go.mod": ("module example.org/m\n", "module example.org/outside\n", "module example.org/m // other\n"),
    "Cargo.toml": ('[package]\nname = "m"\n', '[package]\nname = "outside"\n[dependencies]\none = "1"\n', "[package"),
    "far/Cargo.toml": ('[package]\nname = "far"\n', '[package]\nname = "m"\nversion = "2"\n', ""),
    "composer.json": ('{"autoload": {"psr-4": {"M\\\\": "src/"}}}', '{"autoload": {"psr-4": {"M\\\\": "far/"}}}', "{}"),
}
_NAMES = ("one", "two", "Thing", "Other", "LIMIT", "make")
_MEMBERS = ("run", "one", "leaveForGood", "fold_edges", "value", "LIMIT")


def _vocabulary(
    paths: str, modules: str, imports: Sequence[str], items: Sequence[str], values: str, types: str = "Thing Other int"
) -> Vocabulary:
    words = {
        "module": modules.split(), "name": _NAMES, "other": _NAMES, "class_": ("Thing", "Other"), "member": _MEMBERS,
        "type": types.split(),
    }  # fmt: skip
    return Vocabulary(paths.split(), imports, (*imports, *items), values.split(" | "), words, _head_of, _PROJECTS)


def _head_of(path: str) -> str:
    folder = path.rpartition("/")[0]
    if path.endswith(".go"):
        return f"package {folder.rpartition('/')[2] or 'm'}{'_test' if path == 'lib/sub/d_test.go' else ''}\n"
    if path.endswith((".java", ".kt", ".scala")):
        return f"package {folder.replace('/', '.')}{';' if path.endswith('.java') else ''}\n"
    if path.endswith(".hs"):
        return f"module {path.removesuffix('.hs').removeprefix('src/').removeprefix('far/').replace('/', '.')} where\n"
    return "<?php\n" if path.endswith(".php") else ""


_ECMASCRIPT = _vocabulary(
    "a.ts b.js one.tsx lib/index.ts lib/c.ts lib/one.js lib/sub/d.js far/e.ts far/f.js",
    "./a ./b ./one ./lib ../lib/c ./c ../a ../b ../one .. . ./sub/d outside/deep ./far/e",
    (
        "import {{ {name} }} from '{module}';",
        "import {{ {name} as {other} }} from '{module}';",
        "import * as {name} from '{module}';",
        "import {name} from '{module}';",
        "export * from '{module}';",
        "export {{ {name} }} from '{module}';",
        "export {{ {name} as {other} }} from '{module}';",
        "const {name} = require('{module}');",
    ),
    (
        "export function {name}(x) {{ x.{member}(); return {value}; }}",
        "function {name}(x) {{ const y = {value}; y.{member}(); return y; }}",
        "export default function {name}() {{ return {value}; }}",
        "export class {class_} extends {other} {{ {member}() {{ return this.{member}(); }} }}",
        "class {class_} {{ constructor() {{ this.{member} = {value}; }} run() {{ this.{member}.run(); }} }}",
        "export class {class_} {{ {member}() {{ return {value}; }} leaveForGood() {{ return this; }} }}",
        "export const {name} = {value};",
        "const {name} = {value};\nmodule.exports = {name};",
        "module.exports.{name} = function () {{ return {value}; }};",
        "const {name} = {{ {member}() {{ return {value}; }} }};\nexport default {name};",
        "export {{ {name} as {other} }};",
        "it('x', () => {{ const {name} = {value}; function {other}() {{ {name}.{member}(); }} {other}(); }});",
        "function {name}(u) {{ u.leaveForGood(); u.fold_edges(); use({value}); }}",
        "{value};",
    ),
    "{name} | {name}() | new {class_}() | {name}.{member}() | {name}.{other} | {name}.{other}() | new {class_}().run()",
)
_GO = _vocabulary(
    "a.go b.go a_test.go lib/c.go lib/one.go lib/sub/d.go lib/sub/d_test.go far/e.go",
    "example.org/m example.org/m/lib example.org/m/lib/sub example.org/m/far example.org/outside fmt",
    ('import "{module}"', 'import {name} "{module}"'),
    (
        "func {name}(x {type}) {class_} {{ x.{member}(); return {value} }}",
        "func {name}() *lib.{class_} {{ y := {value}; y.{member}(); return y }}",
        "type {class_} struct {{ {member} {type}; {other} lib.{class_} }}",
        "type {class_} struct {{ Other; {member} *{type} }}",
        "func (t *{class_}) {member}() {type} {{ return t.{member}.run() }}",
        "func (t {class_}) leaveForGood() *{class_} {{ t.{member}(); {value}; return t }}",
        "func {name}(u any) {{ u.leaveForGood(); u.fold_edges(); use({value}) }}",
        "const {name} = 1",
        "var {name} = {value}",
    ),
    "{name} | {name}() | {class_}{{}} | lib.{name}() | sub.{name} | far.{class_}{{}} | lib.{name}().{member}() | LIMIT",
    "Thing Other lib.Thing sub.Other far.Thing int",
)
_JVM = _vocabulary(
    "p/A.java p/B.kt p/q/Thing.java p/q/C.scala p/q/Other.kt r/D.java r/E.kt r/F.scala",
    "p p.q r p.q.Thing p.q.Other r.Thing java.util outside.deep",
    ("import {module}.{class_}", "import {module}.*", "import {module}.{name}", "import static {module}.{class_}.*;"),
    (
        "class {class_} {{ {type} {member}() {{ return {value}; }} }}",
        "class {class_} extends {other} {{ {type} {member}; void run() {{ {member}.{member}(); {value}; }} }}",
        "class {class_} : {other}() {{ val {member}: {type} = {value}\n fun run() = {member}.{member}() }}",
        "class {class_} {{ static void leaveForGood() {{ {value}; }} {type} run() {{ return this.{member}(); }} }}",
        "object {class_} {{ def {member}(): {type} = {value}\n val LIMIT = 1 }}",
        "fun {name}(x: {type}): {class_} {{ x.{member}(); return {value} }}",
        "def {name}(x: {type}): {class_} = {{ x.leaveForGood(); {value} }}",
        "private fun {name}() = {value}",
        "val {name} = {value}",
    ),
    "{name}() | new {class_}() | {class_}() | {class_}.{member}() | new {class_}().{member}() | p.q.{class_}() | LIMIT",
)
_C = _vocabulary(
    "a.c a.h b.cpp b.hpp lib/c.h lib/c.c lib/one.h lib/d.cpp far/a.h far/e.c",
    "a.h b.hpp c.h lib/c.h one.h ../a.h far/a.h stdio.h",
    ('#include "{module}"',),
    (
        "int {name}(int x) {{ return {value}; }}",
        "static int {name}(struct {class_} *x) {{ x->{member}(); return {value}; }}",
        "int {name}(int x);",
        "struct {class_} {{ int {member}; struct {other} *one; }};",
        "class {class_} : public {other} {{ public: {type} {member}() {{ return {value}; }} {class_} run(); }};",
        "namespace {name} {{ class {class_} {{ {type} leaveForGood(); }}; int {other}(int x) {{ return {value}; }} }}",
        "{type} {class_}::{member}() {{ this->run(); return {value}; }}",
        "#define {name}(x) {value}",
        "const int {name} = {value};",
    ),
    "{name}(1) | {name}(1, 2) | LIMIT | {class_}().{member}() | {name}::{other}(1) | {class_}::{member}() | {name}",
)
_RUST = _vocabulary(
    "src/lib.rs src/main.rs src/a.rs src/one/mod.rs src/one/c.rs src/two.rs tests/d.rs far/src/lib.rs",
    "crate crate::a crate::one crate::one::c super self crate::two std::fmt outside m",
    ("use {module}::{name};", "pub use {module}::{name} as {other};", "pub use {module}::*;", "mod {name};"),
    (
        "pub fn {name}(x: {type}) -> {class_} {{ x.{member}(); {value} }}",
        "fn {name}() {{ let y = {value}; y.{member}(); }}",
        "#[cfg(unix)]\npub fn {name}() {{ {value}; }}",
        "pub struct {class_} {{ {member}: {type}, one: Box<{other}> }}",
        "impl {class_} {{ pub fn {member}(&self) -> {type} {{ self.one.run(); {value} }} }}",
        "impl {other} for {class_} {{ fn leave_for_good(&self) -> Self {{ {value} }} }}",
        "pub trait {class_} {{ fn {member}(&self) -> {type}; }}",
        "mod {name} {{ use super::*; pub fn {other}() {{ {value}; }} }}",
        "pub const {name}: i32 = 1;",
    ),
    "{name}() | {class_}::{member}() | crate::one::{name}() | LIMIT | self::{name}() | {class_}::run().one.run()",
    "Thing Other i32 crate::a::Thing Self",
)
_SWIFT = _vocabulary(
    "Sources/One/A.swift Sources/One/B.swift Sources/Two/C.swift Tests/OneTests/D.swift Loose/E.swift",
    "One Two OneTests Foundation Loose",
    ("import {module}",),
    (
        "func {name}(x: {type}) -> {class_} {{ x.{member}(); return {value} }}",
        "private func {name}() {{ let y = {value}; y.{member}() }}",
        "class {class_}: {other} {{ var {member}: {type}; func run() -> {type} {{ return self.{member}.run() }} }}",
        "extension {class_}: {other} {{ func {member}() -> {class_} {{ return {value} }} }}",
        "extension {class_}.{other} {{ static func leaveForGood() {{ {value} }} }}",
        "struct {class_} {{ class {other} {{ func {member}() {{ {value} }} }} }}",
        "let {name} = {value}",
        "private let {name} = 1",
    ),
    "{name}() | {class_}() | {class_}().{member}() | LIMIT | {class_}.{other}() | self.{member}() | {name}",
)
_C_SHARP = _vocabulary(
    "A.cs B.cs lib/Thing.cs lib/C.cs far/Other.cs",
    "M M.Lib M.Far System Outside.Deep M.Lib.Thing",
    ("using {module};", "using {name} = {module}.{class_};", "namespace {module};"),
    (
        "public partial class {class_} : {other} {{ public {type} {member}() {{ return {value}; }} }}",
        "public class {class_} {{ private {type} {member}; void run() {{ {member}.{member}(); {value}; }} }}",
        "class {class_} {{ {class_} {class_} {{ get; }} override void {member}() {{ Thing.LIMIT.run(); {value}; }} }}",
        "enum {class_} {{ LIMIT, one }}",
        "static class {name} {{ public static {class_} leaveForGood(this {type} x) {{ return {value}; }} }}",
        "public interface {class_} {{ {type} {member}(); }}",
        "class {class_} {{ const int {name} = 1; void two() {{ use({name}); use({value}); }} }}",
    ),
    "{name}() | new {class_}() | {class_}.{member}() | new {class_}().{member}() | LIMIT | M.Lib.{class_}.{member}()",
)
_RUBY = _vocabulary(
    "a.rb b.rb lib/one.rb lib/two.rb app/one.rb far/c.rb",
    "a b one two lib/one ./a ../b outside",
    ("require '{module}'", "require_relative '{module}'"),
    (
        "def {name}(x)\n  y = {value}\n  y.{member}\nend",
        "class {class_} < {other}\n  def {member}\n    @{member} = {value}\n    @{member}.run\n  end\nend",
        "module {class_}\n  class {other}\n    def self.leave_for_good\n      {value}\n    end\n  end\nend",
        "class {class_}\n  include {other}\n  LIMIT = 1\n  def run\n    {member}\n    self.{member}\n  end\nend",
        "{name} = {value}",
        "LIMIT = {value}",
    ),
    "{name}(1) | {class_}.new | {class_}.new.{member} | {class_}::{other}.leave_for_good | LIMIT | {member}",
)
_PHP = _vocabulary(
    "a.php src/Thing.php src/Other.php src/Lib/Thing.php lib/c.php far/d.php",
    "M M\\Lib Outside\\Deep M\\Thing M\\Lib\\Thing",
    ("use {module}\\{class_};", "use function {module}\\{name};", "namespace {module};", "require 'src/Thing.php';"),
    (
        "function {name}({type} $x): {class_} {{ $x->{member}(); return {value}; }}",
        "class {class_} extends {other} {{ private {type} ${member};\n function run() {{ $this->{member}->run(); }} }}",
        "class {class_} {{ public static function {member}(): {type} {{ return {value}; }}\n const LIMIT = 1; }}",
        "trait {class_} {{ function leaveForGood() {{ return $this; {value}; }} }}",
        "function {name}($u) {{ $y = {value}; $y->{member}(); $u->leaveForGood(); }}",
        "const {name} = 1;",
    ),
    "{name}() | new {class_}() | {class_}::{member}() | (new {class_}())->{member}() | \\M\\Lib\\{name}() | LIMIT",
)
_ELIXIR = _vocabulary(
    "lib/a.ex lib/b.ex lib/one/c.ex lib/thing.ex test/d.exs",
    "M M.Thing M.Other Thing Other Enum Outside.Deep",
    ("alias {module}", "alias {module}, as: {class_}", "import {module}", "use {module}"),
    (
        "defmodule {module} do\n  def {name}(x) do\n    {value}\n  end\nend",
        "defmodule M.{class_} do\n  alias {module}\n  import M.{class_}\n  def {name}(x), do: {value}\n"
        "  defp {other}(x), do: {value}\nend",
        "defmodule {class_} do\n  use {module}\n  @limit 1\n  def {name}(x, y) do\n    y = {value}\n    @limit\n"
        "    &{other}/1\n  end\n  defmodule {class_} do\n    def {other}(x), do: {value}\n  end\nend",
    ),
    "{name}(1) | {class_}.{name}(1) | M.{class_}.{name}(1) | {name}(1, 2) | %{class_}{{}} | &{name}/1",
)
_HASKELL = _vocabulary(
    "A.hs B.hs src/M/Thing.hs src/M/Other.hs far/C.hs",
    "A B M.Thing M.Other Data.List C",
    ("import {module}", "import qualified {module} as {class_}", "import {module} ({name})", "import {module} as A"),
    (
        "{name} :: {type} -> {class_}\n{name} x = {value}",
        "data {class_} = {class_} {{ {member} :: {type} }}",
        "class {class_} a where\n  {member} :: a -> {type}",
        "instance {class_} {other} where\n  {member} x = {value}",
        "{name} = {value}",
    ),
    "one 1 | {class_}.{name} 2 | make (two 1) | {name} | M.Thing.{name}",
)
_LUA = _vocabulary(
    "a.lua lua/one.lua src/two.lua lib/init.lua far/c.lua",
    "a one two lib far.c outside.deep one.lua",
    ("local {name} = require('{module}')", "require '{module}'"),
    (
        "function {name}(x)\n  return {value}\nend",
        "local function {name}(x)\n  local y = {value}\n  y.{member}()\n  return y\nend",
        "local {class_} = {{}}\nfunction {class_}.{member}(x) return {value} end\nreturn {class_}",
        "local M = {{}}\nfunction M:{member}()\n  self:{member}()\n  return {value}\nend",
        "{name} = {value}",
        "local {name} = {value}",
    ),
    "{name}(1) | {name}.{member}() | {name}:{member}() | {class_}.{member} | LIMIT | require('one').{member}()",
)
_ZIG = _vocabulary(
    "a.zig b.zig src/Thing.zig src/one.zig far/c.zig",
    "a.zig b.zig one.zig Thing.zig ../a.zig src/one.zig std",
    (
        'const {name} = @import("{module}");',
        'pub const {name} = @import("{module}").{other};',
        'pub usingnamespace @import("{module}");',
    ),
    (
        "pub fn {name}(x: {type}) {class_} {{ x.{member}(); return {value}; }}",
        "fn {name}() void {{ const y = {value}; y.{member}(); }}",
        "pub const {class_} = struct {{ {member}: {type}, pub fn run(self: *{class_}) {type} "
        "{{ self.{member}.run(); return {value}; }} }};",
        "{member}: {type},",
        "const {name} = {value};",
        "pub const {name} = 1;",
    ),
    "{name}() | {class_}.{member}() | {class_}{{}} | {name}.{other}() | LIMIT | {name}.{class_}.run() | @This()",
)
_BASH = _vocabulary(
    "a.sh b.sh lib/one.sh lib/two.sh far/c.sh",
    "a.sh ./b.sh lib/one.sh ../a.sh one.sh",
    ("source {module}", '. "$(dirname "$0")/{module}"'),
    ("{name}() {{\n  {value}\n}}", "function {name} {{\n  {value}\n}}", "{name}=1", "{value}", "readonly LIMIT=2"),
    "{name} 1 | {name} | echo $LIMIT | $({name})",
)
MIXES = {
    "ecmascript": _ECMASCRIPT, "go": _GO, "jvm": _JVM, "c": _C, "rust": _RUST, "swift": _SWIFT, "c-sharp": _C_SHARP,
    "ruby": _RUBY, "php": _PHP, "elixir": _ELIXIR, "haskell": _HASKELL, "lua": _LUA, "zig": _ZIG, "bash": _BASH,
}  # fmt: skip
