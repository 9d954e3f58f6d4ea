"""Containers: Dockerfiles and compose files name the services that a project runs on."""

import re
from collections.abc import Iterator

from codesum_pipeline.overviews.manifests.manifest import Dependency, EntryKind, EntryPoint, Manifest
from codesum_pipeline.overviews.manifests.plain import yaml_pairs

_FROM = re.compile(r"FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)
_START = re.compile(r"(?:CMD|ENTRYPOINT)\s+(.+)", re.IGNORECASE)


def read_dockerfile(path: str, text: str) -> Manifest:
    """The images that it begins with, and what the last stage starts."""
    found: list[Dependency] = []
    stages: set[str] = set()
    start: EntryPoint | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        said = line.strip()
        if match := _FROM.fullmatch(said):
            if match[1].lower() not in stages:
                found += _image(path, number, match[1])
            stages.add((match[2] or "").lower())
            start = None
        elif (match := _START.fullmatch(said)) and start is None and match[1] != "[]":
            start = EntryPoint(path, EntryKind.CONTAINER, path, number, match[1])
    return Manifest(path, (), tuple(found), (start,) if start else ())


def read_compose(path: str, text: str) -> Manifest:
    """The images of its services."""
    found = [
        each
        for keys, value, line in yaml_pairs(text)
        if len(keys) == 3 and keys[0] == "services" and keys[2] == "image"
        for each in _image(path, line, value)
    ]
    return Manifest(path, (), tuple(found))


def _image(path: str, line: int, image: str) -> Iterator[Dependency]:
    """`registry/name:tag@digest`, of which the name decides."""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    if name and "$" not in name and name != "scratch":
        yield Dependency("image", name.lower(), tag or None, path, line)
