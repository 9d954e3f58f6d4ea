"""What the text of a class takes from its own source: types, messages, marks, methods, bases."""

from collections.abc import Sequence
from typing import Any

import pytest

from codesum_pipeline.evidence.extractive.extractive_parents import write_class
from codesum_pipeline.evidence.extractive.type_phrases import type_phrase
from codesum_pipeline.evidence.inputs import ChildText, ClassInput, metadata_of
from codesum_pipeline.evidence.own_sources import own_source
from codesum_pipeline.foundation.data_model.document import Level

TYPES = {
    "ScrobbleItem[]": "a list of scrobble items",
    "Record<string, ServiceValue>": "a map from texts to service values",
    "map[string]int": "a map from texts to numbers",
    "Option<Box<Track>>": "a track",
    "Flow<List<Track>>": "a flow of lists of tracks",
    "(item: Item) => void": "a callback",
    "Vec<u8>": "a list of bytes",
    "MoneyDto": "money",
    "char [IFNAMSIZ]": "a text",
}


@pytest.mark.parametrize(("written", "said"), TYPES.items(), ids=TYPES.keys())
def test_a_type_is_said_in_words(written: str, said: str) -> None:
    found = type_phrase(written)

    assert found is not None
    assert found.one() == said


@pytest.mark.parametrize("written", ["T", "any", "unknown", "TAILQ_ENTRY(pending)", "x" * 200, ""])
def test_a_type_that_names_nothing_is_not_said(written: str) -> None:
    assert type_phrase(written) is None


def summary(
    source: str,
    name: str,
    *,
    language: str,
    fields: Sequence[str] = (),
    methods: Sequence[str] = (),
    bases: Sequence[str] = (),
    docstring: str | None = None,
) -> str:
    source = source.strip("\n")
    children = tuple(
        ChildText(f"a::{name}::{one}", f"{name}::{one}", Level.FUNCTION, "", False, f"{one}.") for one in methods
    )
    head = next(line for line in source.split("\n") if name in line).rstrip("{: ")
    class_ = ClassInput(
        f"a::{name}", name, name, language, head, docstring, tuple(bases), (), tuple(fields), children,
        own_source=own_source(source),
    )  # fmt: skip
    return write_class(class_).text.summary


CLASSES = {
    "a record says what its fields are": (
        ("""
export interface SyncDialogData {
    store: SyncStore;
    serviceId: string | null;
    items: ScrobbleItem[]
}
""", "SyncDialogData"),
        {"language": "typescript", "fields": ("store: SyncStore", "serviceId: string | null", "items: ScrobbleItem[]")},
        "Holds a sync store, a list of scrobble items and the text service ID (optional).",
    ),
    "errors are told by their messages": (
        ("""
#[derive(Debug, Error)]
pub enum Fault {
    #[error("failed to access password store")]
    Store(#[source] anyhow::Error), #[error("no secret selected")]
    NoneSelected
}
""", "Fault"),
        {"language": "rust", "fields": ("Store", "NoneSelected")},
        "Errors: failed to access password store; no secret selected.",
    ),
    "an interface is told by its methods": (
        ("""
type AuditClient interface {
    EventsGet(from string, to string)([]sdk.Event, error)
}
""", "AuditClient"),
        {"language": "go", "methods": ("EventsGet",)},
        "Interface that gives a list of events.",
    ),
    "a migration is told by its steps": (
        ("""
class AddLockedToProjects < ActiveRecord::Migration[6.1]
    def change
        add_column :projects, :locked_at, :datetime
    end
end
""", "AddLockedToProjects"),
        {"language": "ruby", "methods": ("change",), "bases": ("ActiveRecord::Migration",)},
        "Is a migration that adds locked at to projects.",
    ),
    "a class is told by how it describes itself": (
        ("""
public class FlagNeedExp extends Flag {
    @Override protected String[] getDescription() {
        return new String[]{"Checks if crafter has at least 'min' experience.", "Using it more than once overwrites"};
    }
}
""", "FlagNeedExp"),
        {"language": "java", "methods": ("getDescription",), "bases": ("Flag",)},
        "Checks if crafter has at least 'min' experience.",
    ),
    "a description that goes on is not told": (
        ("""
public class FlagCooldown extends Flag {
    @Override protected String[] getDescription() {
        return new String[]{"Adds a cooldown, used in conjunction with", "another flag."};
    }
}
""", "FlagCooldown"),
        {"language": "java", "methods": ("getDescription",), "bases": ("Flag",)},
        "Gets the description (a list of texts).",
    ),
    "what is bare otherwise says its base": (
        ("class JsonReply(HttpResponse):\n    pass\n", "JsonReply"),
        {"language": "python", "bases": ("HttpResponse",)},
        "Is an HTTP response.",
    ),
    "an author's sentence that only names is followed by what is in it": (
        ("class OrderMatcher:\n    orders: list[Order]\n", "OrderMatcher"),
        {"language": "python", "fields": ("orders: list[Order]",), "docstring": "The order matcher."},
        "The order matcher. Holds a list of orders.",
    ),
    "an author's sentence that says more stands alone": (
        ("class OrderMatcher:\n    orders: list[Order]\n", "OrderMatcher"),
        {"language": "python", "fields": ("orders: list[Order]",), "docstring": "Finds buyers for sellers."},
        "Finds buyers for sellers.",
    ),
    "several values are no text": (
        ('class Importer(object):\n    VALID_TYPES = "rss", "link"\n', "Importer"),
        {"language": "python", "fields": ("VALID_TYPES",)},
        "Holds valid types.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("class_", "shown", "said"), CLASSES.values(), ids=CLASSES.keys())
def test_a_class_says_what_its_source_says(class_: Any, shown: Any, said: str) -> None:
    assert summary(*class_, **shown) == said


BOX = """
class Box:
    size: int
    @property
    def is_full(self):
        return self.count
    def add(self, item):
        self.items.append(item)
""".strip("\n")


def test_own_source_has_no_bodies_and_no_comments() -> None:
    assert own_source(f"{BOX}\n    # A remark.") == (
        "class Box:\n    size: int\n    def add(self, item):\n    def is_full(self):\n    @property"
    )


def test_the_order_of_methods_and_their_bodies_changes_nothing() -> None:
    head, field, mark, first, _, second, body = BOX.split("\n")

    moved = "\n".join((head, field, second, body, mark, first, "        return 3"))

    assert own_source(moved) == own_source(BOX)


def test_own_source_is_bounded_whatever_the_class_is() -> None:
    assert len(own_source("class A:\n" + "    value = 1\n" * 100_000 + "x" * 1_000_000)) == 6_000


@pytest.mark.parametrize(("number", "left"), [(180, "176 more"), (300, "more")])
def test_values_are_counted_only_where_all_of_the_own_source_is_there(number: int, left: str) -> None:
    values = "".join(f'    #[error("text of {at}")] V{at}\n' for at in range(100, 100 + number))
    class_ = ClassInput(
        "a::A", "A", "A", "rust", "enum A", None, (), (), (), own_source=own_source(f"enum A {{\n{values}}}")
    )

    told = write_class(class_).text.summary

    assert told == f"Errors: text of 100, text of 101, text of 102, text of 103; {left}."


def test_own_source_is_a_part_of_what_a_text_is_made_from() -> None:
    class_ = ClassInput("a::A", "A", "A", "python", "class A", None, (), (), (), own_source="class A:\n    size = 1")

    assert metadata_of(class_)["own_source"] == "class A:\n    size = 1"
