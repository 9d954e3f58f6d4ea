import pyarrow as pa

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.texts.summaries.outline import Child, build_outline

SYMBOLS = pa.table(
    {
        "id": ["a/x.py::Z", "a/x.py::Z::run", "a/x.py::Z::add", "a/x.py::b", "a/x.py::b::inner"],
        "type": ["class", "function", "function", "function", "function"],
        "file_path": ["a/x.py"] * 5,
        "parent_id": [None, "a/x.py::Z", "a/x.py::Z", None, "a/x.py::b"],
        "is_unnamed": [False] * 5,
    }
)


def test_children_are_sorted_by_name_whatever_the_order_of_the_table() -> None:
    outline = build_outline(["a/x.py", "a/b/y.py", "a/z.py"], SYMBOLS, root=".")

    assert dict(outline.children) == {
        ".": (Child("a", "a", Level.MODULE),),
        "a": (
            Child("a/b", "b", Level.MODULE),
            Child("a/x.py", "x.py", Level.FILE),
            Child("a/z.py", "z.py", Level.FILE),
        ),
        "a/b": (Child("a/b/y.py", "y.py", Level.FILE),),
        "a/x.py": (Child("a/x.py::Z", "Z", Level.CLASS), Child("a/x.py::b", "b", Level.FUNCTION)),
        "a/x.py::Z": (
            Child("a/x.py::Z::add", "add", Level.FUNCTION),
            Child("a/x.py::Z::run", "run", Level.FUNCTION),
        ),
    }


def test_a_function_below_a_function_has_a_parent_and_is_nobodys_child() -> None:
    outline = build_outline(["a/x.py"], SYMBOLS, root=".")

    assert outline.parents["a/x.py::b::inner"] == "a/x.py::b"
    assert "a/x.py::b" not in outline.children


def test_a_function_without_a_name_has_a_parent_and_is_nobodys_child() -> None:
    held = {"id": "a/x.py::GET /z", "type": "function", "file_path": "a/x.py", "parent_id": None, "is_unnamed": True}
    symbols = pa.concat_tables([SYMBOLS, pa.Table.from_pylist([held], schema=SYMBOLS.schema)])

    outline = build_outline(["a/x.py"], symbols, root=".")

    assert outline.parents["a/x.py::GET /z"] == "a/x.py"
    assert outline.children["a/x.py"] == build_outline(["a/x.py"], SYMBOLS, root=".").children["a/x.py"]
    assert outline.unnamed == {"a/x.py::GET /z"}
