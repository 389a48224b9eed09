"""Make the pictures of docs/serving.md: the page of a server in Chromium, light, dark and on a phone.

Run ``python docs/images/make_server.py``; it needs Chromium, its driver and selenium (extra ``browser``).
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait
from sklearn.datasets import load_iris

import suffice

IMAGES = Path(__file__).parent
sys.path.append(str(IMAGES.parents[1] / "tests" / "support"))

from running_server import running_server  # noqa: E402

SPAM = ["cheap pills, buy now", "buy cheap watches, cheap!", "you have won, claim it now", "buy now, pay later"]
HAM = ["Lunch tomorrow at noon?", "The report for tomorrow", "Can you send the report by noon?", "See you at lunch"]
TEXT = "You have won: cheap lunch for the whole team, claim it by tomorrow noon!"
SCALE = 0.85
VIEWS = ".views:not([hidden])"
READY = f"{VIEWS} [data-view=predict][aria-busy=false]"


def models(folder: Path) -> None:
    """Fit two models, and write tables to score: one with longer petals."""
    iris = load_iris(as_frame=True)
    flowers = iris.data.assign(species=iris.target_names[iris.target])
    flowers.iloc[::2].to_csv(folder / "known.csv", index=False)
    flowers.iloc[1::2].sample(frac=1, random_state=0).to_csv(folder / "flowers.csv", index=False)
    longer = flowers.assign(**{"petal length (cm)": flowers["petal length (cm)"] + 1.5})
    longer.drop(columns="species").to_csv(folder / "moved.csv", index=False)
    suffice.fit(folder / "known.csv", "species").save(folder / "flowers.suffice")
    labels = ["spam"] * len(SPAM) + ["ham"] * len(HAM)
    suffice.TextNaiveBayes().fit([*SPAM, *HAM], labels).save(folder / "spam.suffice")


class Photographer:
    """A browser that shows the page of a server."""

    def __init__(self, folder: Path, address: str) -> None:
        options = ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(flag)
        self.browser = Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.address = address

    def open(self, place: str, width: int, height: int, *, dark: bool = False) -> None:
        """Open a view of a model."""
        size = {
            "width": width,
            "height": height,
            "deviceScaleFactor": 1 if width < 600 else SCALE,
            "mobile": width < 600,
        }
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        self.browser.get("about:blank")
        self.browser.get(f"{self.address}/#{place}")
        self.wait(f"return document.querySelector('{READY}')")

    def wait(self, script: str) -> None:
        """Wait until a script returns something."""
        WebDriverWait(self.browser, 20).until(lambda browser: browser.execute_script(script))

    def run(self, script: str, *arguments: object) -> None:
        """Run a script in the page."""
        self.browser.execute_script(script, *arguments)

    def enter(self, selector: str, text: str) -> None:
        """Type into a field, and wait for the answer."""
        script = "const [selector, text] = arguments; const each = document.querySelector(selector); each.value = text;"
        self.run(f"{script} each.dispatchEvent(new Event('input', {{ bubbles: true }}));", f"{VIEWS} {selector}", text)
        self.wait(f"return document.querySelector('{READY}')")

    def save(self, name: str) -> None:
        """Save a picture of the page."""
        self.wait("return new Promise((done) => setTimeout(() => done(true), 700))")  # transitions, and the curve
        shot = self.browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        image = IMAGES / f"{name}.png"
        picture = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
        picture.quantize(256, dither=Image.Dither.NONE).save(image, optimize=True)
        print(f"{image.name}: {image.stat().st_size / 1000:.0f} kB")


def photographs(camera: Photographer, folder: Path) -> None:
    """All pictures."""
    camera.open("flowers/predict", 1100, 930)
    camera.enter("[data-column^='petal length'] input[type=number]", "4.9")
    camera.enter("[data-column^='petal width'] input[type=number]", "1.7")
    camera.save("serve_predict")
    camera.open("spam/predict", 1100, 880, dark=True)
    camera.enter("textarea", TEXT)
    camera.run(f"document.querySelectorAll('{VIEWS} .chip')[1].click()")
    camera.run(f"document.querySelector('{VIEWS} [data-teach-button]').click()")
    camera.wait(f"return document.querySelector('{VIEWS} [data-taught-list] button')")
    camera.save("serve_teach")
    camera.open("flowers/file", 1100, 760)
    chooser = camera.browser.find_element("css selector", f"{VIEWS} input[type=file]")
    chooser.send_keys(str(folder / "flowers.csv"))
    camera.wait(f"return document.querySelector('{VIEWS} [data-scored]:not([hidden])')")
    camera.run("window.scrollTo(0, 0)")
    camera.save("serve_file")
    chooser = camera.browser.find_element("css selector", f"{VIEWS} input[type=file]")
    chooser.send_keys(str(folder / "moved.csv"))
    camera.wait(f"return document.querySelector('{VIEWS} [data-file-title]').textContent === 'moved.csv'")
    camera.open("flowers/drift", 1100, 720, dark=True)
    camera.wait(f"return document.querySelector('{VIEWS} [data-findings] li')")
    camera.save("serve_drift")
    camera.open("flowers/predict", 360, 740)
    camera.enter("[data-column^='petal length'] input[type=number]", "4.9")
    camera.save("serve_phone")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models(folder)
        with running_server(folder, "flowers.suffice", "spam.suffice", "--learn", "--port", 0) as (address, _):
            camera = Photographer(folder, address)
            try:
                photographs(camera, folder)
            finally:
                camera.browser.quit()
