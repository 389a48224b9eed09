"""The page of a drift in Chromium: no script, no request, no message, on a phone and in the dark."""

import numpy as np
import pytest

import suffice
from browser.test_report import CONTRAST
from pages import console_messages, network_requests
from report_pages import HOSTILE, hostile_table, mixed_table
from suffice import NaiveBayes


def mixed():
    X, y = mixed_table(400)
    monitor = suffice.fit(X, y, model="naive-bayes").monitor()
    X, y = mixed_table(300, seed=1)
    X["age"] += 20
    X.loc[::3, "region"] = "elsewhere"
    return monitor.check(monitor.window(X, y))


def hostile():
    X, y = hostile_table(120)
    monitor = NaiveBayes().fit(X, y).monitor(X, y)
    for name in X.columns:
        if X[name].dtype == object:
            X[name] = HOSTILE[1]
    return monitor.check(monitor.window(X, np.resize(np.array(HOSTILE[:2], dtype=object), len(X))))


@pytest.mark.parametrize("make", [mixed, hostile])
def test_the_page_of_a_drift(browser, tmp_path, make):
    path = tmp_path / "drift.html"
    path.write_text(make().to_html(), encoding="utf-8")
    console_messages(browser), network_requests(browser)
    phone = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        browser.get(path.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
        assert browser.execute_script("return document.styleSheets[0].cssRules.length") > 50  # the policy allows it
        for scheme, background in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(15, 19, 24)")):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == background
            assert min(browser.execute_script(CONTRAST)) >= 4.5
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert console_messages(browser) == []
    assert network_requests(browser) == []
