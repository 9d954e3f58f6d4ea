"""Ranks of true files and of true places in them, for the benchmark of files that no deep reader reads."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.kinds_of_files import QUESTIONS, Ranks, print_ranks, rank_answers
from benchmarks.retrieval import Tree, write_tree
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question, read_questions

LION = "class Lion:\n    def roar(self, times):\n        '''Roars at visitors.'''\n        return 'roar ' * times\n"


def ask(id_: str, query: str, path: str, *places: AnswerPlace) -> Question:
    return Question(id_, query, (AnswerPlace(path),), places, language="zoo")


def test_a_place_is_a_name_or_lines_that_the_hit_mostly_has(tmp_path: Path) -> None:
    clone = tmp_path / "clones" / "zoo+lions"
    clone.mkdir(parents=True)

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, text=True, check=True).stdout

    git("init", "-q")
    (clone / "lion.py").write_text(f"{LION}\n{'# fur' * 90}\n")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Lions")
    tree = Tree("zoo/lions", git("rev-parse", "HEAD").strip(), "")
    write_tree(tree, tmp_path / "clones", tmp_path / "home" / "trees" / tree.key)
    questions = [
        ask("lines", "who roars at visitors", "lion.py", AnswerPlace("lion.py", 2, 4)),
        ask("one line of many", "who roars at visitors", "lion.py", AnswerPlace("lion.py", 4, 4)),
        ask("name", "who roars at visitors", "lion.py", AnswerPlace("lion.py", symbol="Lion.roar")),
        ask("other file", "who roars at visitors", "tiger.py"),
    ]

    found = {ranks.id: ranks for ranks in rank_answers(tree, questions, tmp_path / "home")}

    first = found["lines"].hits.index("lion.py::Lion::roar") + 1
    assert {id_: (ranks.file, ranks.place, ranks.has_place) for id_, ranks in found.items()} == {
        "lines": (1, 1, True),
        "one line of many": (1, None, True),
        "name": (1, first, True),
        "other file": (None, None, False),
    }


def test_measures_count_ranks_up_to_the_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    def ranks(file: int | None, place: int | None) -> Ranks:
        return Ranks("1", "who", "zoo", file, place, has_place=True, hits=[])

    print_ranks([ranks(1, 3), ranks(6, 11), ranks(None, None), ranks(2, None)])

    assert capsys.readouterr().out.splitlines()[-1] == (
        "| **all** | 4, 4 with a place | 0.417 | 0.497 | 0.500 | 0.083 | 0.125 | 0.250 |"
    )


def test_the_questions_are_ten_for_each_of_six_repositories() -> None:
    questions = read_questions(QUESTIONS)
    repositories = [question.repo for question in questions]

    assert {repository: repositories.count(repository) for repository in repositories} == dict.fromkeys(
        repositories, 10
    )
    assert (len({*repositories}), sum(bool(question.cited_symbols) for question in questions)) == (6, 51)
