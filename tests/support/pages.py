"""What a page in Chromium has logged, fetched and shows, and modules of the report on a page of their own."""

import json
from importlib import resources

SET_VALUE = """
const [input, value] = arguments;
input.value = value;
input.dispatchEvent(new Event("input", { bubbles: true }));
"""
CONTRAST = """
const parts = (color) => (color.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
const luminance = (color) => {
  const linear = parts(color).slice(0, 3).map((each) => each / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const behind = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const color = getComputedStyle(each).backgroundColor;
    if ((parts(color)[3] ?? 1) > 0) return color;
  }
  return "rgb(255, 255, 255)";
};
const ownText = (each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
const isShown = (each) => each.getClientRects().length && getComputedStyle(each).visibility === "visible";
return [...document.querySelectorAll("body :not(option, :disabled)")].filter((each) => ownText(each) && isShown(each))
  .map((each) => {
    const style = getComputedStyle(each);
    const [text, page] = [luminance(each instanceof SVGElement ? style.fill : style.color), luminance(behind(each))];
    return [(Math.max(text, page) + 0.05) / (Math.min(text, page) + 0.05), each.textContent.slice(0, 40)];
  });
"""  # of every text on a page against what is behind it
OWN = ("file:", "data:", "blob:", "about:", "chrome:", "devtools:")


def console_messages(browser):
    """Errors and warnings of the console since the last call, and exceptions that nothing has caught."""
    return [f"{each['level']}: {each['message']}" for each in browser.get_log("browser") if _matters(each)]


def _matters(entry):
    return entry["level"] in ("SEVERE", "WARNING") and "favicon.ico" not in entry["message"]


def network_requests(browser):
    """Addresses on a network that pages have asked for since the last call."""
    messages = (json.loads(each["message"])["message"] for each in browser.get_log("performance"))
    sent = (each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent")
    return [url for url in sent if not url.startswith(OWN)]


def open_modules(browser, serve, folder, names):
    """Open a page with modules of the report, whose exports are the properties of ``window.module``; its address."""
    assets = resources.files("suffice.report").joinpath("assets")
    for each in assets.iterdir():
        if each.name.endswith(".js"):
            (folder / each.name).write_text(each.read_text(encoding="utf-8"), encoding="utf-8")
    imports = "".join(f'import * as module{i} from "./{name}"; ' for i, name in enumerate(names))
    exports = ", ".join(f"...module{i}" for i in range(len(names)))
    (folder / "page.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>modules</title><link rel="icon" href="data:,">'
        f'<script type="module">{imports} window.module = {{ {exports} }};</script>',
        encoding="utf-8",
    )
    address = serve(folder)
    browser.get(f"{address}/page.html")
    return address
