"""Rewards: the digits of sentence scores, dense rewards that add up to them, and what trainers pass."""

import gc
import pickle
import re
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused

from softbleu import Gate, Reward, read_metric
from softbleu.errors import InputError, SoftbleuError
from softbleu.text.tokens import token_places

SOME = ("bleu", "chrf", "chrf++", "ter", "softbleu", "vleu", "gleu", "green", "meteor(stages=exact)")
DENSE = (*SOME, "bleu(partial=yes)", "chrf(whitespace=yes)", "bleu(tokenize=char)", "vleu(similarity=spelling)")
WHOLE = (*DENSE, "bleu(smooth=floor)", "gleu(multi=mean)", "errant", "hyter")
WORDS = ("the", "cat", "dog", "sat", "on", "a", "mat.", "red,", "it's", "cafe\u0301")
texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
filled = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
rows = st.tuples(texts, st.lists(filled | st.just(" "), min_size=1, max_size=3), filled)
read = cache(read_metric)  # Vectors stay open
reward_of = cache(Reward)


def literal(metric, text, references, source):
    """Reward of a text, computed by itself."""
    score = metric.sentence_score(text, references, source if metric.requires.source else None).score / 100
    return min(max(score if metric.higher_is_better else 1 - score, 0.0), 1.0)


def literal_dense(metric, text, references, source):
    """Rewards by character, by a partial score of each prefix that is computed by itself."""
    partial = metric.replaced(partial=True)
    rewards, before = [0.0] * (len(text) + 1), 0.0
    tokens = metric.tokenizer.split(text)
    for _, end in token_places(tokens, text) if tokens else [(0, 0)]:
        now = np.nan_to_num(literal(partial, text[:end], references, source))  # Of TER of nothing NaN
        rewards[max(end - 1, 0)] += now - before
        before = now
    rewards[-1] += literal(metric, text, references, source) - before
    return rewards


@pytest.mark.parametrize("name", WHOLE)
@given(st.lists(rows, min_size=1, max_size=5))
@settings(max_examples=5)
def test_a_reward_is_the_sentence_score_whatever_is_beside_it(name, segments):
    metric = read(name)
    found = reward_of(name)(*map(list, zip(*segments, strict=True)))
    assert found == [literal(metric, *segment) for segment in segments]


@pytest.mark.parametrize("name", ["softbleu", "softbleu(rarity=3, tokenize=char)", "bertscore"])
@given(st.lists(st.tuples(texts, st.lists(filled, min_size=1, max_size=3)), min_size=1, max_size=5))
@settings(max_examples=5)
def test_rewards_are_the_digits_of_corpora_of_one_segment(name, segments):
    found = reward_of(name)(*map(list, zip(*segments, strict=True)))
    corpora = [read(name).corpus_score([text], [references]).score / 100 for text, references in segments]
    assert found == [min(max(score, 0.0), 1.0) for score in corpora]


@pytest.mark.parametrize("name", DENSE)
@given(st.lists(rows, min_size=1, max_size=4))
@settings(max_examples=4)
def test_dense_rewards_are_differences_of_partial_scores_and_add_up(name, segments):
    found = reward_of(name, dense=True)(*map(list, zip(*segments, strict=True)))
    whole = reward_of(name)(*map(list, zip(*segments, strict=True)))
    for rewards, total, segment in zip(found, whole, segments, strict=True):
        assert abs(rewards.sum() - total) <= 1e-12
        assert rewards.tolist() == pytest.approx(literal_dense(read(name), *segment), abs=1e-12)


LINES = ["the cat sat on a mat", "a dog", "", "the dog &lt;3 sat\n\non  the mat with a cat&quot;"]
REFERENCES = ["a cat sat on the mat", "the dog", "a mat", "the red dog sat on a mat beside a cat"]


@pytest.mark.parametrize(("name", "every"), [("chrf", 1), ("chrf", 3), ("bertscore", 4)])
def test_rewards_of_tokens_add_up_whatever_text_lies_between_them(name, every):
    reward = Reward(name, dense=True, every=every)
    spans = [[(0, 3), (4, 7), (7, 20)], [(0, 0), (0, 2), (5, 5)], [(0, 0)], [(0, 3), (4, 40)]]
    by_character, whole = reward(LINES, REFERENCES), Reward(name)(LINES, REFERENCES)
    for due, tokens, span, total in zip(
        by_character, reward(LINES, REFERENCES, offsets=spans), spans, whole, strict=True
    ):
        assert len(tokens) == len(span)
        assert abs(tokens.sum() - total) <= 1e-12
        assert abs(due.sum() - total) <= 1e-12
        assert tokens[0] == pytest.approx(due[: span[0][1]].sum() if len(span) > 1 else total, abs=1e-12)


def message(text, role="assistant"):
    return {"role": role, "content": text}


def test_messages_are_scored_by_what_the_assistant_says_last():
    chats = [
        [message("the cat")],
        [message("no"), message("7", "tool"), message([{"type": "text", "text": "the "}, {"text": "cat"}])],
        message("the cat"),
        [message(None)],
    ]
    references = ["the cat", [[message("the cat")], "a dog"], message("the cat"), ["the cat", None]]
    found = Reward("chrf")(prompts=["…"] * 4, completions=chats, references=references, trainer_state=object())
    assert found == [1.0, 1.0, 1.0, 0.0]
    named = Reward("chrf", column="answer")
    assert named(completions=chats, answer=references, references=["no"] * 4, completion_ids=[[1]] * 4) == found
    refused(InputError, "came references", named, completions=chats, references=references)
    assert Reward("chrf", column="source")(["a cat"], ["no"], ["a cat"]) == [1.0]


@pytest.mark.parametrize(
    "said",
    [
        message(None),
        {"role": "assistant", "tool_calls": [{"name": "search"}]},
        message([]),
        message([{"type": "text", "text": None}]),
        message([{"type": "reasoning", "text": "the cat"}, {"type": "tool_use", "name": "search"}]),
    ],
)
def test_messages_without_text_are_missing_wherever_they_stand(said):
    """An empty output, no reference, no source; a gate does without a source."""
    gated = Reward("chrf", gate="empty")
    assert gated([[said], [message("the cat"), said]], ["the cat"] * 2, [[said], 7]) == [0, 0]
    assert gated.shares == {"empty": 1}
    assert Reward("chrf", missing="skip")(["a cat"] * 2, [[[said]], [[said], "a cat"]]) == [None, 1]
    refused(InputError, "source 1 has no text", Reward("gleu"), ["a"], ["a"], [[said]])


@pytest.mark.parametrize("gate", [None, "empty"])
def test_completions_without_a_reference_are_skipped_where_asked(gate):
    """None in their places; the others have the rewards that they have alone, whole and by token."""
    outputs, references = ["the cat", "a dog", "a cow", "[1]"], [["the cat"], None, [[message(None)]], ['["1"]']]
    kept = [outputs[0], outputs[3]], [references[0], references[3]]
    first, *none, last = Reward("chrf", missing="skip", gate=gate)(outputs, references, completion_ids=[[1]] * 4)
    assert none == [None, None]
    assert [first, last] == Reward("chrf", gate=gate)(*kept)
    dense = Reward("chrf", missing="skip", dense=True, gate=gate)
    whole = [(0, 3)]
    due = dense(outputs, references, offsets=[[(0, 3), (4, 7)], 7, None, whole])
    alone = Reward("chrf", dense=True, gate=gate)(*kept, offsets=[[(0, 3), (4, 7)], whole])
    assert due[1:3] == [None, None]
    assert [due[0].tolist(), due[3].tolist()] == [each.tolist() for each in alone]
    assert Reward("chrf", missing="skip")([], []) == []


def test_rewards_that_differ_have_different_names():
    """Trainers average what has one name; `name` sets one."""
    metrics = [Reward(metric) for metric in ("bleu", "vleu", "sleu", "xleu", "chrf", "vleu(threshold=0.5)")]
    others = [{"gate": "empty"}, {"gate": "fence"}, {"dense": True}, {"dense": True, "every": 2}, {"column": "a"}]
    rewards = [*metrics, *(Reward("chrf", **settings) for settings in others)]
    assert len({reward.__name__ for reward in rewards}) == len(rewards)
    assert [each.__name__ for each in (rewards[1], rewards[6])] == ["vleu", "chrf|gate:empty"]
    assert Reward("vleu", name="soft").__name__ == pickle.loads(pickle.dumps(Reward("a=vleu", name="soft"))).__name__


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((["a", None], ["a", "b"]), "completion 2 is None: give a text"),
        (([7], ["a"]), "completion 1 is 7 (int): give a text"),
        ((["a"], [7]), "reference of completion 1 is 7 (int)"),
        ((["a", "b"], ["a"]), "2 completions but references for 1"),
        ((["a"],), "no references: give references=[…]"),
        ((["a"], [[]]), "completion 1 has no reference"),
        (("a", ["a"]), "not one text"),
        (([[message("a", "user")]], ["a"]), "completion 1 has no message of the role assistant, only of user"),
        (([[message(7)]], ["a"]), "the content of completion 1 is 7 (int)"),
        ((["a"], [{"a": 1}]), "reference of completion 1 is {'a': 1} (dict)"),
        ((["a"], [[message(None)]]), "completion 1 has no reference: give one, or missing='skip'"),
        ((["a", "b"], ["a", None]), "completion 2 has no reference"),
        ((["the cat"], ['["the cat", "a cat"]']), "completion 1 is a list of texts as JSON"),
    ],
)
def test_anything_but_text_is_refused_in_one_line(given, said):
    with pytest.raises(InputError) as error:
        Reward("chrf")(*given)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Reward("m2"), "no reward is made of 'm2'"),
        (lambda: Reward("errant", dense=True), "scores whole outputs only"),
        (lambda: Reward("chrf", dense=True, every=0), "every is a whole number"),
        (lambda: Reward("chrf", missing="none"), "missing"),
        (lambda: Reward("chrf", dense=True)(["a"], ["a"], offsets=[[(0, 3)]]), "within its 1 char"),
        (lambda: Reward("chrf", dense=True)(["ab"], ["a"], offsets=[[(-1, 1)]]), "in order and within its 2 char"),
        (lambda: Reward("chrf", dense=True)(["ab"], ["a"], offsets=[[(1, 2), (0, 1)]]), "in order and within"),
        (lambda: Reward("chrf", dense=True)(["ab"], ["a"], offsets=[None]), "a .start, end. for each token"),
        (lambda: Reward("chrf", dense=True)(["a"], ["a"], completion_ids=[[1]]), "this trainer takes one number a"),
        (lambda: Reward("chrf", every=2), "make the reward with dense=True"),
        (lambda: Reward(["chrf", "bleu"]), "one metric is needed here, not a list of 2"),
        (lambda: Reward("gleu")(["a"], ["a"]), "needs the source"),
        (lambda: Reward("chrf", gate="refusal")(["a"], ["a"], "a"), "source texts are a list"),
    ],
)
def test_rewards_that_cannot_be_made_are_refused(make, said):
    with pytest.raises(SoftbleuError, match=said):
        make()


def test_a_gate_compares_with_the_source_of_a_metric_that_needs_none():
    gated, text = Reward("chrf", gate="refusal"), "I'm sorry, I can't help with that."
    assert gated([text] * 2, ["Promiň."] * 2, ["Help me.", text])[0] == 0
    assert gated([text], ["Promiň, nemohu help."], [text])[0] > 0
    assert Reward("chrf")(["a"], ["a"], [None], offsets=[7]) == [1.0]  # Columns that nothing reads


def test_no_completions_have_no_rewards():
    assert Reward("chrf")([], []) == []
    assert Reward("vleu", dense=True)([], []) == []


def test_threads_and_other_processes_have_the_same_rewards():
    reward = Reward("softbleu", dense=True)
    expected = [due.tolist() for due in reward(LINES, REFERENCES)]
    with ThreadPoolExecutor(4) as pool:
        cold = Reward("softbleu", dense=True)
        found = list(pool.map(lambda _: [due.tolist() for due in cold(LINES, REFERENCES)], range(8)))
    assert found == [expected] * 8
    again = pickle.loads(pickle.dumps(reward))
    assert (repr(again), again.__name__) == ("Reward('softbleu', dense=True)", "softbleu|dense:True")
    assert [due.tolist() for due in again(LINES, REFERENCES)] == expected


@pytest.mark.parametrize("cache", [False, True])
def test_nothing_is_cached_on_disk_unless_asked(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path))
    text = f"a cat of my own {cache}"  # Texts before are in memory
    (found,) = Reward("bertscore", cache=cache)([text], ["a cat"])
    assert [path.name for path in tmp_path.rglob("lines.sqlite")] == ["lines.sqlite"] * cache
    assert found == read("bertscore").sentence_score(text, "a cat").score / 100


def growth(reward, batches):
    """Bytes that are held after the batches, and were not before; nothing waits for the collector of cycles."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for batch in batches:
            reward(batch, REFERENCES)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bleu", "chrf", "vleu", "bertscore"])
def test_calls_keep_no_text(name):
    reward = Reward(name)
    words = list(map(str, range(50)))
    first, *batches = [[" ".join(words[place:] + words[:place])] * 4 for place in range(10)]
    growth(reward, [first, *batches[:3]])  # What is cached of words is known
    assert growth(reward, batches[3:]) < 100_000  # States of these lines are 460 kB


RULES = "reasoning+fence+empty+refusal+script"
GATED = {
    "<think>The cat? A mat!</think> the cat sat": ("the cat sat", "reasoning"),
    "<think>x</think>the cat <think>y</think>sat": ("the cat sat", "reasoning"),
    "```\nthe cat lay\n```\nNote: the cat lay": ("the cat lay", "fence"),
    "As an AI, I cannot do that.": ("", "refusal"),
    "кошка сидела на ковре": ("", "script"),
    "<think>the cat sat</think>": ("", "reasoning"),
    "the cat lay": ("the cat lay", ""),
}


def test_a_gate_strips_and_counts_as_nothing_and_tells_the_shares():
    given, references, logged = list(GATED), ["the cat sat"] * len(GATED), {}
    plain = Reward("chrf")([text for text, _ in GATED.values()], references)
    gated, dense = Reward("chrf", gate=RULES), Reward("chrf", gate=RULES, dense=True)
    assert gated(given, references, log_metric=logged.__setitem__) == plain
    shares = {rule: sum(found == rule for _, found in GATED.values()) / 7 for rule in RULES.split("+")}
    shares["empty"] = 1 / 7
    assert gated.shares == shares == {name.removeprefix("gate/"): share for name, share in logged.items()}
    for text, due, total in zip(given, dense(given, references), plain, strict=True):
        kept, _ = GATED[text]
        assert abs(due.sum() - total) <= 1e-12
        assert len(due) == len(text) + 1
        lies = text.rfind(kept) if "```" not in text else text.find(kept)
        if kept and lies >= 0:
            assert not due[:lies].any()
            assert not due[lies + len(kept) : -1].any()
    assert pickle.loads(pickle.dumps(gated)).shares == dict.fromkeys(shares, 0.0)


def test_a_gate_learns_the_language_of_references_that_it_is_given():
    with pytest.raises(InputError, match="learns from references"):
        Reward("chrf", gate="all")
    sentences = ["the old man went to the house with his dog", "it was a very cold day and they had no coal"] * 30
    reward = Reward("chrf", gate=Gate.of("all").over(sentences))
    french = "le vieil homme est parti avec son chien et il faisait très froid dans la maison"
    assert reward([french, sentences[0]], sentences[:1] * 2) == [0.0, 1.0]
    assert reward.shares["language"] == 0.5
    assert "language" in repr(reward)


def test_python_of_the_guide_prints_the_block_after_it(capsys):
    page = (Path(__file__).resolve().parents[1] / "docs" / "guide" / "rewards.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(shown) == page.count("```python") >= 3
    for code, printed in shown:
        exec(compile(code, "<page>", "exec"), {})
        assert capsys.readouterr().out == printed
