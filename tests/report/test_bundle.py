"""The report's script: the bundle in the package is that of the modules in web/, and these pass their own tests."""

import hashlib
import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from nashgraph.games import INTERACTIONS, equilibrium
from nashgraph.report.game import playable

from .models import karate

WEB = Path(__file__).parents[2] / "web"


def test_the_bundle_is_that_of_the_sources():
    digest = hashlib.sha256()
    for file in sorted([*WEB.glob("*.js"), WEB / "package.json"], key=lambda path: path.name):
        digest.update(f"{file.name}\n{file.read_text(encoding='utf-8')}\n".encode())
    bundle = (files("nashgraph.report") / "assets" / "page.js").read_text(encoding="utf-8")
    assert bundle.splitlines()[0] == f"// sources {digest.hexdigest()}", "web/ has changed since: run `make bundle`"


@pytest.fixture(scope="module")
def node():
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed, and the modules of the page are tested with it")
    return found


def test_the_modules_pass_their_own_tests(node):
    done = subprocess.run([node, "--test", "tests/"], cwd=WEB, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "# pass 0" not in done.stdout


def test_a_what_if_is_solved_as_python_solves_it(node):
    model = karate()[0]
    graph, order = model.graph_, model.graph_.by_influence
    weights, benefit = graph.weights.toarray()[order][:, order], np.asarray(graph.node_columns["benefit"])[order]
    script = """
        import { equilibriumOf, unpackGame } from "./game.js";
        const { game, gone } = JSON.parse(process.argv[1]);
        console.log(JSON.stringify([...equilibriumOf(unpackGame(game), new Set(gone))]));
    """
    left = np.arange(len(order)) != 3
    for interaction in INTERACTIONS:
        given = json.dumps({"game": playable(model).to_dict() | {"interaction": interaction}, "gone": [3]})
        done = subprocess.run(
            [node, "--input-type=module", "-e", script, given], cwd=WEB, capture_output=True, text=True, check=True
        )
        wanted = equilibrium(weights * left * left[:, None], benefit * left, interaction)
        np.testing.assert_allclose(json.loads(done.stdout), wanted, rtol=1e-6, atol=1e-12)
