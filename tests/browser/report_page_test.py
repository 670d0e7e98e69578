"""The report page in headless Chromium: quiet, offline, sortable by keyboard, inert, legible."""

import csv
import io
import json
import os
import socket

import pytest
from conftest import SAMPLES, make_page

FIGURES = [
    figure for name in ("zeroshot", "compare", "match") for figure in json.loads((SAMPLES / f"{name}.json").read_text())["figures"]
]


def drawable(figure):
    """The marks that a figure shows, as analysis/figure.h has it."""
    if figure["kind"] in ("lines", "scatter"):
        return [mark for mark in figure["marks"] if "position" in mark]
    if figure["kind"] == "chord":
        return [mark for mark in figure["marks"] if mark["value"]]
    return figure["marks"]


def keep(page, name):
    """PROBE_SCREENSHOTS names a folder for those who want to look."""
    if os.environ.get("PROBE_SCREENSHOTS"):
        page.screenshot(path=f"{os.environ['PROBE_SCREENSHOTS']}/{name}.png", full_page=True)


def test_no_errors_and_no_requests(open_page, page_file):
    page = open_page(page_file)
    keep(page, "light")
    assert page.wrong == []
    assert [url for url in page.requests if not url.startswith("data:")] == [page_file.as_uri()]


def test_every_figure_has_its_marks(open_page, page_file):
    page = open_page(page_file)
    figures = page.query_selector_all("figure")
    assert [figure.get_attribute("data-kind") for figure in figures] == [figure["kind"] for figure in FIGURES]
    assert {figure["kind"] for figure in FIGURES} == {"bars", "lines", "scatter", "heatmap", "chord"}
    for element, figure in zip(figures, FIGURES):
        marks = drawable(figure)
        assert len(element.query_selector_all("svg .mark")) == len(marks), figure["title"]
        words = [text.text_content() for text in element.query_selector_all("svg text")]
        assert words.count("unknown") == sum(mark["value"] is None for mark in marks), figure["title"]
        if figure["kind"] in ("bars", "scatter"):
            assert len(element.query_selector_all("svg .whisker")) == sum("low" in mark for mark in marks)
        groups = {mark.get("group", "") for mark in marks}
        assert len(element.query_selector_all("svg[role=img]")) == len(groups), figure["title"]


def test_bars_are_as_long_as_their_values(open_page, page_file):
    page = open_page(page_file)
    figure = page.query_selector("figure")
    widths = [float(bar.get_attribute("width")) for bar in figure.query_selector_all("svg .mark rect")]
    values = [mark["value"] for mark in FIGURES[0]["marks"] if mark["value"] is not None]
    unit = widths[0] / values[0]
    assert widths == pytest.approx([unit * value for value in values])


def test_figures_speak(open_page, page_file):
    page = open_page(page_file)
    for svg in page.query_selector_all("figure svg[role=img]"):
        names = [page.text_content("#" + name) for name in svg.get_attribute("aria-labelledby").split()]
        assert len(names) == 2 and all(names)
    for element, figure in zip(page.query_selector_all("figure"), FIGURES):
        element.query_selector("summary").click()
        more = element.query_selector("details button:text('Show all')")
        if more:
            more.click()
        assert len(element.query_selector_all("details tbody tr")) == len(figure["marks"])
    assert page.get_attribute("html", "lang") == "en"


def test_tables_sort_by_keyboard(open_page, page_file):
    page = open_page(page_file)
    table = page.locator("#result-0-table-2 table")
    margin = table.locator("th").nth(3)
    items = lambda: [cell.text_content() for cell in table.locator("tbody td.item").all()]
    assert margin.get_attribute("aria-sort") == "none"
    table.locator("th button").nth(2).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert margin.get_attribute("aria-sort") == "ascending"
    assert items() == ["kiwi-01", "banana-02", "kiwi-02"]  # unknown last
    assert page.text_content("#status") == "sorted by margin, ascending"
    page.keyboard.press("Space")
    assert margin.get_attribute("aria-sort") == "descending"
    assert items() == ["banana-02", "kiwi-01", "kiwi-02"]  # and last again
    page.keyboard.press("Enter")
    assert margin.get_attribute("aria-sort") == "none"
    assert items() == ["kiwi-01", "banana-02", "kiwi-02"]
    assert page.locator("th button").count() == page.locator("th").count() > 20


def test_the_keyboard_reaches_everything(open_page, page_file):
    page = open_page(page_file)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    assert reached >= {"A", "BUTTON", "SUMMARY"}


def test_long_tables_show_the_rest_when_asked(open_page, page_file):
    page = open_page(page_file)
    block = page.locator("#result-2-table-1")
    assert block.locator("tbody tr").count() == 100
    block.locator("button:text('Show all 120 rows')").click()
    assert block.locator("tbody tr").count() == 120


def test_pictures_stand_by_their_items(open_page, page_file):
    page = open_page(page_file)
    errors = page.locator("#result-0-table-2 td.item img")
    assert errors.count() == 3
    strips = page.locator("#result-2-table-1 .strip")
    assert strips.count() == 4
    assert strips.first.locator("img").count() == 31  # the query and its thirty neighbours
    for image in page.query_selector_all("img"):
        assert image.evaluate("async image => (await image.decode(), Math.max(image.naturalWidth, image.naturalHeight))") == 96


def test_csv_is_taken_out_as_the_program_writes_it(open_page, page_file):
    page = open_page(page_file)
    with page.expect_download() as download:
        page.locator("#result-0-table-0 button:text('Download CSV')").click()
    assert download.value.suggested_filename == "choice_by_condition.csv"
    rows = list(csv.DictReader(io.StringIO(open(download.value.path(), newline="").read())))
    assert rows[0]["condition"] == "original"
    assert (rows[0]["accuracy_correct"], rows[0]["accuracy_total"]) == ("188", "222")
    assert float(rows[0]["accuracy_percent"]) == pytest.approx(100 * 188 / 222, abs=1e-5)
    assert rows[2]["chance_percent"] == ""
    page.locator("#result-0-table-0 button:text('Copy Markdown')").click()
    page.wait_for_function("document.getElementById('status').textContent.endsWith('copied')")
    assert page.wrong == []


def test_light_dark_and_print(open_page, page_file):
    paper = lambda page: page.evaluate("getComputedStyle(document.body).backgroundColor")
    page = open_page(page_file)
    light = paper(page)
    page.click("#theme")
    dark = paper(page)
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(21, 24, 28)")
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.emulate_media(media="print")
    assert paper(page) == light  # whatever the screen has
    assert not page.is_visible("nav") and not page.is_visible(".actions") and page.is_visible("#result-2-provenance")
    page = open_page(page_file, dark=True)
    keep(page, "dark")
    assert paper(page) == dark
    page.click("#theme")
    assert paper(page) == light


def contrast(first, second):
    """WCAG 2.2, 1.4.3."""

    def luminance(color):
        parts = [int(part) / 255 for part in color[4:-1].split(",")]
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_contrast(open_page, page_file, dark):
    page = open_page(page_file, dark=dark)
    style = lambda selector, key: page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).{key}")
    paper, panel = style("body", "backgroundColor"), style(".card", "backgroundColor")
    for selector in ("body", ".note", ".from", ".rest", "td.unknown", "nav a", "summary"):
        assert contrast(style(selector, "color"), paper) >= 4.5, selector
    assert contrast(style(".card dt", "color"), panel) >= 4.5
    assert contrast(style(".warnings", "color"), style(".warnings", "backgroundColor")) >= 4.5
    page.evaluate(
        "document.getElementById('main').insertAdjacentHTML('beforeend',"
        " '<svg id=colors>' + [0,1,2,3,4,5,6,7].map(i => `<rect class=f${i} />`).join('') + '</svg>')"
    )
    for i in range(8):
        assert contrast(style(f"#colors .f{i}", "fill"), paper) >= 3, i  # 1.4.11


# Words in figures that cover one another, or that are cut by the edge of their drawing.
WORDS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('figure svg[role=img]')) {
    const title = svg.querySelector('title').textContent, frame = svg.getBoundingClientRect();
    const words = [...svg.querySelectorAll('text')].map(text => ({
      text: text.firstChild ? text.firstChild.textContent : '', box: text.getBoundingClientRect(),
      turned: (text.getAttribute('transform') || '').includes('rotate')}));
    for (const { text, box } of words) {
      if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2) {
        found.push(`${title}: "${text}" is cut`);
      }
    }
    const level = words.filter(word => !word.turned && word.text);
    level.forEach((a, i) => level.slice(i + 1).forEach(b => {
      if (Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) > 1 &&
          Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top) > 3) {
        found.push(`${title}: "${a.text}" and "${b.text}" overlap`);
      }
    }));
  }
  return found;
}"""


@pytest.mark.parametrize("width", [390, 800, 1300])
def test_words_neither_overlap_nor_are_cut(open_page, page_file, width):
    page = open_page(page_file, width=width)
    if width == 390:
        keep(page, "narrow")
    assert page.evaluate(WORDS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width  # nothing sticks out of the page


def test_prints(open_page, page_file, tmp_path):
    page = open_page(page_file)
    folder = os.environ.get("PROBE_SCREENSHOTS", tmp_path)
    pdf = page.pdf(path=f"{folder}/print.pdf", format="A4")
    assert pdf.startswith(b"%PDF-") and 5 < pdf.count(b"/Type /Page\n") < 40


def test_script_tags_stay_text(open_page, hostile_file):
    page = open_page(hostile_file)
    keep(page, "hostile")
    page.wait_for_timeout(300)  # an onerror would come late
    assert page.wrong == [] and page.evaluate("window.hacked") is None
    assert [url for url in page.requests if not url.startswith("data:")] == [hostile_file.as_uri()]
    assert page.title() == "<script>window.hacked=8</script>"
    assert page.locator("main :is(script, img, iframe, object, style, form), main a:not([href^='#'])").count() == 0
    shown = page.text_content("main")
    for text in (
        "<script>window.hacked=1</script>",
        "response <b>bold</b>",
        "]]></script><script>window.hacked=4</script>",
        "line one\\nline two\\u0000 & &lt;b&gt;",
        "\\u202egpj.exe",  # would read backwards
    ):
        assert text in shown, text
    assert page.evaluate("document.querySelectorAll('figure svg [onload], figure svg [onerror], figure svg script').length") == 0
    page.click(".block > .scroll th button >> nth=0")  # sorting brings nothing to life either
    assert page.evaluate("window.hacked") is None
    with page.expect_download() as download:
        page.locator("button:text('Download CSV')").first.click()
    assert "/" not in download.value.suggested_filename and "<" not in download.value.suggested_filename


# Even a script that came in would neither run nor reach the network.
def test_the_policy_holds(open_page, hostile_file):
    page = open_page(hostile_file)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = "http://127.0.0.1:%d/" % server.getsockname()[1]
        page.evaluate(
            """url => {
            const script = document.createElement('script');
            script.textContent = 'window.hacked = 9';
            const remote = document.createElement('script');
            remote.src = url;
            const image = document.createElement('img');
            image.src = url;
            document.body.append(script, remote, image);
            document.body.setAttribute('onclick', 'window.hacked = 10');
            document.body.click();
        }""",
            url,
        )
        assert page.evaluate("url => fetch(url).then(() => 'fetched', () => 'refused')", url) == "refused"
        assert page.evaluate("window.hacked") is None
        server.settimeout(0.5)
        with pytest.raises(TimeoutError):
            server.accept()
    assert sum("Content Security Policy" in text for text in page.wrong) >= 5


def test_a_page_of_one_table(open_page, tmp_path):
    empty = {"command": "info", "provenance": {}, "tables": [], "figures": [], "notes": [], "warnings": [], "failures": []}
    (tmp_path / "r.json").write_text(json.dumps(empty))
    page = open_page(make_page(tmp_path, "r.html", tmp_path / "r.json"))
    assert page.wrong == [] and page.text_content("#result-0 h2") == "info"
