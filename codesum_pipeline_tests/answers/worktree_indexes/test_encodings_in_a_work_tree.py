"""A work tree is read in the encodings that the whole of it declares, committed or not, as a clean index of it is."""

import pytest

from codesum_pipeline_tests.support.overlay_answers import indexed, must_hold_the_law

TEXT = "/* 用户 */\nint f(int x)\n{\n    return x + 1;\n}\n"
FILES = {
    ".gitattributes": "*.c encoding=gbk\n",
    "lib/.editorconfig": "root = true\n[*.h]\ncharset = latin1\n",
    "a.c": TEXT.encode("gbk"),
    "b.c": TEXT.replace("f(", "g(").encode("gbk"),
    "plain.c": "int h(int x)\n{\n    return x + 2;\n}\n",
    "lib/c.h": "/* se\xf1al */\nint k(int x);\n".encode("latin-1"),
}


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"a.c": TEXT.replace("+ 1", "+ 5").encode("gbk")}, id="an edited file"),
        pytest.param({"new.c": "/* 联通 */\nint n(int x)\n{\n    return x;\n}\n".encode("gbk")}, id="a new file"),
        pytest.param({"lib/d.h": "/* a\xf1o */\nint m(int x);\n".encode("latin-1")}, id="a new file beside others"),
        pytest.param({".gitattributes": "*.c encoding=big5\n"}, id="another declaration"),
        pytest.param({"lib/.editorconfig": "root = true\n"}, id="no declaration any more"),
        pytest.param({".gitattributes": "*.c encoding=big5\n", "a.c": TEXT.encode()}, id="both"),
    ],
)
def test_an_edit_is_answered_as_by_a_clean_index(tmp_path, edit):
    checkout = indexed(tmp_path, FILES)
    checkout.repo.write(edit)

    must_hold_the_law(checkout)


def test_files_that_no_declaration_concerns_are_not_indexed_again(tmp_path):
    checkout = indexed(tmp_path, FILES)
    checkout.repo.write({".gitattributes": "*.c encoding=big5\n"})

    assert checkout.open().found.changed == {".gitattributes", "a.c", "b.c"}
