"""The report in a real browser: it draws, answers mouse and keyboard, and keeps to itself."""

from __future__ import annotations

import base64
import io
import json
import shutil
import time

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from s2mam import ManifoldAdditiveClassifier, ManifoldAdditiveRegressor
from s2mam.inspection.report import report

selenium = pytest.importorskip("selenium", reason="needs selenium")

from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="needs chromium and chromedriver on the path"
)

EVIL = "<script>window.hacked=1</script>"
IMAGE = "</script><img src=x onerror=window.hacked=1>"
LINK = "<a href='//x.y'>l</a> &amp;"  # short, so that the pictures show all of it
NAMES = [EVIL, IMAGE, LINK, "x" * 400, "температура مرحبا"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 5)), columns=NAMES)
    X["site"] = rng.choice(["north", IMAGE, LINK], size=90)
    X.iloc[:9, 0] = np.nan
    X.iloc[20, 1] = 4000.0  # one row lies far from the others
    score = X[NAMES[1]].clip(upper=3.0) + X[NAMES[2]] + (X["site"] == "north")
    labels = np.array(["low", EVIL, "high"], dtype=object)[np.digitize(score, [-0.2, 0.9])]
    labels[60:] = None
    model = ManifoldAdditiveClassifier(sparsity=0.005, manifold=0.01).fit(X, labels)
    report(model, X, labels, folder / "classes.html", n_resamples=3, folds=3, title=IMAGE)
    y = np.where(np.arange(90) < 60, score, np.nan)
    model = ManifoldAdditiveRegressor(sparsity=0.005, manifold=0.01).fit(X, y)
    report(model, X, y, folder / "numbers.html", n_resamples=3, folds=3)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    profile = tmp_path_factory.mktemp("profile")
    for argument in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--force-prefers-reduced-motion",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def visit(browser, files):
    def load(name, width=1000, *, dark=False):
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        for kind in ("browser", "performance"):
            browser.get_log(kind)
        browser.get((files / name).as_uri())
        WebDriverWait(browser, 10).until(
            lambda b: b.find_elements(By.CSS_SELECTOR, "#curve-plot .main-svg")
        )
        return browser

    return load


def wait_for(browser, selector):
    found = WebDriverWait(browser, 5).until(
        lambda b: [e for e in b.find_elements(By.CSS_SELECTOR, selector) if e.text]
    )
    return found[0]


def axis_title(browser):
    return browser.find_element(By.CSS_SELECTOR, "#curve-plot .xtitle").get_attribute("textContent")


def traces(browser):
    return browser.execute_script(
        "return document.getElementById('curve-plot').data.map(t => Array.from(t.y))"
    )


@pytest.mark.parametrize("name", ["classes.html", "numbers.html"])
def test_it_draws_quietly(visit, name):
    browser = visit(name)
    for plot in browser.find_elements(By.CSS_SELECTOR, ".plot"):
        assert plot.find_elements(By.CSS_SELECTOR, ".main-svg")
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    # The browser's own first tab may still be loading.
    asked = [
        params["request"]["url"]
        for params in sent
        if not params["documentURL"].startswith("chrome")
    ]
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    assert sum(url.startswith("file:") for url in asked) == 1


def test_hostile_names_are_shown_and_do_nothing(visit):
    browser = visit("classes.html")
    assert browser.title == IMAGE
    assert browser.execute_script("return window.hacked") is None
    page = browser.find_element(By.TAG_NAME, "body").text
    assert EVIL in page
    assert not browser.find_elements(By.CSS_SELECTOR, "main img, main script, svg a")
    # Also inside the pictures, where Plotly would read tags.
    select = Select(browser.find_element(By.ID, "component"))
    titles = set()
    for option in range(len(select.options)):
        select.select_by_index(option)
        titles.add(axis_title(browser))
        assert not browser.find_elements(By.CSS_SELECTOR, "svg a")
    assert LINK in titles
    ticks = browser.find_elements(By.CSS_SELECTOR, "#columns-plot .ytick text")
    assert any(tick.get_attribute("textContent").startswith("<a href=") for tick in ticks)
    assert browser.execute_script("return window.hacked") is None


def test_the_policy_stops_what_escaping_would_let_through(visit, files):
    html = (files / "numbers.html").read_text(encoding="utf-8")
    attack = "<script>window.hacked=1</script><img src=x onerror='window.hacked=2'>"
    tampered = html.replace('<main id="main"', attack + '<main id="main"', 1)
    (files / "tampered.html").write_text(tampered, encoding="utf-8")
    browser = visit("tampered.html")
    assert browser.find_elements(By.TAG_NAME, "img")
    assert browser.execute_script("return window.hacked") is None


def test_pointing_shows_a_label(visit):
    browser = visit("numbers.html")
    area = browser.find_element(By.CSS_SELECTOR, "#curve-plot .nsewdrag")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", area)
    ActionChains(browser).move_to_element(area).perform()
    label = wait_for(browser, "#curve-plot .hoverlayer .hovertext").text
    assert "adds" in label
    assert "to" in label


def test_switching_columns_and_classes_changes_the_picture(visit):
    browser = visit("classes.html")
    before, words = axis_title(browser), browser.find_element(By.ID, "curve-words").text
    values = traces(browser)
    Select(browser.find_element(By.ID, "component")).select_by_index(1)
    assert axis_title(browser) != before
    assert traces(browser) != values
    assert browser.find_element(By.ID, "curve-words").text != words
    several = len(traces(browser))
    Select(browser.find_element(By.ID, "class")).select_by_index(1)
    assert len(traces(browser)) < several
    browser.find_element(By.ID, "previous").click()
    assert axis_title(browser) == before
    browser.find_elements(By.CSS_SELECTOR, ".sketches li")[2].click()
    assert (
        Select(browser.find_element(By.ID, "component")).first_selected_option.get_attribute(
            "value"
        )
        == "2"
    )


def test_far_out_values_are_shown_on_demand(visit):
    browser = visit("numbers.html")
    select = Select(browser.find_element(By.ID, "component"))
    button = browser.find_element(By.ID, "whole")

    def width():
        script = "return document.getElementById('curve-plot')._fullLayout.xaxis.range"
        low, high = browser.execute_script(script)
        return high - low

    far = [i for i, one in enumerate(select.options) if one.text.startswith("</script>")]
    select.select_by_index(far[0])
    assert width() < 40.0
    assert "1 row lies outside the picture" in browser.find_element(By.ID, "curve-words").text
    button.send_keys(Keys.ENTER)
    WebDriverWait(browser, 5).until(lambda _: width() > 3000.0)
    assert button.get_attribute("aria-pressed") == "true"
    select.select_by_index(next(i for i in range(len(select.options)) if i not in far))
    assert not button.is_displayed()


def test_bars_of_classes_have_their_colour_and_a_pattern(visit):
    browser = visit("classes.html")
    select = Select(browser.find_element(By.ID, "component"))
    place = next(i for i, one in enumerate(select.options) if one.text.startswith("site"))
    select.select_by_index(place)
    plot = browser.find_element(By.ID, "curve-plot")
    browser.execute_script("arguments[0].scrollIntoView()", plot)
    picture = Image.open(io.BytesIO(plot.screenshot_as_png)).convert("RGB")
    counts = {color: count for count, color in picture.getcolors(2**24)}
    for color in ((0, 114, 178), (213, 94, 0), (0, 127, 92)):
        assert counts.get(color, 0) > 200, color
    shapes = browser.execute_script(
        "return document.getElementById('curve-plot').data.map(t => t.marker.pattern.shape)"
    )
    assert len(set(shapes)) == 3
    swatches = browser.find_elements(By.CSS_SELECTOR, ".legend .line")
    dashes = {line.value_of_css_property("stroke-dasharray") for line in swatches}
    assert len(dashes) == 3


def test_the_keyboard_is_enough(visit):
    browser = visit("classes.html")
    before = axis_title(browser)

    def press(key):
        ActionChains(browser).send_keys(key).perform()

    def tab_to(wanted):
        for _ in range(40):
            press(Keys.TAB)
            if browser.switch_to.active_element.get_attribute("id") == wanted:
                return
        pytest.fail(f"the Tab key does not reach #{wanted}")

    press(Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the report"
    tab_to("component")
    press(Keys.ARROW_DOWN)
    WebDriverWait(browser, 5).until(lambda b: axis_title(b) != before)
    tab_to("next")
    after = axis_title(browser)
    press(Keys.ENTER)
    WebDriverWait(browser, 5).until(lambda b: axis_title(b) != after)
    tab_to("curve-plot")
    press(Keys.ARROW_RIGHT)
    first = wait_for(browser, "#curve-value").text
    assert "adds" in first
    press(Keys.END)
    assert browser.find_element(By.ID, "curve-value").text != first
    assert browser.find_elements(By.CSS_SELECTOR, "#curve-plot .hoverlayer .hovertext")


@pytest.mark.parametrize("name", ["classes.html", "numbers.html"])
def test_a_phone_needs_no_sideways_scrolling(visit, name):
    browser = visit(name, 360)
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true })")
    time.sleep(0.2)
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= 360
    wide = browser.execute_script(
        "return [...document.querySelectorAll('main *')].filter(e => !e.closest('svg') && "
        "e.getBoundingClientRect().right > 361).map(e => e.outerHTML.slice(0, 80))"
    )
    assert wide == []


def test_it_prints(visit):
    browser = visit("numbers.html", dark=True)
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 50_000
    folded = "return document.querySelectorAll('details:not([open])').length"
    before = browser.execute_script(folded)
    assert before > 0
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script(folded) == 0
    paper = "return getComputedStyle(document.body).backgroundColor"
    assert browser.execute_script(paper) == "rgb(255, 255, 255)"
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert browser.execute_script(folded) == before


def test_the_picture_can_be_saved(visit, tmp_path):
    browser = visit("numbers.html")
    where = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    browser.find_element(By.ID, "save").click()
    WebDriverWait(browser, 5).until(lambda _: list(tmp_path.glob("*.svg")))
    assert browser.get_log("browser") == []
    assert "<svg" in next(tmp_path.glob("*.svg")).read_text(encoding="utf-8")


def test_dark_and_light(visit):
    shades = []
    for dark in (False, True):
        browser = visit("numbers.html", dark=dark)
        script = "return getComputedStyle(document.querySelector('#curve-plot .xtitle')).fill"
        ink = browser.execute_script(script)
        paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        shades.append((paper, ink))
    assert shades[0] == ("rgb(255, 255, 255)", "rgb(27, 31, 36)")
    assert shades[1] == ("rgb(20, 23, 26)", "rgb(231, 234, 237)")
    # A change while the page is open is followed, too.
    light = [{"name": "prefers-color-scheme", "value": "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": light})
    WebDriverWait(browser, 5).until(lambda b: b.execute_script(script) == shades[0][1])


def test_an_old_browser_says_so_and_shows_the_numbers(visit, browser):
    visit("numbers.html")
    script = {"source": "delete window.DecompressionStream"}
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", script)
    try:
        browser.refresh()
        note = WebDriverWait(browser, 5).until(lambda b: b.find_element(By.ID, "no-pictures"))
        WebDriverWait(browser, 5).until(lambda b: note.is_displayed())
        assert not browser.find_element(By.ID, "curve-plot").is_displayed()
        assert browser.find_element(By.CSS_SELECTOR, ".sketches svg").is_displayed()
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_it_reads_without_scripts(visit, browser):
    visit("numbers.html")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.refresh()
        assert "interactive pictures are missing" in browser.find_element(By.TAG_NAME, "main").text
        assert not browser.find_element(By.ID, "curve-plot").is_displayed()
        assert browser.find_element(By.CSS_SELECTOR, ".sketches svg").is_displayed()
        assert browser.find_element(By.TAG_NAME, "table").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
