"""What is said of a component of Vue, Svelte or Astro: it takes properties and emits events; a class holds fields.

Its fields are written `title: string`, `event save: [id: number]` and `slot footer`.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from codesum_pipeline.evidence.extractive.words import list_names, make_fact
from codesum_pipeline.evidence.inputs import ClassInput

_HEAD = "component "
_EVENT, _SLOT = "event ", "slot "
_HOLDS, _TAKES = "Holds ", "Takes "
_MOST_EVENTS = 6


def is_component(class_: ClassInput) -> bool:
    """Whether a class is a component."""
    return class_.signature.startswith(_HEAD)


def with_properties_alone(class_: ClassInput) -> ClassInput:
    """A component whose fields are its properties; any other class as it is."""
    if not is_component(class_):
        return class_
    return replace(class_, fields=tuple([one for one in class_.fields if not one.startswith((_EVENT, _SLOT))]))


def events_of(class_: ClassInput) -> list[str]:
    """The names of a component's events; none of any other class."""
    fields = class_.fields if is_component(class_) else ()
    return [one.removeprefix(_EVENT).partition(": ")[0] for one in fields if one.startswith(_EVENT)]


def statements_of_component(class_: ClassInput, statements: Sequence[str]) -> list[str]:
    """The sentences about a class, as they are said of a component; those about any other as they are."""
    if not is_component(class_):
        return [*statements]
    taken = [f"{_TAKES}{one.removeprefix(_HOLDS)}" if one.startswith(_HOLDS) else one for one in statements]
    events = list_names(events_of(class_), _MOST_EVENTS, are_all=True)
    return [*taken, make_fact("Emits", events)]
