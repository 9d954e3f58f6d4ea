"""What authors wrote in any script is kept, whole, and ends as its script ends sentences."""

import pytest

from codesum_pipeline.evidence.author_texts.docstrings import opening_of, read_doc_comment, read_docstring
from codesum_pipeline.evidence.author_texts.inline_marks import remove_markup
from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_sentence, split_sentences
from codesum_pipeline.evidence.author_texts.prose import read_prose


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        pytest.param("计算总价", "计算总价。", id="Chinese, four signs"),
        pytest.param("退款", "退款。", id="Chinese, one word of two signs"),
        pytest.param("读取配置。", "读取配置。", id="Chinese with its mark has no second one"),
        pytest.param("删除！", "删除！", id="a wide exclamation mark ends"),
        pytest.param("计算前10个结果", "计算前10个结果。", id="a number makes no name of a Chinese sentence"),
        pytest.param("加载user_info数据", "加载user_info数据。", id="a name makes no name of a Chinese sentence"),
        pytest.param("获取用户列表\n返回所有用户", "获取用户列表。返回所有用户。", id="short lines are statements"),
        pytest.param("合計を返す", "合計を返す。", id="Japanese, five signs"),
        pytest.param("「注意」を返す", "「注意」を返す。", id="Japanese with quotes"),
        pytest.param("환불", "환불.", id="Korean, one word of two syllables"),
        pytest.param("비밀번호 변경", "비밀번호 변경.", id="Korean, two words"),
        pytest.param("ลบผู้ใช้", "ลบผู้ใช้", id="Thai has no mark"),
        pytest.param("Возвращает заказ", "Возвращает заказ.", id="Russian"),
        pytest.param("меняет т.е. пишет. Потом ещё", "Меняет т.е. пишет. Потом ещё.", id="a Russian abbreviation"),
        pytest.param("επιστρέφει το ποσό", "Επιστρέφει το ποσό.", id="Greek capitals"),
        pytest.param("حذف المستخدم", "حذف المستخدم.", id="Arabic"),
        pytest.param("هل يوجد مستخدم؟", "هل يوجد مستخدم؟", id="an Arabic question mark ends"),
        pytest.param("מוחק את המשתמש", "מוחק את המשתמש.", id="Hebrew"),
        pytest.param("सत्र हटाता है", "सत्र हटाता है।", id="Hindi"),
        pytest.param("सत्र हटाता है।", "सत्र हटाता है।", id="Hindi with its mark"),
        pytest.param("მომხმარებლის წაშლა", "მომხმარებლის წაშლა.", id="Georgian has no capitals"),
        pytest.param("istek gönderir ışık", "İstek gönderir ışık.", id="a Turkish i keeps its dot"),
        pytest.param("gibt z.B. Namen zurück", "Gibt z.B. Namen zurück.", id="a German abbreviation"),
    ],
)
def test_a_short_docstring_is_kept(written: str, kept: str) -> None:
    assert opening_of(read_docstring(written))[0] == kept


@pytest.mark.parametrize("written", ["构造函数", "コンストラクタ", "テスト", "ลบ", "设", "——", "…"])
def test_a_word_that_tells_nothing_is_silent(written: str) -> None:
    assert opening_of(read_docstring(written)) == ("", 0)


@pytest.mark.parametrize(
    "titles",
    [
        pytest.param(("参数：", "返回："), id="Chinese, wide colons"),
        pytest.param(("参数:", "返回值:"), id="Chinese"),
        pytest.param(("引数:", "戻り値："), id="Japanese"),
        pytest.param(("매개변수:", "반환:"), id="Korean"),
        pytest.param(("Параметры:", "Возвращает:"), id="Russian"),
        pytest.param(("Παράμετροι:", "Επιστρέφει:"), id="Greek"),
        pytest.param(("Paramètres :", "Retourne :"), id="French"),
    ],
)
def test_sections_have_titles_in_other_languages(titles: tuple[str, str]) -> None:
    read = read_docstring(f"退款给客户。\n\n{titles[0]}\n    price：价格\n\n{titles[1]}\n    总价\n")

    assert (read.sentences, dict(read.parameters), read.returns) == (("退款给客户。",), {"price": "价格"}, "总价")


@pytest.mark.parametrize(
    ("comment", "sentences", "parameters", "returns"),
    [
        pytest.param("打开设备。\n返回：0 成功", ("打开设备。",), {}, "0 成功", id="what is returned"),
        pytest.param(
            "打开设备。\n参数：dev：设备号\n返回值：成功返回0",
            ("打开设备。",),
            {"dev": "设备号"},
            "成功返回0",
            id="a parameter",
        ),
        pytest.param(
            "打开设备。\n参数：dev 设备\n返回：0",
            ("打开设备。", "参数：dev 设备"),
            {},
            "0",
            id="a parameter without a colon stays as it is written",
        ),
        pytest.param(
            "打开设备。\n注意：不要重复调用。", ("打开设备。", "注意：不要重复调用。"), {}, None, id="a note stays"
        ),
        pytest.param("取得する。\n戻り値：名前", ("取得する。",), {}, "名前", id="Japanese"),
        pytest.param("Öffnet es.\nRückgabe: Größe", ("Öffnet es.",), {}, "Größe", id="German"),
    ],
)
def test_a_title_may_have_its_text_behind_it(
    comment: str, sentences: tuple[str, ...], parameters: dict[str, str], returns: str | None
) -> None:
    read = read_doc_comment(comment, "c", ("dev",))

    assert (read.sentences, dict(read.parameters), read.returns) == (sentences, parameters, returns)


def test_a_title_may_be_the_first_line() -> None:
    read = read_docstring("引数:\n    id (int): 番号\n\n戻り値:\n    str: 名前\n")

    assert (read.sentences, dict(read.parameters), read.returns) == ((), {"id": "番号"}, "名前")


def test_a_long_chinese_line_goes_on_in_the_next() -> None:
    first, second = "これは長い説明文であり、複数の行にわたって書かれているため途中で改行", "されています"

    assert read_docstring(f"{first}\n{second}").sentences == (first + second,)


def test_tags_of_comments_are_read_beside_words_without_blanks() -> None:
    read = read_doc_comment("计算总价。\n@param price 价格\n@return 总价", "java", ("price",))

    assert (read.sentences, dict(read.parameters), read.returns) == (("计算总价。",), {"price": "价格"}, "总价")


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        pytest.param(
            "# 订单服务\n\n处理订单的服务。支持退款。\n", ["订单服务: 处理订单的服务。", "支持退款。"], id="Chinese"
        ),
        pytest.param("# 店\n\n注文を管理する。\n", ["店: 注文を管理する。"], id="Japanese"),
        pytest.param("# ร้าน\n\nระบบจัดการคำสั่งซื้อ\n", ["ร้าน: ระบบจัดการคำสั่งซื้อ"], id="Thai"),
        pytest.param("# 상점\n\n주문을 관리한다.\n", ["상점: 주문을 관리한다."], id="Korean"),
        pytest.param(
            "# Магазин\n\nСервис заказов и возвратов.\n", ["Магазин: Сервис заказов и возвратов."], id="Russian"
        ),
        pytest.param("# दुकान\n\nयह सेवा ऑर्डर संभालती है।\n", ["दुकान: यह सेवा ऑर्डर संभालती है।"], id="Hindi"),
        pytest.param(
            "# 商店\n\n[English](a.md) | 简体中文\n\n管理订单和发票。\n",
            ["商店: 管理订单和发票。"],
            id="links to translations",
        ),
        pytest.param(
            "# 商店\n\n管理订单\n和发票\n", ["商店: 管理订单和发票"], id="a line that joins to the one before"
        ),
    ],
)
def test_a_readme_gives_its_opening(text: str, opening: list[str]) -> None:
    assert read_prose(text).opening == opening


@pytest.mark.parametrize(
    ("paragraph", "sentences"),
    [
        pytest.param(
            "读取文件。检查取值！完成？", ["读取文件。", "检查取值！", "完成？"], id="no blanks between sentences"
        ),
        pytest.param("पढ़ता है। लिखता है।", ["पढ़ता है।", "लिखता है।"], id="dandas"),
        pytest.param("هل هو؟ نعم.", ["هل هو؟", "نعم."], id="an Arabic question"),
        pytest.param(
            "返回（如：a。b）结果。完", ["返回（如：a。b）结果。", "完"], id="a mark in brackets ends nothing"
        ),
        pytest.param("Пишет и т.д. в файл. Читает.", ["Пишет и т.д. в файл.", "Читает."], id="small letters go on"),
    ],
)
def test_sentences_end_by_script(paragraph: str, sentences: list[str]) -> None:
    assert split_sentences(paragraph) == sentences


def test_a_text_is_cut_between_letters_with_their_marks() -> None:
    for text in ("ผู้ใช้" * 20, "पासवर्ड" * 20, "计算总价" * 20):
        for limit in range(5, 40):
            cut = clip_text(text, limit)
            assert len(cut) <= limit
            assert text.startswith(cut[:-1]) and not make_sentence(text[len(cut) - 1]).startswith(("ู", "้", "ा", "्"))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        pytest.param(
            "server=http://localhostへの接続を作る。", "server=への接続を作る。", id="Japanese goes on after it"
        ),
        pytest.param("详见https://a.example/c，然后返回。", "详见，然后返回。", id="a wide comma ends it"),
        pytest.param("**高性能**的日志库", "高性能的日志库", id="bold words with no blank behind"),
        pytest.param("これは**重要**です", "これは重要です", id="bold words amid others"),
        pytest.param("使い方は[こちら](docs/a.md)。", "使い方はこちら。", id="a link with no blank before it"),
        pytest.param("ภาษา***ไทย***ครับ", "ภาษาไทยครับ", id="bold words in Thai"),
        pytest.param("面积是宽*高*长，x**2**y", "面积是宽*高*长，x**2**y", id="products and powers"),
        pytest.param("传入**kwargs和**options", "传入**kwargs和**options", id="arguments of Python"),
    ],
)
def test_marks_and_addresses_end_where_the_script_changes(text: str, plain: str) -> None:
    assert remove_markup(text) == plain
