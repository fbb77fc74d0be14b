"""Names of the package, and the modules that are loaded when they are first used."""

from . import answers as answers
from . import charts as charts
from . import comparisons as comparisons
from . import curve_page as curve_page
from . import curves as curves
from . import html as html
from . import metric_ranks as metric_ranks
from . import plots as plots
from .comparisons import COMPARERS as COMPARERS
from .curves import curve_records as curve_records
from .curves import prefix_records as prefix_records
from .formats import PAGES as PAGES
from .formats import Layout as Layout
from .pages import make_comparison_page as make_comparison_page
from .pages import make_page as make_page
from .scores import WRITERS as WRITERS
