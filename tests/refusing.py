"""What is refused is refused in one line."""

from collections.abc import Callable
from typing import Any

import pytest


def refused(error: type[Exception], message: str, call: Callable[..., Any], *given: Any, **named: Any) -> str:
    """See that a call ends with such an error, in one line that the pattern, if any, is found in; give that line."""
    with pytest.raises(error, match=message or None) as caught:
        call(*given, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)
