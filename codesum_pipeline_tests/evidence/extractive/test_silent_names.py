"""A name that says nothing certain is read as nothing."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Fact, Form, SymbolFacts
from codesum_pipeline_tests.evidence.extractive.written_names import ACTS, ANSWERS, GIVES, READS, Written

MAKES = SymbolFacts(returned=(Fact("Expression(a, b)", 2, ("Expression",), Form.CALL),))
OFFSET = SymbolFacts(returned=(Fact("size.Offset(a)", 2, ("size", "Offset"), Form.CALL),))
STORED = SymbolFacts(
    returned=(Fact("prefs.getBoolean(UPLOAD)", 2, ("prefs", "getBoolean"), Form.CALL),),
    calls=(Fact("prefs.getBoolean(UPLOAD)", 2, ("prefs", "getBoolean"), Form.CALL),),
)


def silent(name: str, *, rule: str, **written: object) -> object:
    return pytest.param(Written(name, **written), id=rule)


SILENT = [
    silent("area", body=GIVES, rule="a noun that the code does not confirm"),
    silent("condense", takes="items", language="javascript", body=GIVES, rule="a word that may be a verb"),
    silent("offset", takes="size", gives="Size", language="c-sharp", body=OFFSET, rule="a call of the same name"),
    silent("restore", takes="id", owner="Deletion", rule="by a key, another is meant"),
    silent("staticUser", gives="http.HandlerFunc", language="go", rule="a function comes back"),
    silent("globalFile", takes="content", gives="Setup", owner="Setup", language="rust", body=GIVES, rule="a builder"),
    silent("unfollow_story", takes="story", body=GIVES, language="ruby", rule="a verb that undoes one of the list"),
    silent("index", owner="LoginController", language="ruby", body=GIVES, rule="a page of which there is one"),
    silent("sub", takes="a, b", gives="int", language="java", rule="a clipped verb"),
    silent("ensureAbsolute", takes="base", gives="URL", language="swift", body=GIVES, rule="a verb of no list"),
    silent("savingChanges", gives="int", language="c-sharp", body=GIVES, rule="a doing of many"),
    silent("onError", body=GIVES, language="javascript", takes="callback", rule="what registers a handler"),
    silent("requestHandler", body=GIVES, language="javascript", rule="a noun that says what the function is"),
    silent("statusToCode", takes="status", gives="int", language="go", body=GIVES, rule="a conversion to no format"),
    silent("users", owner="UserController", body=GIVES, language="php", rule="a page of a controller"),
    silent("enabled", gives="bool", language="go", rule="an answer about nothing"),
    silent("__eq__", takes="other", owner="Column", body=MAKES, rule="an expression is no answer"),
    silent("reset", owner="TableResetter", rule="who does it is not what it is done to"),
    silent("disable", owner="ExportManager", rule="who does something is not disabled"),
    silent("uploadPhotos", gives="boolean", language="java", body=STORED, rule="a setting that says yes or no"),
    silent("map_key", body=GIVES, rule="map is no verb before key"),
    silent("format_string", body=GIVES, rule="format is no verb before string"),
    silent("log_level", body=GIVES, rule="log is no verb before level"),
    silent("hash_code", body=GIVES, rule="hash is no verb before code"),
    silent("group_size", body=GIVES, rule="group is no verb before size"),
    silent("record_count", body=GIVES, rule="record is no verb before count"),
    silent("read_timeout", body=GIVES, rule="a timeout of reading"),
    silent("start_time", body=GIVES, rule="the time of a start"),
    silent("parse_error", body=GIVES, rule="an error of parsing"),
    silent("retry_count", body=GIVES, rule="the count of retries"),
    silent("read_callback", body=ACTS, rule="a callback of reading"),
    silent("disconnect_callback", rule="a callback of disconnecting"),
    silent("retryStrategy", language="javascript", rule="a strategy of retrying"),
    silent("make_unique", takes="args", language="cpp", body=GIVES, rule="another platform's name"),
    silent("open_simulator_and_sleep", rule="a second verb after the object"),
    silent(
        "sort", takes="sorter", owner="Runner", language="java", gives="void", rule="who does it is not what is done"
    ),
    silent(
        "init",
        takes="self_buffer",
        owner="Policy",
        modifiers=("static",),
        rule="a function of the class, not of an object",
    ),
    silent("time_utcnow", rule="time is hardly a verb"),
    silent("equals_regarding_null", takes="a, b", body=ANSWERS, rule="equality with more words"),
    silent("generate_types_closing_exceeds", rule="a sentence within a noun phrase"),
    silent("freeSemicolon", takes="token", language="javascript", body=GIVES, rule="free is an adjective as well"),
    silent("containElement", takes="matcher", body=GIVES, rule="a matcher's state is no action"),
    silent("fail_now", rule="an adverb alone"),
    silent("use_color", body=READS, rule="a flag that is given back"),
    silent("tag_set_size", takes="tag_set", body=GIVES, rule="a compound that is handed in"),
    silent("close", rule="a verb alone without a class"),
    silent("close", takes="x", owner="Utils", rule="a class that names no thing"),
    silent("close", owner="test_parser", rule="a function around it"),
    silent("close", owner="Mint.HTTP", language="elixir", rule="a module around it"),
    silent("parse", takes="x", owner="Parser", rule="a parameter of one letter"),
    silent("authenticate", takes="user, request", rule="two parameters that may be the object"),
    silent("close", takes="user", rule="a verb that is about no parameter"),
    silent("save", takes="path", rule="a parameter that says where"),
    silent("sort", takes="key", body=GIVES, rule="a parameter that says how"),
    silent("split", takes="separator", body=GIVES, rule="a parameter that says by what"),
    silent("enqueue", takes="connection", rule="a parameter that only helps"),
    silent("deserialize", takes="decoder", body=GIVES, rule="a parameter that is read from"),
    silent("resolve", takes="schema", body=GIVES, rule="a verb whose object is not its parameter"),
    silent("find_by_name", takes="name", body=GIVES, rule="no object at all"),
    silent("find_by_name", takes="name", gives="str", body=GIVES, rule="a type of the language is no object"),
    silent("is_expired", takes="x", body=ACTS, rule="a question without an answer"),
    silent("is_admin", language="java", gives="void", rule="a question that gives nothing"),
    silent("is_admin", language="java", gives="String", rule="a question that gives a text"),
    silent(
        "has_name", body=SymbolFacts(returned=(Fact('"x"', 2, (), Form.TEXT),)), rule="a question answered with a text"
    ),
    silent("should_retry_option", takes="x", body=GIVES, rule="an option is no answer"),
    silent("ssl?", language="ruby", body=ANSWERS, rule="a noun with a question mark"),
    silent("isToStringTag", takes="x", body=ANSWERS, rule="a name within a name"),
    silent("to_json", takes="writer, value", owner="Adapter", body=GIVES, rule="a conversion of one of two"),
    silent("toJson", takes="value", owner="JsonAdapter", body=GIVES, rule="a conversion by another object"),
    silent("to_the_moon", takes="x", body=GIVES, rule="to no format"),
    silent("time_to_live", body=GIVES, rule="to within a noun"),
    silent(
        "from_json",
        takes="reader",
        owner="JsonAdapter",
        gives="T",
        language="java",
        body=GIVES,
        rule="from, by another object",
    ),
    silent("from_date", owner="Report", body=READS, rule="from within a noun"),
    silent("on_click", takes="handler", rule="a registration of a handler"),
    silent("onError", takes="f: (Error) -> Unit", language="kotlin", rule="a registration by its type"),
    silent("MemTable", takes="other: MemTable", owner="MemTable", language="cpp", rule="a copy"),
    silent("operator=", takes="other", owner="Handle", language="cpp", rule="an operator"),
    silent("~Handle", owner="Handle", language="cpp", rule="a destructor"),
    silent(
        "initFd",
        takes="fd",
        owner="File",
        gives="Self",
        language="zig",
        body=GIVES,
        rule="what initializes makes one of its class",
    ),
    silent("parse_declare_module", rule="a verb within a noun phrase"),
    silent("calcular_total", takes="x", rule="another language's verb"),
    silent("get_usuarioz", body=GIVES, rule="a word that nobody knows"),
    silent("parse_qzxv", rule="letters without a vowel"),
    silent("f", rule="one letter"),
    silent("a1b2", rule="a generated name"),
    silent("x_y_z", rule="letters"),
    silent("Yl", rule="a minified name"),
    silent("get_all", body=GIVES, rule="all of what is not said"),
    silent("process_one", rule="one of what is not said"),
    silent("_", rule="no word"),
    silent("", rule="no name"),
    silent("123", rule="digits"),
    silent("test", rule="a test without a name"),
]


@pytest.mark.parametrize("written", SILENT)
def test_a_name_that_says_nothing_certain_is_not_read(written):
    assert written.clause() == ""
