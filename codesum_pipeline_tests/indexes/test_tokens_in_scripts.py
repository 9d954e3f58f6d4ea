"""A text and a question have the same words, in every script and spelling."""

import pytest

from codesum_pipeline.indexes.lanes.tokens import split_identifier, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("删除过期会话", ["删除", "除过", "过期", "期会", "会话"], id="Chinese in pairs"),
        pytest.param("表", ["表"], id="a single Chinese sign is a word"),
        pytest.param("怎么删除客户的会话", ["删除", "除客", "客户", "会话"], id="words that only ask or join are none"),
        pytest.param("顧客のカードに請求する", ["顧客", "カー", "ード", "請求"], id="Japanese cut at particles"),
        pytest.param("ﾕｰｻﾞｰ", ["ユー", "ーザ", "ザー"], id="half-wide kana"),
        pytest.param("서버에서", ["서버", "버에"], id="Korean words with their particles"),
        pytest.param("메시지 번역", ["메시", "시지", "번역"], id="Korean words"),
        pytest.param("ลบและแปล", ["ลบ", "แป", "ปล"], id="Thai in pairs, without what joins"),
        pytest.param("ສົ່ງ", ["ສົ", "ົ່", "່ງ"], id="Lao in pairs"),
        pytest.param("ស្វែង", ["ស្", "្វ", "វែ", "ែង"], id="Khmer in pairs"),
        pytest.param("设置user列表", ["设置", "user", "列表"], id="Chinese with a name"),
        pytest.param("читает файлы настроек", ["чита", "файл", "настроек"], id="Russian stems"),
        pytest.param("τα αρχεία του χρήστη", ["αρχει", "χρηστ"], id="Greek stems"),
        pytest.param("في الملفات", ["ملف"], id="Arabic stems without the article"),
        pytest.param("फ़ाइलें पढ़ना", ["फाइल", "पढ"], id="Hindi stems"),
        pytest.param("של הקובץ", ["הקובץ"], id="Hebrew words as they are"),
        pytest.param("été Größe", ["ete", "gross"], id="Latin letters without accents"),
        pytest.param("größteZahl", ["grosst", "zahl", "grosstezahl"], id="capitals in a name with accents"),
        pytest.param("ПолучитьДанные", ["получ", "дан", "получитьданные"], id="capitals in a Cyrillic name"),
        pytest.param("ＵＳＥＲ１２", ["user", "12", "user12"], id="wide letters and digits"),
    ],
)
def test_words_of_a_script(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("café", "cafe", id="without its accent"),
        pytest.param("cafe\u0301", "café", id="with an accent of its own"),
        pytest.param("STRASSE", "Straße", id="sharp s in capitals"),
        pytest.param("İSTEK", "istek", id="a Turkish capital"),
        pytest.param("ΣΊΣΥΦΟΣ", "σίσυφος", id="the last sigma"),
        pytest.param("ПЛАТЁЖ", "платеж", id="Russian capitals"),
        pytest.param("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글", id="jamo"),
        pytest.param("الإعدادات", "الاعدادات", id="an Arabic alef"),
        pytest.param("می\u200cخواهم", "میخواهم", id="a Persian joiner"),
        pytest.param("カードへの請求", "カードに請求する", id="other Japanese particles"),
    ],
)
def test_two_spellings_are_one_word(one: str, other: str) -> None:
    assert tokenize(one) == tokenize(other) != []


def test_parts_of_a_name_in_any_script() -> None:
    assert split_identifier("获取user列表") == ["获取", "user", "列表"]
    assert split_identifier("prix_réduitTTC") == ["prix", "reduit", "ttc"]


def test_what_is_ascii_is_read_as_before() -> None:
    text = "def getUserName2(http_url): return self.user_name + ' is here'"

    assert tokenize(text) == [
        "get", "user", "name", "getusername2", "http", "url", "httpurl", "user", "name", "username", "here",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("的" * 200_000, [], id="words that join"),
        pytest.param("カな" * 100_000, [], id="kinds of signs that change"),
        pytest.param("订" * 100_000, ["订订"], id="one sign"),
        pytest.param("é\u0301" * 100_000, [], id="a blob of accents"),
        pytest.param("ก็" * 100_000, ["ก็", "็ก"], id="signs with marks"),
    ],
)
def test_a_long_run_is_read(text: str, words: list[str]) -> None:
    assert [*dict.fromkeys(tokenize(text))] == words
