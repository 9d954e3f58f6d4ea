import json

import pytest
from msgspec import to_builtins

from codesum_pipeline.answers.agent_tools.surroundings import DocumentRelations, RelatedDocument, bound_surroundings


def neighbours(name: str, count: int) -> tuple[RelatedDocument, ...]:
    return tuple(RelatedDocument(f"{name}/{number}.py", "file", "It does much. " * 40) for number in range(count))


AROUND = DocumentRelations(
    parents=neighbours("above", 3),
    children=neighbours("below", 40),
    called_by=neighbours("caller", 30),
    referenced_by=neighbours("user", 7),
    calls=neighbours("called", 0),
    dependencies=tuple(f"library_{number}" for number in range(100)),
)


@pytest.mark.parametrize("tokens", [0, 100, 300, 1000])
def test_no_more_is_shown_than_there_is_room_for(tokens: int) -> None:
    found, left = bound_surroundings(AROUND, tokens=tokens)

    values = [each for name, part in to_builtins(found).items() if name != "more" for each in part]
    characters = sum(len(json.dumps(value, ensure_ascii=False)) for value in values)
    assert characters <= 4 * (tokens - left) <= 4 * tokens


def test_what_is_left_out_is_counted() -> None:
    found, _ = bound_surroundings(AROUND, tokens=10_000)

    assert [each.id for each in found.parents] == ["above/0.py", "above/1.py", "above/2.py"]
    assert dict(found.more) == {"called_by": 25, "referenced_by": 2, "children": 35, "dependencies": 95}


def test_with_little_room_each_part_has_its_first() -> None:
    found, _ = bound_surroundings(AROUND, tokens=240)

    assert [len(part) > 0 for part in (found.parents, found.called_by, found.children)] == [True] * 3
