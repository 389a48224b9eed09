"""The fixtures notice what a page logs and fetches."""

from pages import console_messages, network_requests


def test_errors_and_requests_are_noticed(browser, serve, tmp_path):
    (tmp_path / "image.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (tmp_path / "page.html").write_text(
        '<!doctype html><title>page</title><img src="image.svg"><script>console.error("wrong"); missing();</script>'
    )
    address = serve(tmp_path)
    browser.get(f"{address}/page.html")
    messages = console_messages(browser)
    assert any("wrong" in each for each in messages)
    assert any("missing is not defined" in each for each in messages)
    assert f"{address}/image.svg" in network_requests(browser)
    assert console_messages(browser) == network_requests(browser) == []


def test_files_are_no_requests(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<!doctype html><title>page</title><link rel="icon" href="data:,"><p>text</p>')
    browser.get(page.as_uri())
    assert browser.title == "page"
    assert console_messages(browser) == network_requests(browser) == []
