import numpy as np
import pytest

from codesum_pipeline.search.retrieval.adjustments import NameShares
from codesum_pipeline.search.retrieval.lookup import Lookup
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import parse_query
from codesum_pipeline.search.retrieval.shelf import Shelf
from codesum_pipeline.search.retrieval.weights import Likeness
from codesum_pipeline_tests.support.synthetic_indexes import Definition, make_index_workspace, publish


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> PublishedIndex:
    """Every file speaks of jobs, one of a lease."""
    files = {
        f"queue/{name}.py": [Definition(name, f"Do {name} with a job.", f"def {name}(job):\n    return job.{name}()")]
        for name in ("push", "pull", "retry", "drop", "count", "job")
    } | {"queue/lease.py": [Definition("lease", "Hold a lease.", "def lease(lease):\n    return lease")]}
    workspace = make_index_workspace(tmp_path_factory.mktemp("home"), files, key="queue")
    publish(workspace)
    return PublishedIndex.open(workspace.layout.published("queue"))


def shares_of(question: str, *indexes: PublishedIndex) -> NameShares:
    query = parse_query(question, embedder=None)
    return NameShares.of(Lookup(Shelf(indexes), query, limit=10), query)


def shares(index: PublishedIndex, question: str, *names: str) -> list[float]:
    return shares_of(question, index).of_names(names)


def test_a_rare_name_makes_up_more_of_a_question_than_one_that_every_file_says(queue: PublishedIndex) -> None:
    job, lease = shares(queue, "how does a job take a lease", "job", "lease")

    assert 0 < job < lease / 2


def test_a_name_makes_up_less_of_a_longer_question(queue: PublishedIndex) -> None:
    (short,) = shares(queue, "lease expiry", "lease")
    (long,) = shares(queue, "who notices the expiry of a lease while another process waits for its turn", "lease")

    assert long < short


def test_a_name_that_is_all_of_a_question_is_the_whole_of_it(queue: PublishedIndex) -> None:
    assert shares(queue, "the lease", "lease", "Lease") == [1.0, 1.0]


def test_words_that_were_not_asked_for_are_no_part_of_the_question(queue: PublishedIndex) -> None:
    assert shares(queue, "the lease", "job") == [0.0]
    assert shares(queue, "???", "job") == [0.0]


def test_the_words_that_were_typed_are_the_whole_question(queue: PublishedIndex) -> None:
    found = shares_of("a lease of a job, unheard of", queue)

    assert sum(found.typed.values()) == pytest.approx(1.0)
    assert found.typed["unheard"] > found.typed["leas"] > found.typed["job"]
    assert shares_of("???", queue).typed == {}


def test_few_common_words_stand_together_by_accident_and_many_rare_ones_do_not(queue: PublishedIndex) -> None:
    common, rare = (
        float(shares_of(question, queue).certainty(np.ones(1))[0])
        for question in ("job", "cannot renew expired lease after lost heartbeat of worker")
    )

    assert (common, rare) == (0.0, 1.0)


def test_few_words_together_are_chance_and_many_are_not(queue: PublishedIndex) -> None:
    shares = shares_of("which job takes a lease and drops the count of retries", queue)

    assert shares.excess(0.0) == 0.0
    assert 0.0 < shares.excess(0.8) < shares.excess(1.0)


@pytest.mark.parametrize(("excess", "fits"), [(0.0, False), (9.0, False), (11.0, True)])
def test_a_question_fits_where_chance_does_not_explain_its_words(excess: float, fits: bool) -> None:
    likeness = Likeness(nearness=0.37, words=0.4, documents=10_000, excess=excess)

    assert likeness.fits() is fits
