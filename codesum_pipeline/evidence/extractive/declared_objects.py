"""What files of YAML or JSON declare: workflows and actions of GitHub, objects of Kubernetes, services of Compose, and
the operations of an HTTP interface. Names stand in the order of the file; those that do not fit are counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from codesum_pipeline.evidence.extractive.plain_values import dict_of, list_of, name_of, text_of
from codesum_pipeline.evidence.extractive.words import in_a_row, list_fitting, split_identifier

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
