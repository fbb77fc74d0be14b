"""Measure the embedded default word vectors and write their evaluation card.

Needs what `build_default.py` needs, and both packages at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from build_default import NAME, STORE, select_rows
from measures import (
    BENCHMARKS,
    FOLDS,
    HELD_OUT_WORDS,
    SEED,
    agreement,
    coverage,
    held_out_map,
    neighbours,
    rounding_effect,
)
from sources import NPM_PACKAGE, SISTER_PACKAGE, check_integrity, read_npm_package, read_sister_package

from recipe import COMPONENTS, RECOVERED_WORDS, TRAINING_WORDS, Rows, common_parts, sister_places, treat, unit_rows
from softbleu.embeddings import open_vectors
from softbleu.embeddings.vectors import META, SCALES, VECTORS, VOCABULARY, store_fingerprint
from softbleu.errors import SoftbleuError, VectorError

_INTRODUCTION = f"""\
# {NAME}: evaluation card

Written by `embeddings/glove-6b-100d/recipe/evaluate.py`; every figure is measured, none copied. How the set is made:
`meta.json` and `embeddings/README.md`. Licences: `LICENCES.md` (vectors: PDDL 1.0). Language: English only;
`docs/guide/languages.md` says what to use for other languages.
"""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def describe_store(store: Path, words: Sequence[str], rows: Rows) -> str:
    """Section: size, count and fingerprint, the fingerprint counted anew."""
    sizes = {part: (store / part).stat().st_size for part in (VECTORS, SCALES, VOCABULARY, META)}
    norms = np.linalg.norm(rows, axis=1)
    facts = [
        ("words, dimension", f"{len(words):,} × {rows.shape[1]}"),
        ("values", "int8, one float32 scale a row"),
        ("length of a row", f"{norms.min():.4f} to {norms.max():.4f}"),
        *((part, f"{size:,} bytes") for part, size in sizes.items()),
        ("together", f"{sum(sizes.values()):,} bytes"),
        ("SHA-256 (vectors, scales, words)", f"`{store_fingerprint(store)}`"),
        *((f"from {package.registry}", f"`{package.title}`") for package in (NPM_PACKAGE, SISTER_PACKAGE)),
    ]
    return "\n## The set\n\n" + table(("what", "measure"), facts)


def describe_agreement(words: Sequence[str], stages: dict[str, Rows]) -> str:
    """Section: agreement with human judgements at each stage of the processing."""
    lines = []
    for benchmark in BENCHMARKS:
        found = [agreement(benchmark, words, rows) for rows in stages.values()]
        absent = ", ".join(found[0].missing) or "none"
        lines.append((benchmark, *(f"{each.spearman:.4f}" for each in found), found[0].pairs, absent))
    note = "Spearman's ρ of cosines, over the pairs with both words, lower-cased, in the set.\n\n"
    head = ("judgements", *stages, "pairs", "missing pairs")
    return "\n## Agreement with human judgements\n\n" + note + table(head, lines)


def describe_variants(words: Sequence[str], rows: Rows, everything: Rows) -> str:
    """Section: what else was tried for the treatment."""
    lines = []
    for normalised in (True, False):
        chosen, whole = (unit_rows(rows), unit_rows(everything)) if normalised else (rows, everything)
        for estimated_on, base in ((f"the {len(chosen):,} selected", chosen), (f"all {len(whole):,}", whole)):
            for components in range(4):
                treated = common_parts(base, components).remove_from(chosen)
                values = (f"{agreement(name, words, treated).spearman:.4f}" for name in BENCHMARKS)
                lines.append(("yes" if normalised else "no", estimated_on, components, *values))
    note = (
        "Rows before the int8 step. `normalised`: unit length before the mean is taken; it and the "
        "components come from the rows named. Without the recovered words.\n\n"
    )
    head = ("normalised", "mean and components of", "components removed", *BENCHMARKS)
    return "\n## Variants of the treatment\n\n" + note + table(head, lines)


def describe_coverage(corpora: Iterable[Path], words: Sequence[str]) -> str:
    """Section: share of tokens with a vector, with and without the recovered words."""
    plain = [word for word in words if word not in set(RECOVERED_WORDS)]
    lines = []
    for path in corpora:
        full, bare = coverage(path, words), coverage(path, plain)
        often = " ".join(f"`{token}` {count}" for token, count in full.missing.most_common(8))
        name = "/".join(path.resolve().parts[-2:])
        lines.append((name, f"{full.tokens:,}", f"{full.share:.2%}", f"{bare.share:.2%}", often))
    note = "Tokens of tokenizer 13a, cased, looked up as written, then lower-cased.\n\n"
    head = (
        "text",
        "tokens",
        "with a vector",
        "without the recovered words",
        "most frequent without a vector",
    )
    return "\n## Coverage\n\n" + note + table(head, lines)


def describe_rounding(exact: Rows, rounded: Rows) -> str:
    """Section: what int8 costs."""
    largest, mean = rounding_effect(exact, rounded)
    return (
        "\n## What int8 changes\n\n"
        f"Cosines of 100,000 random pairs of words (seed {SEED}), before against after: largest difference "
        f"{largest:.5f}, mean {mean:.5f}.\n"
    )


def describe_recovery(words: Sequence[str], rows: Rows, sister: tuple[list[str], Rows], stored: Rows) -> str:
    """Section: how far the recovered words can be trusted."""
    recovered = set(RECOVERED_WORDS) & set(words)
    shared = [word for word in words if word not in recovered][:TRAINING_WORDS]
    places = sister_places(shared, {word: place for place, word in enumerate(sister[0])})
    kept = np.array([word not in recovered for word in words])
    result = held_out_map(rows[kept], sister[1][places], common_parts(unit_rows(rows), COMPONENTS))
    lines = [(stage, *(f"{value:.3f}" for value in values)) for stage, values in result.items()]
    examples = [(f"`{word}`", ", ".join(neighbours(word, words, stored))) for word in ("a", "i", "n't", "s")]
    return (
        "\n## Recovered words\n\n"
        f"{len(recovered)} rows are estimates, mapped from the 50-dimensional sister: "
        + " ".join(f"`{word}`" for word in words if word in recovered)
        + f".\n\nHow near the map comes to true vectors: cosine for the {HELD_OUT_WORDS:,} most frequent "
        f"words, left out of its training in turn ({FOLDS} folds). Sharpness and ridge of the map were "
        "chosen on these words.\n\n"
        + table(("", "mean", "median", "lowest"), lines)
        + "\nNearest of the 20,000 most frequent words, as stored:\n\n"
        + table(("word", "nearest"), examples)
    )


def write_card(store: Path, tarball: Path, sister: Path, corpora: Sequence[Path]) -> str:
    """Measure everything and return the card."""
    all_words, everything = read_npm_package(tarball)
    words, unit = select_rows(tarball, sister, count_words(store))
    if (store / VOCABULARY).read_text(encoding="utf-8").split("\n")[:-1] != words:
        raise VectorError(f"{store}: holds other words than the packages give; build it again")
    stored = open_vectors(store).select(words, "exact").rows.astype(np.float64)
    treated = treat(unit)
    place = {word: index for index, word in enumerate(all_words)}
    plain = [word for word in words if word in place]
    selected = everything[[place[word] for word in plain]]
    return _INTRODUCTION + "".join(
        (
            describe_store(store, words, stored),
            describe_agreement(words, {"as published": unit, "treated": treated, "stored (int8)": stored}),
            describe_variants(plain, selected, everything),
            describe_coverage(corpora, words),
            describe_rounding(treated, stored),
            describe_recovery(words, unit, read_sister_package(sister), stored),
        )
    )


def count_words(store: Path) -> int:
    """How many words a store holds."""
    with (store / VOCABULARY).open("rb") as handle:
        return sum(1 for _ in handle)


def main(
    tarball: Annotated[Path, typer.Option(help="The npm package.")],
    sister: Annotated[Path, typer.Option(help="The PyPI wheel.")],
    corpora: Annotated[list[Path] | None, typer.Argument(help="Texts to measure the coverage of.")] = None,
    store: Annotated[Path, typer.Option(help="The set to measure.")] = STORE,
    output: Annotated[Path | None, typer.Option(help="Where the card goes; else into the set.")] = None,
) -> None:
    """Measure the embedded default word vectors; print and write their evaluation card."""
    try:
        check_integrity(tarball, NPM_PACKAGE.integrity)
        check_integrity(sister, SISTER_PACKAGE.integrity)
        card = write_card(store, tarball, sister, corpora or [])
    except (SoftbleuError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    (output or store / "card.md").write_text(card, encoding="utf-8")
    typer.echo(card, nl=False)


if __name__ == "__main__":
    typer.run(main)
