"""What SECURITY.md promises: each sentence has a test, which is named here."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent
PROMISES = {
    "Files of a list": "cli/test_urls.py::test_lists_of_data_sets_do_not_lead_outside",
    "No link in that folder": "cli/test_urls.py::test_data_sets_are_not_written_through_links",
    "A download stops": "cli/test_urls.py::test_downloads_end",
    "A server that is silent": "cli/test_urls.py::test_downloads_end",
    "A file that has another hash": "cli/test_urls.py::test_data_sets_are_fetched_and_their_hashes_checked",
    "Passwords in URLs": "cli/test_urls.py::test_what_is_secret_in_urls_is_nowhere",
    "Only their owner": "test_cache.py::test_nobody_else_reads_the_cache_and_nothing_leads_out_of_it",
    "An entry of a cache": "test_cache.py::test_a_damaged_entry_counts_as_missing_and_is_made_anew",
    "A part of a checkpoint": "cli/test_resume.py::test_damaged_parts_are_made_anew_with_a_note",
    "Links in folders": "test_files.py::test_what_is_no_file_is_never_replaced",
    "Text and names in a page": "report/test_html.py::test_hostile_text_is_data",
    "A page loads nothing": "report/test_html.py::test_the_policy_names_what_may_run",
    "Control characters": "cli/test_program.py::test_a_terminal_is_shown_escapes",
    "An installed plug-in": "test_declare.py::test_a_broken_one_spoils_nothing_but_itself",
    "Damaged metadata": "test_declare.py::test_damaged_metadata_of_a_package_spoils_nothing",
    "An address where": "cli/test_urls.py::test_what_answers_like_no_scheduler_is_one_line",
}


def promised() -> list[str]:
    text = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
    part = text.partition("## What is promised")[2].partition("\n## ")[0]
    bullets = [re.sub(r"\*\*.*?\*\* ", "", bullet).split() for bullet in part.split("\n- ")[1:]]
    return [" ".join(words) for words in bullets]


def test_each_sentence_has_a_test() -> None:
    for sentence in promised():
        assert len([start for start in PROMISES if sentence.startswith(start)]) == 1, sentence
    assert len(promised()) == len(PROMISES)


def test_these_tests_are_there() -> None:
    for file, _, name in (place.partition("::") for place in PROMISES.values()):
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{file}::{name}"
