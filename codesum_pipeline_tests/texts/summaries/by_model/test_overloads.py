"""What overloads that come, go or change their places cost where a model writes."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import without_suffix
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.homes import Reports, build
from codesum_pipeline_tests.support.model_builds import Shop, shop

HEAD, STUBS, INIT, RESIZE = (
    '"""Boxes."""\n\nfrom typing import overload\n\n\nclass Box:\n',
    [
        "    @overload\n    def __init__(self, size: int, weight: int) -> None:\n        ...\n\n",
        "    @overload\n    def __init__(self, size: str, weight: str) -> None:\n        ...\n\n",
        "    @overload\n    def __init__(self, size: bytes, weight: bytes) -> None:\n        ...\n\n",
    ],
    "    def __init__(self, size, weight):\n        if int(size) < 1:\n            raise ValueError(size)\n"
    "        self.size = int(size)\n        self.weight = int(weight)\n\n",
    [
        "    @property\n    def area(self):\n        if self.size < 1:\n            raise ValueError(self.size)\n"
        "        return self.size * self.size\n\n",
        "    @area.setter\n    def area(self, area):\n        if area < 1:\n            raise ValueError(area)\n"
        "        self.size = area ** 0.5\n\n",
    ],
)
JAVA = [
    "  int pack(int one) {\n    if (one < 1) {\n      throw new Error();\n    }\n    return one;\n  }\n",
    "  int pack(int one, int two) {\n    if (one < two) {\n      throw new Error();\n    }\n    return two;\n  }\n",
    "  int pack(String a, String b) {\n    if (a == b) {\n      throw new Error();\n    }\n    return 3;\n  }\n",
]
INITS = [
    f"func init() {{\n\tif {name} == nil {{\n\t\tpanic({name})\n\t}}\n\tregister({name})\n}}\n\n"
    for name in ("ship", "train", "van")
]


def files(
    stubs: list[str] = STUBS, area: list[str] = RESIZE, java: list[str] = JAVA, inits: list[str] = INITS
) -> dict[str, str]:
    return {
        "box.py": "".join([HEAD, *stubs, INIT, *area]),
        "Packer.java": "class Packer {\n" + "".join(java) + "}\n",
        "send.go": "package send\n\n" + "".join(inits),
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shop, list[str]]]:
    """A shop that a model has written, and all that it was asked; copy it before you change it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODESUM_TEST_PROVIDER_KEY", "sk-loopback-0123456789abcdef")
        with shop(tmp_path_factory.mktemp("built"), files()) as made:
            build(made.workspace())
            yield made, [json.dumps(call.body) for call in made.server.seen]


@pytest.fixture
def boxes(built: tuple[Shop, list[str]], tmp_path: Path) -> Shop:
    made, _ = built
    made.server.seen.clear()
    return Shop.copy(made, tmp_path)


def rows(workspace: Workspace) -> Mapping[str, tuple[str, str]]:
    """The hashes of each document's text, by id."""
    columns = ["id", "summary_hash", "text_hash"]
    found = workspace.tables.read("documents", workspace.key, columns=columns).to_pylist()
    return {row["id"]: (row["summary_hash"], row["text_hash"]) for row in found}


def written(reports: Reports, *levels: Level) -> set[str]:
    return {rewrite.id for level in levels for rewrite in reports[f"{level}_summaries"].rewrites}


GONE = {
    "an overload of __init__": files(stubs=STUBS[1:]),
    "a property's setter": files(area=RESIZE[:1]),
    "an overload of Java": files(java=[JAVA[0], JAVA[2]]),
    "one of several init": files(inits=INITS[:2]),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "an overload of __init__" else pytest.mark.slow) for name in GONE],
)
def test_one_that_goes_rewrites_no_neighbour_and_asks_for_its_holders_alone(boxes: Shop, name: str) -> None:
    before = rows(boxes.workspace())
    boxes.repo.commit(GONE[name])
    reports = build(boxes.workspace())

    after = rows(boxes.workspace())
    (gone,) = before.keys() - after.keys()
    assert "#" in gone and after.keys() < before.keys()
    assert written(reports, Level.FUNCTION) == set()
    path = gone.partition("::")[0]
    assert written(reports, *Level) <= {path, f"{path}::Box", f"{path}::Packer", "."}
    assert len(boxes.server.seen) <= len(written(reports, *Level))


TURNED = files(stubs=STUBS[::-1], area=RESIZE[::-1], java=JAVA[::-1], inits=INITS[::-1])


def test_without_a_model_their_order_in_a_file_rewrites_nothing(boxes: Shop) -> None:
    build(boxes.workspace(home="other", llm={"enabled": False}))
    before = rows(boxes.workspace(home="other", llm={"enabled": False}))
    boxes.repo.commit(TURNED)
    reports = build(boxes.workspace(home="other", llm={"enabled": False}))

    assert rows(boxes.workspace(home="other", llm={"enabled": False})) == before
    assert written(reports, *Level) == set()


def test_their_order_in_a_file_asks_for_none_of_them(boxes: Shop) -> None:
    before = rows(boxes.workspace())
    boxes.repo.commit(TURNED)
    reports = build(boxes.workspace())

    assert rows(boxes.workspace()).keys() == before.keys()
    assert written(reports, Level.FUNCTION) == set()
    # The order of equals is what a model is shown of a class.
    assert len(boxes.server.seen) <= len(written(reports, Level.CLASS, Level.FILE, Level.MODULE))


def test_an_id_that_is_handed_on_costs_no_call_for_its_text(boxes: Shop) -> None:
    before = rows(boxes.workspace())
    boxes.repo.commit(files(java=JAVA[1:]))
    reports = build(boxes.workspace())

    after = rows(boxes.workspace())
    renamed = before.keys() - after.keys()
    assert len(renamed) == 1
    assert written(reports, Level.FUNCTION) == {"Packer.java::Packer::pack"}
    assert after["Packer.java::Packer::pack"] in {before[id_] for id_ in renamed}
    assert len(boxes.server.seen) == len(written(reports, Level.CLASS, Level.FILE, Level.MODULE))


def test_a_model_is_shown_no_suffix(built: tuple[Shop, list[str]]) -> None:
    made, prompts = built
    suffixes = {id_.removeprefix(without_suffix(id_)) for id_ in rows(made.workspace())} - {""}

    assert len(suffixes) == 8
    assert len(prompts) > 10
    assert [suffix for suffix in suffixes for prompt in prompts if suffix in prompt] == []
