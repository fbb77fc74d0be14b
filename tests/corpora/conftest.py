"""What tests of readers share: files written for them."""

import pytest


@pytest.fixture
def written(tmp_path):
    """Write text, bytes, or lines, and give the name of the file."""

    def write(content, name="file.txt"):
        if not isinstance(content, str | bytes):
            content = "".join(f"{line}\n" for line in content)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(tmp_path / name)

    return write
