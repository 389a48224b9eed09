"""What a page in Chromium has logged and fetched, and modules of the report on a page of their own."""

import json
from importlib import resources

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
