"""What code that is started by a framework is called besides its name leads to the definition that it starts."""

import pytest

from codesum_pipeline_tests.graph.sources import other_names_of

CONTROLLER = "{0} UsersController < Base\n  def show\n    1\n  end\nend\n"
PHP = "<?php\nnamespace App;\nclass Users { function show() { return 1; } }\n"

FRAMEWORKS = {
    "Rails": (
        {"a.rb": "get '/about', to: 'users#show'\n", "b.rb": CONTROLLER.format("class")},
        {("GET /about", "b.rb::UsersController::show")},
    ),
    "a namespace of Rails": (
        {
            "a.rb": "namespace :admin do\n  get 'u', to: 'users#show'\nend\n",
            "b.rb": CONTROLLER.format("class"),
            "c.rb": f"module Admin\n{CONTROLLER.format('class')}end\n",
        },
        {("GET /admin/u", "c.rb::Admin::UsersController::show")},
    ),
    "a controller of Rails that is not there": (
        {"a.rb": "namespace :admin do\n  get 'u', to: 'pages#show'\nend\n", "b.rb": CONTROLLER.format("class")}, set(),
    ),
    "Phoenix": (
        {
            "a.ex": 'defmodule R do\n scope "/a", Web do\n get "/x", Page, :home\n live "/l", Live, :i\n end\nend\n',
            "b.ex": "defmodule Web.Page do\n def home(c), do: c\nend\ndefmodule Web.Live do\n def x(a), do: a\nend\n",
        },
        {("GET /a/x", "b.ex::Web::Page::home"), ("LIVE /a/l", "b.ex::Web::Live")},
    ),
    "Laravel": (
        {
            "a.php": "<?php\nuse App\\Users;\nRoute::get('x', [Users::class, 'show']);\n"
            "Route::get('y', 'Users@show');\n",
            "b.php": PHP,
        },
        {("GET x", "b.php::Users::show"), ("GET y", "b.php::Users::show")},
    ),
    "Axum and Actix": (
        {
            "src/lib.rs": 'mod h;\nuse h::list;\nfn f() { A::new().route("/x", get(list).post(h::add)); '
            'B::new().route("/y", web::get().to(h::add)); }\n',
            "src/h.rs": "pub fn list() {}\npub fn add() {}\n",
        },
        {("GET /x", "src/h.rs::list"), ("POST /x", "src/h.rs::add"), ("GET /y", "src/h.rs::add")},
    ),
    "Django": (
        {
            "a.py": "from v import show\nimport v\na = [re_path(r'^x/$', show), path('z/', f(v.Show.as_view(b=1)))]\n",
            "v.py": "def show(): pass\nclass Show: pass\n",
        },
        {("^x/$", "v.py::show"), ("z/", "v.py::Show")},
    ),
    "Express": (
        {
            "a.js": "const u = require('./u');\napp.get('/x', u.show.bind(u));\napp.get('/z', auth, u.show);\n"
            "class R { start() { this.r.get('/w', this.go.bind(this)); } go() { return 1; } }\n",
            "u.js": "exports.show = function () { return 1; };\n",
        },
        {("GET /x", "u.js::show"), ("GET /z", "u.js::show"), ("GET /w", "a.js::R::go")},
    ),
    "Commander": (
        {
            "a.js": "const { add } = require('./u');\nprogram.command('push <x>').action(add);\n",
            "u.js": "exports.add = () => 2;\n",
        },
        {("push", "u.js::add")},
    ),
    "Kotlin": (
        {
            "a.kt": 'fun f() { app.get("/x", Users::all)\n app.get("/y", ::mine) }\nfun mine() {}\n'
            "object Users { fun all() {} }\n",
        },
        {("GET /x", "a.kt::Users::all"), ("GET /y", "a.kt::mine")},
    ),
    "a client's request": ({"a.js": "function done() {}\napiClient.get('/x', done);\n"}, set()),
}  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), FRAMEWORKS.values(), ids=FRAMEWORKS)
def test_a_route_or_command_leads_to_what_it_starts(files: dict[str, str], expected: set[tuple[str, str]]) -> None:
    assert other_names_of(files) == expected
