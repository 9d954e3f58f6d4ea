"""Which of several packages, modules or classes of one name is meant."""

import pytest

from codesum_pipeline_tests.graph.sources import calls_of

_PACKAGE = '{"name": "@x/a", "main": "index.js"}'
_JAVASCRIPT = {
    "packages/a/package.json": _PACKAGE,
    "packages/a/index.js": "export function run() {}\n",
    "fixtures/a/package.json": _PACKAGE,
    "fixtures/a/index.js": "export function run() {}\n",
    "packages/b/main.js": "import { run } from '@x/a';\nrun();\n",
}


@pytest.mark.parametrize(
    "workspace",
    [
        {
            "pnpm-workspace.yaml": "# all\npackages:\n  - 'packages/*' # ours\n  - '!**/test/**'\n"
            "catalog:\n  - fixtures/*\n"
        },
        {"pnpm-workspace.yaml": 'packages: ["packages/**", "!fixtures/*"]\n'},
        {"package.json": '{"workspaces": ["./packages/*"]}'},
        {"package.json": '{"workspaces": {"packages": ["packages/*"]}}'},
    ],
    ids=["pnpm", "pnpm on a line", "npm", "yarn"],
)
def test_of_packages_of_one_name_that_of_the_workspace_is_meant(workspace: dict[str, str]) -> None:
    assert calls_of(_JAVASCRIPT) == {}
    assert calls_of({**_JAVASCRIPT, **workspace}) == {("packages/b/main.js", "packages/a/index.js::run"): "ast:import"}


def test_of_modules_of_one_path_that_of_the_workspace_is_meant() -> None:
    sources = {
        "copy/go.mod": "module e.com/lib\n",
        "copy/lib.go": "package lib\nfunc Run() {}\n",
        "lib/go.mod": "module e.com/lib\n",
        "lib/lib.go": "package lib\nfunc Run() {}\n",
        "app/go.mod": "module e.com/app\n",
        "app/main.go": 'package main\nimport "e.com/lib"\nfunc main() { lib.Run() }\n',
    }
    works = ("go 1.22\nuse (\n\t./app\n\t./lib\n)\n", "go 1.22\nuse ./app\nuse ./lib\n", "replace e.com/lib => ./lib\n")

    assert calls_of(sources) == {("app/main.go::main", "copy/lib.go::Run"): "ast:import"}
    for work in works:
        assert calls_of({**sources, "go.work": work}) == {("app/main.go::main", "lib/lib.go::Run"): "ast:import"}


def test_of_classes_of_one_name_the_autoloaded_is_meant() -> None:
    sources = {
        "src/Repo.php": "<?php\nnamespace App;\nclass Repo { function find() {} }\n",
        "stubs/fake.php": "<?php\nnamespace App;\nclass Repo { function find() {} }\n",
        "src/Web/Page.php": "<?php\nnamespace App\\Web;\nuse App\\Repo;\nfunction go() { new Repo(); }\n",
    }
    composer = '{"autoload": {"psr-4": {"App\\\\": "src/"}}, "autoload-dev": {"psr-4": {"Tests\\\\": ["tests"]}}}'

    assert calls_of(sources) == {}
    assert calls_of({**sources, "composer.json": composer}) == {
        ("src/Web/Page.php::go", "src/Repo.php::Repo"): "ast:import"
    }
