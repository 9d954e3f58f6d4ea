"""When a tree is settled that somebody asked for."""

import threading
import time
from pathlib import Path

from codesum_pipeline.answers.worktree_indexes.settler import Settler

TREE = Path("/tree")


def wait_for(done, count):
    stop = time.monotonic() + 60
    while len(done) < count:
        assert time.monotonic() < stop
        time.sleep(0.01)


def test_edits_that_follow_one_another_are_settled_once_by_the_last_that_asked():
    settler, done = Settler(quiet_s=0.5), []
    for number in range(5):
        settler.ask("shop", TREE, lambda number=number: done.append(number))
    # Due after all of them.
    settler.ask("another", TREE, lambda: done.append("another"))
    wait_for(done, 2)

    assert done == [4, "another"]


def test_who_asks_without_a_pause_waits_for_no_more_than_a_few_pauses():
    settler, done, stop = Settler(quiet_s=0.2), threading.Event(), time.monotonic() + 20
    while not done.is_set():
        settler.ask("shop", TREE, done.set)
        time.sleep(0.01)
        assert time.monotonic() < stop


def test_trees_are_settled_in_the_order_in_which_they_are_due():
    settler, done = Settler(quiet_s=0.1), []
    for name in ("first", "second", "third"):
        settler.ask(name, TREE, lambda name=name: done.append(name))
        time.sleep(0.01)
    wait_for(done, 3)

    assert done == ["first", "second", "third"]
    settler.ask("fourth", TREE, lambda: done.append("fourth"))
    wait_for(done, 4)
    assert done[-1] == "fourth"
