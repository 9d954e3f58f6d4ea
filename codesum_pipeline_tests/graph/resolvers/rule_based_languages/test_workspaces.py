"""Which of several packages of one name is meant."""

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
