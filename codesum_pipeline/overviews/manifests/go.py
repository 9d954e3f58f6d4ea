"""Go: go.mod, whose format is a directive a line."""

import re

from codesum_pipeline.overviews.manifests.manifest import Dependency, Manifest

_MODULE = re.compile(r"module\s+(\S+)")
_REQUIRED = re.compile(r"(?:require\s+)?(\S+\.\S+/?\S*)\s+(v\S+)")


def read_go_mod(path: str, text: str) -> Manifest:
    """The module and what it requires itself; what others require (`// indirect`) is left out."""
    names, found, block = [], [], ""
    for number, line in enumerate(text.split("\n"), start=1):
        said, _, comment = line.partition("//")
        said = said.strip()
        if said.endswith("("):
            block = said[:-1].strip()
        elif said == ")":
            block = ""
        elif match := _MODULE.fullmatch(said):
            names.append(match[1].strip('"'))
        elif (
            (block == "require" or said.startswith("require "))
            and "indirect" not in comment
            and (required := _REQUIRED.fullmatch(said))
        ):
            found.append(Dependency("go", required[1].strip('"'), required[2], path, number))
    return Manifest(path, tuple(names), tuple(found))
