"""`softbleu train`: human judgements in, a head of the metric `trained` out."""

from softbleu.cli.command import Given, command


@command(
    "judgements candidate reference rankings_start direction column output metric vectors layers tokenize lowercase "
    "encoding unescape samples seed table format=text digits=3 jobs",
    """
  --judgements FILE… !: Judged texts, tab-separated with columns score, candidate, reference, and maybe source and
    group (or WMT's LP, translation and HUMAN_score); without groups a file is one.
    With -c and -r: rankings (Appraise XML, WMT's CSV), direct assessment or MQM of their systems and segments.
Head
  --output -o FILE !: Where to write the head; -m trained --head FILE scores by it.
  --metric -m METRIC…: Metrics whose scores are distances, too, such as chrf.
  --vectors NAME|PATH =minilm-l6: Encoder, for distances of pieces in context, or vectors of words (default: =).
  --layers LIST: Layers of the encoder (default: what it recommends).
  --unescape: Turn entities such as &apos; in texts into characters.
Judgements
  --samples N =1000: Bootstrap samples of references (default: =).
  --seed N =12345: Seed of samples and draws (default: =).
  --table NAME =groups <meta.training:TABLES>: groups (agreement with judges that were held out), curve (by how many
    judgements it learned from), or distances (what each costs, and is worth) (default: =).
""",
)
def train(given: Given) -> None:
    """Train a head of the metric 'trained' on judgements of your own, and say whether that pays.

    Each distance between candidate and reference gets a price in points; prices are fitted by ridge regression.
    """
    import json

    from softbleu.cli.inputs import system_files
    from softbleu.errors import known_name
    from softbleu.meta.training import TABLES
    from softbleu.meta.training import train as train_head

    table = known_name("table", given.table, TABLES)
    inputs = [*given.judgements, *system_files(given).values(), *given.files("reference")]
    output, place = given.open_output(), given.open_place(inputs)
    with given.progress("distances") as progress:
        trained = train_head(
            given.judgements,
            candidates=given.candidate or (),
            references=given.reference or (),
            metrics=given.metric or (),
            tokenize=given.tokenize or "none",
            progress=progress,
            **given.values(
                "rankings_start direction column vectors layers lowercase unescape encoding samples seed jobs"
            ),
        )
    place.write([json.dumps(trained.head.content(trained.card()), indent=1) + "\n"])
    output.write(trained.table(table))
