"""What an XML document is, by its root: a drawing, texts, a build, properties; others by their parts."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from xml.parsers import expat

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.data_statements import is_secret
from codesum_pipeline.evidence.extractive.noun_phrases import pluralize
from codesum_pipeline.evidence.extractive.translated_texts import (
    language_of_translation,
    list_quoted,
    translation_statement,
)
from codesum_pipeline.evidence.extractive.words import identifier_in_words, list_first, name_in_words, stem_of

_MAX_CHARS, _MOST_ELEMENTS, _MAX_SHOWN, _MAX_TEXT = 60_000, 1500, 6, 600
_VIEW_BOX, _OF_PROPERTIES = 4, 2
_NAMES = ("name", "id", "title", "label", "key")


class XmlPart(Struct):
    """One element: its name without a namespace, its attributes without theirs, its depth and the text in it."""

    name: str
    attributes: dict[str, str]
    depth: int
    text: str = ""


def read_parts(text: str) -> tuple[list[XmlPart], bool]:
    """The first elements in their order, and whether these are all; of a broken document those before the fault.
    Entities are not read."""
    parts: list[XmlPart] = []
    open_parts: list[XmlPart] = []
    # The text is decoded: whatever encoding its head names is over.
    parser = expat.ParserCreate("utf-8")

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(parts) >= _MOST_ELEMENTS:
            raise _EnoughError
        bare = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        parts.append(XmlPart(name.rpartition(":")[2], bare, len(open_parts)))
        open_parts.append(parts[-1])

    def data(said: str) -> None:
        if open_parts and len(open_parts[-1].text) < _MAX_TEXT:
            open_parts[-1].text += said

    def refuse(*_declared: object) -> None:
        raise _EnoughError

    parser.StartElementHandler, parser.CharacterDataHandler = start, data
    parser.EndElementHandler = lambda _name: open_parts.pop() and None
    parser.EntityDeclHandler, parser.buffer_text = refuse, True
    try:
        parser.Parse(text[:_MAX_CHARS].lstrip("\ufeff").encode("utf-8", "replace"), False)
    except (expat.ExpatError, _EnoughError):
        return parts, False
    return parts, len(text) <= _MAX_CHARS


class _EnoughError(Exception):
    """No more is read."""


def xml_statement(path: str, text: str) -> str:
    """One sentence about an XML document; "" of one that cannot be read."""
    parts, are_all = read_parts(text)
    if not parts:
        return ""
    root = parts[0].name
    if root == "svg":
        return _drawing(parts, identifier_in_words(stem_of(path.rpartition("/")[2]), written_out=False))
    if root == "resources" and (texts := _texts_of_app(parts)):
        return translation_statement(language_of_translation(path), texts, are_all=are_all)
    if root in ("project", "Project"):
        return _build(parts)
    return _properties(parts, are_all=are_all) if root == "plist" else _others(parts, are_all=are_all)


def _texts_of_app(parts: Sequence[XmlPart]) -> list[str]:
    """The texts of an app of Android, without secrets."""
    named = [one for one in parts if one.name in ("string", "item") and one.text.strip()]
    return [one.text for one in named if not is_secret(one.attributes.get("name", ""))]


def _drawing(parts: Sequence[XmlPart], name: str) -> str:
    """Its title or name, and its size."""
    given = parts[0].attributes
    title = next((make_printable(one.text) for one in parts[:20] if one.name == "title" and one.depth == 1), "")
    width, height = (given.get(key, "").removesuffix("px") for key in ("width", "height"))
    box = given.get("viewBox", "").replace(",", " ").split()
    if not (width and height) and len(box) == _VIEW_BOX:
        width, height = box[2:]
    size = f" of {width} by {height}" if width[:1].isdigit() and height[:1].isdigit() else ""
    return f'Drawing "{clip_text(title or name, 60)}"{size}'


def _counted(parts: Sequence[XmlPart], *, are_all: bool) -> str:
    """How many of which elements, the most frequent first; no numbers where more elements were not read."""
    counts = Counter(name_in_words(one.name.rpartition(".")[2]) for one in parts)
    many = [
        f"{f'{number} ' if are_all else ''}{pluralize(name)}" if number > 1 else name
        for name, number in counts.most_common(4)
    ]
    return list_first(many, 4)


def _build(parts: Sequence[XmlPart]) -> str:
    """Of Maven and .NET: what is built, its modules, packages and projects."""
    own = {one.name: make_printable(one.text) for one in reversed(parts) if one.text.strip()}
    top = {one.name: make_printable(one.text) for one in reversed(parts) if one.depth == 1 and one.text.strip()}
    name, about = top.get("name") or top.get("artifactId", ""), top.get("description", "")
    projects = [one.attributes.get("Include", "").replace("\\", "/") for one in parts if one.name == "ProjectReference"]
    lists = {
        "Modules:": [make_printable(one.text) for one in parts if one.name == "module"],
        "Uses the packages": [one.attributes.get("Include", "") for one in parts if one.name == "PackageReference"],
        "Uses the projects": [stem_of(project.rpartition("/")[2]) for project in projects],
        "Names": [make_printable(one.text) for one in parts if one.name == "artifactId" and one.depth > 1][:4],
    }
    facts = [
        f"Builds {name}{f': {about}' if about else ''}" if name and "${" not in name else "",
        f"Builds for {framework}" if (framework := own.get("TargetFramework") or own.get("TargetFrameworks")) else "",
        *(f"{lead} {list_first(found, _MAX_SHOWN)}" for lead, found in lists.items() if any(found)),
    ]
    return ". ".join([*filter(None, facts)][:3])


def _properties(parts: Sequence[XmlPart], *, are_all: bool) -> str:
    """Of a list of properties the keys, with the values that are short texts."""
    keys = [(one, value) for one, value in pairwise(parts) if one.name == "key" and one.depth == _OF_PROPERTIES]
    told = [(key.text, "" if is_secret(key.text) else value.text or value.name) for key, value in keys]
    shown = [f"{key} {text if len(text) < _MAX_SHOWN * 6 and '$' not in text else ''}".strip() for key, text in told]
    return f"Properties: {list_first(map(make_printable, shown), _MAX_SHOWN, are_all=are_all)}" if shown else ""


def _others(parts: Sequence[XmlPart], *, are_all: bool) -> str:
    """Of any other document its root, how many of what it holds, and the first texts or names in it."""
    held = [one for one in parts if one.depth == 1]
    texts = [one.text for one in parts if " " in one.text.strip()][:2]
    names = [one.attributes[key] for one in parts for key in _NAMES if one.attributes.get(key)]
    shown = list_quoted([*texts, *names[:3]], 3)
    told = f"{f' of {_counted(held, are_all=are_all)}' if held else ''}{f', such as {shown}' if shown else ''}"
    return f"XML {name_in_words(parts[0].name)}{told}" if told else ""
