"""The command line as tests run it, in the same process."""

from typer.testing import CliRunner

from nashgraph.cli.app import app


def run(*arguments):
    """Return the result of a command: exit_code, stdout, stderr."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})


def error_lines(result):
    """Return what was said on standard error besides notes."""
    return [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
