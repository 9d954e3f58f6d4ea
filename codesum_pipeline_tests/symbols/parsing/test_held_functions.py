"""Functions that have no name of their own are called by what holds them; routes, commands and keys name the others."""

import json

import pytest

from codesum_pipeline.foundation.data_model.ids import without_suffix
from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline.symbols.parsing.text import ParsedFile

BODY = "{\n  work();\n}"


def parsed(language: str, source: str) -> ParsedFile:
    return PARSERS[language].parse(source.encode(), "a.x")


def held(file: ParsedFile) -> list[str]:
    return [symbol.id.removeprefix("a.x::") for symbol in file.symbols if symbol.is_unnamed]


def names(file: ParsedFile) -> list[list[str]]:
    found: list[list[str]] = json.loads(file.facts.references).get("named", [])
    return found


HELD = {
    "a route is called by its method and its path": (
        "javascript", f"app.get('/users/:id', async (req, res) => {BODY});", ["GET /users/:id"],
    ),
    "a route of one line": ("javascript", "app.get('/x', () => 1);", ["GET /x"]),
    "a test of three lines": ("javascript", f"it('adds', () => {BODY});", ["adds"]),
    "each link of a chain is a route": (
        "javascript", f"router.route('/x').get(function () {BODY}).post(() => {BODY});", ["GET /x", "POST /x"],
    ),
    "a function that is handed to another call in a route": (
        "typescript", f"router.put('/x', auth, wrap(async (req: Request) => {BODY}));", ["PUT /x"],
    ),
    "a route in a function is called by that, too": (
        "javascript", f"export default (app) => {{\n  app.delete('/x', () => {BODY});\n}};", ["default::DELETE /x"],
    ),
    "a block of a test is called by the blocks around it": (
        "typescript",
        f"describe('Cart', () => {{\n describe('total', () => {{\n it('adds up', () => {BODY});\n }});\n}});",
        ["Cart::total::adds up"],
    ),
    "a variant of a test is a test": (
        "javascript",
        f"it.only('a', () => {BODY});\ntest.each([1])('b %i', () => {BODY});\nit.each`x`('c', () => {BODY});",
        ["a", "b %i", "c"],
    ),
    "twins have a suffix each but for one": (
        "javascript", f"it('a', () => {BODY});\nit('a', () => {{\n  other();\n}});", ["a", "a"],
    ),
    "a command is called by its first word": (
        "javascript", f"program.command('push <remote>').action(async (remote) => {BODY});", ["command push"],
    ),
    "an event outside of functions": (
        "javascript", f"ipcMain.handle('open', () => {BODY});\nfunction f() {{\n a.on('b', () => {BODY});\n}}",
        ["handle open"],
    ),
    "a key of a record that a variable holds": (
        "go",
        'package m\nvar loginCmd = &cobra.Command{\n\tUse: "login [flags]",\n\tRunE: func(c *C) error {\n'
        "\t\treturn nil\n\t},\n}",
        ["loginCmd::RunE"],
    ),
    "a key of a record that a function makes": (
        "go",
        'package m\nfunc New() *C {\n\treturn &C{Run: func(c *C) {\n\t\twork()\n\t\tmore()\n\t}}\n}',
        ["New::Run"],
    ),
    "a key of a table of functions": (
        "go",
        'package m\nvar routes = map[string]http.HandlerFunc{\n\t"/ping": func(w W) {\n\t\twork()\n\t},\n}',
        ["routes::/ping"],
    ),
    "a command in a list is called by its name": (
        "go",
        'package m\nvar app = &cli.App{Commands: []*cli.Command{{Name: "add", Action: func(c *C) error {\n'
        "\t\treturn nil\n\t}}}}",
        ["app::Commands::add::Action"],
    ),
    "a route without a method": (
        "go", 'package m\nfunc f() {\n\thttp.HandleFunc("/x", func(w W) {\n\t\twork()\n\t})\n}', ["f::route /x"],
    ),
    "a route whose text has its method": (
        "go", 'package m\nfunc f() {\n\tmux.HandleFunc("GET /x/{id}", func(w W) {\n\t\twork()\n\t})\n}',
        ["f::GET /x/{id}"],
    ),
    "Sinatra": ("ruby", "get '/x' do\n  work\n  more\nend", ["GET /x"]),
    "tasks have the names of their namespaces": (
        "ruby",
        "namespace :db do\n  task migrate: :env do |t|\n    work\n  end\nend\ntask :all => [:a] do\n  x\n  y\nend",
        ["task db:migrate", "task all"],
    ),
    "RSpec, with a class as what is tested": (
        "ruby", "RSpec.describe User do\n  context 'when new' do\n    it 'is shy' do\n      x\n    end\n  end\nend",
        ["User::when new::is shy"],
    ),
    "shared examples": ("ruby", "shared_examples 'a list' do\n  x\n  y\nend", ["a list"]),
    "Slim": ("php", f"<?php $app->get('/x', function ($r) {BODY});", ["GET /x"]),
    "Laravel, whose paths need no slash": ("php", f"<?php Route::post('users', function () {BODY});", ["POST users"]),
    "Pest": ("php", f"<?php it('adds', function () {BODY});", ["adds"]),
    "ASP.NET": ("c-sharp", f'app.MapGet("/x", async (int id) => {BODY});', ["GET /x"]),
    "Javalin": ("java", f'class A {{ void m() {{ app.get("/x", ctx -> {BODY}); }} }}', ["A::m::GET /x"]),
    "Ktor, below the path around it": (
        "kotlin", 'fun f() {\n  route("/api") {\n    get("/x") {\n      work()\n    }\n  }\n}', ["f::GET /api/x"],
    ),
    "Gradle": ("kotlin", 'tasks.register("x") {\n  work()\n}', ["task x"]),
    "ScalaTest": ("scala", 'class T {\n  test("a b") {\n    work()\n  }\n}', ["T::a b"]),
    "Busted": ("lua", 'describe("x", function()\n it("y", function()\n  work()\n end)\nend)', ["x::y"]),
    "Quick": ("swift", 'describe("x") {\n it("y") {\n  work()\n }\n}', ["x::y"]),
    "a title that is made has marks for what is not known": (
        "javascript",
        f"test(app.name + ' builds a file', () => {BODY});\nit(`keeps ${{f({{a: 1}})}} and more`, () => {BODY});\n"
        f"test('a ' + b + ' c d', () => {BODY});",
        ["… builds a file", "keeps … and more", "a … c d"],
    ),
    "a title of Kotlin that is put together": ("kotlin", 'fun f() { test("adds up " + n) {\n a()\n b()\n } }',
        ["f::adds up …"]),
    "a title of Swift with a value": ("swift", 'it("does \\(x) and more") {\n a()\n b()\n}', ["does … and more"]),
    "a group whose title is made": (
        "javascript", f"describe(`when ${{x}} is on`, () => {{ it('works', () => {BODY}); }});",
        ["when … is on::works"],
    ),
    "a variable does not hold what a call is given": (
        "go",
        "package m\nfunc f() {\n\terr := Parse(&cfg, Options{OnSet: func(a string) {\n\t\twork()\n\t}})\n}",
        ["f::Options::OnSet"],
    ),
    "a variable does not hold what a table in a call has": (
        "go",
        'package m\nfunc f() {\n\tx := build(map[string]func(){"a": func() {\n\t\twork()\n\t}})\n}', ["f::a"],
    ),
    "a variable holds what a method of a record gives": (
        "go", "package m\nfunc f() {\n\tx := T{Do: func() {\n\t\twork()\n\t}}.Run()\n}", ["f::T::Do"],
    ),
    "a record in a record": (
        "go", "package m\nvar y = &T{In: U{Do: func() {\n\twork()\n}}}", ["y::In::Do"],
    ),
    "a function in a wrapper under a key": (
        "go", 'package m\nvar c = &C{Use: "x", RunE: withStore(func(s S) error {\n\treturn nil\n})}', ["c::RunE"],
    ),
    "a record in a wrapper is called by its type": (
        "go", 'package m\nvar c = wrap(&cobra.Command{Use: "x", RunE: func() {\n\twork()\n}})', ["Command::RunE"],
    ),
    "namespaces name tasks, and what is tested does not": (
        "ruby",
        "describe Plugin do\n  task :hello do\n    x\n  end\nend\nnamespace :a do\n  task(:b) do\n    x\n  end\nend",
        ["task hello", "task a:b"],
    ),
    "a test whose title has a word of routes": (
        "ruby", "it 'does get \"/x\" and delete it' do\n  x\n  y\nend", ['does get "/x" and delete it'],
    ),
    "a route in a chain is its own": (
        "rust", 'fn f() { Router::new().route("/", get(|| async { one() })).route("/x", get(list)); }', ["f::route /"],
    ),
    "colons, suffixes and line ends in a name": (
        "javascript", f"it('a::b\\tc', () => {BODY});\nit('see #abc123', () => {BODY});", ["a:b\\tc", "see #abc123."],
    ),
    "a long name is cut": ("javascript", f"it('{'x' * 290}', () => {BODY});", ["x" * 199 + "…"]),
}  # fmt: skip
NOT_HELD = {
    "a test of two lines": ("javascript", "it('adds', () => {\n  work(); });"),
    "a key of two lines": ("go", 'package m\nvar t = map[string]func(){"a": func() {\n\twork() }}'),
    "a function with a name": ("javascript", f"app.get('/x', function show() {BODY});"),
    "a callback in the middle of a function": (
        "javascript", f"function f() {{\n  rows.forEach((row) => {BODY});\n  load('x', () => {BODY});\n}}",
    ),
    "a request to another server": ("javascript", f"$.get('/x', function () {BODY});\naxios.get('/x', () => {BODY});"),
    "a path that is none": ("javascript", f"cache.get('key', () => {BODY});"),
    "a path that is made when it runs": ("javascript", f"app.get(`/x/${{name}}`, () => {BODY});"),
    "a call in a comment": ("javascript", f"/* app.get('/x', () => {BODY}); */"),
    "a call in a text": ("javascript", f"const text = `app.get('/x', () => {BODY})`;"),
    "a title of one word and a value": (
        "javascript", f"test('x ' + y, () => {BODY});\nit(`${{x}}`, () => {BODY});\ntest(name, () => {BODY});",
    ),
    "a word in a heredoc": (
        "ruby", "config.define(:exa) do |config|\n  sh inline: <<-EOF\n    apt-get install x\n"
        "    get \"/x\"\n  EOF\n  x\nend",
    ),
    "a word in a title": ("ruby", "describe 'options are empty' do\n  x\n  y\nend"),
    "words in texts and expressions of Ruby": (
        "ruby", "# get '/a' do\nx = \"get '/b'\"\ny = /get '\\/x'/\nz = %q(get '/c')\n"
        "w = `get '/d'`\nrun do\n  a\n  b\nend",
    ),
    "a call on what another call gives": (
        "ruby", "client.session(1).get '/x' do\n  a\n  b\nend\nApp.new.get('/z') do\n  a\n  b\nend",
    ),
    "a key that a variable holds": ("ruby", "put key, value do\n  a\n  b\nend"),
    "a tagged template, and a bracket behind a call": (
        "javascript", f"const a = tag`app.get('/x', () => {BODY})`;\nfoo(get)('/x', () => {BODY});",
    ),
    "a regular expression": ("javascript", f"text.replace(/app.get('x')/, () => {BODY});"),
    "a name of Ruby that is no route": ("ruby", "client.get '/x' do\n  work\n  more\nend"),
}  # fmt: skip


@pytest.mark.parametrize(("language", "source", "expected"), HELD.values(), ids=HELD)
def test_a_function_without_a_name_is_called_by_what_holds_it(language: str, source: str, expected: list[str]) -> None:
    found = held(parsed(language, source))

    assert sorted(map(without_suffix, found)) == sorted(expected)
    assert len({*found}) == len(found)


@pytest.mark.parametrize(("language", "source"), NOT_HELD.values(), ids=NOT_HELD)
def test_other_functions_are_a_part_of_what_contains_them(language: str, source: str) -> None:
    assert held(parsed(language, source)) == []


NAMES = {
    "a handler that is defined elsewhere": (
        "javascript", "app.get('/x', auth, users.show);", ["route", "GET /x", "", "users.show"],
    ),
    "a handler in a wrapper": ("javascript", "app.post('/x', wrap(save));", ["route", "POST /x", "", "save"]),
    "a short function has no document of its own": (
        "javascript", "ipcMain.on('open', () => 1);", ["event", "on open", "", ""],
    ),
    "a named function keeps its name": (
        "javascript", f"app.get('/x', function show() {BODY});", ["route", "GET /x", "show", ""],
    ),
    "a key of a table": ("javascript", "const t = { 'load-all': loadAll };", ["key", "load-all", "", "loadAll"]),
    "a command beside what it runs": (
        "go", 'package m\nvar c = &C{Use: "login [x]", RunE: runLogin}', ["command", "login", "", "runLogin"],
    ),
    "a handler that a method makes": (
        "go", 'package m\nfunc f() {\n\tmux.HandleFunc("/x", s.handleX())\n}', ["route", "/x", "f", "s.handleX"],
    ),
    "Rails": ("ruby", "get '/x', to: 'admin/users#show'", ["route", "GET /x", "", "Admin::UsersController.show"]),
    "Phoenix": (
        "elixir", 'scope "/api", Web do\n  get "/x", PageController, :index\nend',
        ["route", "GET /api/x", "", "Web.PageController.index"],
    ),
    "Laravel": (
        "php", "<?php Route::get('users/{id}', [UserController::class, 'show']);",
        ["route", "GET users/{id}", "", "UserController::show"],
    ),
    "Axum": (
        "rust", 'fn f() { Router::new().route("/x", get(list).post(add)); }', ["route", "POST /x", "f", "add"],
    ),
    "Django": (
        "python", "urls = [path('users/<int:id>/', views.Show.as_view(), name='x')]",
        ["route", "users/<int:id>/", "", "views.Show"],
    ),
    "a decorated function": (
        "python", "@app.get('/x')\ndef show():\n    return 1\n", ["route", "GET /x", "show", ""],
    ),
    "a command of a decorator": (
        "python", "@cli.command('dump-all')\ndef dump():\n    return 1\n", ["command", "dump-all", "dump", ""],
    ),
    "a parser that is added": (
        "python", "p = sub.add_parser('export', help='x')\np.set_defaults(func=run)\n",
        ["command", "export", "", "run"],
    ),
    "Spring": (
        "java",
        '@RequestMapping("/api") class A {\n  @GetMapping("/x") String show() { return ""; }\n}',
        ["route", "GET /api/x", "A::show", ""],
    ),
    "a router in a variable": (
        "go", 'package m\nfunc f(r *R) {\n\tapi := r.Group("/api")\n\tv := api.Group("v1", mw)\n'
        '\tv.POST("/y", s.add)\n}',
        ["route", "POST /api/v1/y", "f", "s.add"],
    ),
    "the root of a router in a variable": (
        "go", 'package m\nfunc f() {\n\ts := m.PathPrefix("/u").Subrouter()\n'
        '\ts.Handle("", wrap(list, "")).Methods("GET")\n}',
        ["route", "GET /u", "f", "list"],
    ),
    "a method that a constant says": (
        "go", 'package m\nfunc f() {\n\tm.Handle("/u", h).Methods(http.MethodPut)\n}', ["route", "PUT /u", "f", "h"],
    ),
    "several methods are not said": (
        "go", 'package m\nfunc f() {\n\tm.Handle("/u", h).Methods("GET", "PUT")\n}', ["route", "/u", "f", "h"],
    ),
    "a router that a block is given has the path of the block": (
        "go",
        'package m\nfunc f() {\n\tr := root.Group("/a")\n\tx.Route("/q", func(r chi.Router) {\n'
        '\t\tr.Get("/w", h)\n\t})\n}',
        ["route", "GET /q/w", "f", "h"],
    ),
    "a group of ASP.NET": (
        "c-sharp", 'var g = app.MapGroup("/api"); g.MapGet("/x", Show);', ["route", "GET /api/x", "", "Show"],
    ),
    "a group of Slim": (
        "php", "<?php $app->group('/api', function ($g) { $g->get('/x', [A::class, 'b']); });",
        ["route", "GET /api/x", "", "A::b"],
    ),
    "a prefix of Laravel ends with its group": (
        "php", "<?php Route::prefix('adm')->group(function () { x(); }); Route::get('z', [A::class, 'b']);",
        ["route", "GET z", "", "A::b"],
    ),
    "a scope of Actix ends with its chain": (
        "rust",
        'fn f() { A::new().service(web::scope("/a").route("/x", web::get().to(show)))'
        '.route("/y", web::post().to(add)); }',
        ["route", "POST /y", "f", "add"],
    ),
    "options behind a handler": (
        "javascript", "document.addEventListener('drop', clearAll, true);",
        ["event", "addEventListener drop", "", "clearAll"],
    ),
    "a handler of Flask that is named": (
        "python", "app.add_url_rule('/x', view_func=show, methods=['GET'])", ["route", "/x", "", "show"],
    ),
    "a command's action that is defined elsewhere": (
        "javascript", "program.command('push <x>').alias('p').action(push);", ["command", "push", "", "push"],
    ),
    "a raw text of Python": (
        "python", "urls = [re_path(r'^x/(?P<id>\\d+)/$', show)]", ["route", "^x/(?P<id>\\d+)/$", "", "show"],
    ),
    "a class of Django in a wrapper": (
        "python", "urls = [path('x/', login_required(views.Show.as_view(template='a')))]",
        ["route", "x/", "", "views.Show"],
    ),
    "a method with its object": (
        "javascript", "router.get('/x', users.show.bind(users));", ["route", "GET /x", "", "users.show"],
    ),
    "a method with its object in a wrapper": (
        "typescript", "router.get('/x', wrap(this.show.bind(this)));", ["route", "GET /x", "", "this.show"],
    ),
    "middleware of Echo is named behind the handler": (
        "go",
        'package m\nimport "github.com/labstack/echo/v4"\nfunc f() {\n\te.GET("/x", s.show, auth)\n}',
        ["route", "GET /x", "f", "s.show"],
    ),
    "middleware of Gin is named before the handler": (
        "go", 'package m\nimport "github.com/gin-gonic/gin"\nfunc f() {\n\te.GET("/x", auth, s.show)\n}',
        ["route", "GET /x", "f", "s.show"],
    ),
    "a namespace of Rails": (
        "ruby", "namespace :admin do\n  scope '/a' do\n    get 'x', to: 'users#show'\n  end\nend",
        ["route", "GET /admin/a/x", "", "Admin::UsersController.show"],
    ),
    "a scope of Rails with a module alone": (
        "ruby", "scope module: 'my_api/v1' do\n  get 'x', to: 'users#show'\nend",
        ["route", "GET x", "", "MyApi::V1::UsersController.show"],
    ),
    "a scope of Rails with options": (
        "ruby", "scope path: '/p', module: :v1 do\n  scope '/q', as: 'r' do\n    get 'x', to: 'u#v'\n  end\nend",
        ["route", "GET /p/q/x", "", "V1::UController.v"],
    ),
    "a namespace of Sinatra": (
        "ruby", "namespace '/api' do\n  get '/x' do\n    a\n  end\nend", ["route", "GET /api/x", "GET /api/x", ""],
    ),
    "a live view of Phoenix": (
        "elixir", 'scope "/a", Web do\n  live "/x", PageLive, :index\nend', ["route", "LIVE /a/x", "", "Web.PageLive"],
    ),
    "the names around a method of ASP.NET": (
        "c-sharp",
        '[Route("api/[controller]")] class UsersController { [HttpGet("[action]/{id}")] int Show(int id) => 1; }',
        ["route", "GET api/Users/Show/{id}", "UsersController::Show", ""],
    ),
    "a reference to a method": (
        "java", 'class A { void m() { app.get("/x", Users::all); } }', ["route", "GET /x", "A::m", "Users::all"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("language", "source", "expected"), NAMES.values(), ids=NAMES)
def test_what_starts_code_is_a_name_of_it(language: str, source: str, expected: list[str]) -> None:
    assert expected in names(parsed(language, source))


NOT_NAMED = {
    "a filter before a handler without a name": (
        "javascript", "app.get('/:name', session, negotiate({ html: page }));", "route",
    ),
    "a request to the application under test": (
        "php", "<?php class T { function m($info) { $this->asEditor()->post('/x', $info); } }", "route",
    ),
    "a request of a client": ("javascript", "apiClient.get('/x', a); this.http_client.post('/x', b);", "route"),
    "a request of a client of Kotlin": (
        "kotlin", 'fun f() {\n client.get("/x") {\n a()\n }\n mockMvc.post("/y") {\n b()\n }.andExpect { c() }\n}',
        "route",
    ),
    "a request of a client of Java": (
        "java", 'class A { void m() { webClient.get("/x", r -> { a(); }); mockMvc.delete("/y", U::b); } }', "route",
    ),
    "a mocked request": ("javascript", "rest.get('/x', (a) => {\n  b();\n});\nfetchMock.post('/x', c);", "route"),
    "a request of a test's client": ("javascript", "request(app).get('/x', done);", "route"),
    "a word in the name of a test": (
        "elixir", 'defmodule T do\n  test "delete session" do\n    x\n  end\nend', "route",
    ),
    "a text of Elixir": (
        "elixir", 'defmodule T do\n  @doc """\n  get "/x", P, :i\n  """\n  def f, do: ~s(get "/y", P, :i)\nend',
        "route",
    ),
    "a text of PHP": ("php", "<?php $t = <<<EOT\nRoute::get('x', [A::class, 'b']);\nEOT;", "route"),
    "a text of Java": ("java", 'class A { String s = """\n app.get("/x", a::b)\n """; }', "route"),
    "a text of C#": ("c-sharp", 'class A { void M() { var s = @"app.MapGet(""/x"", y)"; } }', "route"),
    "a text of Rust": ("rust", 'fn f() { let s = r#"route("/x", get(a))"#; }', "route"),
    "a text of Lua": ("lua", 'x = [[ app:get("/x", f) ]]', "route"),
    "a text of Python": ("python", 'x = """path("a/", v)"""', "route"),
    "a text of Go": ("go", 'package m\nvar s = `mux.Handle("/x", h)`', "route"),
    "what a maker is given is no handler": (
        "go", 'package m\nfunc f() {\n\tui.GET("/x", serve("a.html", replace))\n}', "route",
    ),
    "a call without arguments": ("go", 'package m\nfunc f() {\n\tmux.Handle("/x", a()())\n}', "route"),
}  # fmt: skip


@pytest.mark.parametrize(("language", "source", "kind"), NOT_NAMED.values(), ids=NOT_NAMED)
def test_nothing_else_is_a_name(language: str, source: str, kind: str) -> None:
    assert [row for row in names(parsed(language, source)) if row[0] == kind] == []


def test_what_is_named_keeps_its_id_its_parent_and_its_source() -> None:
    inside = "function setup() { return 1; }"
    file = parsed("javascript", f"it('setup', () => {{\n  {inside}\n  setup();\n}});")

    named = next(symbol for symbol in file.symbols if not symbol.is_unnamed)
    assert (named.id, named.parent_id) == ("a.x::setup", None)
    assert (
        named.canonical_source
        == parsed("javascript", f"zap('setup', () => {{\n{inside}\n}});").symbols[0].canonical_source
    )
    assert [without_suffix(id_) for id_ in held(file)] == ["setup"]
    assert held(file) != ["setup"]


def test_a_function_without_a_name_has_the_lines_the_facts_and_the_comment_of_its_call() -> None:
    file = parsed("javascript", f"\n/** Gives one user. */\napp.get('/x', (req) => {BODY});\n")

    found = file.symbols[0]
    assert (found.start_line, found.end_line, found.opening_comment) == (3, 5, "Gives one user.")
    assert [one.name for one in found.facts.parameters] == ["req"]
    assert [one.text for one in found.facts.calls] == ["work"]
    assert json.loads(file.facts.references)["held"] == {"GET /x": [1]}


def test_a_file_of_many_tests_is_read_in_a_time_that_grows_with_it() -> None:
    blocks = "\n".join(f"it('does {number}', () => {BODY});" for number in range(3_000))

    file = parsed("javascript", f"describe('all', () => {{\n{blocks}\n}});")

    assert len(held(file)) == 2_000
    assert sum(len(symbol.canonical_source) for symbol in file.symbols) < 2 * len(file.facts.source)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        pytest.param("app" + "".join(f"\n.get('/x{n}', f{n})" for n in range(6_000)), "route", id="a chain of routes"),
        pytest.param(
            "program" + "".join(f".command('c{n}')" for n in range(6_000)), "command", id="a chain of commands"
        ),
        pytest.param("get('/x', " * 2_000 + "f" + ")" * 2_000, "route", id="routes in routes"),
    ],
)
def test_only_so_far_calls_in_calls_are_looked_at(source: str, kind: str) -> None:
    assert len([row for row in names(parsed("javascript", source)) if row[0] == kind]) < 1_000


def test_a_chain_of_some_hundred_routes_is_read_whole() -> None:
    source = "app" + "".join(f"\n.get('/x{number}', f{number})" for number in range(300))

    assert [row[3] for row in names(parsed("javascript", source))] == [f"f{number}" for number in range(300)]


@pytest.mark.parametrize(("count", "found"), [(90, ["run"]), (110, [])], ids=["near", "far"])
def test_the_action_of_a_command_is_one_of_the_next_hundred_links(count: int, found: list[str]) -> None:
    source = "program.command('go')" + ".option('x')" * count + ".action(run)"

    assert [row[3] for row in names(parsed("javascript", source))] == found


@pytest.mark.parametrize(
    ("fields", "found"), [(100, [["command", "go", "", "run"]]), (101, [])], ids=["record", "table"]
)
def test_what_has_more_than_a_hundred_entries_is_no_record_with_a_title(fields: int, found: list[list[str]]) -> None:
    others = "".join(f"A{number}: {number}, " for number in range(fields - 2))

    assert names(parsed("go", f'package m\nvar c = C{{Use: "go", Run: run, {others}}}')) == found


def test_the_path_of_a_router_in_many_routers_is_cut() -> None:
    groups = "".join(f'r{n + 1} := r{n}.Group("/g")\n' for n in range(500))

    found = names(parsed("go", f'package m\nfunc f() {{\n{groups}r500.GET("/x", h)\nr149.GET("/x", h)\n}}'))
    assert [len(row[1]) for row in found] == [len("GET ") + 300 + len("/x"), len("GET ") + 298 + len("/x")]


def test_each_command_of_a_chain_has_its_own_action() -> None:
    source = f"program.command('a').action(() => {BODY}).command('b').action(second)"

    assert [row for row in names(parsed("javascript", source)) if row[0] == "command"] == [
        ["command", "a", "command a", ""], ["command", "b", "", "second"],
    ]  # fmt: skip
