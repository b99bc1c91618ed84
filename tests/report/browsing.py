"""A report opened in a browser, and moved as by a reader."""

from contextlib import contextmanager

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 800}


@contextmanager
def opened(browser, file, viewport=DESKTOP, **options):
    """Open a report, and fail at the end on any error and on any request except the one for itself."""
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


def edges_shown(page):
    return int(page.locator("#stage").get_attribute("data-edges"))


def ink(page, canvas="base"):
    """Return how many pixels of a canvas are drawn on."""
    return page.evaluate(
        """(id) => {
            const drawn = document.getElementById(id);
            const copy = new OffscreenCanvas(drawn.width, drawn.height).getContext("2d", {willReadFrequently: true});
            copy.drawImage(drawn, 0, 0);
            const pixels = copy.getImageData(0, 0, drawn.width, drawn.height).data;
            let count = 0;
            for (let k = 3; k < pixels.length; k += 4) count += pixels[k] > 0;
            return count;
        }""",
        canvas,
    )


def pixel(page, node):
    """Return the colour of a node's circle, as it is drawn."""
    return page.evaluate(
        """(node) => {
            const canvas = document.getElementById("base");
            const { x, y, width } = nashgraph.onScreen;
            const at = [x[node], y[node]].map((place) => Math.round((canvas.width / width) * place));
            const { data } = canvas.getContext("2d").getImageData(...at, 1, 1);
            return `rgb(${[...data].slice(0, 3).join(", ")})`;
        }""",
        node,
    )


def brightness(colour):
    """Return how bright an "rgb(r, g, b)" is, 1 for white."""
    return sum(map(int, colour[4:-1].split(","))) / (3 * 255)


def names_listed(page):
    return page.locator("#selection-text .ties bdi").all_text_contents()
