import re
import shlex

from softbleu.embeddings import open_vectors
from softbleu.embeddings.catalogue import find_entry, read_catalogue
from softbleu.embeddings.locate import bundled_names
from softbleu.encoders import encoder_names


def test_what_is_known_is_plausible():
    entries = read_catalogue()
    assert len({entry.name for entry in entries}) == len(entries) >= 12
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9.-]+", entry.name)
        assert entry.dimension in {"words": {50, 100, 200, 300}, "encoder": {384, 768}}[entry.kind]
        assert entry.words is None or 50_000 < entry.words <= 3_000_000
        assert entry.download_megabytes is None or 50 < entry.download_megabytes < 3000
        assert entry.address.startswith("https://")
        assert entry.licence
        assert 1 <= len(entry.get) <= 2
        assert all("\n" not in command for command in entry.get)
        # What is converted is what was fetched, and lies where the name says.
        *fetch, last = entry.get
        words = shlex.split(last)
        if words[:3] == ["softbleu", "embeddings", "convert"]:
            assert words[4] == entry.name
            assert not fetch or words[3] in fetch[0] or words[3].removesuffix(".txt") in fetch[0]
            assert "--licence" not in words or words[words.index("--licence") + 1] == entry.licence
        else:
            assert entry.name in last
    names = {entry.name for entry in read_catalogue()}
    assert set(bundled_names()) | set(encoder_names()) <= names
    entry, source = find_entry("glove-6b-100d"), open_vectors("glove-6b-100d")
    assert (entry.words, entry.dimension) == (source.count, source.dimension)
    assert (entry.state, find_entry("glove-840b-300d").state) == ("bundled", "download")
