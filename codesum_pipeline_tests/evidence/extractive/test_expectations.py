"""What tests expect, in the words of their assertions; and what says nothing or is not asserted at all."""

import pytest

from codesum_pipeline.evidence.extractive.extractive_functions import write_function
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline_tests.evidence.extractive.shown_inputs import function_of, summary_of


def expected_in(path: str, source: str, name: str) -> str:
    language = language_of_path(path)
    assert language is not None
    parsed = parse_file(path, language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
    (function,) = [function_of(one) for one in parsed.symbols if one.qualified_name == name]
    return write_function(function).text.summary


def expected_in_python(*lines: str) -> str:
    body = "\n    ".join(lines)
    return summary_of(f"def test_orders(queue, client):\n    {body}\n").removeprefix("Tests orders.").strip()


PYTHON = {
    "a comparison as it is written": (["assert queue.status == 503"], "Expects queue status == 503."),
    "what is expected stands last": (["assert 503 == queue.status"], "Expects queue status == 503."),
    "the value of a name": (
        ["result = parse_port('80')", "assert result == 80"],
        'Expects parse port("80") == 80.',
    ),
    "the call that gave what is looked at": (
        ["reply = client.post('/learn')", "assert reply.status == 503"],
        'Expects reply status == 503 after client post("/learn").',
    ),
    "an error, with what raises it": (
        ["with pytest.raises(ValueError):", "    parse_port('x')"],
        'Expects parse port("x") to raise a value error.',
    ),
    "the text of an error": (
        ["with pytest.raises(ValueError, match='no port'):", "    a = 1", "    parse_port(a)"],
        'Expects a value error with "no port".',
    ),
    "an equality of the tests' own": (
        ["assert_orders_equal(queue, client.first)"],
        "Expects queue to equal client.first.",
    ),
    "a method of a test case": (["self.assertEqual(0, queue.size())"], "Expects queue.size() to equal 0."),
    "at most three, each of another thing": (
        [
            "assert queue.a == 1",
            "assert queue.a == 2",
            "assert queue.b == 3",
            "assert queue.c == 4",
            "assert queue.d == 5",
        ],
        "Expects queue a == 1, queue b == 3 and queue c == 4.",
    ),
}
NOTHING = {
    "two names that say nothing": ["assert result == expected"],
    "what is only there": ["assert queue"],
    "a constant": ["assert True"],
    "under a condition": ["if queue:", "    assert queue.status == 503"],
    "in a function of its own": ["def inner():", "    assert queue.status == 503"],
    "where an assertion is to fail": ["with pytest.raises(AssertionError):", "    assert queue.status == 503"],
    "a value that is code": ["assert list(map(lambda one: one, queue)) == [1]"],
}


@pytest.mark.parametrize("case", PYTHON)
def test_a_test_says_what_it_expects(case):
    lines, sentence = PYTHON[case]

    assert expected_in_python(*lines) == sentence


@pytest.mark.parametrize("case", NOTHING)
def test_what_is_not_telling_or_not_certain_is_not_said(case):
    assert "Expects" not in expected_in_python(*NOTHING[case])


def test_a_name_whose_value_may_have_changed_stands_for_itself():
    lines = ["count = queue.size()", "queue.push(1)", "assert count == 3"]

    assert expected_in_python(*lines) == "Expects count == 3."


def test_an_author_who_says_more_than_the_name_in_one_sentence_is_followed_by_the_expectation():
    one = 'def test_orders(queue):\n    """Late customers are told the delay."""\n    assert queue.status == 503\n'
    two = one.replace("the delay.", "the delay. Others are served.")

    assert summary_of(one) == "Late customers are told the delay. Expects queue status == 503."
    assert summary_of(two) == "Late customers are told the delay. Others are served."


def test_what_asserts_for_tests_says_it_too():
    source = "def assert_open(queue):\n    assert queue.status == 200\n"

    assert summary_of(source).endswith("Expects queue status == 200.")


LANGUAGES = {
    "JUnit": (
        "OrderTest.java",
        "class OrderTest {\n  @Test void total() {\n    assertEquals(3, order.size());\n  }\n}\n",
        "OrderTest.total",
        "Expects order.size() to equal 3.",
    ),
    "JUnit with a message": (
        "OrderTest.java",
        'class OrderTest {\n  @Test void total() {\n    assertEquals("wrong", 3, order.size());\n  }\n}\n',
        "OrderTest.total",
        "Expects order.size() to equal 3.",
    ),
    "Jest": (
        "order.js",
        "function testTotal(order) {\n  expect(order.total).not.toBe(5);\n}\n",
        "testTotal",
        "Expects order total not to equal 5.",
    ),
    "Chai": (
        "order.js",
        'function testTotal(order) {\n  order.name.should.equal("Bo");\n}\n',
        "testTotal",
        'Expects order name to equal "Bo".',
    ),
    "RSpec": (
        "order_spec.rb",
        "def test_total\n  expect(order.total).to eq(5)\nend\n",
        "test_total",
        "Expects order total to equal 5.",
    ),
    "testify": (
        "order_test.go",
        'package a\nfunc TestTotal(t *testing.T) {\n\tassert.Equal(t, "Bo", order.name)\n}\n',
        "TestTotal",
        'Expects order name to equal "Bo".',
    ),
    "a failing condition of Go": (
        "order_test.go",
        'package a\nfunc TestTotal(t *testing.T) {\n\tif got := total(3); got != 7 {\n\t\tt.Errorf("bad")\n\t}\n}\n',
        "TestTotal",
        "Expects total(3) == 7.",
    ),
    "Rust": (
        "order.rs",
        '#[test]\n#[should_panic(expected = "no order")]\nfn total() {\n    assert_eq!(sum(3), 7);\n}\n',
        "total",
        'Expects a panic with "no order" and sum(3) to equal 7.',
    ),
    "C++": (
        "order_test.cc",
        "TEST(OrderTest, Total) {\n  EXPECT_EQ(3, order.size());\n}\n",
        "OrderTest.Total",
        "Expects order.size() to equal 3.",
    ),
    "AssertJ": (
        "OrderTest.java",
        "class OrderTest {\n  @Test void total() {\n    assertThat(order.size()).isEqualTo(old.size());\n  }\n}\n",
        "OrderTest.total",
        "Expects order.size() to equal old.size().",
    ),
    "nested values of Go that differ": (
        "order_test.go",
        "package a\nfunc TestTotal(t *testing.T) {\n"
        "\tif !reflect.DeepEqual(sum(order), wanted) {\n\t\tt.Fatal()\n\t}\n}\n",
        "TestTotal",
        "Expects sum(order) to equal wanted.",
    ),
    "a matcher of Hamcrest": (
        "OrderTest.java",
        "class OrderTest {\n  @Test void total() {\n    assertThat(order.size(), is(equalTo(3)));\n  }\n}\n",
        "OrderTest.total",
        "Expects order.size() to equal 3.",
    ),
    "a type in brackets": (
        "order_test.go",
        "package a\nfunc TestTotal(t *testing.T) {\n\ttools.AssertIsType[Order](t, order)\n}\n",
        "TestTotal",
        "Expects order to be an instance of order.",
    ),
    "Kotlin": (
        "OrderTest.kt",
        'class OrderTest {\n  @Test fun total() {\n    order.name shouldBe "Bo"\n  }\n}\n',
        "OrderTest.total",
        'Expects order name to equal "Bo".',
    ),
    "xUnit": (
        "OrderTests.cs",
        "class OrderTests {\n  [Fact] public void Total() {\n"
        "    Assert.Throws<IOException>(() => order.Close(3));\n  }\n}\n",
        "OrderTests.Total",
        "Expects order Close(3) to raise an IO exception.",
    ),
    "Elixir": (
        "order_test.exs",
        'defmodule OrderTest do\n  test "adds up" do\n    assert total(3) == 7\n  end\nend\n',
        "OrderTest.adds up",
        "Expects total(3) == 7.",
    ),
    "Swift": (
        "OrderTests.swift",
        "class OrderTests: XCTestCase {\n  func testTotal() {\n    XCTAssertEqual(order.count, 7)\n  }\n}\n",
        "OrderTests.testTotal",
        "Expects order.count to equal 7.",
    ),
    "Zig": (
        "order.zig",
        'test "adds up" {\n    try expectEqual(7, total(3));\n}\n',
        "test adds up",
        "Expects total(3) to equal 7.",
    ),
}


@pytest.mark.parametrize("case", LANGUAGES)
def test_each_framework_is_read_as_it_means_it(case):
    path, source, name, sentence = LANGUAGES[case]

    assert sentence in expected_in(path, source, name)


def test_what_is_shown_when_an_assertion_fails_is_no_text_of_the_error():
    source = 'package a\nfunc TestTotal(t *testing.T) {\n\trequire.Error(t, err, "should have failed")\n}\n'

    assert "Expects an error." in expected_in("order_test.go", source, "TestTotal")


@pytest.mark.parametrize(
    "body", ["assert (" * 5000, "assert 'x\n    " * 5000, "x = 1\n    " * 20000, "assert a." * 9000]
)
def test_code_of_any_length_gives_a_text(body):
    assert len(expected_in_python(body)) < 700
