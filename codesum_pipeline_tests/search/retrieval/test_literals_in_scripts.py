"""A message is found literally where no blanks are between its words."""

import pytest

from codesum_pipeline.search.retrieval.hits import Occurrence, literal_of, occurrence_in


@pytest.mark.parametrize(
    ("query", "source", "found"),
    [
        pytest.param(
            "找不到配置文件，请检查路径", 'fail("错误：找不到配置文件，请检查路径！")', 2, id="a long Chinese message"
        ),
        pytest.param("找不到配置文件", 'fail("错误：找不到配置文件，请检查")', 1, id="a part of a Chinese message"),
        pytest.param("設定ファイルが見つかりません", 'fail("設定ファイルが見つかりません: " + p)', 2, id="Japanese"),
        pytest.param("ไม่พบไฟล์การตั้งค่า", 'fail("ไม่พบไฟล์การตั้งค่า")', 2, id="Thai"),
        pytest.param("не удалось открыть файл", 'fail("не удалось открыть файл")', 2, id="Russian"),
        pytest.param('"退款"', 'fail("退款失败")', 2, id="a short one in quotes"),
    ],
)
def test_a_message_is_found(query: str, source: str, found: int) -> None:
    wanted = literal_of(query)

    assert wanted is not None
    assert occurrence_in(f"x\n{source}\n", wanted) == Occurrence(2, found)


@pytest.mark.parametrize("query", ["退款", "设置", "返金", "คืนเงิน"])
def test_a_word_that_nobody_quoted_is_no_message(query: str) -> None:
    assert literal_of(query) is None
