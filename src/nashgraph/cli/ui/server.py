"""The web server of the app: only for this machine, only for who has the token, only for its own pages.

Every request must name 127.0.0.1 and the port as its host, so that no name that a stranger points here is answered
(DNS rebinding). It must carry the token, which the address opened first puts into a cookie. Requests that change
anything must come from a page of this server (Origin), so that no other page in the browser can ask for it.
"""

from __future__ import annotations

import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import uvicorn
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...io.options import BYTES_A_CELL, MAX_CELLS
from ...validation import InputError
from ..commands import DONE, HINT, UsageError, message_of
from ..messages import Voice
from .session import BusyError, Session

LOOPBACK = "127.0.0.1"
ASSETS = {"page.css": "nashgraph.report", "ui.css": __package__, "ui.js": __package__, "htmx.min.js": __package__}
KINDS = {".css": "text/css", ".js": "text/javascript"}
MOST_BYTES = MAX_CELLS * BYTES_A_CELL  # of a file, as for the readers
MOST_FORM = 4_000_000  # bytes of a form: some hundred columns take a tenth of it
NOT_THERE = "There is no such page."
OWN_PAGES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A report runs its own script, and can do nothing with this server: its origin is another one than the app's.
REPORTS = "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox allow-modals"


class Guard:
    """Let only requests through that come from the app's own pages in the browser that has the token."""

    def __init__(self, app: ASGIApp, session: Session, port: int) -> None:
        self.app = app
        self.session = session
        self.host = f"{LOOPBACK}:{port}"
        self.cookie = f"nashgraph-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                policy = REPORTS if scope["path"].startswith("/files/") else OWN_PAGES
                headers = {
                    "Content-Security-Policy": policy,
                    "X-Content-Type-Options": "nosniff",
                    "Referrer-Policy": "same-origin",
                    "Cross-Origin-Resource-Policy": "same-origin",
                    "Cache-Control": "no-store",
                }
                message["headers"] += [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            await send(message)

        await (self.refused(Request(scope)) or self.app)(scope, receive, guarded)

    def refused(self, request: Request) -> Response | None:
        """Return why a request is not answered; None if it is."""
        if request.headers.getlist("host") != [self.host]:
            return PlainTextResponse(f"Only requests to {self.host} are answered.", 421)
        if request.method not in ("GET", "HEAD") and request.headers.get("origin") != f"http://{self.host}":
            return PlainTextResponse("This request does not come from a page of nashgraph ui.", 403)
        path = request.scope["path"]
        if path == "/" and self.knows(request.query_params.get("token", "")):
            # The token leaves the address, so that it is not in what a user copies or shows.
            away = RedirectResponse("/", 303)
            away.set_cookie(self.cookie, self.session.token, httponly=True, samesite="strict")
            return away
        # A report has no cookie, because its origin is another one: the key in its address is enough to read results.
        reading = request.method == "GET" and path.startswith(f"/files/{self.session.key}/")
        if reading or self.knows(request.cookies.get(self.cookie, "")):
            return None
        return PlainTextResponse("Open the address that nashgraph ui printed in the terminal: it has the token.", 403)

    def knows(self, token: str) -> bool:
        """Return whether somebody has the token."""
        return secrets.compare_digest(token.encode(), self.session.token.encode())


@cache
def pages() -> Environment:
    """Return the templates: what goes into them is text, and never markup."""
    return Environment(loader=PackageLoader(__package__, "assets"), autoescape=True, undefined=StrictUndefined)


def shown(session: Session, template: str = "", **headers: str) -> HTMLResponse:
    """Return a template, that of the present view if none is named."""
    page = pages().get_template(f"{template or session.view}.html")
    return HTMLResponse(page.render(session.context()), headers=headers)


async def pieces(request: Request, most: int, what: str) -> AsyncIterator[bytes]:
    """Yield the body of a request as it comes, and refuse it as soon as it has too many bytes."""
    size = 0
    async for piece in request.stream():
        if (size := size + len(piece)) > most:
            raise InputError(f"{what} is too large: up to {most / 1e9:g} GB are read")
        yield piece


async def asset(request: Request) -> Response:
    """Return a style or a script of the pages."""
    name = request.path_params["name"]
    if name not in ASSETS:
        return PlainTextResponse(NOT_THERE, 404)
    return Response(files(ASSETS[name]).joinpath("assets", name).read_bytes(), media_type=KINDS[Path(name).suffix])


def application(session: Session, port: int) -> ASGIApp:
    """Return the app for a session, behind its guard; at its end, however it comes, the folder is deleted."""

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        session.close()

    async def home(request: Request) -> Response:
        return shown(session, "page")

    async def upload(request: Request) -> Response:
        kind = request.path_params["kind"]
        path = session.place_for(kind, unquote(request.headers.get("x-file-name", "")))
        try:
            with path.open("wb") as file:
                async for piece in pieces(request, MOST_BYTES, path.name):
                    file.write(piece)
        except (InputError, ClientDisconnect):
            path.unlink()
            raise
        await run_in_threadpool(session.take, kind, path)
        return shown(session) if kind == "file" else PlainTextResponse(path.name)

    async def act(request: Request) -> Response:
        name = request.path_params["action"]
        if name not in session.actions:
            return PlainTextResponse(NOT_THERE, 404)
        body = b"".join([piece async for piece in pieces(request, MOST_FORM, "the form")])
        fields = parse_qsl(body.decode(errors="replace"), keep_blank_values=True)
        await run_in_threadpool(session.actions[name], dict(fields))
        return shown(session, "edited" if name == "command" else "")

    async def progress(request: Request) -> Response:
        if session.view == "working":
            return shown(session, "progress")
        if session.view == "reading":
            return Response(status_code=204)  # nothing on the page changes
        return shown(session, **{"HX-Retarget": "#main"})

    async def result(request: Request) -> Response:
        file = session.result(request.path_params["path"])
        return PlainTextResponse(NOT_THERE, 404) if file is None else FileResponse(file)

    async def packed(request: Request) -> Response:
        if session.view != "done":
            return PlainTextResponse(NOT_THERE, 404)
        return FileResponse(path := await run_in_threadpool(session.zipped), filename=path.name)

    async def plan(request: Request) -> Response:
        return PlainTextResponse(session.plan_file)  # the link has the attribute "download"

    routes = [
        Route("/", home),
        Route("/progress", progress),
        Route("/network.zip", packed),
        Route("/plan.toml", plan),
        Route("/assets/{name}", asset),
        Route("/files/{key}/{path:path}", result),
        Route("/file/{kind}", upload, methods=["POST"]),
        Route("/do/{action}", act, methods=["POST"]),
    ]
    handled = dict.fromkeys((InputError, UsageError, OSError, ClientDisconnect, Exception), explained)
    return Guard(Starlette(routes=routes, lifespan=life, exception_handlers=handled), session, port)


async def explained(_: Request, error: Exception) -> Response:
    """Return an error as the sentence that the command would print."""
    return PlainTextResponse(message_of(error)[0].removesuffix(HINT), 409 if isinstance(error, BusyError) else 422)


def bound(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone; port 0 is any that is free."""
    listening = socket.socket()
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        listening.close()
        raise OSError(f"port {port} cannot be used ({str(error.strerror).lower()}): try another --port") from error
    listening.listen()
    return listening


def serve(port: int, browser: bool) -> int:
    """Serve the app until it is interrupted."""
    listening = bound(port)
    session = Session()
    voice = Voice()
    port = listening.getsockname()[1]
    address = f"http://{LOOPBACK}:{port}/?token={session.token}"
    voice.say(f"open {address}")
    voice.say("only this machine can reach it; Ctrl-C stops it and deletes its copies of your files")
    server = uvicorn.Server(uvicorn.Config(application(session, port), log_level="warning", ws="none", lifespan="on"))
    if hasattr(signal, "SIGHUP"):  # its terminal is closed
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    if browser:
        # In a thread, because a browser in the console returns only when it is closed.
        page = session.redirecting_file(address).as_uri()
        threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        voice.say("stopped")
    finally:
        session.close()
    return DONE
