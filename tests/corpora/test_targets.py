"""Tables of sources and corrections, as MuCGEC has them, and headings, as in UA-GEC; all texts are made up."""

import pytest
from cli.conftest import command
from refusing import refused

import softbleu
from softbleu.corpora import ParallelFiles, read_m2
from softbleu.errors import InputError
from softbleu.io.progress import ProgressBar
from softbleu.metrics.reading import read_metric
from softbleu.results.api import score_corpus

__all__ = ["command"]

ROWS = "1\t我昨天去学校了。\t我昨天去了学校。\t没有错误\n2\t啊的吗。\t无法标注\n"
ROWS += "3\t天气好。\t天气很好。\t天气真好。\t天气好了。\n"


def scored(outputs, references, source=None, metric="errant", **settings):
    with ParallelFiles.open(outputs, references, source) as corpus:
        return score_corpus(corpus, read_metric(metric, **settings))[0]


OUTPUT = ["我昨天去了学校。", "啊吗。", "天气很好。"]


def test_source_targets_and_outputs_are_read_by_their_part(written, capsys):
    """Targets have their own number a row, and rows that nobody could correct are left out, as by MuCGEC."""
    table = written(ROWS, "dev.txt")
    outputs = {
        "rows": written("".join(f"{n}\t{n}\t{line}\n" for n, line in enumerate(OUTPUT, start=1)), "rows.txt"),
        "lines": written("".join(f"{line}\n" for line in OUTPUT), "lines.txt"),
    }
    with ProgressBar(quiet=False), ParallelFiles.open(outputs, [table], table) as corpus:
        (block,) = (block.load() for block in corpus.blocks())
        kept = [OUTPUT[0], OUTPUT[2]]
        assert {name: [*lines] for name, lines in block.candidates.items()} == {"rows": kept, "lines": kept}
        assert block.source == ["我昨天去学校了。", "天气好。"]
        assert [[text for text in texts if text] for texts in block.references] == [
            ["我昨天去了学校。", "我昨天去学校了。"],
            ["天气很好。", "天气真好。", "天气好了。"],
        ]
        assert (corpus.documents, corpus.blank_references) == (None, "missing")
    assert "dev.txt: 1 sentence that could not be corrected" in capsys.readouterr().err
    for metric in ("errant", "gleu(multi=max)", "bleu"):
        result = scored([outputs["rows"]], [table], table, metric=metric, language="zh")
        assert (result.score, "blank:missing" in result.signature) == (pytest.approx(100), True), metric


def test_rows_of_a_part_and_in_another_order_are_paired_by_number(written):
    table = written("1002\t天气好。\t天气很好。\n1001\t他喜欢读书，\t他喜欢读书。\n", "part.txt")
    answers = written("1001\t他喜欢读书，\t他喜欢读书。\n1002\t天气好。\t天气好。\n", "answers.txt")
    assert scored([answers], [table], table, language="zh").score == pytest.approx(1.25 * 50 / 0.75)  # P 1, R 1/2


def test_other_lines_are_text(written):
    """Each row has a number of its own and a target, as far as the beginning of a file shows."""
    for text in ("3\tg\tg h\n3\ta b\ta c\n", "1\ta\n2\tb\n", "1\ta\tb\n2\tb\n", "a\tb\tc\n", ""):
        lines = written(text, "lines.txt")
        if text:
            with ParallelFiles.open([lines], [lines]) as corpus:
                assert corpus.blank_references is None
                assert (
                    "".join(f"{line}\n" for block in corpus.blocks() for line in block.load().candidates["lines"])
                    == text
                )


def test_a_target_of_a_table_may_be_named(written):
    table = written("1\ta b\ta c\n2\td e\td f\n3\tg\tg h\n", "dev.para")
    output = written("1\ta b\ta c\n2\td e\td e\n3\tg\tg h\n", "output.para")
    result = scored([output], [f"{table}:1"], table)
    assert (result.numbers.true_positives, result.numbers.false_negatives) == (2, 1)


@pytest.mark.parametrize(
    ("row", "says"), [("9999\tc\n", "line 2000: 2 cells: write number"), ("7\ta\tb\n", "line 2000: a second row 7")]
)
def test_rows_without_targets_and_repeated_numbers(written, row, says):
    rows = "".join(f"{number}\ta\tb\n" for number in range(1, 2000))
    table = written(rows + row, "t.para")
    refused(InputError, says, scored, [table], [table], table)


def test_edits_of_a_table_are_those_of_all_targets(written, command, tmp_path):
    """Each target is an annotator, with no line where its row has none; the result is gold for other metrics."""
    table, made = written(ROWS, "dev.txt"), tmp_path / "made.m2"
    source = written("我昨天去学校了。\n啊的吗。\n天气好。\n", "source.txt")
    for before in (table, source):
        assert command("edits", before, table, "--language", "zh", "-o", made, "--quiet").code == 0
        gold = read_m2(str(made))
        assert [[one.annotator for one in segment.annotations] for segment in gold] == [[0, 1], [0, 1, 2]]
        assert [edit.corrections for edit in gold[0].annotations[0].edits] == [("了 学 校",)]
        assert gold[0].annotations[1].edits == ()
        result = softbleu.score([OUTPUT[0], OUTPUT[2]], gold=gold, metrics="m2")
        assert result.score == 100


def test_a_table_with_several_targets_is_no_output(written):
    table = written(ROWS, "dev.txt")
    refused(
        InputError,
        "several texts as candidate: choose one of source, reference 1",
        scored,
        [table],
        [table],
    )
    refused(InputError, "a table of targets is source and references", read_m2, table)
    result = scored([f"{table}:source"], [table], table, language="zh")
    assert (result.numbers.true_positives, result.numbers.false_positives) == (0, 0)


def test_f_of_characters_as_mucgec_counts_it(written):
    """Worked by hand: each row takes the target with the best F of all so far; characters in a row are one edit.

    Row 1 moves 了 behind 去 (words in another order, 去 学校 了 > 去 了 学校): right by target 1. Row 2 has 们 for 门
    (right) and 了 behind 兴 (wrong); target 1 has 们 alone. Row 3 lacks 真, and the system has nothing. Row 4 has no
    error, and 书本 is wrong. So TP 2, FP 2, FN 1; P 1/2, R 2/3, F0.5 = 1.25 · 1/2 · 2/3 / (1/8 + 2/3) = .5263.
    """
    gold = "1\t我昨天去学校了。\t我昨天去了学校。\t没有错误\n2\t他门很高兴。\t他们很高兴。\n"
    gold += "3\t天气好。\t天气真好。\n4\t我有书。\t没有错误\n"
    rows = "1\t我昨天去学校了。\t我昨天去了学校。\n2\t他门很高兴。\t他们很高兴了。\n"
    rows += "3\t天气好。\t天气好。\n4\t我有书。\t我有书本。\n"
    table, output = written(gold, "gold.txt"), written(rows, "rows.txt")
    result = scored([output], [table], table, language="zh", tokenize="zh")
    numbers = result.numbers
    assert (numbers.true_positives, numbers.false_positives, numbers.false_negatives) == (2, 2, 1)
    assert result.score == pytest.approx(52.63, abs=0.005)


GOLD = """S # 0002
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S Я йти додому .
A 1 2|||R|||йду|||REQUIRED|||-NONE-|||0

S Тут тихо .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S # 1600
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S Він іти .
A 1 2|||R|||йде|||REQUIRED|||-NONE-|||0

"""
LINES = ["# 0002", "Я йду додому .", "", "# 1600", "Він іти ."]


@pytest.mark.parametrize("headings", [True, False])
@pytest.mark.parametrize("edits", [True, False])
def test_headings_of_essays_are_documents(written, headings, edits):
    """Of gold edits, and of the texts and edits of systems, which may lack the headings; blank lines are segments."""
    gold = written(GOLD, "gold.m2")
    lines = [line for line in LINES if headings or not line.startswith("#")]
    system = written("".join(f"{line}\n" for line in lines), "system.txt")
    if edits and headings:
        system = written(GOLD.replace("|||йде|||", "|||іде|||"), "system.m2")
    with ParallelFiles.open([system], [], gold=gold) as corpus:
        assert corpus.documents is not None
        assert (corpus.documents.names, corpus.documents.numbers.tolist()) == (("0002", "1600"), [0, 0, 1])
        numbers = score_corpus(corpus, read_metric("errant", language="uk"))[0].numbers
    assert (numbers.true_positives, numbers.false_negatives) == (1, 1)


def test_essays_in_another_order_than_gold_edits_are_refused(written):
    gold = written(GOLD, "gold.m2")
    system = written("".join(f"{line}\n" for line in (*LINES[3:], *LINES[:3])), "system.txt")
    refused(
        InputError, "other essays, in another order or of other lengths", ParallelFiles.open, [system], [], gold=gold
    )


def test_a_first_line_like_a_heading_is_text_where_others_have_none(written):
    system, reference = written("# 1234\nит\n", "system.txt"), written("#1234\nит\n", "reference.txt")
    with ParallelFiles.open([system], [reference]) as corpus:
        (block,) = (block.load() for block in corpus.blocks())
        assert (block.candidates["system"], corpus.documents) == (["# 1234", "ит"], None)
