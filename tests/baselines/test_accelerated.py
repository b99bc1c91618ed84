"""The accelerated loop that the baselines share: the optimum, restarts, and how a run ends."""

import numpy as np
import pytest

from nashgraph.baselines.accelerated import Iterate, accelerated_descent, alternate
from nashgraph.certificate import Measure, Monitor, Status


class Ridge:
    """1 + |x - target|^2 weighed by curvatures, over x >= 0: least, 1, at the target."""

    def __init__(self, curvatures, target, conditioning=0.0):
        self.curvatures, self.target, self.conditioning, self.steps = curvatures, target, conditioning, 0

    def at(self, point):
        return Iterate(point, 2 * self.curvatures * (point - self.target))

    def step(self, at):
        self.steps += 1
        return self.at(np.maximum(at.point - at.image / (2 * self.curvatures.max()), 0))

    def measure(self, at):
        excess = float(self.curvatures @ (at.point - self.target) ** 2)
        return 1.0 + excess, excess


@pytest.fixture(params=[0.0, 1e-4])
def block(random, request):
    return Ridge(np.geomspace(1e-4, 1, 40), random.random(40), request.param)


def test_an_ill_conditioned_minimum_in_far_fewer_steps_than_without_momentum(block):
    point, certificate = accelerated_descent(block, np.zeros(40), Monitor(Measure.GAP, 1e-14, 20_000))
    assert certificate.converged
    np.testing.assert_allclose(point, block.target, atol=1e-4)
    assert block.steps < 2500  # plain steps take log(1e-7) / log(1 - 1e-4), about 160,000


def test_the_records_are_every_fifth_step_and_the_last(block):
    _, certificate = accelerated_descent(block, np.zeros(40), Monitor(Measure.GAP, 0.0, 12))
    assert [record.iteration for record in certificate.history] == [0, 5, 10, 12]
    assert certificate.status is Status.MAX_ITER


def test_a_start_that_is_the_answer_takes_no_step(block):
    point, certificate = accelerated_descent(block, block.target, Monitor(Measure.GAP, 1e-12, 100))
    assert (certificate.iterations, block.steps) == (0, 0)
    assert point is block.target


class Uphill(Ridge):
    """Steps that diverge."""

    def step(self, at):
        return self.at(at.point + 1)


def test_an_answer_above_the_start_is_not_returned():
    block, start = Uphill(np.ones(3), np.zeros(3)), np.full(3, 0.1)
    point, certificate = accelerated_descent(block, start, Monitor(Measure.GAP, 0.0, 10))
    assert point is start
    assert certificate.status is Status.STALLED
    assert certificate.value == pytest.approx(0.03 / 1.03)
    monitor = Monitor(Measure.GAP, 0.0, 10)
    alternate(start, lambda graph: (block, 2.0), monitor)
    assert monitor.status is Status.STALLED


def test_an_alternation_ends_where_both_blocks_are_optimal(block):
    """The rest is the target's scale: half the graph's, half a given one, so both meet at the given one."""
    given = block.target
    monitor = Monitor(Measure.GAP, 1e-12, 200)
    point = alternate(np.zeros(40), lambda graph: (Ridge(np.ones(40), (graph + given) / 2), 0.5), monitor)
    assert monitor.status is Status.CONVERGED
    np.testing.assert_allclose(point, given, atol=1e-5)
    assert np.diff([record.objective for record in monitor.records]).max() <= 0
