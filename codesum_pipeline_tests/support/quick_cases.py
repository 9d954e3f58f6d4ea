"""Tests of which `make test` runs only the first cases; `make test-slow` runs the others.

They are those that take most processor time: each case is a whole build or two. A number of 0 leaves the whole test to
`make test-slow`.
"""

from collections import Counter
from collections.abc import Iterable

import pytest

# By the test's file below `codesum_pipeline_tests` and its name: how many of its cases are quick.
QUICK_CASES = {
    "answers/agent_tools/test_impact_of_moved_files.py::test_a_file_that_is_imported_as_before_is_no_risk": 1,
    "answers/question_answering/test_masked_sources.py::test_no_part_of_a_secret_goes_to_a_model": 2,
    "answers/worktree_indexes/test_encodings_in_a_work_tree.py::test_an_edit_is_answered_as_by_a_clean_index": 1,
    "answers/worktree_indexes/test_left_out_of_a_tree.py"
    "::test_a_tree_with_patterns_is_exact_at_once_and_settles_to_a_clean_index": 1,
    "answers/worktree_indexes/test_left_out_of_a_tree.py::test_patterns_of_the_commit_may_go_from_the_tree": 1,
    "answers/worktree_indexes/test_notebooks_in_a_work_tree.py"
    "::test_an_edit_of_a_notebook_is_answered_as_by_a_clean_index": 1,
    "answers/worktree_indexes/test_references_in_a_work_tree.py::test_who_refers_to_something_is_as_the_tree_has_it": 3,
    "builds/bundles/test_bundles.py::test_no_text_of_a_model_is_bought_again": 0,
    "builds/bundles/test_bundles.py::test_whether_submodules_are_indexed_is_decided_where_a_bundle_is_imported": 0,
    "builds/bundles/test_killed_imports.py::test_a_killed_import_leaves_the_old_index_and_can_be_repeated": 1,
    "builds/codesum_home/test_two_releases.py::test_at_once_the_newer_one_is_what_stays": 0,
    "builds/codesum_home/test_two_releases.py::test_in_turn_the_older_one_is_refused_and_leaves_everything_as_it_is": 0,
    "builds/dagster/test_checks.py::test_a_planted_fault_is_found_each_time": 8,
    "builds/dagster/test_two_processes.py::test_checks_and_previews_that_two_threads_make_do_not_meet": 1,
    "builds/hostile/test_depth.py::test_a_deep_or_long_file_is_indexed": 10,
    "builds/law/test_damaged_tables.py::test_a_build_from_a_damaged_table_equals_a_clean_one": 2,
    "builds/law/test_law_of_encodings.py"
    "::test_the_same_bytes_under_another_declaration_are_read_again_and_equal_a_clean_build": 0,
    "builds/law/test_law_of_parts.py::test_a_build_in_parts_that_is_killed_is_completed_by_the_next": 0,
    "symbols/components/test_component_build.py::test_a_build_after_a_change_equals_a_clean_one": 2,
    "symbols/parsing/test_hostile_sources.py::test_twice_the_source_costs_twice_the_work": 7,
    "texts/summaries/by_model/test_most_of_a_build.py"
    "::test_no_build_costs_more_than_its_plan_said_whatever_the_server_does": 2,
    "texts/summaries/by_model/test_wrapped_answers.py"
    "::test_what_a_document_says_shall_be_the_answer_is_never_its_text": 2,
    "ways_in/cli/test_own_servers.py::test_the_name_that_answers_is_taken_once_the_setting_of_the_message_is_pasted": 1,
}


def leave_further_cases(items: Iterable[pytest.Item]) -> None:
    """Mark as slow what comes behind the quick cases of a test, in the order in which pytest found them."""
    seen: Counter[str] = Counter()
    for item in items:
        name = item.nodeid.partition("codesum_pipeline_tests/")[2].partition("[")[0]
        if name in QUICK_CASES:
            seen[name] += 1
            if seen[name] > QUICK_CASES[name]:
                item.add_marker(pytest.mark.slow)
