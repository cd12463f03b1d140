"""The page in a real browser: it opens in silence, asks nobody, finds, shows, and runs nothing it was not made with.

Needs Chromium, its driver (Debian: chromium, chromium-driver) and selenium; skipped, with the reason, where one is
missing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ckgnn import train
from ckgnn.report.explain import explain
from ckgnn.report.page import page
from tests.report.test_page import HOSTILE, fitted

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1100,900"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PATIENCE = 60  # seconds for one answer of the browser; on a busy machine a page can take long
SOURCE = "for (const d of Bokeh.documents) { const s = d.get_model_by_name(arguments[0]); if (s) return s.data; }"
PIXEL = """
const view = Bokeh.index.roots.find((v) => document.getElementById("map").contains(v.el));
const data = view.model.renderers[0].data_source.data;
const box = view.canvas_view.el.getBoundingClientRect();
return [box.left + view.frame.x_scale.compute(data.x[arguments[0]]),
        box.top + view.frame.y_scale.compute(data.y[arguments[0]])];
"""
TOOLTIP = """
const found = [];
const walk = (root) => root.querySelectorAll("*").forEach((e) => {
  if (!e.shadowRoot) return;
  if (e.shadowRoot.querySelector(".bk-tooltip-row-value")) found.push(e.shadowRoot.textContent);
  walk(e.shadowRoot);
});
walk(document);
return found.join("|");
"""


class Browser:
    """Chromium under remote control; a window that no longer answers is replaced by a new one."""

    def __init__(self, chromium: str, driver: str) -> None:
        self.chromium = chromium
        self.driver = driver
        self.window: Any = None

    def started(self) -> Any:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = self.chromium
        for flag in FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        window = webdriver.Chrome(options=options, service=Service(self.driver, popen_kw={"start_new_session": True}))
        window.command_executor.client_config.timeout = PATIENCE
        return window

    def show(self, address: str) -> Any:
        """Return the window with a fresh page in it."""
        if self.window is None:
            self.window = self.started()
        self.window.get("about:blank")
        for kind in ("browser", "performance"):
            self.window.get_log(kind)  # reading empties it
        self.window.get(address)
        until(lambda: self.window.execute_script("return document.documentElement.dataset.ready === '2'"))
        return self.window

    def kill(self) -> None:
        """End it without asking it: one that hangs would not answer."""
        if self.window is not None:
            driver = self.window.service.process
            with contextlib.suppress(ProcessLookupError):
                os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()
            self.window = None


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return Chromium under remote control, or skip."""
    pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no Chromium with its driver: install Debian's chromium and chromium-driver")
    started = Browser(chromium, driver)
    yield started
    started.kill()


@pytest.fixture(scope="module")
def trained() -> train.Trained:
    return fitted()


@pytest.fixture(scope="module")
def address(trained: train.Trained, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where the page of a run with hostile names lies."""
    file: Path = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(page(trained), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def opened(browser: Browser, address: str) -> Any:
    """Return the browser with a fresh page in it.

    Chromium was seen to hang between two pages, for good, on a machine with other work: that says nothing about the
    page, so it gets one more chance in a new window. A page that is never ready fails both times.
    """
    from selenium.common.exceptions import WebDriverException
    from urllib3.exceptions import HTTPError

    try:
        return browser.show(address)
    except (HTTPError, WebDriverException):
        browser.kill()
        return browser.show(address)


def until(happened: Callable[[], Any], seconds: float = 20.0) -> Any:
    """Return what ``happened`` says once it is true."""
    end = time.monotonic() + seconds
    while not (said := happened()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return said


def shown(browser: Any, css: str) -> list[str]:
    """Return the texts of the elements that a selector finds."""
    texts: list[str] = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", css
    )
    return texts


def neighbours(trained: train.Trained, node: int) -> list[str]:
    return sorted(n.name for n in explain(trained, node).neighbours)


def clicked(browser: Any, node: int) -> None:
    """Put the mouse on a node of the map and press it."""
    from selenium.webdriver import ActionChains

    browser.execute_script("document.getElementById('map').scrollIntoView({behavior: 'instant', block: 'center'})")
    x, y = browser.execute_script(PIXEL, node)
    actions = ActionChains(browser)
    actions.w3c_actions.pointer_action.move_to_location(round(x), round(y))
    actions.w3c_actions.pointer_action.pause(0.2)
    actions.w3c_actions.pointer_action.click()
    actions.perform()


def alone(trained: train.Trained, browser: Any) -> int:
    """Return the node that lies farthest from all others on the map, so that a click can mean no other."""
    at = [browser.execute_script(PIXEL, i) for i in range(trained.graph.n)]
    gap = [min((x - u) ** 2 + (y - v) ** 2 for j, (u, v) in enumerate(at) if j != i) for i, (x, y) in enumerate(at)]
    return max(range(len(at)), key=gap.__getitem__)


def test_it_opens_in_silence_and_asks_nobody(opened: Any) -> None:
    complaints = [entry for entry in opened.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]
    assert complaints == []
    sent = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = {m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"}
    assert {url.split(":")[0] for url in asked} <= {"file", "data", "about"}
    assert sum(url.startswith("file:") for url in asked) == 1


def test_the_search_finds_and_shows_a_node(opened: Any, trained: train.Trained) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    box = opened.find_element(By.ID, "search")
    box.send_keys("NODE 31")
    assert until(lambda: shown(opened, "#found button")) == ["node 31"]
    assert shown(opened, "#count") == ["1 found"]
    box.send_keys(Keys.ENTER)
    assert shown(opened, "#chosen-name") == ["node 31"]
    assert sorted(shown(opened, "#neighbours tbody td:first-child")) == neighbours(trained, 31)
    share = [abs(float(s.strip("+−% "))) for s in shown(opened, "#neighbours tbody td:nth-child(7)")]
    assert share == sorted(share, reverse=True)
    assert share == pytest.approx([abs(100 * n.share) for n in explain(trained, 31).neighbours], abs=0.06)
    predicted = explain(trained, 31).predicted
    assert f"Predicted {predicted} with " in shown(opened, "#chosen-text")[0]
    box.send_keys("nobody")
    assert until(lambda: shown(opened, "#count") == ["0 found"])


def test_a_click_on_the_map_shows_the_neighbours(opened: Any, trained: train.Trained) -> None:
    node = alone(trained, opened)
    clicked(opened, node)
    until(lambda: shown(opened, "#chosen-name") == [trained.graph.node_name(node)])
    assert sorted(shown(opened, "#neighbours tbody td:first-child")) == neighbours(trained, node)
    assert sorted(opened.execute_script(SOURCE, "ends")["name"]) == neighbours(trained, node)


def test_lines_are_as_thick_as_k_hat(opened: Any, trained: train.Trained) -> None:
    opened.execute_script("document.querySelector('#tables button.node').click()")
    name = shown(opened, "#chosen-name")[0]
    strong = {n.name: n.k_hat for n in explain(trained, name).neighbours if not n.itself}
    names = opened.execute_script(SOURCE, "ends")["name"][1:]
    top = max(strong.values())
    assert opened.execute_script(SOURCE, "lines")["width"] == pytest.approx(
        [0.75 + 11 * strong[n] / top for n in names], abs=0.01
    )


def test_arrow_keys_walk_over_the_map(opened: Any) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    plot = opened.find_element(By.ID, "map")
    opened.execute_script("arguments[0].focus()", plot)
    seen = []
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ARROW_LEFT, Keys.ARROW_DOWN):
        plot.send_keys(key)
        seen.append(shown(opened, "#chosen-name")[0])
    assert seen[0]
    assert len(set(seen)) > 2


def test_names_never_run(opened: Any, trained: train.Trained) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    title = opened.title
    for node, name in enumerate(HOSTILE):
        box = opened.find_element(By.ID, "search")
        box.clear()
        box.send_keys(name, Keys.ENTER)
        assert shown(opened, "#chosen-name") == [name]
        clicked(opened, node)  # hovers over it, so that the tooltip shows a name
    assert opened.title == title
    assert shown(opened, "img:not(.figure)") == []
    assert not [e for e in opened.get_log("browser") if e["level"] == "SEVERE"]


def test_the_tooltip_shows_names_as_text(opened: Any, trained: train.Trained) -> None:
    node = alone(trained, opened)
    clicked(opened, node)
    said = until(lambda: opened.execute_script(TOOLTIP))
    assert trained.graph.node_name(node) in said
    assert explain(trained, node).predicted in said, "a class with HTML in it, spelt out"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_follows_the_colour_scheme(opened: Any, address: str, scheme: str) -> None:
    metrics = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    try:
        opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        feature = [{"name": "prefers-color-scheme", "value": scheme}]
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
        opened.get(address)
        until(lambda: opened.execute_script("return document.documentElement.dataset.ready === '2'"))
        opened.execute_script("document.querySelector('#tables button.node').click()")
        assert opened.execute_script("return document.documentElement.scrollWidth") <= 360
        paper = opened.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 22, 22)"}[scheme]
        assert opened.execute_script(SOURCE, "words")["colour"][0] == {"light": "#1d1f21", "dark": "#e8eaec"}[scheme]
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
