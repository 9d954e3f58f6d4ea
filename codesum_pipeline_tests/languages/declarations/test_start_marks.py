"""Commands and routes from decorators, annotations and attributes, as they stand in canonical sources."""

import pytest

from codesum_pipeline.languages.declarations.start_marks import (
    StartMark,
    command_of,
    marks_by_language,
    marks_of,
    routes_of,
)


def routes(language: str, source: str, around: str = "") -> list[str]:
    return list(routes_of(marks_by_language()[language], marks_of(source), marks_of(around)))


@pytest.mark.parametrize(
    ("language", "source", "around", "expected"),
    [
        ("python", '@app.get("/items/{id}", tags=["x"])\nasync def f(): ...', "", "GET /items/{id}"),
        ("python", '@app.route("/users", methods=["GET", "POST"])\ndef f(): ...', "", "GET,POST /users"),
        ("python", '@login_required\n@bp.route(rule="/me")\ndef f(): ...', "", "/me"),
        (
            "java",
            '/** Lists. */\n@Timed @GetMapping(value = "/items", produces = "a)b") String f() {}',
            '@RestController @RequestMapping("/api") class A {}',
            "GET /api/items",
        ),
        ("java", '@POST @Path("x") void f() {}', '@Path("/root/") class A {}', "POST /root/x"),
        ("java", "@GET void f() {}", '@Path("/root") class A {}', "GET /root"),
        ("java", '@RequestMapping(path = "/y", method = RequestMethod.DELETE) void f() {}', "", "DELETE /y"),
        ("kotlin", '@PutMapping("/items") fun f() {}', "@RestController class A {}", "PUT /items"),
        ("scala", '@cask.get("/items/:id") def f(id: Int) = 1', "", "GET /items/:id"),
        ("c-sharp", '[HttpGet("{id}"), Authorize] void F() {}', '[Route("api/x")] class A {}', "GET api/x/{id}"),
        ("typescript", '@Get(":id")\n@UseGuards(X)\nfindOne() {}', '@Controller("cats") class A {}', "GET cats/:id"),
        ("typescript", "@Post()\ncreate() {}", '@Controller("cats") class A {}', "POST cats"),
        ("php", "#[Route('/list', methods: ['GET'])] function f()", "#[Route('/blog')] class A {}", "GET /blog/list"),
        ("rust", '/// Reads.\n#[get("/items")]\n#[allow(x)]\nasync fn f() {}', "", "GET /items"),
    ],
)  # fmt: skip
def test_a_mark_with_a_path_is_a_route(language, source, around, expected):
    assert routes(language, source, around) == [expected]


@pytest.mark.parametrize(
    ("language", "source", "around"),
    [
        ("python", '@mock.patch("app.x")\ndef f(): ...', ""),
        ("python", '@cache.get("key")\ndef f(): ...', ""),
        ("python", 'def f():\n    @app.get("/inner")\n    def g(): ...', ""),
        ("java", '@GetMapping("/x") String f();', '@FeignClient("other") interface A {}'),
        ("typescript", '@Get("x")\nfind() {}', "@Injectable() class A {}"),
        ("rust", '#[get(field = "x")]\nfn f() {}', ""),
    ],
    ids=["no path", "no rooted path", "of a function inside", "a client's", "no controller", "another macro"],
)
def test_a_mark_that_starts_nothing_is_none(language, source, around):
    assert routes(language, source, around) == []


@pytest.mark.parametrize(
    ("language", "name", "source", "expected"),
    [
        ("python", "f", '@click.command("do-it", help="Does")\n@click.option("--n")\ndef f(): ...', "do-it"),
        ("python", "f", '@app.command(name="x")\ndef f(): ...', "x"),
        ("python", "clean_up", "@cli.command\ndef clean_up(): ...", "clean-up"),
        ("python", "sync_cmd", "@cli.command()\ndef sync_cmd(): ...", None),
        ("java", "Run", '@Command(name = "run", description = "Runs") class Run {}', "run"),
        ("java", "Run", "@Command class Run {}", None),
        ("php", "X", "#[AsCommand(name: 'app:x')] class X {}", "app:x"),
        ("rust", "x", "#[command]\nfn x() {}", None),
    ],
)
def test_a_command_has_the_name_that_its_mark_gives(language, name, source, expected):
    assert command_of(marks_by_language()[language], language, name, marks_of(source)) == expected


def test_marks_end_where_the_definition_begins():
    assert marks_of('@a.b("x", f(1))\n@c\ndef d(e="@f"): ...') == [StartMark("b", '"x", f(1)'), StartMark("c")]
    assert marks_of("def f(): ...") == []


@pytest.mark.parametrize(
    "source",
    ["@" * 1_000_000, "@a(" * 300_000, '@a("' + "\\" * 1_000_000, "#[" * 500_000, "/*" * 500_000, "@a, " * 300_000],
)
def test_of_a_long_source_only_the_beginning_is_read(source):
    assert marks_of(source) == marks_of(source[:2000])
