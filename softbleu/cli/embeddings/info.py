"""`softbleu embeddings info`: what a set of vectors is."""

from softbleu.cli.command import Given, command


@command("vectors verify table_format output")
def info(given: Given) -> None:
    """Describe a set of vectors: size, source, licence, content hash, similarity of random words."""
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.catalogue import describe_encoder, describe_vectors
    from softbleu.encoders import is_encoder, open_encoder

    output = given.open_output([given.vectors])
    if is_encoder(given.vectors):
        facts = describe_encoder(open_encoder(given.vectors), verify=given.verify)
    else:
        facts = describe_vectors(open_vectors(given.vectors), verify=given.verify)
    output.write_table((), (), facts, digits=6)
