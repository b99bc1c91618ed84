"""The report's script: the bundle in the package is that of the modules in web/, and these pass their own tests."""

import hashlib
import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from nashgraph import GLGP, GamePrior
from nashgraph.datasets import smooth_signals
from nashgraph.games import INTERACTIONS
from nashgraph.interventions import Game
from nashgraph.priors import Epidemic, equilibrium
from nashgraph.report.game import playable

from .models import karate

WEB = Path(__file__).parents[2] / "web"
PLAYED_PRIORS = {
    "game": lambda: "game",
    "substitutes": lambda: "substitutes",
    "spread": lambda: "spread",
    "containment": lambda: "containment",
    "cap": lambda: GamePrior(cap=0.04),
    "cap and share": lambda: GamePrior(interaction="linear", share=0.5, cap=0.04),
    "utilitarian": lambda: GamePrior(interaction="exponential", welfare="utilitarian"),
    "epidemic": lambda: -2.0 * Epidemic(np.arange(1.0, 35.0) / 100.0, 0.5),
}


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


@pytest.mark.parametrize("name", PLAYED_PRIORS)
def test_a_what_if_plays_the_prior_that_was_learned_with(node, name):
    """Every prior that the page offers gives the library's actions and welfare to 1e-6, with a node gone."""
    X = smooth_signals(nx.karate_club_graph(), n_signals=30, filter="heat", random_state=0)
    prior = PLAYED_PRIORS[name]()
    benefit = np.arange(1.0, 35.0) if isinstance(prior, str | GamePrior) else "spectral"
    model = GLGP(lam=0.1, benefit=benefit, prior=prior).fit(X)
    script = """
        import { equilibriumOf, unpackGame, welfareOf } from "./game.js";
        const game = unpackGame(JSON.parse(process.argv[1]));
        const results = [new Set(), new Set([3])].map((gone) => {
          const actions = equilibriumOf(game, gone);
          return { actions: [...actions], welfare: welfareOf(game, actions) };
        });
        console.log(JSON.stringify(results));
    """
    given = json.dumps(playable(model).to_dict())
    done = subprocess.run(
        [node, "--input-type=module", "-e", script, given], cwd=WEB, capture_output=True, text=True, check=True
    )
    order = model.graph_.by_influence
    whole = Game.on(model)
    for game, result in zip((whole, whole.without(order[[3]])), json.loads(done.stdout), strict=True):
        np.testing.assert_allclose(result["actions"], game.actions[order], rtol=1e-6, atol=1e-9)
        assert result["welfare"] == pytest.approx(game.value, rel=1e-6)


@pytest.mark.parametrize("name", ["resilience", "agreement", "diffusion"])
def test_the_page_offers_no_what_if_for_a_prior_it_cannot_play(name):
    X = smooth_signals(nx.karate_club_graph(), n_signals=30, filter="heat", random_state=0)
    assert playable(GLGP(lam=0.1, benefit=np.arange(1.0, 35.0), prior=name).fit(X)) is None
