"""`softbleu corpora challenge`: good texts in, pairs of good and bad ones out."""

from softbleu.cli.command import Given, command


@command(
    "candidate reference pairs input_format encoding change count seed spoil output",
    """
Input
  --candidate -c FILE: Texts that say in other words what the references say, such as a second human translation.
  --reference -r FILE: References with the same segments, line by line.
Sets
  --change NAME… <corpora.challenges:CHANGES>: Sets to make: negation, numbers, units, names, roles, antonyms,
    pronouns, order, dropped, added, case (default: all).
  --count N =500: Pairs of each set, if as many lines allow the change (default: =).
  --seed N =0: The same seed gives the same sets (default: =).
  --spoil NAME =candidate <candidate,reference>: Whose text is changed; a changed reference is a bad text that is
    nearer to it in spelling than the candidate (default: =).
""",
)
def make_challenge_sets(given: Given) -> None:
    """Make challenge sets: each pair has a text that says what the reference says, and one that does not.

    With such a file 'softbleu metaeval --da FILE --direction SET --table preferences' says how often metrics prefer
    the former.
    """
    from softbleu.corpora import read_segments
    from softbleu.corpora.challenges import CHANGES, ChallengeSettings, make_challenges, write_challenges
    from softbleu.corpora.parallel import open_texts
    from softbleu.errors import InputError
    from softbleu.io.progress import note

    place = given.open_place(given.files("candidate", "reference", "pairs"))
    settings = ChallengeSettings(tuple(given.change or ()), **given.values("count seed spoil"))
    if given.pairs and not (given.candidate or given.reference):
        corpus = read_segments(given.pairs, file_format=given.input_format, encoding=given.encoding)
        (good, *_), references = corpus.candidates.values(), ["".join(texts[:1]) for texts in corpus.references]
    elif given.candidate and given.reference and not given.pairs:
        with open_texts([given.candidate, given.reference], given.encoding) as files:
            good, references = (list(text.all_lines()) for text in files)
    else:
        raise InputError("give --candidate and --reference, or both texts in one file by --pairs")
    made = list(make_challenges(good, references, settings))
    if not made:
        raise InputError("no pair of lines that differ allows such a change")
    for name in settings.change or CHANGES:
        if (count := sum(challenge.change == name for challenge in made)) < settings.count:
            note(f"{name}: {count:,} pairs, as other lines do not allow it")
    place.write(write_challenges(made))
