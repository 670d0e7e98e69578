"""Pages made by the built program, opened in headless Chromium."""

import os
import pathlib
import shutil
import subprocess

import pytest
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests/data/report"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def make_page(folder, name, *arguments):
    out = folder / name
    command = [os.environ["PROBE_PROGRAM"], "report", out, *arguments, "-q"]
    subprocess.run(command, check=True, capture_output=True, env=dict(os.environ, HOME=str(folder)))
    return out


@pytest.fixture(scope="session")
def page_file(tmp_path_factory):
    """Every kind of figure and table, with pictures."""
    samples = [SAMPLES / f"{name}.json" for name in ("zeroshot", "compare", "match")]
    return make_page(tmp_path_factory.mktemp("page"), "report.html", *samples, "--images", ROOT / "demo")


@pytest.fixture(scope="session")
def hostile_file(tmp_path_factory):
    """Names, answers and titles that try to become HTML and scripts."""
    return make_page(
        tmp_path_factory.mktemp("hostile"), "hostile.html", SAMPLES / "hostile.json", "--title", "<script>window.hacked=8</script>"
    )


@pytest.fixture(scope="session")
def browser():
    assert CHROMIUM, "no Chromium: scripts/test_report_page.sh installs it"
    # A container's root has no sandbox of its own; the pages are ours.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        instance = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield instance
        instance.close()


@pytest.fixture
def open_page(browser):
    """open_page(file, width=..., dark=...) gives a page that remembers what went wrong and what it asked for."""
    contexts = []

    def opened(file, width=1300, dark=False):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.wrong, page.requests = [], []
        page.on("console", lambda message: page.wrong.append(message.text))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("dialog", lambda dialog: (page.wrong.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_function("[...document.querySelectorAll('.panel')].every(panel => panel.querySelector('svg'))")
        return page

    yield opened
    for context in contexts:
        context.close()
