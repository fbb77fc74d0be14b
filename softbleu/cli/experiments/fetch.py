"""`softbleu experiments fetch`: the data of the studies, and what is known of them."""

from softbleu.cli.command import Given, command


@command("names list output_folder format=text output")
def fetch(given: Given) -> None:
    """Fetch data of the studies from where they are published, and check the hash of each file.

    Files that are there are left alone, and an interrupted download goes on. What is not published as it was used is
    named, with how to make it. URLs need the extra 'remote'.
    """
    from pathlib import Path

    from softbleu.corpora.datasets import read_datasets
    from softbleu.errors import InputError, known_name
    from softbleu.io.progress import note

    known = read_datasets(Path(given.list) if given.list else None)
    output, folder = given.open_output([given.list]), Path(given.output_folder)
    if not given.names:
        there = {name: len(data_set.sums) - len(data_set.lacking(folder / name)) for name, data_set in known.items()}
        rows = [(name, len(data_set.sums), there[name], data_set.licence) for name, data_set in known.items()]
        output.write_table(("name", "files", "there", "licence"), rows, digits=0)
    for data_set in [known[known_name("data set", name, known)] for name in given.names]:
        count = data_set.fetch(folder / data_set.name)
        note(f"{data_set.name}: {count} files fetched, {data_set.licence}; {data_set.source}")
        if left := data_set.lacking(folder / data_set.name):
            raise InputError(
                f"{folder / data_set.name} lacks {left[0]} ({len(left)} files by hand): {data_set.steps}"
            )
