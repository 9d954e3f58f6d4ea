"""Which folders are packages of a JavaScript workspace.

Two packages of one name are common: copies in fixtures and examples. A
workspace (`workspaces` of `package.json`, `packages` of `pnpm-workspace.yaml`)
says which of them its other packages mean.
"""

import re

from codesum_pipeline.foundation.data_model.patterns import ANY_FOLDERS, STAR, linear_expression
from codesum_pipeline.languages.declarations.projects import Projects, join_path, texts_in

# More stars than a pattern of any workspace has, and more patterns than a file that lists them.
MAX_STARS = 8
MAX_PATTERNS = 200


class Workspaces:
    """The patterns of all workspaces of a repository."""

    def __init__(self, projects: Projects) -> None:
        self._taken: list[re.Pattern[str]] = []
        self._left_out: list[re.Pattern[str]] = []
        for path in projects.named("package.json"):
            workspaces = projects.json(path).get("workspaces")
            self._add(path, texts_in(workspaces.get("packages") if isinstance(workspaces, dict) else workspaces))
        for path in projects.named("pnpm-workspace.yaml"):
            self._add(path, texts_in(projects.yaml(path).get("packages")))

    def _add(self, path: str, patterns: list[str]) -> None:
        for pattern in patterns[:MAX_PATTERNS]:
            whole = join_path(path.rpartition("/")[0], pattern.removeprefix("!"))
            if whole is not None and whole.count("*") <= MAX_STARS:
                (self._left_out if pattern.startswith("!") else self._taken).append(_compiled(whole))

    def holds(self, folder: str) -> bool:
        """Whether a folder is a package of a workspace."""
        is_taken = any(pattern.fullmatch(f"{folder}/") for pattern in self._taken)
        return is_taken and not any(pattern.fullmatch(f"{folder}/") for pattern in self._left_out)


def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of paths that end with a slash: `*` is part of one name, `**` any number of folders."""
    parts = [ANY_FOLDERS if part == "**" else STAR.join(map(re.escape, part.split("*"))) for part in pattern.split("/")]
    names = "/".join(parts).replace(f"/{ANY_FOLDERS}", ANY_FOLDERS).removeprefix(f"{ANY_FOLDERS}/")
    return re.compile(linear_expression(f"^{names}/") if names != ANY_FOLDERS else ".*", re.DOTALL)
