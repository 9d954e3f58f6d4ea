"""What the files of builds define: the stages of a Dockerfile, the targets of Make and of CMake.

They are read line by line, as these programs read them, without what only a run would decide: a target whose name is
computed, or a file that is included, is not named.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase

from codesum_pipeline.evidence.extractive.plain_values import name_of, text_of
from codesum_pipeline.evidence.extractive.words import list_fitting
from codesum_pipeline.foundation.language_facts.file_languages import TEXT

_MAX_CHARS, _MAX_LINE, _LISTED, _LISTED_NEXT = 400_000, 2000, 240, 80
_CONTINUED = re.compile(r"\\[ \t]*\n")


def build_statement(path: str, language: str, text: str) -> str:
    """One sentence about a file of a build; "" of others, and of one that defines nothing."""
    reader = _READERS.get(language)
    if reader is None and language == TEXT:
        name = path.rpartition("/")[2].lower()
        reader = next((reader for pattern, reader in _NAMES.items() if fnmatchcase(name, pattern)), None)
    return reader(text[:_MAX_CHARS]) if reader else ""


def _short_lines(text: str) -> Iterator[str]:
    return (line[:_MAX_LINE] for line in text.splitlines())


_INSTRUCTION = re.compile(r"\s*(FROM|ARG|EXPOSE|CMD|ENTRYPOINT|RUN|COPY)\s+(.*)", re.I)
_FROM = re.compile(r"(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*$", re.I)
_HEREDOC = re.compile(r"<<-?\s?[\"']?(\w+)")
_DEFAULT = re.compile(r"([\w.-]+)=[\"']?([^\s\"'$]+)")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}$]*))?\}|\$(\w+)")
_COMMENTED_LINE = re.compile(r"^[ \t]*#.*\n", re.M)


def _dockerfile(text: str) -> str:
    """The stages with the image or stage that each begins with; what the last one opens and runs."""
    stages: list[tuple[str, str]] = []
    values: dict[str, str] = {}
    ports: list[str] = []
    run = ""
    for word, about in _instructions(text):
        if word == "FROM" and (match := _FROM.match(about)):
            stages.append((name_of(match[2] or ""), _image(match[1], values)))
            ports, run = [], ""
        elif word == "ARG" and not stages and (match := _DEFAULT.match(about)):
            values[match[1]] = match[2]
        elif word == "EXPOSE":
            ports += filter(text_of, about.split())
        elif word in ("CMD", "ENTRYPOINT") and stages and (word == "ENTRYPOINT" or not run):
            run = _command(about)
    if not stages:
        return ""
    named = [
        f"{name} ({image})" if name and image else name or f"one from {image}"
        for name, image in stages
        if image or name
    ]
    lead = "Builds a container image in the stages" if stages[1:] else "Builds a container image from"
    first = list_fitting(named if stages[1:] else [stages[0][1] or "an image that is filled in"], _LISTED)
    told = [
        f"{lead} {first}",
        f"opens the port{'s' if ports[1:] else ''} {list_fitting(ports, _LISTED_NEXT)}" if ports else "",
        f"runs {run}" if run else "",
    ]
    return "; ".join(filter(None, told))


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    """The instructions with what follows them, without the lines of documents in them."""
    end = ""
    for line in _short_lines(_CONTINUED.sub(" ", _COMMENTED_LINE.sub("", text))):
        if end:
            end = "" if line.strip() == end else end
        elif match := _INSTRUCTION.match(line):
            document = _HEREDOC.search(match[2]) if match[1].upper() in ("RUN", "COPY") else None
            end = document[1] if document else ""
            yield match[1].upper(), match[2]


def _image(image: str, values: Mapping[str, str]) -> str:
    """The image with the default values of what is filled in; without its version where that has none."""
    filled = _VARIABLE.sub(lambda match: values.get(match[1] or match[3]) or match[2] or match[0], image)
    return text_of(filled.partition("@")[0].partition(":$")[0].rstrip(":"))


def _command(about: str) -> str:
    """A command in the form of a list or of a shell, as one would type it; where it is not plain, the program."""
    words = about.split()
    with suppress(ValueError, RecursionError):
        words = [word for word in json.loads(about) if isinstance(word, str)]
    return text_of(" ".join(words)) or text_of(" ".join(words[:1]))


_SETS_VARIABLE = re.compile(r"\s*(?:(?:export|override|private)\s+)*[\w.-]+\s*[:+?!]?=")
# Lines that begin so are no rules.
_DIRECTIVES = frozenset((
    "vpath", "include", "-include", "sinclude", "export", "unexport", "ifeq", "ifneq", "ifdef", "ifndef", "else",
))  # fmt: skip
_PLAIN_TARGET = re.compile(r"[A-Za-z0-9][\w./+-]*")


def _makefile(text: str) -> str:
    """The targets with plain names."""
    targets: list[str] = []
    is_value = False
    for line in _short_lines(_CONTINUED.sub(" ", text)):
        bare = line.lstrip(" ")
        if is_value or bare.startswith(("define ", "override define ")):
            is_value = not bare.startswith("endef")
        elif not line.startswith("\t"):
            targets += _targets(line)
    return f"Defines the make targets {list_fitting(map(name_of, targets), _LISTED)}" if targets else ""


def _targets(line: str) -> Iterator[str]:
    """The targets of a rule, without those whose names are computed."""
    head, colon, rest = line.partition(":")
    words = head.split()
    is_rule = colon and words and words[0] not in _DIRECTIVES and head.count("(") == head.count(")")
    if is_rule and {"#", "="}.isdisjoint(head) and not (rest.lstrip(":")[:1] == "=" or _SETS_VARIABLE.match(rest)):
        yield from filter(_PLAIN_TARGET.fullmatch, words)


_CMAKE_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.M)
_CMAKE_CALL = re.compile(
    r"^[ \t]*(set|project|add_library|add_executable|add_custom_target|find_package|add_subdirectory|function|macro)"
    r"[ \t]*\(\s*([^\s()]+)([^()]{0,200})",
    re.I | re.M,
)
_CMAKE_VALUE = re.compile(r"\$\{(\w+)\}")
_CMAKE_FACTS = {
    "builds": ("add_library", "add_executable"),
    "has the targets": ("add_custom_target",),
    "defines": ("function", "macro"),
    "needs": ("find_package",),
    "includes the folders": ("add_subdirectory",),
}


def _cmake(text: str) -> str:
    """The project, what it builds, further targets, and what it needs."""
    found: dict[str, list[str]] = {}
    values: dict[str, str] = {}
    for match in _CMAKE_CALL.finditer(_CMAKE_COMMENT.sub("", text)):
        command, others = match[1].lower(), match[3].split()
        name = _CMAKE_VALUE.sub(lambda one, known=values: known.get(one[1], one[0]), match[2].strip('"'))
        if command == "set":
            values[name] = others[0].strip('"') if others else ""
        # Another name of a target, or one that was built elsewhere.
        elif {"ALIAS", "IMPORTED"}.isdisjoint(others[:3]):
            found.setdefault(command, []).append(text_of(name))
            values |= {"PROJECT_NAME": name, "CMAKE_PROJECT_NAME": name} if command == "project" else {}
    project = next(iter(found.get("project", ())), "")
    told = []
    for lead, commands in _CMAKE_FACTS.items():
        names = [name for command in commands for name in found.get(command, ())]
        shown = list_fitting(names, _LISTED if lead in ("builds", "defines") else _LISTED_NEXT) if any(names) else ""
        told.append(f"{lead} {shown}" if shown else "")
    said = "; ".join(filter(None, told))
    lead = f"Configures the CMake build of the project {project}" if project else "Part of a CMake build"
    return f"{lead}: {said}" if said else lead if project else ""


_READERS: Mapping[str, Callable[[str], str]] = {"dockerfile": _dockerfile, "makefile": _makefile, "cmake": _cmake}
# Names whose ending says no language: `Dockerfile-alpine`.
_NAMES = {"dockerfile[-_]*": _dockerfile, "makefile[-_]*": _makefile}
