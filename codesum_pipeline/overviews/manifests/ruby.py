"""Ruby: Gemfile and gemspecs."""

from codesum_pipeline.overviews.manifests.literals import read_literals
from codesum_pipeline.overviews.manifests.manifest import Dependency, DependencyScope, EntryKind, EntryPoint, Manifest

_DECLARING = {
    "gem": DependencyScope.RUN,
    "add_dependency": DependencyScope.RUN,
    "add_runtime_dependency": DependencyScope.RUN,
    "add_development_dependency": DependencyScope.DEV,
}


def read_gems(path: str, text: str) -> Manifest:
    """Each `gem "name", "constraint"`, or what a gemspec adds."""
    found: dict[int, Dependency] = {}
    names, commands = [], []
    for literal in read_literals(text, "ruby"):
        head = next(reversed(literal.under), "")
        if head in _DECLARING:
            known = found.get(literal.call)
            if known is None:
                scope = DependencyScope.DEV if "group" in literal.under else _DECLARING[head]
                found[literal.call] = Dependency("rubygems", literal.text, None, path, literal.line, scope)
            else:
                constraint = literal.text if known.constraint is None else f"{known.constraint}, {literal.text}"
                found[literal.call] = Dependency("rubygems", known.name, constraint, path, known.line, known.scope)
        elif head == "name":
            names.append(literal.text)
        elif head == "executables":
            commands.append(EntryPoint(literal.text, EntryKind.COMMAND, path, literal.line))
    return Manifest(path, tuple(names), tuple(found.values()), tuple(commands))
