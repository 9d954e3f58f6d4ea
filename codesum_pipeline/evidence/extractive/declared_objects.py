"""What files declare: workflows of GitHub, objects of Kubernetes, services of Compose and operations of an HTTP
interface in YAML or JSON; the stages of a Dockerfile, the targets of Make and of CMake.

Names stand in the order of the file; those that do not fit are counted. What only a run would decide is not named.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from codesum_pipeline.evidence.extractive.data_statements import dict_of, list_of, name_of, text_of
from codesum_pipeline.evidence.extractive.words import capitalize, in_a_row, list_fitting, split_identifier
from codesum_pipeline.foundation.language_facts.file_languages import TEXT

_LISTED, _LISTED_EVENTS, _MAX_FILTERS = 260, 140, 3
_EVENTS = {
    "workflow_dispatch": "by hand",
    "workflow_call": "when another workflow calls it",
    "repository_dispatch": "when another program asks for it",
}
_FILTERS = {"branches": "to", "tags": "of tags", "workflows": "of"}
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
# Other programs have objects of the same form.
_OTHER_PROGRAMS = ("skaffold/", "backstage.io/")


def declared_statement(path: str, documents: Sequence[Any]) -> str:
    """One sentence about what a file declares; "" of others."""
    if not all(isinstance(one, dict) for one in documents if one != ""):
        return ""
    found = [one for one in documents if one]
    return (_of_one(path, found[0]) if len(found) == 1 else "") or _kubernetes(found)


def _of_one(path: str, content: Mapping[str, Any]) -> str:
    folder, _, name = f"/{path}".rpartition("/")
    if name in ("action.yml", "action.yaml") and "runs" in content:
        return _action(content)
    if folder.endswith("/.github/workflows"):
        return _workflow(content)
    if "compose" in name:
        return _services(content)
    return _interface(content) if "openapi" in content or "swagger" in content else ""


def _quoted(title: object) -> str:
    text = text_of(title).replace('"', "'")
    return f'"{text}"' if text else ""


def _action(content: Mapping[str, Any]) -> str:
    title, about = _quoted(content.get("name")), text_of(content.get("description"))
    inputs = list_fitting(map(name_of, dict_of(content.get("inputs"))), _LISTED_EVENTS)
    told = [f"Action of GitHub {title}" if title else "Action of GitHub", about.rstrip(".")]
    return ": ".join(filter(None, told)) + (f"; inputs: {inputs}" if inputs else "")


def _workflow(content: Mapping[str, Any]) -> str:
    """When it runs, and its jobs."""
    when = content.get("on")
    events = dict_of(when) or dict.fromkeys([when] if isinstance(when, str) else filter(text_of, list_of(when)))
    runs = list_fitting((_event(str(event), about) for event, about in events.items()), _LISTED_EVENTS)
    jobs = list_fitting((_job(key, job) for key, job in dict_of(content.get("jobs")).items()), _LISTED)
    title = _quoted(content.get("name"))
    lead = f"GitHub workflow {title}" if title else "GitHub workflow"
    return f"{lead}: runs {runs}; jobs: {jobs}" if runs and jobs else ""


def _event(event: str, about: object) -> str:
    """What lets a workflow run: `by hand`, `on push to main or of tags v*`, `on schedule 0 2 * * *`."""
    if event in _EVENTS:
        return _EVENTS[event]
    named = f"on {name_of(event.replace('_', ' '))}"
    if event == "schedule":
        return f"{named} {_some(dict_of(one).get('cron') for one in list_of(about))}".strip()
    limits = dict_of(about)
    told = [f"{lead} {some}" for key, lead in _FILTERS.items() if (some := _some(list_of(limits.get(key))))]
    return f"{named} {' or '.join(told) or _some(list_of(limits.get('types')))}".strip()


def _some(values: Iterator[Any] | Sequence[Any]) -> str:
    texts = [*filter(None, map(text_of, values))]
    more = [f"{len(texts) - _MAX_FILTERS} more"] if len(texts) > _MAX_FILTERS else []
    return in_a_row([*texts[:_MAX_FILTERS], *more])


def _job(key: str, job: object) -> str:
    """The key of a job, and its title where that has other words."""
    title = text_of(dict_of(job).get("name"))
    is_new = not {*split_identifier(title)} <= {*split_identifier(key)}
    return f"{name_of(key)} ({title})" if is_new else name_of(key)


def _services(content: Mapping[str, Any]) -> str:
    images = {key: dict_of(one).get("image") for key, one in dict_of(content.get("services")).items()}
    said = [f"{name_of(key)} ({image})" if (image := image_of(one)) else name_of(key) for key, one in images.items()]
    return f"Starts together with Docker Compose: {list_fitting(said, _LISTED)}" if said else ""


def image_of(value: object) -> str:
    """The name of an image, without a version that is filled in."""
    return text_of(value.partition(":$")[0]) if isinstance(value, str) else ""


def _interface(content: Mapping[str, Any]) -> str:
    """The operations of an interface: `GET /pets, POST /pets`."""
    title = _quoted(dict_of(content.get("info")).get("title"))
    told = [
        f"{method.upper()} {name_of(path)}"
        for path, operations in dict_of(content.get("paths")).items()
        for method in dict_of(operations)
        if method in _METHODS
    ]
    lead = f"Describes the HTTP interface {title} (OpenAPI)" if title else "Describes an HTTP interface (OpenAPI)"
    return f"{lead}: {list_fitting(told, _LISTED)}" if told else lead if title else ""


def _kubernetes(documents: Sequence[Mapping[str, Any]]) -> str:
    """The kinds and names of objects; "" where a document is none."""
    objects: list[str] = []
    for document in documents:
        version, kind = (document.get(key) for key in ("apiVersion", "kind"))
        is_object = isinstance(version, str) and version and text_of(kind)
        if not is_object or str(version).startswith(_OTHER_PROGRAMS):
            return ""
        items = list_of(document.get("items")) if str(kind).endswith("List") else []
        objects += map(_object, items or [document])
    shown = list_fitting(filter(None, objects), _LISTED)
    return f"Declares the Kubernetes object{'s' if objects[1:] else ''} {shown}" if shown else ""


def _object(declared: object) -> str:
    """The kind of an object and its name, which a template may fill in; of one that has none, what it puts together."""
    content = dict_of(declared)
    kind, name = text_of(content.get("kind")), text_of(dict_of(content.get("metadata")).get("name"))
    parts = "" if name else _some([*list_of(content.get("resources")), *list_of(content.get("components"))])
    return f"{kind} of {parts}" if parts else f"{kind} {name}".strip()


_MAX_CHARS, _MAX_LINE, _MOST_NAMED, _LISTED_NEXT = 400_000, 2000, 240, 80
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
    first = list_fitting(named if stages[1:] else [stages[0][1] or "an image that is filled in"], _MOST_NAMED)
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
_ASSIGNED = re.compile(r"(?:\w+_)?(TESTS|PROGRAMS|LIBRARIES|LTLIBRARIES|SUBDIRS)\s*\+?=\s*(.*)")
_ASSIGNED_FACTS = {
    "tests": ("TESTS",),
    "builds": ("PROGRAMS", "LIBRARIES", "LTLIBRARIES"),
    "enters the folders": ("SUBDIRS",),
}
_PARTS = re.compile(r"(?:(?![A-Za-z])[\w./+-])*+[A-Za-z][\w./+-]*+")


def _makefile(text: str) -> str:
    """The targets with plain names, and what Automake is told to build and test."""
    targets: list[str] = []
    assigned: dict[str, list[str]] = {}
    is_value = False
    for line in _short_lines(_CONTINUED.sub(" ", text)):
        bare = line.lstrip(" ")
        if is_value or bare.startswith(("define ", "override define ")):
            is_value = not bare.startswith("endef")
        elif match := _ASSIGNED.match(line):
            assigned.setdefault(match[1], []).extend(filter(_PARTS.fullmatch, match[2].split()))
        elif not line.startswith("\t"):
            targets += _targets(line)
    told = [f"defines the make targets {list_fitting(map(name_of, targets), _MOST_NAMED)}" if targets else ""]
    for lead, names in _ASSIGNED_FACTS.items():
        found = [name_of(one) for name in names for one in assigned.get(name, ())]
        told.append(f"{lead} {list_fitting(found, _LISTED_NEXT)}" if found else "")
    return capitalize("; ".join(filter(None, told)))


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
        most = _MOST_NAMED if lead in ("builds", "defines") else _LISTED_NEXT
        told.append(f"{lead} {list_fitting(names, most)}" if any(names) else "")
    said = "; ".join(filter(None, told))
    lead = f"Configures the CMake build of the project {project}" if project else "Part of a CMake build"
    return f"{lead}: {said}" if said else lead if project else ""


_READERS: Mapping[str, Callable[[str], str]] = {"dockerfile": _dockerfile, "makefile": _makefile, "cmake": _cmake}
# Names whose ending says no language: `Dockerfile-alpine`.
_NAMES = {"dockerfile[-_]*": _dockerfile, "makefile[-_]*": _makefile}
