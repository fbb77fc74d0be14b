"""Published meta-evaluations, to every printed digit: Chollampatt & Ng (2018), WMT17; others are in tests/real."""

import json
from functools import cache

import numpy as np
import pytest
from sacrebleu import sentence_chrf
from shared_data import shared

import softbleu
from softbleu.corpora import ParallelFiles
from softbleu.corpora import judgements as people
from softbleu.corpora.judgements import Comparisons, ScoreTable, read_assessments, read_rankings, read_scores
from softbleu.meta import agreement
from softbleu.meta.agreement import agreements, join_assessments, join_systems
from softbleu.meta.measures import preference_taus
from softbleu.meta.rankings import rank_by_skill
from softbleu.meta.reading import make_score_tables, name_outputs, read_metrics

METRICS = ("gleu", "imeasure", "m2score")
TABLE_2 = {
    "expected_wins": {"gleu": (".691", ".407"), "imeasure": ("-.250", "-.385"), "m2score": (".623", ".687")},
    "trueskill": {"gleu": (".733", ".478"), "imeasure": ("-.316", "-.423"), "m2score": (".672", ".720")},
}
TABLE_3 = {
    "expanded": {"gleu": (".567", ".388"), "imeasure": (".564", ".368"), "m2score": (".617", ".300")},
    "unexpanded": {"gleu": (".237", ".321"), "imeasure": (".242", ".293"), "m2score": (".348", ".266")},
}


def printed(value: float | None) -> str:
    assert value is not None
    return f"{value:.3f}".replace("0.", ".", 1)


def human(name: str) -> dict[str, float]:
    (table,) = read_scores(str(shared("data", "conll14", "human", f"{name}.tsv")))
    return dict(table.systems)


@cache
def published() -> list[ScoreTable]:
    folder = shared("data", "conll14", "published")
    names = [folder / f"{metric}.{kind}" for metric in METRICS for kind in ("system.tsv", "sentence.tsv.gz")]
    return people.merge_scores(table for name in names for table in read_scores(str(name)))


@cache
def judgements(name: str, *, expand: bool = True) -> Comparisons:
    return read_rankings(str(shared("data", "conll14", "human", name)), expand=expand)


@pytest.mark.parametrize("kind", TABLE_2)
def test_correlations_are_those_of_table_2(kind: str) -> None:
    official = json.loads(shared("expected", "conll14", "meta_evaluation.json").read_text())["system"]
    joined = join_systems(published(), kind, human(kind))
    for metric, each in agreements(joined, samples=10).items():
        values = {name: found.value for name, found in each.items()}
        assert (printed(values["pearson"]), printed(values["spearman"])) == TABLE_2[kind][metric]
        expected = official[f"{kind}/{metric}"]
        assert values["pearson"] == pytest.approx(expected["pearson"], abs=1e-12)
        assert values["spearman"] == pytest.approx(expected["spearman"], abs=1e-12)
        assert values["kendall"] == pytest.approx(expected["kendall_b"], abs=1e-12)
    if kind == "expected_wins":
        rows = softbleu.metaeval("williams", scores=published(), human={kind: human(kind)}).records()
        p_values = {(row["coefficient"], row["better"], row["worse"]): row["p_value"] for row in rows}
        # Printed are one-sided ones.
        assert f"{p_values['pearson', 'gleu', 'm2score'] / 2:.2f}" == "0.35"


@pytest.mark.parametrize("kind", [pytest.param("expanded", marks=pytest.mark.slow), "unexpanded"])
def test_taus_are_those_of_table_3(kind: str) -> None:
    comparisons = judgements(f"{kind}.csv.gz")
    official = json.loads(shared("expected", "conll14", "meta_evaluation.json").read_text())["sentence"]
    for table in published():
        hties, noties = preference_taus(comparisons, table, samples=20).values()
        assert (printed(hties.value), printed(noties.value)) == TABLE_3[kind][table.name]
        expected = official[f"{kind}/{table.name}"]
        for found, name in ((hties, "hties"), (noties, "noties")):
            assert found.facts["pairs"] == expected[f"{name}_den"]
            assert found.facts["concordant"] - found.facts["discordant"] == expected[f"{name}_num"]
            assert found.interval[0] < found.value < found.interval[1]  # type: ignore[index, operator]
        if (kind, table.name) == ("unexpanded", "gleu"):
            # What is printed as the pairs without ties is those that GLEU does not tie either; tau is over 14,822.
            assert (noties.facts["untied"], noties.facts["pairs"]) == (14584, 14822)


@pytest.mark.parametrize("name", [pytest.param("expanded", marks=pytest.mark.slow), "unexpanded"])
def test_xml_says_what_the_csv_says(name: str) -> None:
    xml, csv = judgements("judgments.xml", expand=name == "expanded"), judgements(f"{name}.csv.gz")
    assert len(xml) == len(csv) == {"expanded": 109098, "unexpanded": 20516}[name]
    assert name == "unexpanded" or (xml.tallies() == csv.tallies()).all()
    taus = [preference_taus(each, published()[0], samples=1) for each in (xml, csv)]
    counts = [[(tau.facts["concordant"], tau.facts["discordant"]) for tau in each.values()] for each in taus]
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_trueskill_as_published() -> None:
    expected = human("trueskill")
    ranked = rank_by_skill(judgements("judgments.xml"), runs=40, matches=20_000)
    found = {each.name: each.score for each in ranked}
    each = agreements(join_systems([ScoreTable("ours", found)], "published", expected), samples=1)["ours"]
    assert each["spearman"].value >= 0.98  # type: ignore[operator]
    assert max(abs(found[name] - score) for name, score in expected.items()) < 0.02


def test_agreement_of_annotators_as_published() -> None:
    """Grundkiewicz, Junczys-Dowmunt and Gillian (2015), Table 4."""
    found = agreement.annotator_agreement(judgements("judgments.xml", expand=False))
    means = [agreement.mean_agreement(found, within=within).kappa for within in (False, True)]
    assert [f"{mean:.2f}" for mean in means] == ["0.29", "0.46"]


CHRF = {"cs-en": (".431", ".513", ".512"), "de-en": (".435", ".523", ".516"), "fi-en": (".576", ".669", ".664")}
LATER = [pytest.param(direction, marks=pytest.mark.slow) for direction in ("de-en", "fi-en")]


@pytest.mark.parametrize("direction", ["cs-en", *LATER])
def test_wmt17_direct_assessment(direction: str) -> None:
    """Both files agree; of the baselines chrF is a little better where entities are characters, as they should be."""
    folder, found = shared("data", "wmt17-into-en"), {}
    for unescape in (True, False):
        assessments = read_assessments(str(folder / f"testset_{direction}.tsv"), unescape=unescape)
        texts = assessments.texts
        assert texts is not None
        (ours,), _ = make_score_tables(texts, read_metrics(["bleu(tokenize=none)"]), level="segment")
        pairs = zip(texts.candidates["translation"], texts.references, strict=True)
        scores = np.array([sentence_chrf(one, list(references)).score for one, references in pairs])
        tables = [ours, ScoreTable("chrf", {}, {"translation": scores})]
        by_text = join_assessments(tables, "da", assessments)
        assert len(by_text.judges) == 560
        for metric, each in agreements(by_text, samples=10).items():
            found[metric, unescape] = printed(each["pearson"].value)
    assert (found[ours.name, True], found["chrf", True], found["chrf", False]) == CHRF[direction]
    numbered = read_assessments(str(folder / "DA-seglevel.csv"), direction=direction)
    reference = folder / "references" / f"newstest2017-{direction.replace('-', '')}-ref.en"
    names = name_outputs(sorted(map(str, (folder / "system-outputs" / direction).iterdir())))
    with ParallelFiles.open(names, [str(reference)]) as corpus:
        (table,), _ = make_score_tables(corpus, read_metrics(["bleu(tokenize=none)"]), level="segment")
    sides = by_text, join_assessments([table], "da", numbered)
    one, other = (np.array(sorted(zip(side.judges, side.metrics[ours.name], strict=True))) for side in sides)
    assert one.shape == (560, 2)
    assert np.abs(one - other).max() < 1e-9
