"""Questions from public issues: the trees in which they are asked, and what is told of those that are lost."""

import subprocess
from pathlib import Path

from benchmarks.issue_questions import AnsweredQuestion, describe_losses, group_by_tree
from benchmarks.retrieval import Tree, write_tree
from benchmarks.wild import Comparison
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question


def answered(id_: str, ours: float, theirs: float, *, recall: float = 1.0) -> AnsweredQuestion:
    place = AnswerPlace("lion.py", 3, 9, "Lion.roar")
    question = Question(id_, f"who roars at {id_}", (AnswerPlace("lion.py"),), (place,), "bug", repo="zoo/lions")
    comparison = Comparison(question, {"ndcg@10": ours, "file_recall@5": recall}, {}, {"ndcg@10": theirs})
    return AnsweredQuestion(comparison, ["tiger.py `Tiger`"], ["lion.py:1-20"])


def test_questions_are_grouped_by_the_tree_in_which_they_are_asked():
    def ask(id_: str, commit: str) -> Question:
        return Question(id_, "who roars", (AnswerPlace("lion.py"),), repo="zoo/lions", commit=commit)

    first, second, third = ask("1", "b" * 40), ask("2", "a" * 40), ask("3", "b" * 40)

    assert list(group_by_tree([first, second, third]).items()) == [
        (Tree("zoo/lions", "a" * 40, ""), [second]),
        (Tree("zoo/lions", "b" * 40, ""), [first, third]),
    ]


def test_a_question_is_lost_if_the_peer_is_better_or_no_answer_is_shown():
    lost = {
        "peer better": answered("1", 0.5, 1.0).is_lost,
        "level": answered("2", 0.5, 0.5).is_lost,
        "ours better": answered("3", 1.0, 0.5).is_lost,
        "both find nothing": answered("4", 0.0, 0.0, recall=0.0).is_lost,
    }

    assert lost == {"peer better": True, "level": False, "ours better": False, "both find nothing": True}


def test_losses_tell_answer_and_hits_and_begin_with_the_widest_distance():
    text = describe_losses([answered("near", 0.5, 0.6), answered("won", 1.0, 0.5), answered("far", 0.2, 1.0)])

    assert text == (
        "# Questions lost\n\n"
        "## who roars at far\n\n"
        "- zoo/lions, bug, nDCG 0.20 (semble 1.00), `far`\n"
        "- answer: lion.py, `Lion.roar`\n"
        "- ours: tiger.py `Tiger`\n"
        "- semble: lion.py:1-20\n\n"
        "## who roars at near\n\n"
        "- zoo/lions, bug, nDCG 0.50 (semble 0.60), `near`\n"
        "- answer: lion.py, `Lion.roar`\n"
        "- ours: tiger.py `Tiger`\n"
        "- semble: lion.py:1-20\n"
    )


def test_a_tree_is_written_whole_but_for_the_files_that_its_clone_lacks(tmp_path: Path):
    clone = tmp_path / "clones" / "zoo+lions"
    clone.mkdir(parents=True)

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q")
    (clone / "lion.py").write_text("def roar(): ...\n")
    (clone / "film [1].bin").write_text("large")
    (clone / "zoo.yml").write_text("lions: 2\n")
    (clone / ".gitattributes").write_text("zoo.yml export-ignore\n")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Lions")
    blob = git("rev-parse", "HEAD:film [1].bin")
    (clone / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    write_tree(Tree("zoo/lions", git("rev-parse", "HEAD"), ""), tmp_path / "clones", tmp_path / "tree")

    assert sorted(path.name for path in (tmp_path / "tree").iterdir()) == [".gitattributes", "lion.py", "zoo.yml"]
