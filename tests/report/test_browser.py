"""The page in a real browser: headless Chromium."""

import json
import math
import os
import random
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import softbleu
from softbleu.analysis.directions import DirectionTable
from softbleu.cli.app import run
from softbleu.formats import Layout
from softbleu.report.html import directions_page

webdriver = pytest.importorskip("selenium.webdriver", reason="needs chromium: the package selenium is not installed")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

pytestmark = pytest.mark.slow

CANDIDATE = ["the cat sat on a mat", "a small dog barked loudly at night", "rain fell", "", "people who walk home"]
OTHER = ["the dog lay on the mat", "a little hound", "it rained the whole night", "nothing", "men that run home"]
REFERENCE = ["the cat sat on the mat", "a little dog barked at night", "it rained all night", "none", "he runs home"]
SECOND = ["a cat was on the mat", "the small hound barked loudly", "rain fell", "no one", "people walk home"]
IMAGE = "<img src=x onerror=window.hacked=1>"
OPTIONS = {
    "vleu": "--matcher vleu -t 0.8",
    "xleu-add-k": "--matcher xleu -t 0.777 --smooth add-k --denominator all",
    "sleu-floor": "--matcher sleu -t 0.5 --smooth floor --smooth-value 0.3 --effective-order",
    "optimal": "--matcher vleu -t 0.8 --assignment optimal --order 3",
    "morgan2014": "--matcher xleu -t 0.8 --preset morgan2014",
}
SETTINGS = {name: text.split() for name, text in OPTIONS.items()}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs chromium and chromedriver on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("headless=new", "disable-dev-shm-usage", "disable-gpu", "window-size=1280,1000"):
        options.add_argument(f"--{argument}")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()


class Report:
    """A page in the browser."""

    def __init__(self, browser: Any, path: Path, at: str = "", *, folded: bool = False) -> None:
        self.browser = browser
        browser.get_log("browser")
        browser.get("about:blank")  # A page that is there already is only scrolled to the part after "#"
        browser.get(path.as_uri() + at)
        ready = "return !document.getElementById('data') || document.documentElement.dataset.ready === 'yes'"
        self.wait(lambda: self.ask(ready))
        if not folded:
            self.ask("for (const fold of document.querySelectorAll('.fold')) fold.open = true")

    def ask(self, script: str, *arguments: object) -> Any:
        return self.browser.execute_script(script, *arguments)

    def one(self, selector: str) -> Any:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        return self.ask("return Array.from(document.querySelectorAll(arguments[0]), (e) => e.textContent)", selector)

    def values(self, selector: str) -> list[float]:
        script = "return Array.from(document.querySelectorAll(arguments[0]), (e) => Number(e.dataset.value))"
        return self.ask(script, selector)

    def wait(self, condition, seconds: float = 10) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "the page did not get there"
            time.sleep(0.02)

    def slide(self, name: str) -> None:
        """Move the slider as its user does: it reports a new value."""
        script = """
            const slider = document.getElementById("threshold");
            slider.value = data.thresholds.indexOf(arguments[0]);
            slider.dispatchEvent(new Event("input"));
        """
        self.ask(script, name)
        self.wait(lambda: self.ask("return state.threshold === data.thresholds.indexOf(arguments[0])", name))


def write(folder: Path, name: str, lines: list[str]) -> str:
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(folder / name)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("corpus")
    texts = {"A.txt": CANDIDATE, "B.txt": OTHER, "reference.txt": REFERENCE, "second.txt": SECOND}
    paths = [write(folder, name, lines) for name, lines in texts.items()]
    for delay in (3, 5):
        segment = {"prediction": REFERENCE[0], "delays": [delay] * 6, "reference": SECOND[0], "source_length": 6}
        write(folder, f"wait{delay}.log", [json.dumps(segment | {"index": index}) for index in range(3)])
    for name, scores in {"judged": (9, 8, 7, 5, 2, 1), "near": (8, 9, 7, 5, 1, 2), "far": (1, 8, 3, 9, 2, 2)}.items():
        rows = [f"{'ABC'[place // 2]} {place % 2 + 1} {score}" for place, score in enumerate(scores)]
        write(folder, f"{name}.tsv", ["system segment score", *rows])
    return [part for option, path in zip(("-c", "-c", "-r", "-r"), paths, strict=True) for part in (option, path)]


@pytest.fixture
def make_page(browser, tmp_path):
    """Write the page of a command and open it; the browser has nothing to complain about."""

    def call(*arguments: str, at: str = "", folded: bool = False) -> Report:
        path = tmp_path / "report.html"
        assert run([*arguments, "--quiet", "-f", "html", "-o", str(path)]) == 0
        return Report(browser, path, at, folded=folded)

    yield call
    assert browser.get_log("browser") == []


@pytest.fixture
def printed(capsys):
    def call(*arguments: str) -> str:
        capsys.readouterr()
        assert run(["score", "--quiet", *arguments]) == 0
        return capsys.readouterr().out

    return call


def test_it_loads_in_silence_and_loads_nothing_else(browser, make_page, inputs):
    report = make_page("score", *inputs, *SETTINGS["vleu"])
    assert browser.get_log("browser") == []
    assert report.ask("return performance.getEntriesByType('resource').length") == 0
    assert report.texts("#summary") == ["VLEU of 2 systems, 5 lines"]
    # That the log would tell: a script that was smuggled in is stopped, and said to be.
    report.ask("const s = document.createElement('script'); s.textContent = 'hacked = 1'; document.body.append(s)")
    assert report.ask("return window.hacked") is None
    assert "Content Security Policy" in browser.get_log("browser")[0]["message"]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_slider_shows_what_the_command_prints(make_page, printed, inputs, name):
    report = make_page("score", *inputs, *SETTINGS[name])
    own = SETTINGS[name][3]
    for threshold in ("0.00", "0.35", "0.60", "0.95", "1.00", f"{own}0" if len(own) < 4 else own):
        report.slide(threshold)
        assert ("–" in report.texts("#systems td:nth-child(3)")) == (float(threshold) != float(own))
        chosen = [*inputs, *SETTINGS[name], "-t", threshold]
        table = [line.split() for line in printed(*chosen, "-f", "tsv").splitlines()]
        text = [line.split() for line in printed(*chosen).splitlines()[4:6]]
        assert report.texts("#theta") == [threshold]
        assert report.texts("#systems .score") == [line[1] for line in text]
        scores = [float(line[table[0].index("score")]) for line in table[1:]]
        assert report.values("#systems .score") == pytest.approx(scores, rel=1e-12)
        by_segment = json.loads(printed(*chosen, "-f", "json", "--level", "segment"))["systems"]
        pairs = zip(*(system["segments"] for system in by_segment), strict=True)
        expected = [segment["score"] for pair in pairs for segment in pair]
        rows = report.ask("return rows.map((row) => [row.segment, row.number, row.score])")
        assert [score for _, _, score in sorted(rows)] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, in the folders that Node's NODE_PATH names."""
    folders = filter(None, os.environ.get("NODE_PATH", "").split(os.pathsep))
    script = next((path for folder in folders for path in Path(folder).glob("axe-core/axe.min.js")), None)
    if script is None:
        pytest.skip(
            "needs axe-core in a folder of NODE_PATH (npm install --prefix FOLDER axe-core: FOLDER/node_modules)"
        )
    return script.read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    "command",
    [
        "score INPUTS --matcher vleu",
        "compare INPUTS -m softbleu bleu",
        "compare INPUTS -m ter vleu",
        "compare --log wait3.log wait5.log -m chrf laal",
        "score INPUTS -m chrf --level prefix",
        "sweep INPUTS --matcher exact vleu -t 0.5 0.8",
        "explain INPUTS -m vleu",
        "experiments spurious --count 20",
        "metaeval --da judged.tsv --scores near.tsv far.tsv --table metrics --samples 20",
        "metaeval --da judged.tsv --scores near.tsv far.tsv --table differences --samples 20",
    ],
)
def test_axe_finds_no_barrier(browser, make_page, inputs, axe, command, width, scheme, monkeypatch):
    """Rules of WCAG that a program can check."""
    screen = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 800}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        monkeypatch.chdir(Path(inputs[1]).parent)
        report = make_page(*command.replace("INPUTS", " ".join(inputs)).split())
        report.ask(axe)
        found = browser.execute_async_script("axe.run(document).then(arguments[0])")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert found["passes"]
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found["violations"]] == []


def test_keys_move_the_slider_and_a_button_brings_it_back(make_page, inputs):
    report = make_page("score", *inputs, *SETTINGS["vleu"])
    before = report.texts("#systems .score")
    report.one("#threshold").send_keys(Keys.ARROW_LEFT * 30)
    report.wait(lambda: report.texts("#theta") == ["0.50"])
    assert report.one("#threshold").get_attribute("aria-valuetext") == "0.50"
    assert report.texts("#systems .score") != before
    report.one("#back").click()
    assert report.texts("#theta") == ["0.80"]
    assert report.texts("#systems .score") == before


def test_segments_are_sorted_by_a_click_on_a_head(make_page, inputs):
    report = make_page("score", *inputs, *SETTINGS["vleu"])
    segments, head = "#segments td:first-child", "#segments th[data-key={}]"
    assert report.texts(segments) == [number for number in "12345" for _ in "AB"]
    report.one(head.format("score") + " button").click()
    scores = report.values("#segments .score")
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 3
    assert report.one(head.format("score")).get_attribute("aria-sort") == "descending"
    report.one(head.format("score") + " button").send_keys(Keys.ENTER)
    assert report.values("#segments .score") == sorted(scores)
    assert report.one(head.format("score")).get_attribute("aria-sort") == "ascending"
    # It stays sorted when the scores change.
    report.slide("0.30")
    changed = report.values("#segments .score")
    assert changed == sorted(changed)
    assert changed != sorted(scores)
    report.one(head.format("segment") + " button").click()
    assert report.one(head.format("score")).get_attribute("aria-sort") is None
    assert report.texts(segments) == sorted(report.texts(segments))
    report.one("#systems th[data-key=name] button").click()
    report.one("#systems th[data-key=name] button").click()
    assert report.texts("#systems td:first-child") == ["B", "A"]


def test_hostile_text_stays_text(make_page, tmp_path):
    hostile = [
        "<script>window.hacked = 1</script> </script><!-- &lt;b&gt; \"double\" 'single' `tick` ${1} {{data}}",
        f"{IMAGE} \u202eevil\u202c \u2067left\u2069 \u200fmark",
        "שלום עולם abc __proto__ constructor",
    ]
    candidate = write(tmp_path, f"{IMAGE}.txt", hostile)
    reference = write(tmp_path, "reference.txt", [f"{line} <b>more</b>" for line in hostile])
    report = make_page("score", "-c", candidate, "-r", reference, *SETTINGS["vleu"], "--tokenize", "none")
    report.slide("0.40")
    assert report.texts("#segments .candidate bdi") == hostile
    assert report.texts("#segments .reference bdi") == [f"{line} <b>more</b>" for line in hostile]
    assert report.texts("#systems td:first-child") == [IMAGE]
    assert report.ask("return [document.scripts.length, document.images.length, window.hacked]") == [7, 0, None]
    assert report.ask("return document.querySelectorAll('#segments b, #systems b').length") == 0
    script = "return Array.from(document.querySelectorAll('.candidate bdi'), (e) => getComputedStyle(e).direction)"
    assert report.ask(script) == ["ltr", "ltr", "rtl"]
    # A word that would turn the text after it around is kept to itself.
    assert report.texts(".candidate .controls") == ["\u202eevil\u202c", "\u2067left\u2069"]


def test_matches_are_marked(make_page, inputs):
    report = make_page("score", *inputs[:2], *inputs[4:6], *SETTINGS["vleu"], at="#mark=1")
    first, second = ("#segments tbody tr:nth-child(1)", "#segments tbody tr:nth-child(2)")
    assert report.texts(f"{first} .candidate .none") == ["a"]
    assert report.texts(f"{first} .reference .missed") == ["the"]
    report.slide("0.40")
    assert "small" in report.texts(f"{second} .candidate .soft")
    assert "little" in report.texts(f"{second} .reference .soft")
    report.slide("1.00")
    assert report.texts("#segments tbody .soft") == []
    assert report.texts(f"{first} .candidate .none") == ["a"]
    report.one("#orders input[value='4']").click()
    assert report.texts(f"{first} .candidate .none") == ["a", "mat"]
    assert len(report.texts(f"{second} .candidate .none")) == 7


def test_pointing_frames_an_n_gram_and_what_it_met(browser, make_page, inputs):
    report = make_page("score", *inputs[:2], *inputs[4:], *SETTINGS["vleu"], at="#mark=1")
    second = "#segments tbody tr:nth-child(2)"
    line = report.one(f"{second} .candidate")
    webdriver.ActionChains(browser).move_to_element(line.find_elements(By.CSS_SELECTOR, ".token")[1]).perform()
    assert report.texts("#segments .active") == ["small", "small"]  # The reference stands first
    assert report.texts("#met") == ["small matches small in reference 2: exact"]
    met = report.one(f"{second} .reference:nth-of-type(2)").find_elements(By.CSS_SELECTOR, ".token")[2]
    webdriver.ActionChains(browser).move_to_element(met).perform()
    assert report.texts("#met")[0].startswith(f"{met.text}")
    report.one("#orders input[value='2']").click()
    assert report.texts("#segments .active") == []
    line = report.one(f"{second} .candidate")
    report.ask("arguments[0].focus({ focusVisible: true })", line)
    line.send_keys(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert report.texts(f"{second} .candidate .active") == ["dog", "barked"]
    assert report.texts("#met") == ["dog barked matches dog barked in reference 1: exact"]
    line.send_keys(Keys.END)
    assert report.texts(f"{second} .candidate .active") == ["at", "night"]
    line.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert report.texts("#met")[0].startswith("barked loudly matches barked loudly in reference 2")


def test_a_bar_divides_the_score_and_marks_say_what_they_mean(browser, make_page, inputs):
    report = make_page("score", *inputs[:2], *inputs[4:], *SETTINGS["vleu"])
    said = report.one("#gain .bar").get_attribute("aria-label")
    score, *points = [float(number) for number in re.findall(r"[0-9]+\.[0-9]", said)]
    assert sum(points) == pytest.approx(score, abs=0.11)
    assert report.texts("#gain .part b") == [f"{number:.1f}" for number in points]
    assert report.texts("#gain-kinds .number") == [f"{number:.1f}" for number in points[1:]]
    credit = report.ask(
        "return [1, 2, 3, 4].map((n) => rows.flatMap((row) => matchesOf(row, n).filter((k) => !isExact(row, k, n)))"
        ".reduce((sum, k) => sum + columns.mass[k], 0))"
    )
    opened = report.one("#orders input:checked").get_attribute("value")
    assert opened == str(1 + credit.index(max(credit))) != "1"
    report.one("#orders input[value='1']").click()
    assert report.texts("#legend .token:not([hidden])")[0] == "no match"
    report.one("#orders input[value='4']").click()
    assert report.texts("#legend .none, #legend .missed") == [
        "in no matching 4-gram",
        "reference: in no matched 4-gram",
    ]
    line = report.one("#segments tbody tr:nth-child(2) .candidate")
    report.ask("arguments[0].focus({ focusVisible: true })", line)
    line.send_keys(Keys.END)
    (met,) = report.texts("#met")
    assert "no matching 4-gram; closest that is free: " in met
    assert float(met.split("(similarity ")[1][:6]) <= 0.8


def test_searching_choosing_and_paging(make_page, tmp_path):
    lines = [f"line number {number} of {'many' if number % 2 else 'Others'}" for number in range(1, 121)]
    one, other, reference = (write(tmp_path, name, lines) for name in ("A.txt", "B.txt", "reference.txt"))
    report = make_page("score", "-c", one, "-c", other, "-r", reference)
    assert report.texts("#place") == ["1 to 50 of 240"]
    assert not report.one("#previous").is_enabled()
    report.one("#next").click()
    assert report.texts("#place") == ["51 to 100 of 240"]
    report.one("#system option[value='1']").click()
    assert report.texts("#place") == ["1 to 50 of 120"]
    assert set(report.texts("#segments tbody td:nth-child(2)")) == {"B"}
    report.one("#search").send_keys("OTHERS")
    assert report.texts("#place") == ["1 to 50 of 60"]
    report.one("#next").click()
    assert report.texts("#place") == ["51 to 60 of 60"]
    assert not report.one("#next").is_enabled()
    report.one("#search").send_keys(" nowhere")
    assert report.texts("#place") == ["nothing found"]
    assert report.texts("#segments tbody tr") == []


def test_a_comparison_answers_first(make_page, inputs, tmp_path):
    """Verdict, ranking, histogram and the lines that differ most stand before the lines, and follow the system."""
    third = write(tmp_path, "C.txt", REFERENCE)
    options = [
        *inputs,
        "-c",
        third,
        *SETTINGS["vleu"],
        "-m",
        "bleu",
        "chrf",
        "--baseline",
        "B",
        "--correction",
        "none",
    ]
    report = make_page("compare", *options)
    assert report.texts("#verdict")[0].startswith(
        "Too few lines to test (5, of at least 30): C has the best VLEU at 0."
    )
    assert "95% interval" in report.texts("#facts")[0]
    scores = report.values("#ranking .score")
    assert (len(scores), scores) == (3, sorted(scores, reverse=True))
    lines = report.ask("return data.verdict.systems.map((one) => one && one.wins + one.ties + one.losses)")
    assert lines == [5, None, 5]
    assert report.texts("#agreement td:first-child") == ["chrF"]
    strong = "return Array.from(document.querySelectorAll('#gains .card strong'), (e) => parseFloat(e.textContent))"
    gains = report.ask(strong)
    # By what they add to the corpus score: lines of fewer than six words are not among them.
    found = zip(report.values("#segments .difference"), report.ask("return data.verdict.effects[2]"), strict=True)
    long = [pair for pair, text in zip(found, REFERENCE, strict=True) if len(text.split()) >= 6]
    assert gains == pytest.approx([gain for gain, _ in sorted(long, key=lambda pair: -pair[1])], abs=0.01)
    places = "['verdict', 'ranking', 'gains', 'segments'].map((id) => at(id).getBoundingClientRect().top)"
    tops = report.ask(f"return {places}")
    assert tops == sorted(tops)
    bars = report.ask("return data.verdict.counts[2].map((number) => number.toLocaleString('en'))")
    assert report.texts("#spread .count") == bars
    reach = report.ask("return String(5 * data.verdict.step)")
    assert {f"≤ −{reach}", f"≥ {reach}"} < {*report.texts("#spread text")}
    report.one("#ranking tbody tr:nth-child(2) button").click()
    assert report.texts("#facts")[0].startswith("A − B = ")
    assert report.texts("#segments th")[1:3] == ["B", "A"]


def test_folds_are_closed_until_a_link_leads_into_them(browser, make_page, tmp_path):
    """A link to a line or a section stays in the address, and the back button leads back."""
    reference = [f"the {number} cats sat on a long mat" for number in range(60)]
    systems = {
        f"system_{n:02}_of__many": [line.replace("cats", "dogs" * (k % 26 < n)) for k, line in enumerate(reference)]
        for n in range(26)
    }
    files = [write(tmp_path, f"{name}.txt", lines) for name, lines in systems.items()]
    options = (
        "-c",
        *files,
        "-r",
        write(tmp_path, "reference.txt", reference),
        "-m",
        "chrf",
        "--samples",
        "9",
        "--trials",
        "9",
    )
    report = make_page("compare", *options, folded=True)
    assert report.ask("return document.documentElement.scrollHeight") <= 4000
    opened = "return Array.from(document.querySelectorAll('.fold[open]'), (fold) => fold.id)"
    assert report.ask(opened) == []
    assert report.texts("#contents a") == ["Verdict", "Lines", "Why", "Tables"]
    report.one("#contents a[href='#tables']").click()
    assert report.ask(opened) == ["tables"]
    line = report.one("#where a")
    number = line.text.removeprefix("line ")
    line.click()
    assert (report.ask(opened), report.ask("return location.hash")) == (["lines", "tables"], f"#line={number}")
    browser.back()
    report.wait(lambda: report.ask("return location.hash") == "#tables")
    assert report.texts("#segments .target") == []
    for at, fold in (("#line=7", "lines"), ("#table-0", "tables"), ("#why", "why")):
        report = make_page("compare", *options, at=at, folded=True)
        assert (report.ask(opened), report.ask("return location.hash")) == ([fold], at)
    # Names are whole, in heads as well.
    assert {*report.texts("#ranking tbody th")} == {*systems}
    assert {*systems} < {*report.texts("#why th")}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print_has_names_intervals_ranks_and_tables_black_on_white(browser, make_page, inputs, scheme):
    report = make_page("compare", *inputs, *SETTINGS["vleu"], "-m", "bleu", folded=True)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    shown = """
        const wide = (part) => part.getBoundingClientRect().width;
        const seen = (part) => part.checkVisibility({ contentVisibilityAuto: true }) && wide(part);
        return Array.from(document.querySelectorAll(arguments[0])).filter(seen).map((part) => part.innerText);
    """
    try:
        assert report.ask(shown, "#ranking tbody th bdi") == ["A", "B"]
        intervals = report.ask(
            "return rankedSystems().map((system) => system.interval.map((end) => fixed(end, 2)).join(' to '))"
        )
        ranks = report.ask("return rankedSystems().map((system) => system.ranks.join('–'))")
        assert report.ask(shown, "#ranking td.more") == [
            part for row in zip(intervals, ranks, strict=True) for part in row
        ]
        assert report.ask(shown, "#tables h3")[:2] == ["Scores in detail", "VLEU: differences of pairs"]
        assert report.ask(shown, "#systems th")[:2] == ["System", "VLEU"]
        assert report.ask(shown, "#why td")
        assert report.ask(shown, "#segments td") == report.ask(shown, "button:not(th button)") == []
        colours = report.ask("const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
        assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


@pytest.mark.parametrize("threshold", ["0.00", "0.37", "0.777", "1.00"])
def test_the_thumb_of_the_slider_stands_below_the_line_of_the_curve(make_page, inputs, threshold):
    report = make_page("score", *inputs[:2], *inputs[4:6], *SETTINGS["xleu-add-k"])
    report.slide(threshold)
    thumb, line = report.ask("""
        const [slider, line] = ["threshold", "curve-place"].map((id) => at(id).getBoundingClientRect());
        const share = at("threshold").value / at("threshold").max;
        return [slider.left + 8 + (slider.width - 16) * share, line.left + line.width / 2];
    """)
    assert thumb == pytest.approx(line, abs=1)
    assert report.texts("#curve .value") == report.texts("#systems .score")
    numbers = [text for text in report.texts("#curve text:not(.value)") if text[0].isdigit()]
    assert numbers[-6:] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert all(len(text) < 4 for text in numbers)


def test_a_score_begins_with_its_exact_twin_and_its_curve(make_page, printed, inputs):
    report = make_page("score", *inputs[:2], *inputs[4:], *SETTINGS["vleu"])
    exact = printed(*inputs[:2], *inputs[4:], "-b").split()[0]
    score = printed(*inputs[:2], *inputs[4:], *SETTINGS["vleu"], "-b").split()[0]
    assert report.texts("#verdict")[0].startswith(f"VLEU {float(score):.2f}")
    assert f"exact matches only: {float(exact):.2f}" in report.texts("#facts")[0]
    before = report.ask("return at('curve-place').getAttribute('d')")
    report.slide("0.20")
    assert report.ask("return at('curve-place').getAttribute('d')") != before
    assert not report.one("#overview").is_displayed()


def test_a_link_keeps_the_state_of_a_page(make_page, inputs):
    report = make_page("compare", *inputs, *SETTINGS["vleu"])
    report.slide("0.35")
    report.one("#filter option[value='different']").click()
    report.one("#search").send_keys("hound")
    report.one("#orders input[value='2']").click()
    link = report.ask("return location.hash")
    again = make_page("compare", *inputs, *SETTINGS["vleu"], at=link)
    assert again.texts("#theta") == ["0.35"]
    assert again.one("#filter").get_attribute("value") == "different"
    assert again.one("#search").get_attribute("value") == "hound"
    assert again.one("#orders input:checked").get_attribute("value") == "2"
    assert again.texts("#segments tbody td:first-child") == ["2"]
    plain = make_page("compare", *inputs, *SETTINGS["vleu"], at="#system=A&threshold=odd&mark=9&filter=none")
    assert plain.texts("#theta") == ["0.80"]
    assert plain.texts("#place") == ["1 to 5 of 5"]


def test_tables_are_saved(make_page, inputs):
    report = make_page("compare", *inputs, "-m", "bleu", "chrf")
    report.ask("""
        window.saved = [];
        HTMLAnchorElement.prototype.click = function () { saved.push([this.download]); };
        URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return "blob:none"; };
    """)
    for button in ("#save-systems", "#save-lines", "#why button"):
        report.one(button).click()
    report.wait(lambda: len(report.ask("return saved")) == 6)
    saved = report.ask("return saved")
    texts = [text for text in saved if isinstance(text, str)]
    assert [name for text in saved if isinstance(text, list) for name in text][:2] == ["scores.csv", "lines.csv"]
    assert texts[0].splitlines()[0].startswith("rank,system,score,lower,upper")
    exact = report.ask("return data.systems.map((system) => system.score)")
    assert sorted(float(line.split(",")[2]) for line in texts[0].splitlines()[1:]) == pytest.approx(sorted(exact))
    assert len(texts[1].splitlines()) == 6


def test_a_link_leads_to_a_line(make_page, tmp_path):
    lines = [f"line number {number}" for number in range(1, 121)]
    one, other, reference = (write(tmp_path, name, lines) for name in ("A.txt", "B.txt", "reference.txt"))
    report = make_page("compare", "-c", one, other, "-r", reference, "--samples", "5", at="#s117")
    assert report.texts("#place") == ["101 to 120 of 120"]
    assert report.texts("#segments .target td:first-child") == ["117"]
    report.ask("location.hash = '#s3'")
    report.wait(lambda: report.texts("#segments .target td:first-child") == ["3"])
    report.ask("location.hash = '#s999'")
    report.wait(lambda: report.texts("#segments .target") == [])


def test_without_a_threshold_there_is_no_slider(make_page, printed, inputs, tmp_path):
    report = make_page("score", *inputs)
    # Numbers are rounded as Python does.
    chance = random.Random(7)
    numbers = [0.5, 1.5, 2.5, 12.125, 12.375, 0.0, 100.0, 99.995, 0.045, 1.005, 3.0625]
    numbers += [chance.random() * 100 for _ in range(300)]
    for digits in (0, 1, 2, 3, 15):
        shown = report.ask(f"return arguments[0].map((number) => fixed(number, {digits}))", numbers)
        assert shown == [f"{number:.{digits}f}" for number in numbers]
    assert not report.one("#slider").is_displayed()
    assert report.texts("#slider-note") == [""]
    assert report.texts("#segments tbody tr:nth-child(2) .candidate .none") == ["dog", "lay"]
    assert report.texts("#systems .score") == [line.split()[1] for line in printed(*inputs).splitlines()[4:6]]
    report = make_page("score", *inputs, "--metric", "gleu", "--source", write(tmp_path, "source.txt", OTHER))
    assert not report.one("#slider").is_displayed()
    assert report.one("#orders input:checked").get_attribute("value") == "0"
    assert not report.one("#slider-note").is_displayed()
    report.one("#orders input[value='1']").click()
    assert report.one("#slider-note").text.startswith("Matches are against all references")
    assert len(report.texts("#segments .source")) == 10
    assert all(math.isfinite(score) for score in report.values("#segments .score"))


def test_two_systems_side_by_side(browser, make_page, printed, inputs):
    report = make_page(
        "compare", *inputs, *SETTINGS["vleu"], "-m", "bleu", "chrf", "--title", "A or B?", at="#mark=1"
    )
    assert browser.title == "A or B?"
    assert report.texts("#title") == ["A or B?"]
    heads = report.texts("#segments th")
    assert heads == ["Line", "A", "B", "Difference", "Texts"]
    by_segment = json.loads(printed(*inputs, *SETTINGS["vleu"], "-f", "json", "--level", "segment"))["systems"]
    one, other = ([each["score"] for each in system["segments"]] for system in by_segment)
    expected = [b - a for a, b in zip(one, other, strict=True)]
    assert report.values("#segments .difference") == pytest.approx(expected, abs=1e-9)
    first = "#segments tbody tr:nth-child(1)"
    assert report.texts(f"{first} .candidate bdi") == [CANDIDATE[0], OTHER[0]]
    assert report.texts(f"{first} .reference bdi") == [REFERENCE[0], SECOND[0]]
    assert report.texts(f"{first} .parts")[0].startswith("chrF ")
    # Words of the references that only one of both met.
    assert report.texts(f"{first} .reference .first-only") == ["sat", "a"]
    assert report.texts(f"{first} .candidate .first-only") == ["sat", "a"]
    assert report.texts(f"{first} .second-only") == []
    report.one("#segments th[data-key=difference] button").click()
    assert report.values("#segments .difference") == pytest.approx(sorted(expected), abs=1e-9)
    report.one("#filter option[value='second']").click()
    assert report.values("#segments .difference") == pytest.approx(sorted(x for x in expected if x > 0), abs=1e-9)
    report.one("#filter option[value='all']").click()
    report.one("#search").send_keys("hound")
    assert report.texts("#segments tbody td:first-child") == ["2"]
    report.one("#system option[value='-1']").click()
    assert report.texts("#segments th")[1] == "System"


def test_words_that_one_system_has_right_are_marked_for_every_metric(make_page, inputs, tmp_path):
    page = make_page("compare", *inputs[:6], "-m", "chrf")
    first = "#segments tbody tr:first-child "
    assert page.texts(f"{first}.reference .first-only") == ["cat", "sat"]
    assert page.texts(f"{first}.candidate .first-only") == ["cat", "sat"]
    assert page.texts(f"{first}.candidate .second-only") == ["the"]
    assert page.texts(f"{first}.candidate .none") == ["a", "dog", "lay"]
    assert page.texts(f"{first}.reference .second-only") == ["the"]
    chinese = [write(tmp_path, f"{n}.txt", [line]) for n, line in enumerate(("西索对土地", "西水", "西索的土地"))]
    page = make_page("compare", "-c", *chinese[:2], "-r", chinese[2], "-m", "chrf")
    assert page.texts("#segments .candidate bdi") == ["西索对土地", "西水"]
    assert page.texts("#segments .reference .first-only") == ["索", "土", "地"]
    assert page.ask("return document.querySelector('.reference bdi').lang") == "zh"


def test_marks_are_pointed_at(browser, make_page, tmp_path):
    gold = write(tmp_path, "gold.m2", ["S he eat a apple", "A 1 2|||Vform|||eats|||REQUIRED|||-NONE-|||0", ""])
    system = write(tmp_path, "system.txt", ["he eats a apple"])
    report = make_page("compare", "-c", system, "--gold", gold, "-m", "m2", "--samples", "5")
    assert report.texts("#segments [data-kind=hit]") == ["eat", "eats"]  # The source stands first
    assert report.one("#filter").get_attribute("value") == "marked"
    token = report.one("#segments .candidate [data-kind=hit]")
    webdriver.ActionChains(browser).move_to_element(token).perform()
    assert report.texts("#met") == ["eats: hit, Vform: 1 word becomes “eats”"]
    assert report.texts("#segments .active") == ["eat", "eats"]
    line = report.one("#segments .candidate")
    report.ask("arguments[0].focus({ focusVisible: true })", line)
    line.send_keys(Keys.HOME)
    assert report.texts("#met") == ["he: nothing marked"]


def test_spans_are_marked_by_more_than_colour(browser, make_page, inputs, tmp_path):
    rows = ("system\tsegment\tstart\tend\tseverity", "A\t1\t4\t7\tminor", "A\t1\t15\t20\tmajor", "A\t2\t2\t7\t")
    marked = write(tmp_path, "judges.tsv", list(rows))
    report = make_page("score", *inputs[:2], *inputs[4:6], "-m", "chrf", "--spans", marked)
    style = """
        const [style, plain] = [getComputedStyle(arguments[0]), getComputedStyle(arguments[0].parentElement)];
        return [arguments[0].textContent, style.textDecorationStyle, style.fontWeight > plain.fontWeight]
    """
    script = "return Array.from(document.querySelectorAll('#segments .candidate [data-kind]'))"
    found = [report.ask(style, mark) for mark in report.ask(script)]
    dotted, double = "dotted", "double"
    assert found == [["cat", dotted, False], ["a", double, True], ["mat", double, True], ["small", dotted, False]]
    webdriver.ActionChains(browser).move_to_element(report.one("#segments [data-kind=major]")).perform()
    assert report.texts("#met") == ["a: major, by judges"]
    report.one("#filter option[value='marked']").click()
    assert report.texts("#segments tbody td:first-child") == ["1", "2"]
    both = make_page("compare", *inputs[:4], *inputs[4:6], "-m", "chrf", "--spans", marked, "--samples", "5")
    assert len(both.texts("#segments tbody tr:first-child .reference")) == 1


def test_similarities_of_tokens(make_page, inputs):
    report = make_page("compare", *inputs, "-m", "softbleu", "--samples", "5")
    report.one("#segments .heat summary").click()
    report.wait(lambda: report.texts("#segments .similarities"))
    heads = report.texts("#segments .similarities tr:first-child th")
    assert heads == [*REFERENCE[0].split(), "P"]
    assert report.texts("#segments .similarities tr:nth-child(2) td:last-child") == ["1.00"]
    assert len(report.texts("#segments .heat")) == 10


def test_hostile_names_and_tables(browser, make_page, tmp_path):
    title = "<script>window.hacked = 1</script>"
    hostile = [f"{title} </script>", "\u202eevil <b>bold</b>"]
    odd = write(tmp_path, f"{IMAGE}.txt", hostile)
    other, reference = (write(tmp_path, f"{name}.txt", hostile[::-1]) for name in ("b", "reference"))
    texts = ("-c", odd, other, "-r", reference, "--tokenize", "none", "--samples", "5")
    report = make_page("compare", *texts, "--title", title)
    assert browser.title == title
    script = "return [document.images.length, window.hacked, document.querySelectorAll('main bdi b').length]"
    assert report.ask(script) == [0, None, 0]
    assert IMAGE in report.texts("#tables bdi")
    # Links lead to all tables of the fold; no column is cut off.
    assert report.texts("#table-links a") == report.texts("#tables h3")
    report.one("#table-links a[href='#table-0']").click()
    assert report.ask("return document.getElementById('table-0').getBoundingClientRect().top") < 1000
    cut = "return Array.from(document.querySelectorAll('.scroll'), (e) => e.scrollWidth - e.clientWidth)"
    assert {*report.ask(cut)} == {0}


def test_a_narrow_screen_scrolls_tables_only_and_both_colour_schemes_can_be_read(browser, make_page, inputs):
    report = make_page("score", *inputs, *SETTINGS["vleu"])
    for scheme, sign in (("light", 1), ("dark", -1)):
        feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
        found = report.ask("const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
        text, behind = (sum(map(int, colour[4:-1].split(","))) for colour in found)
        assert sign * (behind - text) > 400
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    screen = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        assert report.ask("return [innerWidth, document.documentElement.scrollWidth]") == [360, 360]
        wide = (
            "const box = document.querySelector('#systems').parentElement; return box.scrollWidth > box.clientWidth"
        )
        assert report.ask(wide)
        assert report.ask("return document.querySelector('#segments .texts').clientWidth") > 300
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_directions_are_sorted(browser, tmp_path):
    """By a click on a head, and the other way by the next; a system without a score stays last."""
    texts = {"A": ["a b c d e"], "B": ["a b c d x"], "C": ["a b x y z"]}
    scored = {result.name: result for result in softbleu.score(texts, ["a b c d e"], metrics="chrf")}
    table = DirectionTable(("en-cs", "en-de"), {"chrF": {"en-cs": scored, "en-de": {n: scored[n] for n in "BC"}}})
    path = tmp_path / "page.html"
    path.write_text("".join(directions_page(table, Layout(), {"en-cs": "page.en-cs.html"})), encoding="utf-8")
    browser.get(path.as_uri())
    orders = []
    for _ in range(2):
        browser.find_elements(By.CSS_SELECTOR, "th button")[2].click()
        names = browser.find_elements(By.CSS_SELECTOR, "tbody th")
        orders.append("".join(name.text for name in names))
    assert orders == ["BCA", "CBA"]
    assert browser.find_element(By.CSS_SELECTOR, "tbody a").get_attribute("href").endswith("/page.en-cs.html")
