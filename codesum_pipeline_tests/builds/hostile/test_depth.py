"""Nesting, chains and lengths that no person writes: read in bounded time, whatever the call stack holds."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline_tests.builds.hostile.building import SOUND, Built, built
from codesum_pipeline_tests.support.repositories import GitRepo

N = 10_000
Index = Callable[..., Built]


def python(body: str) -> str:
    """A function around the body, and a sound one after it."""
    return f"def odd(x):\n{body}\n\n{SOUND.decode()}"


# Broken over lines, so that no file is taken for a minified one.
DEEP: dict[str, tuple[str, str]] = {
    "brackets": ("brackets.py", python("    return " + "(\n" * N + "1" + ")\n" * N)),
    "brackets that never close": ("open.py", SOUND.decode() + "x = " + "[\n" * N),
    "dictionaries": ("dictionaries.py", python("    return " + "{'a':\n" * N + "1" + "}\n" * N)),
    "nested calls": ("nested_calls.py", python("    return " + "g(\n" * N + "x" + ")\n" * N)),
    "call chain": ("call_chain.py", python("    return (x\n" + ".g()\n" * N + ")")),
    "attribute chain": ("attributes.py", python("    return (x\n" + ".g\n" * N + ")")),
    "subscript chain": ("subscripts.py", python("    return (x\n" + "[0]\n" * N + ")")),
    "else-if chain": (
        "elif.py",
        python(
            "    if x == 0:\n        return 0\n"
            + "".join(f"    elif x == {n}:\n        return {n}\n" for n in range(N))
        ),
    ),
    "binary operators": ("binary.py", python("    return (" + " +\n".join(["x"] * N) + ")")),
    "boolean operators": ("boolean.py", python("    y = (" + " or\n".join(["x"] * N) + ")\n    return y.z()")),
    "not": ("not.py", python("    return (" + "not\n" * N + "x)")),
    "conditions": ("conditions.py", python("    return (" + "1 if x else\n" * N + "x)")),
    "lambdas": ("lambdas.py", python("    return (" + "lambda:\n" * N + "x)")),
    "awaits": ("awaits.py", python("    return (" + "await\n" * N + "x)")),
    "comprehensions": ("comprehensions.py", python("    return " + "[v for v in\n" * 2_000 + "x" + "]" * 2_000)),
    "nested ifs": ("ifs.py", python("".join(" " * (n + 1) + "if x:\n" for n in range(200)) + " " * 201 + "pass")),
    "nested functions": (
        "functions.py",
        "".join(" " * n + f"def f{n}():\n" for n in range(120)) + " " * 120 + "pass\n",
    ),
    "nested classes": ("classes.py", "".join(" " * n + f"class C{n}:\n" for n in range(120)) + " " * 120 + "pass\n"),
    "decorators": ("decorators.py", "@d\n" * 1_000 + SOUND.decode().partition("\n\n\n")[2]),
    "parameters": (
        "parameters.py",
        "def odd(\n" + ",\n".join(f"a{n}" for n in range(1_000)) + "):\n    return a1\n" + SOUND.decode(),
    ),
    "a nested annotation": (
        "annotation.py",
        "def odd(x: " + "list[\n" * N + "int" + "]\n" * N + "):\n    return x\n" + SOUND.decode(),
    ),
    "joined strings": ("strings.py", python("    return (" + "'a'\n" * 2_000 + ")")),
    "names one after another": (
        "names.py",
        python("    a0 = x\n" + "".join(f"    a{n + 1} = a{n}.b()\n" for n in range(1_000)) + "    return a1000.c()"),
    ),
    "functions that return each other": (
        "returns.py",
        SOUND.decode()
        + "def f0():\n    return order_total([])\n"
        + "".join(f"def f{n}():\n    return f{n - 1}()\n" for n in range(1, 500)),
    ),
    "comment lines": ("comments.py", SOUND.decode() + "# this was commented out some time ago\n" * 20_000),
    "comment lines in a function": (
        "inner_comments.py",
        python("    y = x\n" + "    # y = x + y\n" * 20_000 + "    return y"),
    ),
    "blank lines": ("blanks.py", python("    \n" * 100_000 + "    return x")),
    "a docstring of 20,000 lines": (
        "docstring.py",
        python(
            '    """' + "word word\n" * 10_000 + "    Args:\n" + "        x: y\n" * 10_000 + '    """\n    return x'
        ),
    ),
    "a name of 100,000 letters": ("long_name.py", python("    return x").replace("odd", "a" * 100_000) + "#\n" * 1_000),
    "a function of 5,000 lines": (
        "long_function.py",
        python("".join(f"    x = g{n % 100}(x)\n" for n in range(5_000)) + "    return x"),
    ),
    "500 functions of one name": ("same_name.py", SOUND.decode() + "def f():\n    return 1\n" * 500),
}
# What takes seconds for each.
LONGEST: dict[str, tuple[str, str]] = {
    "10,000 joined strings": ("more_strings.py", python("    return (" + "'a'\n" * N + ")")),
    "a function of 50,000 lines": (
        "longer_function.py",
        python("".join(f"    x = g{n % 100}(x)\n" for n in range(50_000)) + "    return x"),
    ),
}
OTHER_LANGUAGES: dict[str, tuple[str, str]] = {
    "JSON": ("deep.json", '{"a":\n' * N + "1" + "}\n" * N),
    "YAML": ("deep.yaml", "[\n" * N + "]\n" * N),
    "TOML": ("deep.toml", "x = " + "[\n" * N + "]\n" * N),
    "Markdown": (
        "deep.md",
        ">" * N + " x\n\n" + "- " * N + "\n" + "[" * N + "\n" + "*" * N + "a" + "`" * N + "\n" + "<" * N,
    ),
    "reStructuredText": ("deep.rst", "`" * N + "\n" + ".. " * N + "\n" + ":a:" * N + "\n"),
    "HTML": ("deep.html", "<div>\n" * N),
    "JavaScript": ("deep.js", "function odd(x) { return " + "(\n" * N + "x" + ")\n" * N + "; }\n"),
    "JavaScript else-if": ("elseif.js", "function odd(x) {\n  if (x) { }\n" + "  else if (x) { }\n" * N + "}\n"),
    "TypeScript": ("deep.ts", "const x = " + "[\n" * N + "]\n" * N + ";\n"),
    "Go": ("deep.go", "package a\nfunc odd() {\n" + "{\n" * N + "}\n" * N + "}\n"),
    "Go else-if": ("elseif.go", "package a\nfunc odd(x int) {\nif x == 0 {\n}" + " else if x == 1 {\n}" * N + "\n}\n"),
    "Rust": ("deep.rs", "fn odd() {\n" + "{\n" * N + "}\n" * N + "}\n"),
    "Java": ("deep.java", "class A { int odd(int x) { return " + "(\n" * N + "x" + ")\n" * N + "; } }\n"),
    "C": ("deep.c", "int odd(int x) { return " + "(\n" * N + "x" + ")\n" * N + "; }\n"),
    "C++": ("deep.cpp", "int odd(int x) { return x" + " +\nx" * N + "; }\n"),
    "C#": ("deep.cs", "class A { int Odd(int x) { return " + "(\n" * N + "x" + ")\n" * N + "; } }\n"),
    "Ruby": ("deep.rb", "def odd(x)\n  " + "[\n" * N + "]\n" * N + "end\n"),
    "PHP": ("deep.php", "<?php function odd($x) { return " + "(\n" * N + "$x" + ")\n" * N + "; }\n"),
    "shell": ("deep.sh", "odd() {\n" + "if true; then\n" * 2_000 + ":\n" + "fi\n" * 2_000 + "}\n"),
    "SQL": ("deep.sql", "SELECT " + "(\n" * N + "1" + ")\n" * N + ";\n"),
}


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """One repository with all but the longest of them."""
    return built_of([*DEEP.values(), *OTHER_LANGUAGES.values()], tmp_path_factory.mktemp("deep"))


@pytest.fixture(scope="module")
def longest(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """One repository with the longest of them."""
    return built_of(list(LONGEST.values()), tmp_path_factory.mktemp("longest"))


def built_of(cases: list[tuple[str, str]], folder: Path) -> Built:
    assert len({name for name, _ in cases}) == len(cases)
    repo = GitRepo.create(folder / "repository", {"sound.py": SOUND, **dict(cases)})
    return built(repo.path, folder / "home", settings={"max_file_size_mb": 4})


@pytest.fixture(scope="module")
def documents(deep: Built) -> Mapping[str, Mapping[str, Any]]:
    return deep.documents()


@pytest.mark.parametrize(
    ("name", "which"),
    [
        *(pytest.param(name, "deep", id=case) for case, (name, _) in DEEP.items()),
        *(pytest.param(name, "longest", id=case, marks=pytest.mark.slow) for case, (name, _) in LONGEST.items()),
    ],
)
def test_a_deep_or_long_file_is_indexed(request: pytest.FixtureRequest, name: str, which: str) -> None:
    made = request.getfixturevalue(which)
    documents = request.getfixturevalue("documents") if which == "deep" else made.documents()

    assert made.reasons()[name] is None
    assert documents[name]["type"] == "file"
    assert {document["type"] for document in documents.values() if document["file_path"] == name} > {"file"}


@pytest.mark.parametrize("name", [name for name, _ in OTHER_LANGUAGES.values()], ids=OTHER_LANGUAGES)
def test_a_deep_file_of_another_language_is_indexed(
    deep: Built, documents: Mapping[str, Mapping[str, Any]], name: str
) -> None:
    assert deep.reasons()[name] is None
    assert documents[name]["type"] == "file"


def test_every_deep_file_is_parsed(deep: Built) -> None:
    assert deep.reports["symbols"].failures == ()


def test_what_stands_beside_depth_is_read_as_ever(documents: Mapping[str, Mapping[str, Any]]) -> None:
    beside = ["brackets.py", "call_chain.py", "elif.py", "comments.py", "long_function.py", "same_name.py"]

    hashes = {documents[f"{name}::order_total"]["content_hash"] for name in ["sound.py", *beside]}
    assert len(hashes) == 1


def test_no_text_grows_with_the_depth_of_a_file(documents: Mapping[str, Mapping[str, Any]]) -> None:
    assert max(len(document["summary"]) for document in documents.values()) <= 600
    assert max(len(document["keywords"]) for document in documents.values()) <= 12


def test_a_comment_of_a_long_run_in_a_string_stays_text(index: Index, git_repo) -> None:
    script = "# a line of a script\n" * 300
    plain = f'def script():\n    return """\n{script}"""\n'
    made = index(git_repo({"a.py": plain, "b.py": plain.replace("a line", "b line")}).path)

    first, second = (made.documents()[f"{name}::script"]["content_hash"] for name in ("a.py", "b.py"))
    assert first != second


def test_a_chain_of_400_classes_is_indexed(index: Index, git_repo) -> None:
    chain = "class C0:\n    def run(self):\n        return 1\n" + "".join(
        f"class C{n}(C{n - 1}):\n    def call_{n}(self):\n        return self.run()\n" for n in range(1, 400)
    )
    documents = index(git_repo({"chain.py": chain}).path).documents()

    assert documents["chain.py::C1::call_1"]["calls"] == ["chain.py::C0::run"]
    assert documents["chain.py::C399::call_399"]["type"] == "function"


@pytest.mark.parametrize(
    "imported",
    [pytest.param("target", id="by name"), pytest.param("*", id="by star", marks=pytest.mark.slow)],
)
def test_a_chain_of_400_re_exports_is_indexed(index: Index, git_repo, imported: str) -> None:
    files = {"p/__init__.py": "", "p/m0.py": "def target():\n    return 1\n"}
    files |= {f"p/m{n}.py": f"from p.m{n - 1} import {imported}\n" for n in range(1, 400)}
    files |= {f"p/use{n}.py": f"from p.m{n} import {imported}\n\n\ndef use():\n    return target()\n" for n in (2, 399)}
    documents = index(git_repo(files).path).documents()

    assert documents["p/use2.py::use"]["calls"] == ["p/m0.py::target"]
    assert documents["p/use399.py::use"]["type"] == "function"


@pytest.mark.slow
def test_a_chain_of_400_classes_over_as_many_files_is_indexed(index: Index, git_repo) -> None:
    files = {"p/__init__.py": "", "p/m0.py": "class C0:\n    def run(self):\n        return 1\n"}
    files |= {
        f"p/m{n}.py": f"from p.m{n - 1} import C{n - 1}\n\n\nclass C{n}(C{n - 1}):\n    pass\n" for n in range(1, 400)
    }
    files |= {f"p/use{n}.py": f"from p.m{n} import C{n}\n\n\ndef use():\n    return C{n}().run()\n" for n in (2, 399)}
    documents = index(git_repo(files).path).documents()

    assert "p/m0.py::C0::run" in documents["p/use2.py::use"]["calls"]
    assert documents["p/use399.py::use"]["type"] == "function"


def test_classes_and_modules_that_go_in_circles_are_indexed(index: Index, git_repo) -> None:
    made = index(
        git_repo(
            {
                "p/__init__.py": "from p.a import *\nfrom p.b import x\n",
                "p/a.py": "from p.b import *\nfrom p.b import x\n\n\n"
                "class A(A):\n    pass\n\n\nclass B(C):\n    pass\n\n\n"
                "class C(B):\n    def run(self):\n        self.q()\n        return super().run()\n",
                "p/b.py": "from p.a import *\nfrom p.a import x\n\n\ndef g():\n    return x()\n",
            }
        ).path
    )

    assert "p/a.py::C::run" in made.documents()


def test_a_file_limit_bounds_what_is_parsed(index: Index, git_repo) -> None:
    made = index(git_repo({"a.py": SOUND, "b.py": SOUND * 200}).path, settings={"max_file_size_mb": 0.01})

    assert made.reasons() == {"a.py": None, "b.py": "too_large"}
