"""Names of the package, and the modules that have them: a module is loaded when a name of it is first used."""

from . import fractions as fractions
from . import prefixes as prefixes
from . import significance as significance
from . import slices as slices
from . import verdicts as verdicts
from .api import Accumulator as Accumulator
from .api import ScoredStream as ScoredStream
from .api import SegmentScorer as SegmentScorer
from .api import compare as compare
from .api import compare_corpus as compare_corpus
from .api import score as score
from .api import score_corpus as score_corpus
