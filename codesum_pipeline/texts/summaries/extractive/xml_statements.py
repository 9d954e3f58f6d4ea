"""What an XML document is, by its root: drawings, layouts, texts, builds, lists of properties, others by their parts."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from xml.parsers import expat

from msgspec import Struct

from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.texts.summaries.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.texts.summaries.extractive.noun_phrases import pluralize
from codesum_pipeline.texts.summaries.extractive.translated_texts import language_of_path, translation_statement
from codesum_pipeline.texts.summaries.extractive.words import identifier_in_words, list_first, name_in_words, stem_of

_MAX_CHARS, _MOST_ELEMENTS, _MAX_SHOWN = 60_000, 1500, 6
# Drawables of Android by their roots.
_DRAWABLES = {
    "selector": "Drawable or color that depends on the state", "shape": "Shape", "layer-list": "Drawable of layers",
    "ripple": "Ripple", "animated-vector": "Animated vector drawing", "set": "Animation", "inset": "Drawable with a margin",
    "bitmap": "Bitmap drawable", "adaptive-icon": "App icon that adapts its shape",
}  # fmt: skip
_VIEW = re.compile(r"(?:@\+?id/|@string/)")


class XmlPart(Struct):
    """One element: its name without a namespace, its attributes without theirs, its depth and the text in it."""

    name: str
    attributes: dict[str, str]
    depth: int
    text: str = ""


def read_parts(text: str) -> list[XmlPart]:
    """The first elements in their order; of a broken document those before the fault. Entities are not read."""
    parts: list[XmlPart] = []
    open_parts: list[XmlPart] = []
    parser = expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(parts) >= _MOST_ELEMENTS:
            raise _EnoughError
        bare = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        parts.append(XmlPart(name.rpartition(":")[2], bare, len(open_parts)))
        open_parts.append(parts[-1])

    def data(said: str) -> None:
        if open_parts and len(open_parts[-1].text) < _MAX_SHOWN * 100:
            open_parts[-1].text += said

    def refuse(*_declared: object) -> None:
        raise _EnoughError

    parser.StartElementHandler, parser.CharacterDataHandler = start, data
    parser.EndElementHandler = lambda _name: open_parts.pop() and None
    parser.EntityDeclHandler, parser.buffer_text = refuse, True
    try:
        parser.Parse(text[:_MAX_CHARS].lstrip("\ufeff").encode("utf-8", "replace"), False)
    except (expat.ExpatError, _EnoughError):
        pass
    return parts


class _EnoughError(Exception):
    """No more is read."""


def xml_statement(path: str, text: str) -> str:
    """One sentence about an XML document; "" of one that cannot be read."""
    parts = read_parts(text)
    if not parts:
        return ""
    root = parts[0]
    name = identifier_in_words(stem_of(path.rpartition("/")[2]), written_out=False)
    if root.name in ("vector", "svg") or root.name in _DRAWABLES:
        return _drawing(root, parts, name)
    if root.name == "resources":
        return _resources(path, parts)
    if "/layout" in f"/{path}":
        return _layout(parts)
    if root.name in ("menu", "navigation"):
        return f"{root.name.capitalize()} of {list_first(_named(parts[1:]), _MAX_SHOWN)}" if _named(parts[1:]) else ""
    if root.name in ("project", "Project"):
        return _build(parts)
    if root.name == "plist":
        return _properties(parts)
    return _others(parts)


def _drawing(root: XmlPart, parts: Sequence[XmlPart], name: str) -> str:
    kind = _DRAWABLES.get(root.name, "Vector drawing" if root.name == "vector" else "Drawing")
    title = next((make_printable(one.text) for one in parts[:20] if one.name == "title" and one.depth == 1), "")
    width, height = (root.attributes.get(key, "").removesuffix("px") for key in ("width", "height"))
    box = root.attributes.get("viewBox", "").replace(",", " ").split()
    if not (width and height) and len(box) == 4:  # noqa: PLR2004
        width, height = box[2:]
    size = f" of {width} by {height}" if width[:1].isdigit() and height[:1].isdigit() else ""
    states = [key.removeprefix("state_") for one in parts for key in one.attributes if key.startswith("state_")]
    states_said = f" ({list_first(states, 4)})" if states else ""
    colors = [value for one in parts for key, value in one.attributes.items() if "olor" in key and value[:1] == "#"]
    colored = f" in {list_first(colors, 2)}" if colors and not size and not states else ""
    return f'{kind} "{clip_text(title or name, 60)}"{size}{states_said}{colored}'


def _resources(path: str, parts: Sequence[XmlPart]) -> str:
    texts = [one.text for one in parts if one.name in ("string", "item") and one.text.strip()]
    counts = Counter(one.name for one in parts if one.depth == 1)
    if counts["string"] * 2 > sum(counts.values()):
        return translation_statement(language_of_path(path), texts)
    kinds = [f"{number} {pluralize(kind) if number > 1 else kind}" for kind, number in counts.most_common(3)]
    names = [name_in_words(one.attributes["name"]) for one in parts[1:] if one.depth == 1 and one.attributes.get("name")]
    return f"Resources of the app: {list_first(kinds, 3)}, such as {list_first(names[:4], 4)}" if names else ""


def _layout(parts: Sequence[XmlPart]) -> str:
    texts = [one.attributes[key] for one in parts for key in ("text", "hint", "title") if key in one.attributes]
    said = [f'"{clip_text(make_printable(text), 40)}"' for text in texts if text[:1] not in ("@", "?", "") and '"' not in text]
    views = Counter(name_in_words(one.name.rpartition(".")[2]) for one in parts[1:] if one.name not in ("include", "layout"))
    kinds = [f"{number} {pluralize_phrase(kind)}" if number > 1 else kind for kind, number in views.most_common(4)]
    names = list_first([name_in_words(text.rpartition("/")[2]) for text in _ids(parts)][:5], 5)
    lead = f"Layout of {list_first(kinds, 4)}" if kinds else "Layout"
    return lead + (f", named {names}" if names else "") + (f"; it shows {list_first(said[:3], 3)}" if said else "")


def pluralize_phrase(phrase: str) -> str:
    *words, last = phrase.split(" ")
    return " ".join([*words, pluralize(last)])


def _ids(parts: Sequence[XmlPart]) -> Iterator[str]:
    return (one.attributes["id"] for one in parts if _VIEW.match(one.attributes.get("id", "")))


def _named(parts: Sequence[XmlPart]) -> list[str]:
    """The titles, labels or ids of elements, in words."""
    found = (next((one.attributes[key] for key in ("title", "label", "id") if one.attributes.get(key)), "") for one in parts)
    return [name_in_words(text.rpartition("/")[2]) for text in found if text]


def _build(parts: Sequence[XmlPart]) -> str:
    """Of Maven and .NET: what is built, its modules, packages and projects."""
    own = {one.name: make_printable(one.text) for one in reversed(parts) if one.depth == 1 and one.text.strip()}
    own |= {one.name: make_printable(one.text) for one in reversed(parts) if one.name.startswith(("TargetFramework", "OutputType"))}
    name, about = own.get("name") or own.get("artifactId", ""), own.get("description", "")
    modules = [make_printable(one.text) for one in parts if one.name == "module"]
    packages = [one.attributes.get("Include", "") for one in parts if one.name == "PackageReference"]
    projects = [stem_of(one.attributes.get("Include", "").replace("\\", "/").rpartition("/")[2]) for one in parts if one.name == "ProjectReference"]
    artifacts = [make_printable(one.text) for one in parts if one.name == "artifactId" and one.depth > 2][:4]  # noqa: PLR2004
    framework = own.get("TargetFramework") or own.get("TargetFrameworks", "")
    facts = [
        f"Builds {name}{f': {about}' if about else ''}" if name and "${" not in name else "",
        f"Builds for {framework}" if framework else "",
        f"Modules: {list_first(modules, _MAX_SHOWN)}" if modules else "",
        f"Uses the packages {list_first(packages, _MAX_SHOWN)}" if any(packages) else "",
        f"Uses the projects {list_first(projects, 4)}" if any(projects) else "",
        f"Names {list_first(artifacts, 4)}" if artifacts and not modules else "",
    ]
    return ". ".join(filter(None, facts))


def _properties(parts: Sequence[XmlPart]) -> str:
    """Of a list of properties the keys, with the values that are short texts."""
    shown = []
    for key, value in zip(parts, parts[1:], strict=False):
        if key.name == "key" and key.depth == 2:  # noqa: PLR2004
            text = make_printable(value.text) if value.name in ("string", "integer") else value.name if value.name in ("true", "false") else ""
            shown.append(f"{make_printable(key.text)} {text}".strip() if len(text) <= 40 and "$" not in text else make_printable(key.text))  # noqa: PLR2004
    return f"Properties: {list_first(shown, _MAX_SHOWN)}" if shown else ""


def _others(parts: Sequence[XmlPart]) -> str:
    """Of any other document its root, how many of what it holds, and the first names or texts in it."""
    root = parts[0]
    counts = Counter(one.name for one in parts if one.depth == 1)
    kinds = [f"{number} {pluralize_phrase(name_in_words(kind))}" if number > 1 else name_in_words(kind) for kind, number in counts.most_common(4)]
    names = [one.attributes[key] for one in parts for key in ("name", "id", "title", "label", "key") if one.attributes.get(key)]
    texts = [one.text for one in parts if " " in one.text.strip()]
    said = [f'"{clip_text(make_printable(text), 40)}"' for text in (*texts[:2], *names[:3]) if '"' not in text and text.strip()]
    held = f" of {list_first(kinds, 4)}" if kinds else ""
    shown = f", such as {list_first(said[:3], 3)}" if said else ""
    return f"XML {name_in_words(root.name)}{held}{shown}" if held or shown else ""
