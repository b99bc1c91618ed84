"""The app as tests run it: on a real socket, with any headers in a request."""

import http.client
import threading
import time
from contextlib import closing, contextmanager
from html.parser import HTMLParser
from urllib.parse import quote, urlencode

import uvicorn

from nashgraph.cli.ui.server import application, bound
from nashgraph.cli.ui.session import Session


class Form(HTMLParser):
    """The fields of a page as a browser sends them when nobody changes anything."""

    def __init__(self, page):
        super().__init__()
        self.sent, self.select = {}, None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "input" and "name" in given and "disabled" not in given:
            if given.get("type") != "checkbox":
                self.sent[given["name"]] = given.get("value") or ""
            elif "checked" in given:
                self.sent[given["name"]] = "on"
        elif tag == "select":
            self.select, self.options = given["name"], []
        elif tag == "option":
            self.options.append([given.get("value"), "", "selected" in given])

    def handle_data(self, data):
        if self.select is not None and self.options:
            self.options[-1][1] += data

    def handle_endtag(self, tag):
        if tag == "select":
            chosen = next((option for option in self.options if option[2]), self.options[0])
            self.sent[self.select] = chosen[1].strip() if chosen[0] is None else chosen[0]
            self.select = None


class Opened:
    """A running app and its address."""

    def __init__(self, session, port):
        self.session, self.port, self.host = session, port, f"127.0.0.1:{port}"
        self.address = f"http://{self.host}/?token={session.token}"

    def ask(self, method, path, body=None, *, host=None, origin="own", token=True, headers=()):
        """Return the status, headers and text of an answer; each of the three checks can be failed."""
        sent = {"Host": host or self.host, **dict(headers)}
        if origin is not None:
            sent["Origin"] = f"http://{self.host}" if origin == "own" else origin
        if token:
            sent["Cookie"] = f"nashgraph-{self.port}={self.session.token if token is True else token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True)
        content = body.encode() if isinstance(body, str) else body or b""
        for name, value in {**sent, "Content-Length": str(len(content))}.items():
            connection.putheader(name, value)
        connection.endheaders(content)
        with closing(connection), connection.getresponse() as answer:
            return answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")

    def upload(self, name, content, kind="file"):
        return self.ask("POST", f"/file/{kind}", content, headers={"X-File-Name": quote(name)})

    def do(self, action, **given):
        status, _, text = self.ask("POST", f"/do/{action}", urlencode(given))
        return status, text

    def sent(self, **changed):
        """Return the fields of the page that is open, with some changed as a user would."""
        return {**Form(self.ask("GET", "/")[2]).sent, **changed}

    def change(self, action="command", **changed):
        return self.do(action, **self.sent(**changed))

    def line(self, name):
        """Return the number of a column in the form."""
        return [column.name for column in self.session.plan.table.columns].index(name)

    def learned(self, seconds=120):
        """Wait for the run, and return why it failed, if it did."""
        end = time.monotonic() + seconds
        while self.session.job.running and time.monotonic() < end:
            time.sleep(0.05)
        return self.session.job.error


@contextmanager
def opened():
    listening, session = bound(0), Session()
    port = listening.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(application(session, port), log_level="warning", ws="none", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Opened(session, port)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
