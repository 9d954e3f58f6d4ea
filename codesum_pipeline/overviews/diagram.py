"""A division as a Mermaid diagram whose labels no name can break out of."""

import re

from codesum_pipeline.overviews.parts import Division

# Within quotes these mean nothing to Mermaid; anything else is written as its number.
_HARMLESS = re.compile(r"[^\w ./*-]")
_LONGEST = 40


def mermaid(division: Division, folder: str) -> str:
    """The parts as boxes and the links as arrows; `folder` is left out of the names. Empty without links."""
    if not division.links:
        return ""
    linked = {name for link in division.links for name in (link.source, link.target)}
    numbers = {part.name: number for number, part in enumerate(division.parts) if part.name in linked}
    boxes = [f'  p{number}["{label(name.removeprefix(folder))}"]' for name, number in numbers.items()]
    pairs = {(link.source, link.target) for link in division.links}
    arrows = [
        f"  p{numbers[source]} {'<-->' if (target, source) in pairs else '-->'} p{numbers[target]}"
        for source, target in ((link.source, link.target) for link in division.links)
        if (target, source) not in pairs or source < target
    ]
    return "\n".join(["graph LR", *boxes, *arrows])


def label(name: str) -> str:
    """A name as the text of a box."""
    shown = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return _HARMLESS.sub(lambda found: f"#{ord(found[0])};", shown)
