"""A notebook is a script of its cells, and nothing else of the file counts."""

import base64
import codecs
import json
import random
import re
import tracemalloc
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.file import NOTEBOOK, SkipReason
from codesum_pipeline.foundation.data_model.notebook_cells import cell_at
from codesum_pipeline.foundation.language_facts.file_languages import language_of_kernel
from codesum_pipeline.source.files.content import bytes_of_text, judge_content, lines_of, text_of, without_outputs
from codesum_pipeline.source.files.encodings import read_other_version
from codesum_pipeline.source.files.notebooks import NotebookScript, read_notebook, slim_notebook
from codesum_pipeline_tests.support.notebooks import notebook

CELLS = [
    ("markdown", "# Churn\n\nWhy customers leave.\n"),
    ("code", "import pandas as pd\n"),
    ("raw", "for a converter"),
    ("code", "def load(path):\n    return pd.read_csv(path)\n"),
]
SCRIPT = """\
# %% cell 1 [markdown]
# # Churn
#
# Why customers leave.

# %% cell 2
import pandas as pd

# %% cell 3 [raw]

# %% cell 4
def load(path):
    return pd.read_csv(path)
"""


def read(text: str) -> NotebookScript:
    return read_notebook(text.encode())


def of_cells(*cells: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells, **more}).encode()


def lines_of_code(code: str, kernel: str = "python") -> list[str]:
    """The lines of a script's only cell."""
    return read(notebook([("code", code)], kernel=kernel, ending="")).script.split("\n")[1:-1]


def test_a_notebook_is_a_script_with_a_mark_before_each_cell() -> None:
    assert read(notebook(CELLS)).script == SCRIPT


def test_all_who_read_a_notebook_see_its_script() -> None:
    data = notebook(CELLS).encode()

    assert text_of("a.ipynb", data) == text_of("a.ipynb", data, NOTEBOOK) == SCRIPT
    assert read_other_version(data, "python", NOTEBOOK) == SCRIPT
    assert lines_of("a.ipynb", data) == lines_of("A.IPYNB", data, NOTEBOOK) == SCRIPT.encode()


def test_what_a_run_writes_into_a_notebook_is_not_read() -> None:
    again = notebook(CELLS, run=7, plot="AAAA" * 1000, indent=4)

    assert read(notebook(CELLS)) == read(again)


def test_the_place_in_a_notebook_is_a_cell_and_a_line_of_it() -> None:
    found = read(notebook(CELLS))
    lines = found.script.split("\n")

    assert found.cells == (1, 6, 9, 11)
    assert str(cell_at(found.cells, lines.index("def load(path):") + 1)) == "cell 4, line 1"
    assert str(cell_at(found.cells, lines.index("# Why customers leave.") + 1)) == "cell 1, line 3"
    assert cell_at(found.cells, 0) is None


def test_the_content_has_the_lines_of_the_script_without_marks_and_signs_of_comments() -> None:
    found = read(notebook(CELLS))

    assert found.content.count("\n") == found.script.count("\n")
    assert [line for line in found.content.split("\n") if line] == [
        "# Churn",
        "Why customers leave.",
        "import pandas as pd",
        "def load(path):",
        "    return pd.read_csv(path)",
    ]


def test_a_source_may_be_one_text_or_a_list_of_lines() -> None:
    one = of_cells({"cell_type": "code", "source": "a = 1\r\nb = 2\rc = 3"})
    several = of_cells({"cell_type": "code", "source": ["a = 1\n", "b = 2\n", "c = 3"]})

    assert read_notebook(one) == read_notebook(several)


def test_a_byte_order_mark_is_no_part_of_a_notebook() -> None:
    data = notebook(CELLS).encode()

    assert read_notebook(codecs.BOM_UTF8 + data) == read_notebook(data)


def test_a_notebook_without_cells_is_an_empty_script() -> None:
    assert read_notebook(of_cells()) == NotebookScript("", "", "python", (), None)
    assert read_notebook(b'{"nbformat": 4}').script == ""


@pytest.mark.parametrize(
    ("name", "ending", "language"),
    [
        ("python", ".py", "python"),
        ("ipython", ".py", "python"),
        ("python3", "", "python"),
        ("", "", "python"),
        ("R", ".r", "r"),
        ("julia", ".jl", "julia"),
        ("scala", ".sc", "scala"),
        ("C++17", ".cpp", "cpp"),
        ("C#", ".cs", "c-sharp"),
        ("F#", "", "f-sharp"),
        ("javascript", ".js", "javascript"),
        ("no such language", ".none", "text"),
        ("markdown", ".md", "text"),
    ],
)
def test_the_language_is_that_of_the_kernel(name: str, ending: str, language: str) -> None:
    assert language_of_kernel(name, ending) == language
    assert read(notebook(CELLS, kernel=name, ending=ending)).language == language


@pytest.mark.parametrize("metadata", [None, 3, {"language_info": "R"}, {"kernelspec": [1]}, {"kernelspec": {}}])
def test_metadata_of_a_wrong_type_leaves_the_code_in_python(metadata: Any) -> None:
    data = of_cells({"cell_type": "code", "source": "a = 1"}, metadata=metadata)

    assert (read_notebook(data).language, read_notebook(data).content) == ("python", "\na = 1\n")


@pytest.mark.parametrize(
    ("kernel", "comment"), [("r", "#"), ("julia", "#"), ("scala", "//"), ("haskell", "--"), ("none", "#")]
)
def test_text_is_a_comment_of_the_language(kernel: str, comment: str) -> None:
    text = read(notebook([("markdown", "Words")], kernel=kernel, ending="")).script

    assert text == f"{comment} %% cell 1 [markdown]\n{comment} Words\n"


@pytest.mark.parametrize(
    "magic",
    [
        "%matplotlib inline",
        "  %time fit(model)",
        "!pip install torch",
        "files = !ls data",
        "rows = %sql select 1",
        "a, b[0] = %time f()",
        "model.fit?",
        "?model",
        "??model.fit",
        "%%time",
        "%%capture out",
    ],
)
def test_a_magic_is_a_blank_line(magic: str) -> None:
    assert lines_of_code(f"{magic}\nx = 1") == ["", "x = 1"]


@pytest.mark.parametrize(
    "code",
    [
        "x = a % b",
        "print('%d' % 3)",
        "if a != b: pass",
        "assert a[0] == 1, 'why?'",
        "# what is this?",
        'q = """\n%s of\n!important\nreally?\n"""',
        "q = '''\n%d\n'''",
        "x = '!ls'",
    ],
)
def test_code_that_looks_like_a_magic_stays(code: str) -> None:
    assert lines_of_code(code) == code.split("\n")


def test_a_magic_that_goes_on_is_blank_to_its_end() -> None:
    assert lines_of_code("!pip install \\\n    torch \\\n    numpy\nx = 1") == ["", "", "", "x = 1"]


def test_a_cell_in_another_language_is_a_comment() -> None:
    assert lines_of_code("%%bash\nls -l\n\n!x") == ["", "# ls -l", "", ""]


@pytest.mark.parametrize(
    ("kernel", "code", "shown"),
    [
        ("rust", ':dep rand = "0.8"\nlet a = 1;', ["", "let a = 1;"]),
        ("c-sharp", '#r "nuget: A"\nvar a = 1;', ["", "var a = 1;"]),
        ("scala", "%AddJar a.jar\nval a = 1", ["", "val a = 1"]),
        ("matlab", "%% Section\n% comment\na = 1", ["%% Section", "% comment", "a = 1"]),
        ("bash", "! test -f a", ["! test -f a"]),
    ],
)
def test_each_language_has_its_own_magics(kernel: str, code: str, shown: list[str]) -> None:
    assert lines_of_code(code, kernel) == shown


def test_an_image_within_text_is_cut() -> None:
    image = base64.b64encode(bytes(3000)).decode()
    found = read(notebook([("markdown", f"Above ![plot](data:image/png;base64,{image}) below")]))

    assert found.content == "\nAbove ![plot](data:image/png;base64,…) below\n"


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["# Churn #\n\nWhy customers\nleave.\n\nMore."], "Churn\n\nWhy customers\nleave."),
        (["# Churn", "Why they leave."], "Churn\n\nWhy they leave."),
        (["Churn\n=====\nWhy they leave."], "Churn\n\nWhy they leave."),
        (["<a href='x'>Open in Colab</a>\n\n[![badge](x)](y)\n", "# Churn\n![plot](x)\n- item\n"], "Churn"),
        (["Written by us.\n\n# Churn", "Why they leave."], "Churn\n\nWhy they leave."),
        (["<table>\nCode of a book.\n</table>\n\n# Churn"], "Churn"),
        (["Why they leave.", "More.", "More.", "More.", "# References"], "Why they leave."),
        ([], None),
        (["- item"], None),
    ],
)
def test_the_first_title_and_paragraph_document_a_notebook(texts: list[str], said: str | None) -> None:
    assert read(notebook([("code", "import os"), *(("markdown", text) for text in texts)])).documentation == said


BAD = {
    "empty": (b"", "the file is empty"),
    "blank": (b" \n", "the file is empty"),
    "no JSON": (b"not json", "JSON is malformed"),
    "cut off": (notebook(CELLS).encode()[:-20], "truncated"),
    "merge conflict": (b"<<<<<<< HEAD\n" + of_cells(), "JSON is malformed"),
    "a list": (b"[]", "Expected `object`, got `array`"),
    "no version": (b'{"cells": []}', "missing required field `nbformat`"),
    "an older version": (
        b'{"nbformat": 2, "worksheets": []}',
        "but 4 is; `jupyter nbconvert --to notebook --inplace FILE` writes it anew",
    ),
    "a later version": (b'{"nbformat": 5}', "nbformat 5 is not known"),
    "a version of a wrong type": (b'{"nbformat": "4"}', "Expected `int`, got `str` - at `$.nbformat`"),
    "cells of a wrong type": (b'{"nbformat": 4, "cells": null}', "Expected `array`, got `null` - at `$.cells`"),
    "a cell of a wrong type": (b'{"nbformat": 4, "cells": [3]}', "Expected `object`, got `int` - at `$.cells[0]`"),
    "a cell without a kind": (of_cells({"source": "a"}), "missing required field `cell_type` - at `$.cells[0]`"),
    "a kind of a wrong type": (of_cells({"cell_type": 1}), "at `$.cells[0].cell_type`"),
    "a source of a wrong type": (of_cells({"source": {"a": 1}}), "Expected `str | array`, got `object`"),
    "a line of a wrong type": (of_cells({"source": ["a", None]}), "at `$.cells[0].source[1]`"),
    "a NUL": (of_cells({"cell_type": "code", "source": "a\0b"}), "cell 1 has a NUL character"),
    "half of a letter": (b'{"nbformat": 4, "cells": [{"source": "\\ud83d."}]}', "truncated"),
    "not UTF-8": (b'{"nbformat": 4, "cells": [{"source": "\xff"}]}', "not UTF-8"),
    "UTF-16": (notebook(CELLS).encode("utf-16"), "malformed"),
    "deep nesting": (b'{"nbformat": 4, "x": ' + b"[" * 1_000_000, "recursion"),
    "deep metadata": (b'{"nbformat": 4, "metadata": ' + b'{"a":' * 1_000_000, "recursion"),
}


@pytest.mark.parametrize(("data", "problem"), BAD.values(), ids=BAD)
def test_a_notebook_that_cannot_be_read_is_skipped_with_the_reason(data: bytes, problem: str) -> None:
    with pytest.raises(SkippedFile) as caught:
        read_notebook(data)
    judged = judge_content("a.ipynb", data)

    assert caught.value.reason == judged.reason == SkipReason.NOTEBOOK
    assert problem in caught.value.detail
    assert judged.problem == caught.value.detail
    assert len(judged.problem) <= 200
    with pytest.raises(SkippedFile, match=re.escape(caught.value.detail)):
        read_notebook(without_outputs("a.ipynb", data))


def test_bytes_of_outputs_may_be_anything() -> None:
    data = b'{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": ["\xff"], "source": "a = 1"}]}'

    assert read_notebook(data).content == "\na = 1\n"


def test_a_notebook_of_long_paragraphs_is_not_minified() -> None:
    data = notebook([("markdown", "words " * 500)]).encode()

    assert judge_content("a.ipynb", data).reason is None


def test_a_notebook_that_says_that_it_is_generated_is_skipped() -> None:
    data = notebook([("code", "# This file was generated by a tool. Do not edit.\na = 1")]).encode()

    assert judge_content("a.ipynb", data).reason is SkipReason.GENERATED


def test_a_pointer_of_git_lfs_is_one() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"

    assert judge_content("a.ipynb", pointer).reason is SkipReason.LFS_POINTER


def test_cells_have_a_limit_where_nobody_gives_one() -> None:
    with pytest.raises(SkippedFile, match="its cells have 17,000,000 bytes, more than 16,777,216"):
        read(notebook([("code", "\n" * 17_000_000)]))


def test_cells_have_a_limit_and_its_outputs_do_not_count() -> None:
    plots = notebook([("code", "a = 1")], plot="A" * 5_000_000).encode()
    text = notebook([("code", "a = 1\n" * 200_000)]).encode()

    assert judge_content("a.ipynb", plots, most_of_notebook=1_000_000).reason is None
    large = judge_content("a.ipynb", text, most_of_notebook=1_000_000)
    assert large.reason is SkipReason.TOO_LARGE
    assert large.problem == "its cells have 1,200,000 bytes, more than 1,000,000"


def test_the_size_of_a_notebook_says_little_about_its_cells() -> None:
    assert (bytes_of_text("a.ipynb", 30_000_000), bytes_of_text("a.ipynb", 500)) == (20_000, 500)
    assert bytes_of_text("a.py", 30_000_000) == 30_000_000


def test_a_hundred_plots_cost_no_memory_besides_their_bytes() -> None:
    plot = base64.b64encode(random.Random(1).randbytes(150_000)).decode()
    data = notebook([("code", f"plot({number})") for number in range(100)], plot=plot).encode()
    read_notebook(data)
    data += b"\n"
    tracemalloc.start()
    found = read_notebook(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(data) > 20_000_000
    assert peak < 200_000
    assert len(found.script) < 4_000
    assert len(slim_notebook(data)) < 10_000
    assert read_notebook(slim_notebook(data)) == found
