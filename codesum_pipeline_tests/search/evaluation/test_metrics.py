"""Each measure against values worked out by hand, and what must hold of all of them."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.search.evaluation.evaluate import CUTOFFS, DEPTH, measure_hits
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question
from codesum_pipeline_tests.search.evaluation.made import file_hit, function_hit, module_hit, question

SECOND = 1 / math.log2(3)
THIRD = 1 / math.log2(4)


def only(measures, *names):
    return {name: measures[name] for name in names}


def test_the_measures_of_two_files_one_of_which_is_found_twice():
    hits = [function_hit("b.py", 1, 2), function_hit("a.py", 1, 2), function_hit("a.py", 5, 9), file_hit("c.py")]

    found = measure_hits(question("a.py", "c.py"), hits)

    ideal = 1 + SECOND
    expected = {
        "ndcg@10": (SECOND + 1 / math.log2(5)) / ideal,
        "file_ndcg@10": (SECOND + THIRD) / ideal,
        "file_mrr@10": 1 / 2,
        **{"file_recall@1": 0.0, "file_recall@3": 1.0, "file_recall@5": 1.0, "file_recall@10": 1.0},
        **{"file_hit@1": 0.0, "file_hit@3": 1.0, "file_hit@5": 1.0, "file_hit@10": 1.0},
        **{"file_acc@1": 0.0, "file_acc@3": 1.0, "file_acc@5": 1.0, "file_acc@10": 1.0},
        **{"file_recall@20": 1.0, "file_hit@20": 1.0, "file_acc@20": 1.0},
    }
    assert found == pytest.approx(expected)


def test_acc_is_strict_where_recall_counts_each():
    found = measure_hits(question("a.py", "b.py"), [file_hit("a.py"), *(file_hit(f"{n}.py") for n in range(9))])

    assert only(found, "file_recall@10", "file_hit@10", "file_acc@10") == {
        "file_recall@10": 0.5,
        "file_hit@10": 1.0,
        "file_acc@10": 0.0,
    }


def test_two_targets_that_one_hit_covers_gain_once():
    two_places = question(AnswerPlace("a.py", 1, 9), AnswerPlace("a.py", 3, 4), source="semble")

    assert measure_hits(two_places, [function_hit("a.py", 1, 9)])["ndcg@10"] == pytest.approx(1 / (1 + SECOND))


def test_the_list_metric_takes_a_path_from_a_deeper_root_and_the_file_measures_do_not():
    found = measure_hits(question("src/a.py"), [file_hit("packages/one/src/a.py")])

    assert only(found, "ndcg@10", "file_mrr@10") == {"ndcg@10": 1.0, "file_mrr@10": 0.0}


@pytest.mark.parametrize(
    ("source", "hit", "gain"),
    [
        pytest.param("semble", function_hit("a.py", 10, 20), 0.0, id="beside the lines of a published target"),
        pytest.param("semble", function_hit("a.py", 4, 4), 1.0, id="on its last line"),
        pytest.param("semble", file_hit("a.py"), 1.0, id="a file has no lines to miss"),
        pytest.param("by hand", function_hit("a.py", 10, 20), 1.0, id="elsewhere the file is asked for"),
    ],
)
def test_lines_count_in_the_list_metric_where_they_do_in_the_published_figures(source, hit, gain):
    assert measure_hits(question(AnswerPlace("a.py", 2, 4), source=source), [hit])["ndcg@10"] == gain


@pytest.mark.parametrize(
    ("hit", "is_found"),
    [
        pytest.param(function_hit("a.py", 90, 99, "Cart.total"), True, id="its name, wherever it moved"),
        pytest.param(function_hit("a.py", 4, 9, "Cart.other"), False, id="another name on its lines"),
        pytest.param(function_hit("b.py", 4, 9, "Cart.total"), False, id="its name in another file"),
        pytest.param(function_hit("a.py", 9, 12), True, id="no name, and lines that touch"),
        pytest.param(function_hit("a.py", 10, 12), False, id="no name, and lines beside"),
        pytest.param(file_hit("a.py"), False, id="its file"),
    ],
)
def test_a_function_is_found_by_name_else_by_lines(hit, is_found):
    about_total = question("a.py", cited_symbols=(AnswerPlace("a.py", 4, 9, "Cart.total"),))

    assert measure_hits(about_total, [hit])["function_hit@1"] == float(is_found)


def test_functions_are_measured_in_the_order_of_hits_and_only_where_the_question_has_some():
    about_two = question("a.py", cited_symbols=(AnswerPlace("a.py", 1, 2, "f"), AnswerPlace("a.py", 5, 6, "g")))
    hits = [file_hit("a.py"), function_hit("a.py", 9, 9, "h"), function_hit("a.py", 5, 6, "g")]

    found = measure_hits(about_two, hits)

    names = ("function_mrr@10", "function_recall@1", "function_recall@3", "function_hit@3", "function_acc@20")
    assert only(found, *names) == dict(zip(names, (1 / 3, 0.0, 0.5, 1.0, 0.0), strict=True))
    assert not [name for name in measure_hits(question("a.py"), hits) if name.startswith("function")]


def test_a_folder_answers_for_what_lies_below_it_but_the_root_for_nothing():
    hits = [module_hit("."), module_hit("shop/car"), module_hit("shop")]

    found = measure_hits(question("shop/cart.py"), hits, levels=[Level.MODULE])

    assert only(found, "module_hit@1", "module_mrr@10", "module_recall@3") == {
        "module_hit@1": 0.0,
        "module_mrr@10": 1 / 3,
        "module_recall@3": 1.0,
    }


def test_a_question_about_folders_is_answered_by_the_folder_itself():
    about_folder = question("shop", level=Level.MODULE)

    assert measure_hits(about_folder, [module_hit("shop")], levels=[Level.MODULE])["module_hit@1"] == 1.0
    assert measure_hits(about_folder, [], levels=[Level.MODULE])["module_hit@1"] == 0.0


def test_folders_are_judged_where_nothing_else_was_asked_and_files_are_not_judged_there():
    hits = [module_hit("shop"), file_hit("shop/cart.py")]

    assert not [name for name in measure_hits(question("shop/cart.py"), hits) if name.startswith("module")]
    assert all(
        name.startswith("module") for name in measure_hits(question("shop/cart.py"), hits, levels=[Level.MODULE])
    )


paths = st.sampled_from([f"{name}.py" for name in "abcdefghijkl"])
targets = st.builds(
    lambda path, start, length, symbol: AnswerPlace(path, start, start + length, symbol),
    paths,
    st.integers(1, 30),
    st.integers(0, 5),
    st.sampled_from([None, "f", "g"]),
)
questions = st.builds(
    lambda files, symbols: question(*files, cited_symbols=tuple(symbols)),
    st.lists(paths, min_size=1, max_size=12, unique=True),
    st.lists(targets, max_size=4),
)
hit_lists = st.lists(
    st.one_of(
        st.builds(file_hit, paths),
        st.builds(
            lambda path, start, length, name: function_hit(path, start, start + length, name),
            paths,
            st.integers(1, 30),
            st.integers(0, 5),
            st.sampled_from([None, "f", "g"]),
        ),
    ),
    max_size=DEPTH + 5,
)


@settings(deadline=None)
@given(questions, hit_lists)
def test_every_measure_lies_between_nothing_and_all(one, hits):
    assert all(0 <= value <= 1 + 1e-12 for value in measure_hits(one, hits).values())


@settings(deadline=None)
@given(questions, hit_lists)
def test_looking_further_never_finds_less(one, hits):
    found = measure_hits(one, hits)

    for name in {name.partition("@")[0] for name in found if not name.endswith(("mrr@10", "ndcg@10"))}:
        values = [found[f"{name}@{k}"] for k in CUTOFFS]
        assert values == sorted(values)


@settings(deadline=None)
@given(questions, hit_lists, st.randoms(use_true_random=False))
def test_the_order_behind_the_first_ten_files_changes_nothing_within_ten(one, hits, random):
    distinct = list({hit.file_path: hit for hit in hits}.values())
    rest = distinct[10:]
    random.shuffle(rest)

    before, after = measure_hits(one, distinct), measure_hits(one, [*distinct[:10], *rest])

    within = [name for name in before if int(name.partition("@")[2]) <= 10]
    assert only(before, *within) == only(after, *within)


@settings(deadline=None)
@given(st.lists(targets, min_size=1, max_size=10, unique_by=lambda target: target.file_path))
def test_finding_all_first_is_perfect(wanted):
    one = Question("q", "where", tuple(wanted))
    hits = [function_hit(each.file_path, each.start_line or 0, each.end_line or 0, each.symbol) for each in wanted]

    found = measure_hits(one, hits)

    enough = next(k for k in CUTOFFS if k >= len(wanted))
    perfect = ["ndcg@10", "file_ndcg@10", "file_mrr@10", "function_mrr@10", "file_hit@1"]
    perfect += [f"{kind}_{name}@{enough}" for kind in ("file", "function") for name in ("recall", "acc")]
    assert {name: found[name] for name in perfect} == pytest.approx(dict.fromkeys(perfect, 1.0))
