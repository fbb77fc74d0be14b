"""ERRANT's F: edits of a candidate that are edits of a reference, counted as its program counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from softbleu.config.declare import setting
from softbleu.config.languages import is_unspaced
from softbleu.corpora.edits import UNJUDGED, UNKNOWN, EditedSegment, TextEdit, apply_edits
from softbleu.errors import InputError, Parameter
from softbleu.io.platform import cached_property
from softbleu.metrics.chinese import Merging
from softbleu.metrics.cleme import HIT, OVER, UNDER, KindMetric, ReferenceChoice
from softbleu.metrics.edits import JudgedEdits, judge_by_links
from softbleu.metrics.requirements import needed
from softbleu.metrics.score import Score, column, f_of, share_of, shares_of
from softbleu.metrics.settings import edit_language, edit_merging

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk, WordTable
    from softbleu.types import Integers

Counting = Literal["correction", "type", "span", "token"]
EditSize = Literal["any", "single", "multi"]
_CORRECTED = ("correction", "type")  # Ways of counting in which a correction is compared
_SENTENCES = 5  # Place in a row of the counts of sentences, behind those of edits by kind
Compared = tuple[tuple[object, ...], "TextEdit", int]
"""The edit, or its part, that is compared, and the number of the edit."""


@dataclass(frozen=True)
class ErrantScore(Score):
    """F of edits, and its parts."""

    true_positives: int = column("TP", "right", "count")
    false_positives: int = column("FP", "wrong", "count")
    false_negatives: int = column("FN", "missed", "count")
    precision: float = column("P", "precision", "per cent")  # 100 where nothing is changed
    recall: float = column("R", "recall", "per cent")  # 100 where nothing must be changed
    correct_sentences: float | None = column("acc", "correct sentences", "per cent", default=None)
    """Sentences whose text is the reference."""
    false_alarms: float | None = column("FA", "false alarms", "per cent", default=None)
    """Changed ones of the sentences that no annotator changes; None without one."""
    # Of sentences, where single words or characters are compared (`merging` spelling)
    detection_accuracy: float | None = column("det acc", "detection accuracy", "per cent", default=None)
    detection_precision: float | None = column("det P", "detection precision", "per cent", default=None)
    detection_recall: float | None = column("det R", "detection recall", "per cent", default=None)
    detection_f1: float | None = column("det F1", "detection F1", "per cent", default=None)
    correction_accuracy: float | None = column("cor acc", "correction accuracy", "per cent", default=None)
    correction_precision: float | None = column("cor P", "correction precision", "per cent", default=None)
    correction_recall: float | None = column("cor R", "correction recall", "per cent", default=None)
    correction_f1: float | None = column("cor F1", "correction F1", "per cent", default=None)


@dataclass(frozen=True, repr=False)
class Errant(KindMetric):
    """ERRANT (Bryant et al. 2017): F of edits that equal a reference's, with the counts of `errant_compare`.

    The score is 100 (1 + beta²) P R / (beta² P + R). P is the share of the candidate's edits that the reference has,
    R the share of the reference's edits that the candidate has. Each segment takes one annotator. A mark without
    correction counts as a deletion. Edits of the type `UNK`, whose correction is not known, count where errors are
    detected (`span`, `token`), and not as corrections. In languages without blanks between words corrections are
    compared without blanks, as in ChERRANT.

    Parameters
    ----------
    counting
        Parts that must be equal: span and correction (`correction`), these and the type (`type`, the program's
        `-cse`), the span (`span`, `-ds`), or each token of the span (`token`, `-dt`; an insertion has the token to
        its right).
    edit_size
        Edits that count: `any`; `single`, where span and correction have one word at most (`-single`); `multi`, all
        others (`-multi`).
    without_types
        Types of edits that do not count, apart by commas (`-filt`). These, and counting by type, need edits with
        types on both sides: files `.m2`.
    annotators
        Choice of each segment's annotator: greatest F, to four digits, of the segment and all before it (`running`,
        as the program; it depends on the order of the segments), or of the segment alone (`best`, which scores of
        segments always take). Then more that is right, less that is wrong, less that is missed, the first.
    beta
        Weight of recall in F; below 1 precision weighs more.
    language
        Code of the language by whose rules edits are found where none are given; None: English.
    merging
        Rules by which changes in a row are one edit: ERRANT's, or in Chinese ChERRANT's, the default there. With
        `spelling` each changed word, in Chinese each character, is an edit, and scores have SIGHAN's figures of
        sentences (Tseng et al. 2015): errors are detected where exactly the places of the reference are changed.

    Examples
    --------
    >>> speller = Errant(merging="spelling")
    >>> score = speller.corpus_score(["he eats", "I an"], ["he ate", "I am"], ["he eat", "I am"]).numbers
    >>> score.detection_recall, score.correction_recall, score.false_alarms
    (100.0, 0.0, 100.0)
    """

    counting: Counting = setting(
        "correction", "What must be equal: correction and span, these and the type, the span, or its tokens"
    )
    annotators: ReferenceChoice = setting(
        "running", "Each segment's annotator: best for the F of all so far (running), or for its own (best)"
    )
    beta: float = setting(0.5, "Weight of recall beside precision", least=1e-6, most=1e6)
    language: str | None = edit_language()
    edit_size: EditSize = setting(
        "any", "Edits that count: any, of single words, or of several (multi)", signed_if_set=True
    )
    without_types: str | None = setting(
        None,
        "Types of edits that do not count, as in R:SPELL,R:ORTH",
        metavar="TYPES",
        unset="all count",
        signed_if_set=True,
    )
    merging: Merging | None = edit_merging()
    name: ClassVar[str] = "errant"
    needs_errors: ClassVar[bool] = True

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count by the kinds of chunks, of which three are used, then sentences: a row for each reference.

        Sentences are all, with errors by this reference, without errors but changed, with errors detected, and with
        errors corrected; then sentences that no reference changes, and the changed ones of these.
        """
        segments = needed(chunk.edits, self.name, "edits")
        rows = np.zeros((sum(len(segment.references) for segment in segments), 12), np.int64)
        free = iter(rows)
        for segment in segments:
            proposed = [key for key, _, _ in self._side(segment)]
            found = set(proposed)
            for number in range(len(segment.references)):
                wanted = [key for key, _, _ in self._side(segment, number)]
                right, known = sum(map(found.__contains__, wanted)), set(wanted)
                wrong = sum(key not in known for key in proposed)
                next(free)[:] = right, 0, wrong, len(wanted) - right, 0, *_sentence(segment, number)
        return rows

    @cached_property
    def _left_out(self) -> frozenset[str]:
        """Types of edits that do not count."""
        named = map(str.strip, (self.without_types or "").split(","))
        return frozenset((*named, *([UNKNOWN] if self.counting in _CORRECTED else []))) - {""}

    def _side(self, segment: EditedSegment, reference: int | None = None) -> list[Compared]:
        """Return the parts of edits that are compared, of one of the references or of the candidate."""
        place = 0 if reference is None else reference + 1
        edits = segment.candidate if reference is None else segment.references[reference]
        edits = (*edits, *segment.variants[place]) if segment.variants else edits
        kinds = segment.kinds[place] if place < len(segment.kinds) else ()
        if edits and not kinds and (self.counting == "type" or self.without_types):
            raise InputError(
                "edits that are found in texts have no types for ",
                Parameter("counting", "type") if self.counting == "type" else Parameter("without_types"),
                ": give .m2 files of systems and of gold edits, as softbleu edits makes them with ",
                Parameter("types"),
                " or ",
                Parameter("extraction", "errant"),
            )
        return self._items(edits, kinds, joined=is_unspaced("".join(segment.source)))

    def _items(self, edits: Sequence[TextEdit], kinds: Sequence[str], *, joined: bool) -> list[Compared]:
        """Return the parts of edits that are compared, without edits that do not count.

        `kinds` are the types of the edits, if they are known; `joined` ignores blanks in corrections.
        """
        items = list[Compared]()
        for number, (edit, kind) in enumerate(zip(edits, kinds or repeat(""), strict=False)):
            start, end, words = edit
            words = ("".join(words),) if joined and words else words
            multi = end - start > 1 or len(words) > 1
            if kind in self._left_out or (self.edit_size != "any" and multi != (self.edit_size == "multi")):
                continue
            if self.counting == "correction":
                items.append(((start, end, words), edit, number))
            elif self.counting == "type":
                items.append(((start, end, kind, words), edit, number))
            elif self.counting == "span" or start == end:
                key = (start, end) if self.counting == "span" else (start, start + 1)
                items.append((key, edit, number))
            else:
                parts = ((place, place + 1, edit[2] if place == start else ()) for place in range(start, end))
                items += [((part[0], part[1]), part, number) for part in parts]
        return items

    def judge_edits(
        self, chunk: Chunk, chosen: Sequence[int], words: WordTable | None, forms: Sequence[str]
    ) -> list[JudgedEdits]:
        """Edits that count, of each segment: one for each right part of a gold edit, and for each wrong one."""
        judged = []
        for segment, annotator in zip(chunk.edits or (), chosen, strict=True):
            proposed, wanted = self._side(segment), self._side(segment, annotator)
            own = {key: edit for key, edit, _ in reversed(proposed)}
            known = {key for key, _, _ in wanted}
            hits = [number for number, (key, _, _) in enumerate(wanted) if key in own]
            found = [(own[wanted[number][0]], number) for number in hits]
            found = sorted([*found, *((edit, -1) for key, edit, _ in proposed if key not in known)])
            links = [(place, number, 1.0) for place, (_, number) in enumerate(found) if number >= 0]
            sides = [edit for edit, _ in found], [edit for _, edit, _ in wanted]
            origins = [(annotator, number) for _, _, number in wanted]
            made = segment.candidate, segment.references[annotator]
            judged.append(judge_by_links(segment.source, *sides, links, annotator, origins, made))
        return judged

    def ranked(self, sums: Sequence[float]) -> tuple[float, ...]:
        """Return F to four digits, and values that decide between equal ones."""
        return round(self.shares(sums)[0], 4), sums[HIT], -sums[OVER], -sums[UNDER]

    def shares(self, sums: Sequence[float]) -> tuple[float, ...]:
        """F, precision and recall."""
        return shares_of(sums[HIT], sums[OVER], sums[UNDER], self.beta)

    def scored(self, sums: Sequence[float], *, rounded: bool = False) -> ErrantScore:
        """Score counts."""
        f, precision, recall = (100 * share for share in self.shares(sums))
        right, wrong, missed = (int(sums[kind]) for kind in (HIT, OVER, UNDER))
        shares: list[float | None] = []
        if len(sums) > _SENTENCES:  # Statistics of earlier versions have no sentences
            every, faulty, alarms, *found, clean, changed = sums[_SENTENCES:]
            left = every - faulty - alarms
            shares = [share_of(found[1] + left, every), share_of(changed, clean, None)]
            for number in found if self.merging == "spelling" else ():
                parts = share_of(number, number + alarms), share_of(number, faulty)
                shares += [share_of(number + left, every), *parts, f_of(*parts)]
        return ErrantScore(f, right, wrong, missed, precision, recall, *shares)


def _sentence(segment: EditedSegment, number: int) -> tuple[int, ...]:
    """Count a sentence beside a reference, in the order of `statistics`."""
    source, texts = segment.source, (segment.candidate, segment.references[number])
    own, gold = ([edit for edit in edits if source[edit[0] : edit[1]] != edit[2]] for edits in texts)
    clean = segment.clean, segment.clean and bool(own)
    if not gold:
        return int(segment.kinds[:1] != ((UNJUDGED,),)), 0, bool(own), 0, 0, *clean
    made, wanted = apply_edits(source, own), apply_edits(source, gold)
    same = made == wanted or ("".join(made) == "".join(wanted) and is_unspaced("".join(source)))
    return 1, 1, 0, {edit[:2] for edit in own} == {edit[:2] for edit in gold}, same, *clean
