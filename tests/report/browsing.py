"""A report opened in a browser, and moved as a reader moves it."""

from contextlib import contextmanager

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 800}


@contextmanager
def opened(browser, file, viewport=DESKTOP, **options):
    """Open a report, and at the end hold against it every error and every request but the one for itself."""
    page = browser.new_page(viewport=viewport, **({"reduced_motion": "reduce"} | options))
    page.set_default_timeout(15_000)
    wrong = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url != file.as_uri() else None)
    page.on("dialog", lambda dialog: (wrong.append("dialog"), dialog.dismiss()))
    try:
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        yield page
        assert page.evaluate("window.__pwned") is None
    finally:
        page.close()
    assert wrong == []


def move_slider(page, slider, value):
    page.locator(slider).evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input', {bubbles: true})); }", value
    )
