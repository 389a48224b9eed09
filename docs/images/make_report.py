"""Make pictures of pages of one file, in Chromium.

These are a report of the table that docs/messy_tables.md describes, and the drift of the orders of docs/monitoring.md.

Run ``python docs/images/make_report.py``; it needs Chromium, its driver and selenium (extra ``browser``).
"""

from __future__ import annotations

import base64
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

IMAGES = Path(__file__).parent
MONITORING = IMAGES.parent / "monitoring.md"
SUPPORT = IMAGES.parents[1] / "tests" / "support"
READ = ("--comment", "#", "--bad-rows", "skip", "--null", "-999")
UNUSED = "order_id,rating_copy,refund_code,shipped,currency"
WIDTH, SCALE = 1100, 0.8
DRIFT = 3  # exit code


def run(folder: Path, *words: str, code: int = 0) -> None:
    """Run a command in a folder."""
    done = subprocess.run([sys.executable, "-m", *words], cwd=folder, check=False, env={"PYTHONPATH": str(SUPPORT)})
    assert done.returncode == code, words


def photograph(page: Path, name: str, height: int) -> None:
    """Save a picture of the first part of a page."""
    image = IMAGES / f"{name}.png"
    options = ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={page.parent / 'profile'}"):
        options.add_argument(flag)
    browser = Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    size = {"width": WIDTH, "height": height, "deviceScaleFactor": SCALE, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": False})
    browser.quit()
    image.write_bytes(base64.b64decode(shot["data"]))
    print(f"{image.name}: {image.stat().st_size / 1000:.0f} kB")


def report(folder: Path) -> Path:
    """Make the report of docs/report.md."""
    run(folder, "messy_table", "orders.csv")
    run(folder, "suffice", "fit", "orders.csv", "-t", "returned", *READ, "--ignore", UNUSED, "-o", "orders.suffice")
    run(folder, "suffice", "report", "orders.suffice", "orders.csv", *READ, "-o", "report.html")
    return folder / "report.html"


def drift(folder: Path) -> Path:
    """Make the page of docs/monitoring.md, from the rows that its script writes."""
    script = re.search(r"cat > orders.py <<'END'\n(.*?)\n> END", MONITORING.read_text(encoding="utf-8"), re.DOTALL)
    assert script is not None
    (folder / "orders.py").write_text(re.sub("^> ", "", script[1], flags=re.MULTILINE))
    run(folder, "orders")
    run(folder, "suffice", "fit", "past.csv", "-t", "returned", "-o", "orders.suffice")
    run(folder, "suffice", "monitor", "orders.suffice", "tuesday.csv", "--html", "drift.html", code=DRIFT)
    return folder / "drift.html"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        photograph(report(Path(name)), "report", 1240)
    with tempfile.TemporaryDirectory() as name:
        photograph(drift(Path(name)), "monitoring", 1500)
