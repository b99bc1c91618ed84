"""The command line as tests run it, in the same process."""

import base64
import re
import zlib

import pandas as pd
from typer.testing import CliRunner

from nashgraph.cli.app import app

# Relative: pandas reads numbers of a CSV to the last digit since version 3, and one digit may then move others.
LAST_DIGIT = 0.0 if int(pd.__version__.partition(".")[0]) >= 3 else 1e-12


def run(*arguments):
    """Return the result of a command (exit_code, stdout, stderr), with all notes, even those left to the report."""
    verbose = ["--verbose"] if arguments and arguments[0] in ("learn", "path", "rerun") else []
    return run_as_given(*arguments, *verbose)


def run_as_given(*arguments, columns=200):
    """Return the result of a command without further options."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": str(columns)})


def report_data(folder):
    """Return the JSON text that a report is drawn from: it is compressed, in the first script of the page."""
    packed = re.search(r"<script[^>]*>([^<]*)</script>", (folder / "report.html").read_text())[1]
    return zlib.decompress(base64.b64decode(packed)).decode()


def error_lines(result):
    """Return the lines on standard error that are not notes or warnings."""
    return [line for line in result.stderr.splitlines() if not line.startswith(("note: ", "warning: "))]
