"""Make the picture of docs/report.md: a report of the table that docs/messy_tables.md describes, in Chromium.

Run ``python docs/images/make_report.py``; it needs Chromium, its driver and selenium (extra ``browser``).
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

IMAGE = Path(__file__).with_name("report.png")
SUPPORT = Path(__file__).parents[2] / "tests" / "support"
READ = ("--comment", "#", "--bad-rows", "skip", "--null", "-999")
UNUSED = "order_id,rating_copy,refund_code,shipped,currency"
WIDTH, HEIGHT, SCALE = 1100, 1240, 0.8


def run(folder: Path, *words: str) -> None:
    """Run a command in a folder."""
    subprocess.run([sys.executable, "-m", *words], cwd=folder, check=True, env={"PYTHONPATH": str(SUPPORT)})


def photograph(page: Path) -> None:
    """Save a picture of the first part of a page."""
    options = ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={page.parent / 'profile'}"):
        options.add_argument(flag)
    browser = Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": SCALE, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": False})
    browser.quit()
    IMAGE.write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(folder, "messy_table", "orders.csv")
        run(folder, "suffice", "fit", "orders.csv", "-t", "returned", *READ, "--ignore", UNUSED, "-o", "orders.suffice")
        run(folder, "suffice", "report", "orders.suffice", "orders.csv", *READ, "-o", "report.html")
        photograph(folder / "report.html")
    print(f"{IMAGE.name}: {IMAGE.stat().st_size / 1000:.0f} kB")
