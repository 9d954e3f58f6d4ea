"""Files that are no programs but say how the imports of programs are found.

Their references are their text, so that the graph needs no other file's.
"""

import json

_NAMES = frozenset({
    "package.json", "jsconfig.json", "pnpm-workspace.yaml", "go.mod", "go.work", "Cargo.toml", "composer.json",
})  # fmt: skip


def is_project_file(path: str) -> bool:
    """Whether a file says how imports are found."""
    name = path.rpartition("/")[2]
    return name in _NAMES or (name.startswith("tsconfig") and name.endswith(".json"))


def project_references(text: str) -> str:
    """What a project file says to the graph."""
    return json.dumps({"text": text}, ensure_ascii=False, separators=(",", ":"))


def project_text(references: str) -> str:
    """The text of a project file, from what it says to the graph."""
    return str(json.loads(references)["text"])
