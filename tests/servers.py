"""A web server on this machine that can be told to fail."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Serving:
    """Answers every path in ``files``: each request uses up one fault, and later ones get correct answers.

    A fault is an HTTP status to fail with, ("cut", n) to break off after n bytes of the answer, or ("move", address).
    """

    def __init__(self, files: dict[str, bytes], faults: list):
        self.files, self.faults = files, list(faults)
        self.requests: list[str] = []
        self.address = ""


@contextmanager
def serving(files: dict[str, bytes], faults: list = ()) -> Iterator[Serving]:
    state = Serving(files, faults)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            state.requests.append(self.path)
            fault = state.faults.pop(0) if state.faults else None
            kind, detail = fault if isinstance(fault, tuple) else (None, None)
            if isinstance(fault, int):
                self.send_error(fault)
            elif kind == "move":
                self.send_response(302)
                self.send_header("Location", detail)
                self.end_headers()
            elif self.path not in state.files:
                self.send_error(404)
            else:
                content = state.files[self.path]
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: detail if kind == "cut" else None])

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
