"""A web server on this machine that can be told to fail."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Serving:
    """Answers every path in ``files``; the faults are used up one a request, the rest is answered as it should be.

    A fault is an HTTP status to fail with, ("cut", n) to break off after n bytes of the answer, ("hang",) to say
    nothing, ("whole",) to send the file from the start whatever range was asked for, or ("move", address).
    """

    def __init__(self, files: dict[str, bytes], faults: list):
        self.files, self.faults = files, list(faults)
        self.requests: list[tuple[str, str | None]] = []
        self.released = threading.Event()
        self.address = ""


@contextmanager
def serving(files: dict[str, bytes], faults: list = ()) -> Iterator[Serving]:
    state = Serving(files, faults)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            wanted = self.headers.get("Range")
            state.requests.append((self.path, wanted))
            fault = state.faults.pop(0) if state.faults else None
            if isinstance(fault, int):
                self.send_error(fault)
                return
            kind, *detail = fault or ("none",)
            if kind == "hang":
                state.released.wait(5)
            elif kind == "move":
                self.send_response(302)
                self.send_header("Location", detail[0])
                self.end_headers()
            elif self.path not in state.files:
                self.send_error(404)
            else:
                self.send_file(state.files[self.path], None if kind == "whole" else wanted, detail)

        def send_file(self, content, wanted, cut):
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
            if wanted and start >= len(content):
                self.send_error(416)
                return
            self.send_response(206 if wanted else 200)
            if wanted:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:][: cut[0] if cut else None])

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
