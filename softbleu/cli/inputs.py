"""Options of texts and of metrics, which open a corpus and plan its scoring."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import ClassVar, Literal, cast, get_args

from softbleu.cli.options import Common, page_format
from softbleu.cli.parts import options_named, options_of, setting_options
from softbleu.cli.settings import SettingOption
from softbleu.cli.words import OptionValues
from softbleu.config.declare import own_settings, setting
from softbleu.corpora import ParallelFiles, Segments, name_systems, read_segments
from softbleu.corpora.corpus import Against, Corpus, compared_with, leave_one_out
from softbleu.corpora.edits import Absent, choose_annotators, read_m2, split_essays
from softbleu.corpora.files import IS_LOG, Look, look_at_systems
from softbleu.corpora.gates import ALL_RULES, RULES, gated
from softbleu.corpora.labels import Documents
from softbleu.corpora.records import PAIR_FORMATS
from softbleu.corpora.testsets import set_texts
from softbleu.corpora.validation import Blank
from softbleu.engine.plan import Plan, distinct, fit_metrics, make_plan
from softbleu.errors import InputError, Parameter
from softbleu.io.files import find_resource
from softbleu.io.platform import cached_property
from softbleu.io.progress import note
from softbleu.matching import MATCHERS
from softbleu.metrics.base import METRICS, Metric
from softbleu.metrics.declared import preset_names
from softbleu.metrics.protocols import ReadsRows, matcher_of
from softbleu.metrics.reading import ReadMetric, read_settings
from softbleu.metrics.signatures import metric_from_signature, read_signature
from softbleu.text.tokens import TOKENIZERS, Tokenizer, make_tokenizer
from softbleu.types import DelayUnit, Keywords, OfAnnotators


def metric_names() -> list[str]:
    """Return the names of metrics and matchers, of plug-ins too."""
    return [*METRICS.names(), *MATCHERS.names()]


def open_sample(metrics: Sequence[Metric] = ()) -> ParallelFiles:
    """Open the bundled sample that these metrics can score."""
    folder = find_resource("corpora", "samples")
    if folder is None:
        lacking = "no input given, and this installation lacks the sample corpus: give "
        raise InputError(lacking, Parameter("candidates"), " and ", Parameter("references"))
    if any(metric.requires.source or metric.requires.gold for metric in metrics):
        return ParallelFiles.open([str(folder / "corrected.en")], [], gold=str(folder / "gold.m2"))
    references = [str(folder / name) for name in ("reference.en", "reference2.en")]
    return ParallelFiles.open([str(folder / "candidate.en")], references)


_NOT_OF_EACH = (
    *("candidates", "pairs", "logs", "segmentation", "documents", "gate", "against", "resume"),
    "page_wanted",
)


def _note_idle(why: str, **idle: object) -> None:
    """Note that options are ignored, where this is true, and why."""
    for name, said in idle.items():
        if said:
            note(f"--{name.replace('_', '-')} is ignored {why}")


class TextOptions(Common, panel="Input", shared=None):
    """Options of texts and of metrics.

    Attributes
    ----------
    candidates
        Texts to score, a segment per line; of one system or several; - is standard input, NAME=FILE names a system, a
        folder stands for all files in it, a .m2 file has edits of the source
    references
        References with the same lines; several such files for several references; or an installed test set, such as
        wmt24/en-cs, with its language (see `softbleu corpora install`)
    source
        Source, line by line (for metrics that need it): the text before translation or correction
    gold
        Gold edits (.m2) instead of references and source; M2 needs them, other metrics can use them
    pairs
        Candidates and references in one file instead: lines 'candidate ||| reference', .tsv or .jsonl
    input_format
        Format of the --pairs file: {names}
    against
        Compare candidates with the references, or with the source instead, by vectors or an encoder that have both
        languages
    absent_annotators
        Annotators without a line in a sentence where others have one are left-out, or unchanged: they found it right
    blank_references
        Treat blank lines of references, beside references with text, as "empty" text or as "missing"
    gate
        Rules for outputs before they are scored: all, or some of {names}. The first strip text around an answer, the
        others count an output as empty; tables have the share of lines by rule
    logs
        Logs of simultaneous translation instead of texts, by SimulEval, OmniSTEval or simulstream: outputs with the
        delays that latencies (laal, yaal, atd and others) are computed from
    segmentation
        Segments of recordings, into which --resegment cuts outputs: YAML or JSON with wav, offset and duration, or
        lines docid=0,segid=0 for documents of text
    unit
        Unit of the delays of --log: word, char, or spm for the subwords that SimulEval logs (the tokenizer spm:FILE
        counts these in references)
    moments
        Score the unfinished outputs of --log, too, at these moments of each segment: 2000 or 2s of speech, words of a
        source text, or each delay
    resegment
        Candidates have other line breaks than the references: cut them where they fit the segments best
    documents
        Documents of the segments, a label per line or FILE:COLUMN of a table: samples and trials draw whole
        documents, levels and buckets score them, and a --context does not leave them
    spans
        Mark in the text the spans of judges or programs: ESA, MQM, xCOMET, `softbleu spans`
    tokenize
        How lines are split into tokens (see `softbleu tokenizers`)
    lowercase
        Fold the text to lower case first
    metrics
        Metrics, such as bleu chrf ter (list: softbleu metrics); a matcher stands for BLEU over it, and
        settings go in brackets: 'vleu(threshold=0.8)'
    preset
        Settings of a paper: morgan2014. Other options override it
    scores
        Scores of other programs, or of human judges (ESA, MQM, DA), by system and segment, each as a metric; FILE:A,B
        takes columns (or metrics) A and B. No text is needed
    annotators
        Of --gold: annotators to keep, by number, or to leave out, with a minus (-1); or each, scored against the
        others, as references (-r) are, too. Whose edits count in a segment, by metrics of edits: running, best, last.
        Of several who judged an output of --scores: their mean, or each as a metric of its own (apart)
    lower
        Scores of --scores where less is better (default: by their names, such as MetricX, TER, errors)
    direction
        Take rows of scores and judgements of this direction (column lp) only, e.g. cs-en
    signature
        Run the settings of a signature (long or short) again; other options override them
    """

    candidates: tuple[str, ...] = setting((), name="candidate", flags=("-c",), file="system", common=True)
    references: tuple[str, ...] = setting((), name="reference", flags=("-r",), file="read", common=True)
    source: str | None = setting(None, flags=("-s",), file="read", common=True)
    gold: str | None = setting(None, file="read")
    pairs: str | None = setting(None, file="read")
    input_format: str | None = setting(None, unset="by its suffix", complete=lambda: PAIR_FORMATS)
    against: Against | None = setting(None, unset="references")
    absent_annotators: Absent | None = setting(None, unset="left-out")
    blank_references: Blank | None = setting(
        None, unset="missing for metrics that take the source, where over 1% of the segments have one, else empty"
    )
    gate: tuple[str, ...] = setting((), metavar="RULE", complete=lambda: [ALL_RULES, *RULES])
    logs: tuple[str, ...] = setting((), name="log", metavar="[NAME=]FILE", file="named")
    segmentation: str | None = setting(None, file="read")
    unit: DelayUnit | None = setting(None, unset="as in the logs; of simulstream, char in text without blanks")
    moments: tuple[str, ...] = setting((), name="at", metavar="TIME")
    resegment: bool = setting(False)
    documents: str | None = setting(None, file="read")
    spans: tuple[str, ...] = setting((), metavar="[NAME=]FILE", file="named", panel="Output")
    tokenize: str | None = setting(None, unset="none", complete=TOKENIZERS.names, panel="Score")
    lowercase: bool = setting(False, panel="Score")
    metrics: tuple[str, ...] = setting(
        (), name="metric", unset="bleu", flags=("-m",), complete=metric_names, panel="Score", common=True
    )
    preset: str | None = setting(None, complete=preset_names, panel="Score")
    scores: tuple[str, ...] = setting((), metavar="[NAME=]FILE", file="named", panel="Score")
    annotators: tuple[str, ...] = setting((), metavar="N|NAME", unset="all, running, mean", panel="Human judgements")
    lower: tuple[str, ...] = setting((), name="lower_is_better", earlier=("--lower",), metavar="NAME", panel="Score")
    direction: str | None = setting(None, metavar="NAME", panel="Human judgements")
    signature: str | None = setting(None, panel="Score")

    def __post_init__(self) -> None:
        super().__post_init__()
        # Names of test sets stand for their files, and say which language the references have.
        found = [set_texts(name) for name in self.references]
        language = next((one for _, one in found if one), None)
        given: Keywords = {"references": tuple(file for files, _ in found for file in files)}
        given["source"] = None if self.source is None else set_texts(self.source, "source")[0][0]
        for name, value in {**given, "language": self.language or language}.items():
            object.__setattr__(self, name, value)

    def tokenizer(self, default: str = "none") -> Tokenizer:
        """Make the tokenizer, for commands without a metric."""
        return make_tokenizer(self.tokenize or default, lowercase=self.lowercase)

    @cached_property
    def systems(self) -> dict[str, Look]:
        """Texts of systems by name, after a look at their files; see `look_at_systems`."""
        others = [file for file in (self.source, self.gold) if file]
        return look_at_systems(self.candidates, self.references, others, encoding=self.encoding)

    def input_files(self) -> list[str]:
        """Return the files that options name as input."""
        systems = self.systems.values() if "candidates" in self.offered else ()
        return [*super().input_files(), *(look.name for look in systems)]

    @cached_property
    def signed(self) -> dict[str, str]:
        """Keys and values of the signature that is run again; none without one."""
        return {} if self.signature is None else read_signature(self.signature)

    def annotators_as(self, use: Literal["numbers", "judges", "each", "setting"]) -> list[str]:
        """Return the values of --annotators that have this use."""
        uses = {"each": "each"} | dict.fromkeys(get_args(OfAnnotators), "judges")
        number = re.compile(r"-?\d[-,\d]*").fullmatch
        given = self.annotators or tuple(filter(None, self.signed.get("kept-annotators", "").split(",")))
        return [one for one in given if ("numbers" if number(one) else uses.get(one, "setting")) == use]

    def each_annotator(self) -> list[Segments]:
        """Read each annotator of --gold, or each reference, as a system beside the others."""
        if unused := [name for name in _NOT_OF_EACH if getattr(self, name)]:
            what = "--format html" if unused[0] == "page_wanted" else Parameter(unused[0])
            raise InputError("--annotators each makes a table of annotators or references alone: leave out ", what)
        self._note_idle_gold()
        if self.gold:
            absent = self.absent_annotators or cast("Absent", self.signed.get("absent", "left-out"))
            gold = read_m2(self.gold, self.encoding, absent_annotators=absent)
            numbers = self.annotators_as("numbers")
            corpora = leave_one_out(choose_annotators(split_essays(gold)[0], numbers))
            return [replace(one, annotators=",".join(["each", *numbers])) for one in corpora]
        if not self.references:
            raise InputError("--annotators each scores annotators of --gold, or references (-r): name a file of them")
        with ParallelFiles.open(self.references[:1], self.references, self.source, encoding=self.encoding) as corpus:
            texts = [[*file.all_lines()] for file in corpus.references]
            for file, lines in zip(corpus.references, texts, strict=True):
                if blank := [number for number, line in enumerate(lines, start=1) if not line.strip()]:
                    raise InputError(
                        f"{file.name}, line {blank[0]} is blank: each reference is scored, so write all lines"
                    )
            return leave_one_out([*zip(*texts, strict=True)], [*corpus.source.all_lines()] if corpus.source else None)

    def _note_idle_gold(self) -> None:
        """Note options of gold edits where no file has any."""
        if not self.gold:
            numbers = self.annotators_as("numbers")
            _note_idle("without --gold", absent_annotators=self.absent_annotators, annotators=numbers)

    def labels(self) -> Documents | None:
        """Read the labels of documents, if a file of them is named."""
        return Documents.read(self.documents, self.encoding) if self.documents else None

    def read_logs(self, unit: DelayUnit | None) -> Segments | None:
        """Read the corpus of logs, or of texts that are cut by a segmentation; None if neither is named."""
        from softbleu.corpora.recordings import at_moments, name_logs, read_logs

        if self.logs and (self.pairs or self.candidates or self.gold):
            raise InputError("--log has the outputs of systems: leave out -c, --pairs and --gold")
        if not self.logs and not (self.segmentation and self.candidates):
            return None
        if self.pairs or self.gold:
            raise InputError("--segmentation cuts texts of -c: leave out --pairs and --gold")
        if self.resegment != bool(self.segmentation):
            raise InputError("recordings are cut by --resegment and --segmentation together: give both, or neither")
        named = name_systems(self.logs, self.references, naming=name_logs, encoding=self.encoding, preferred=IS_LOG)
        texts = {} if named else {name: look.name for name, look in self.systems.items()}
        files: Keywords = {"segmentation": self.segmentation, "unit": unit, "encoding": self.encoding}
        corpus = read_logs(named or texts, self.references, self.source, texts=bool(texts), **files)
        return at_moments(corpus, self.moments) if named else corpus


class Scoring(TextOptions, shared=None):
    """Options of texts and of metrics, and each setting of metrics and their parts by an option of its own."""

    without: ClassVar[tuple[str, ...]] = ()  # Names of settings that the command has no option for

    @classmethod
    def takes(cls, option: SettingOption) -> bool:
        """Return whether the command has the option of a setting."""
        return option.setting.name not in cls.without

    @classmethod
    def setting_options(cls, values: OptionValues, wanted: Collection[str]) -> list[SettingOption]:
        """Find options of settings with these spellings; `values` are all that the command line names."""
        return [option for option in options_named(values, wanted) if cls.takes(option)]

    @classmethod
    def help_options(cls, values: OptionValues | None, *, plug_ins: bool = True) -> list[SettingOption]:
        """Find options of settings that help shows for a command line; without its values, all."""
        found = setting_options(plug_ins=plug_ins).values() if values is None else options_of(values)
        return [option for option in found if cls.takes(option)]

    @cached_property
    def expressions(self) -> list[ReadMetric]:
        """Name and settings of each metric, as they are read from its expression."""
        return [read_settings(expression) for expression in self.metrics]

    def input_files(self) -> list[str]:
        """Return the files that options name as input, settings among them."""
        texts = [value for _, each in self.expressions for name, value in each.items() if name != "called"]
        files = [str(value) for option, value in self.chosen if option.setting.hashed]
        return [*super().input_files(), *files, *(text for text in texts if isinstance(text, str))]

    def chosen_name(self, setting: str) -> str | None:
        """Return the name that is chosen for a setting, such as the matcher; None if none is."""
        names = (value for option, value in self.chosen if not option.plug_in and option.setting.name == setting)
        return cast("str | None", next(names, None))

    def settings_of(self, names: Iterable[str | None]) -> Keywords:
        """Return the settings given to metrics and parts with these names; a plug-in's own are for it alone."""
        owners = {"", self.chosen_name("tokenize"), *names}
        given = {option.setting.name: value for option, value in self.chosen if option.plug_in in owners}
        chosen = self.annotators_as("setting")
        if len(chosen) > 1:
            raise InputError(f"--annotators {' '.join(chosen)}: of metrics of edits choose one, such as best")
        more = {"preset": self.preset, "language": self.language, "annotators": next(iter(chosen), None)}
        return given | {name: value for name, value in more.items() if value is not None}

    def plan(self, *, one: bool = False, also: Collection[str] = ()) -> Plan:
        """Plan the metrics that the options describe, or the only one.

        Notes options without effect, unless `also` names them.
        """
        usual = ["bleu", *["laal"] * bool(self.logs)] * (not self.scores)
        metrics: list[Metric | ReadMetric] = [*(self.expressions or map(read_settings, usual))]
        if self.signature is not None:
            if self.metrics:
                raise InputError("--signature says what to compute: leave out --metric")
            named = ((option.setting, value) for option, value in self.chosen)
            # Files that are named are not looked for where the signature has them.
            files = {one.name: value for one, value in named if one.hashed and one.key in self.signed}
            metrics = [metric_from_signature(self.signature, **files)]
        if self.spans and (self.gate or "gate" in self.signed):
            raise InputError("--spans mark outputs as they are: leave out --gate")
        if self.scores:
            from softbleu.metrics.scores import read_outside

            judges = cast("OfAnnotators", (self.annotators_as("judges") or ["mean"])[-1])
            metrics = [*read_outside(self.scores, self.lower, self.encoding, self.direction, judges), *metrics]
        else:
            _note_idle("without --scores", direction=self.direction, annotators=self.annotators_as("judges"))
        matcher = self.chosen_name("matcher")
        measures, idle = fit_metrics(
            metrics, lambda metric, over, tokenizer: self.settings_of((metric, matcher or over, tokenizer))
        )
        plan = make_plan(measures)
        plan = replace(plan, metrics=tuple(distinct(plan.metrics)))
        self._note_idle_settings(measures, idle - set(also))
        return replace(plan, metrics=(plan.only,)) if one else plan

    def _note_idle_settings(self, measures: Sequence[Metric], idle: set[str]) -> None:
        """Check the values of settings without effect, and note them."""
        parts = [part for each in measures for part in (each, each.tokenizer, matcher_of(each)) if part]
        names = {"", *(part.name for part in parts)}
        unused = [
            (option, value)
            for option, value in self.chosen
            if option.plug_in not in names or (not option.plug_in and option.setting.name in idle)
        ]
        others = [name for name in ("preset", "annotators") if name in idle and getattr(self, name)]
        if not unused and not others:
            return
        over = sorted({part.name for part in parts} - {"none", *(one.name for one in measures)})
        what = " and ".join(map(str, measures)) + f" ({', '.join(over)})" * bool(over)
        what += f" {'has' if len(measures) == 1 else 'have'} no such setting"
        exact = next((one.label for one in measures if getattr(matcher_of(one), "name", "") == "exact"), "")
        soft = {"vectors", *(each.name for each in own_settings(MATCHERS.find("vleu")))} if exact else ()
        for option, value in unused:
            option.check(value)
            counts = f"{exact} counts exact matches; add --matcher vleu"
            note(f"--{option.name} is ignored: {counts if option.setting.name in soft else what}")
        for name in others:
            note(f"--{name} is ignored: {what}")

    @contextmanager
    def open_corpus(self, plan: Plan, *, by_document: bool = False) -> Iterator[Corpus]:
        """Open the corpus that the options name, or else the bundled sample that fits the plan's metrics.

        At the end, notes options without effect: documents, if neither a context nor work `by_document` uses them.

        Raises `InputError`: options contradict one another.
        """
        if self.annotators_as("each"):
            raise InputError("--annotators each is for softbleu score")
        against = self.against or cast("Against", self.signed.get("against", "references"))
        with self._named_corpus(plan.metrics) as corpus:
            if against != "references":
                corpus = compared_with(corpus, against)
            texts = not all(isinstance(metric, ReadsRows) for metric in plan.metrics)
            if texts and (rules := self.gate or self.signed.get("gate")) is not None:
                corpus = gated(corpus, rules)
            if (documents := self.labels()) is not None:
                documents.fitting(len(corpus))
                corpus = replace(corpus, documents=documents)
            yield corpus
        in_context = any(metric.requires.vectors and metric.vector_choice.context for metric in plan.metrics)
        compared = any(metric.requires.references or metric.requires.edits for metric in plan.metrics)
        from_source = compared and against == "source"
        referred = self.references and not self.resegment
        self._note_idle_gold()
        _note_idle("with --against source", gold=from_source and self.gold, reference=from_source and referred)
        _note_idle("where nothing is compared with references", against=self.against and not compared)
        _note_idle("where no text is scored", gate=self.gate and not texts)
        by_document = by_document or in_context
        _note_idle("where nothing is drawn or scored by document", documents=self.documents and not by_document)

    def _named_corpus(self, measures: Sequence[Metric]) -> AbstractContextManager[Corpus]:
        """Return the corpus that the options name, to be opened."""
        blank, absent = self.blank_references, self.absent_annotators
        if self.signature:
            blank = blank or cast("Blank", self.signed.get("blank", "empty"))
            absent = absent or cast("Absent | None", self.signed.get("absent"))
        if self.input_format and not self.pairs:
            raise InputError("--input-format says how to read a --pairs file: name one, or leave it out")
        _note_idle("without --log", unit=not self.logs and self.unit, at=not self.logs and self.moments)
        logged = self.read_logs(self.unit or cast("DelayUnit | None", self.signed.get("unit")))
        if logged is not None:
            return nullcontext(logged)
        _note_idle("without --candidate", resegment=self.resegment and not self.candidates)
        _note_idle("without --log or --candidate", segmentation=self.segmentation)
        if self.pairs:
            if self.candidates or self.references or self.source or self.gold:
                raise InputError(
                    "--pairs has candidates and references in one file: leave out -c, -r, --source, --gold"
                )
            segments = read_segments(self.pairs, file_format=self.input_format, encoding=self.encoding)
            return nullcontext(replace(segments, blank_references=blank or segments.blank_references))
        if not self.candidates and not self.references and not self.gold:
            if not any(isinstance(metric, ReadsRows) for metric in measures):
                sample = open_sample(measures)
                note("no input given (see --help), so this scores the bundled sample corpus")
                return replace(sample, is_sample=True)
            from softbleu.metrics.scores import corpus_of

            labels = self.labels()
            return nullcontext(corpus_of(measures, 0 if labels is None else len(labels.numbers)))
        if not self.candidates:
            count = len(self.references)
            said = f"all {count} files are references of -r: " if count > 1 else ""
            raise InputError(f"no candidate file: {said}name systems with --candidate (-c), - for standard input")
        return ParallelFiles.open(
            self.systems,
            self.references,
            self.source,
            gold=self.gold,
            absent_annotators=absent or "left-out",
            annotators=self.annotators_as("numbers"),
            encoding=self.encoding,
            resegment=self.resegment,
            blank_references=blank,
        )


class SystemScores(
    Scoring,
    shared="candidates references source gold metrics language preset encoding pairs input_format against "
    "absent_annotators blank_references gate logs segmentation unit moments resegment scores annotators "
    "lower direction signature documents output format title spans signatures long digits jobs resume",
):
    """Options of commands that score systems, and show tables or pages of them."""

    format: str | None = page_format()
