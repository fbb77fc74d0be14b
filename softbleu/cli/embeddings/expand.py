"""`softbleu embeddings expand`: more references from those there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from softbleu.cli.command import Given, command
from softbleu.cli.embeddings.common import open_chosen

if TYPE_CHECKING:
    from softbleu.cli.output import Output

_MOST_FILES = 100


@command(
    "reference output_prefix output format vectors vector_case tokenize encoding",
    """
  --tokenize NAME =none <none,13a>: Words are found at whitespace (none), or by sacrebleu's 13a, which then shows in
    the new references (default: =).
Input
  --reference -r FILE… !: Reference text, a segment per line, or several; - is standard input.
Output
  --output-prefix PREFIX: Write PREFIX.1, PREFIX.2, … up to the budget, each a reference text for further -r options.
  --format -f NAME =text <text,jsonl>: text: parallel files (--output-prefix); jsonl: an object per segment, with
    probabilities and replacements (--output) (default: =).
""",
    settings_of="embeddings.expansion:Expansion",
)
def expand(given: Given) -> None:
    """Make more references: words replaced by near neighbours, the most probable variants first.

    The files are scored as any references: softbleu score -c FILE -r REFERENCE -r PREFIX.1 -r PREFIX.2 and so on.
    Where a segment has fewer variants, its first reference stands instead, which changes no score.
    """
    from softbleu.corpora.parallel import open_texts, text_blocks
    from softbleu.embeddings.expansion import Expansion, expand_corpus, write_parallel
    from softbleu.errors import known_name
    from softbleu.report.tables import expansion_json, expansion_records
    from softbleu.text.tokenizers import make_tokenizer

    known_name("format", given.format, ("text", "jsonl"))
    split = make_tokenizer(known_name("tokenizer", given.tokenize, ("none", "13a"))).splitter
    expansion = given.declared(Expansion)
    targets = _targets(given, expansion.budget)
    source, case = open_chosen(given)
    with open_texts(given.reference, given.encoding) as files, given.progress("expanding") as bar:
        total = files[0].lines
        found = expand_corpus(
            lambda: ([[split(text) for text in texts] for texts in block] for block in text_blocks(files)),
            source,
            expansion,
            case,
            lambda done: bar(done, total),
        )
        segments = (texts for block in text_blocks(files) for texts in block)
        if given.format.lower() == "jsonl":
            targets[0].write(expansion_json(segments, found))
            return
        paths = [target.path for target in targets if target.path is not None]
        counts = write_parallel(paths, segments, found)
    given.open_output().write(expansion_records(counts, [str(path) for path in paths]))


def _targets(given: Given, budget: int) -> list[Output]:
    """See, before any work is done, that what was asked for can be written."""
    from softbleu.cli.output import Output
    from softbleu.errors import InputError

    prefix, inputs = given.output_prefix, [*given.reference, given.vectors]
    if given.format.lower() == "jsonl":
        if prefix is not None:
            raise InputError("--output-prefix is for --format text: name a file with --output, or leave both out")
        return [given.open_place(inputs)]
    if given.output is not None or not prefix:
        raise InputError("several files are written: name them with --output-prefix, or use --format jsonl")
    if budget > _MOST_FILES:
        raise InputError(f"at most {_MOST_FILES} files are written at once, not {budget}: use --format jsonl")
    targets = [Output.of(f"{prefix}.{number}", inputs) for number in range(1, budget + 1)]
    for target in targets:
        if target.path is not None and target.path.exists() and not target.path.is_file():
            raise InputError(f"cannot write {target.path}: it is no file")
    return targets
