"""A toy agent of SimulEval, for docs/guide/simultaneous.md. It translates better if it waits for more words."""

from argparse import ArgumentParser

from simuleval.agents import TextToTextAgent
from simuleval.agents.actions import ReadAction, WriteAction
from simuleval.utils import entrypoint

HASTY = {"kočka": "the cat sat on a mat", "celý": "it rained the whole day"}
CAREFUL = {"kočka": "a cat sat on a mat", "celý": "it rained all day"}


@entrypoint
class Toy(TextToTextAgent):
    """Waits for some words, then writes a word for each that it reads."""

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """Add the number of words to wait for."""
        parser.add_argument("--wait", type=int)

    def policy(self) -> ReadAction | WriteAction:
        """Read a word, or write one; at the end, write all others."""
        read, written = self.states.source, len(self.states.target)
        ended = self.states.source_finished
        if len(read) < self.args.wait + written and not ended:
            return ReadAction()
        words = (HASTY if self.args.wait < 4 else CAREFUL)[read[0]].split()
        return WriteAction(" ".join(words[written:] if ended else words[written : written + 1]), finished=ended)
