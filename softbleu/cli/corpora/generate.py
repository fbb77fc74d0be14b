"""`softbleu corpora generate`: a grammar in, sentences or aligned pairs out."""

from typing import Any

from softbleu.cli.command import Given, command


@command(
    "grammar encoding pairing count all seed max_depth sampling distinct synonyms category alternate noise format "
    "output",
    """
Input
  --grammar -g FILE|NAME =morgan2014 <corpora.grammar:grammar_names>: File in NLTK's notation, or morgan2014,
    agreement, modifiers, alternations, reports (default: =).
  --encoding NAME =utf-8: Encoding of the grammar file (default: =).
Generation
  --pairing NAME =none <none,halves,paraphrase>: none: sentences; halves: all sentences, shuffled and paired;
    paraphrase: each with a paraphrase (default: =).
  --count N: How many sentences or pairs.
  --all: Generate all sentences of the grammar, in order.
  --seed N =0: The same seed gives the same corpus (default: =).
  --max-depth N: Greatest depth of a derivation, words counted (default: none, or 20 for recursive grammars).
  --sampling NAME =weights <weights,uniform>: Draw by the weights of the rules, or each derivation equally likely:
    uniform (default: =).
  --distinct: Draw each sentence or pair at most once.
Paraphrases
  --synonyms 0..1: Probability that a synonym replaces a word (default: 0.5).
  --category 0..1: Probability that another word of its category replaces it (default: 0).
  --alternate 0..1: Probability of a declared alternation (default: 0.5).
  --noise NAME=0..1… <swap=,drop=,insert=,substitute=,function=>: Noise at each token: swap, drop, insert, substitute
    or function.
Output
  --format -f NAME <plain,pairs,tsv,jsonl>: plain (sentences), pairs ('candidate ||| reference'), tsv or jsonl
    (default: by the suffix).
""",
)
def generate_text(given: Given) -> None:
    """Generate a corpus from a grammar: sentences, or pairs with gold alignments and labels."""
    from softbleu.corpora.generate import GenerationSettings, format_for, generate

    target = given.open_place([given.grammar])
    chosen = given.values("grammar pairing seed count max_depth sampling distinct encoding")
    settings = GenerationSettings(**chosen, every=given.all, paraphrase=_paraphrase_settings(given))
    with given.progress("generating") as progress:
        target.write(generate(settings).lines(given.format or format_for(given.output), progress))


def _paraphrase_settings(given: Given) -> Any:
    """Settings of paraphrases from the options that were given."""
    from softbleu.corpora.paraphrase import ParaphraseSettings
    from softbleu.errors import InputError

    chosen = {name: value for name, value in given.values("synonyms category alternate").items() if value is not None}
    for text in given.noise or ():
        name, _, rate = text.partition("=")
        try:
            chosen["noise"] = (*chosen.get("noise", ()), (name, float(rate)))
        except ValueError:
            raise InputError(f"--noise {text!r} is not NAME=RATE, e.g. drop=0.1") from None
    if chosen and given.pairing != "paraphrase":
        raise InputError(f"--{next(iter(chosen))} needs --pairing paraphrase")
    return ParaphraseSettings(**chosen)
