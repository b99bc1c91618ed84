"""The candidate set on a device: what :mod:`nashgraph.pairs.candidates` says, with tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ..bonus import Bonus
from ..candidates import ROOM
from ..search import ROUNDING
from .device import memory_said, to_device, torch
from .device_search import FURTHER, TRIES
from .segments import (
    Projection,
    Ragged,
    places_of,
    pointers_of,
    project,
    project_in_place,
    row_numbers,
    row_sums,
    smallest,
)
from .weights import CudaWeights

if TYPE_CHECKING:
    from .search import CudaSearch

SPARE = 1.5  # times what rows have, beyond which what they had before is cleared away
MOST = 0.5  # share of the rows that fall short beyond which all are searched again


class Sides(NamedTuple):
    """A bonus on the device, in float64."""

    left: torch.Tensor
    right: torch.Tensor


class CudaCandidates:
    r"""All pairs of score :math:`\langle L^0_i, R^0_j \rangle - D_{ij} \ge cut_i`, each row with a bonus of its own.

    Attributes
    ----------
    lengths, starts : tensors of shape (n_nodes,)
        How many pairs each row has, and where they begin; what was searched again is put at the end.
    columns, costs : tensors
        Column and cost of each pair, columns upward in each row.
    cut : tensor of shape (n_nodes,)
    """

    complete = False

    def __init__(self, search: CudaSearch, wanted: int) -> None:
        self.search, self.device = search, search.on_device
        self.bonuses = [Sides(self.device.no_bonus, self.device.no_bonus)]  # those that rows were searched with
        self.made = torch.zeros(len(search), dtype=torch.int64, device=self.device.exact.device)  # which of them
        self.cut = self.device.first_cuts(wanted)
        self._take(self.device.find(self.device.everyone, *self.bonuses[0], self.cut))
        self.deepen(1, self.device.everyone)

    def respond(self, bonus: Bonus, *, gain: float, total: float) -> CudaWeights:
        """Return the best response to a bonus, proved to be that among all pairs."""
        exact = self.device.exact
        sides = Sides(to_device(bonus.left, exact), to_device(bonus.right, exact))
        with memory_said():
            found = self.project(sides, gain, total)
            costs = row_sums(found.weights * self.costs[found.edges], found.lengths)
            threshold = found.above / gain - found.top - to_device(bonus.shift, exact)
            columns = self.columns[found.edges]
        return CudaWeights(found.lengths, columns, found.weights, costs, threshold)

    def hold(self, matrix: Any) -> CudaWeights:
        """Return a given W in S, with its costs."""
        csr = sparse.csr_array(matrix, dtype=float)
        csr.eliminate_zeros()
        csr.sort_indices()
        values = to_device(csr.data, self.device.exact)
        columns = torch.from_numpy(csr.indices.astype(np.int32)).to(values.device)
        lengths = torch.from_numpy(np.diff(csr.indptr).astype(np.int64)).to(values.device)
        costs = row_sums(values * self.device.costs(row_numbers(lengths), columns), lengths)
        return CudaWeights(lengths, columns, values, costs)

    def _take(self, found: Ragged) -> None:
        self.lengths, self.columns = found
        self.starts = pointers_of(self.lengths)[:-1]
        self.costs = self.device.costs(row_numbers(self.lengths), self.columns)

    def packed(self) -> torch.Tensor:
        """Put rows one after the other, without what is no longer theirs, and return the row of each pair."""
        starts = pointers_of(self.lengths)
        if len(self.columns) > int(starts[-1]) or not torch.equal(starts[:-1], self.starts):
            places = places_of(self.lengths, self.starts)
            self.columns, self.costs = self.columns[places], self.costs[places]
        self.starts = starts[:-1]
        return row_numbers(self.lengths)

    def deepen(self, kept: int, rows: torch.Tensor) -> None:
        """Search rows with fewer than ``kept`` candidates again, until none is left; all have been without bonus."""
        for tries in range(TRIES + 1):
            short = rows[self.lengths[rows] < kept]
            if not len(short):
                return
            if tries < TRIES:
                cut = FURTHER * self.cut[short]
            else:  # exactly, and a little beyond: ties are kept together
                best, _ = self.device.best(short, kept, *self._bonus_of(short, self.bonuses[0]))
                cut = (1.0 + 1e-9) * best[:, -1]
            self._renew(short, 0, cut)

    def nearest(self, kept: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the ``kept`` smallest costs of all rows, sorted upward, and whose they are; ``plain`` must be so."""
        self.deepen(kept, self.device.everyone)
        while True:
            costs, places = smallest(self.costs, self.starts, self.lengths, kept)
            # The search finds all above the cut, and may find some below it.
            short = torch.nonzero(-costs[:, -1] < self.cut).ravel()
            if not len(short):
                return costs, self.columns[places]
            self._renew(short, 0, -(1.0 + 1e-9) * costs[short, -1])

    @property
    def plain(self) -> bool:
        """Whether all rows were last searched without bonus."""
        return len(self.bonuses) == 1 and not self.bonuses[0].left.shape[1]

    def project(self, sides: Sides, gain: float, total: float) -> Projection:
        """Return the best response of every row to a bonus, proved to be that among all pairs."""
        found = self._project(sides, gain, total)
        threshold = found.top - found.above / gain
        # Fewer pairs have a lower threshold: all edges of the true answer lie above that of the pairs listed.
        renewed = self.reach(sides, threshold, ROOM * (found.top - threshold))
        return self._project(sides, gain, total) if renewed else found

    def reach(self, sides: Sides, floor: torch.Tensor, room: torch.Tensor) -> bool:
        """See to it that all pairs that score more than ``floor`` are listed; return whether rows were searched.

        Those are searched down to ``room`` below the floor, so that the next bonus may find all it needs; less far
        where there are many.
        """
        # What is rounded in a score, its bonus included, is no proof.
        gained = largest_product(sides.left.abs(), sides.right.abs())
        floor = floor - ROUNDING * (floor.abs() + gained)
        short = self.unproved(sides, floor)
        if not len(short):
            return False
        if len(short) > MOST * len(self.cut):
            short = self.device.everyone
        self.bonuses.append(sides)
        self._renew(short, len(self.bonuses) - 1, (floor - room)[short], floor[short])
        kept, self.made = torch.unique(self.made, return_inverse=True)
        self.bonuses = [self.bonuses[number] for number in kept.tolist()]
        return True

    def _project(self, sides: Sides, gain: float, total: float) -> Projection:
        if self.device.tiles and sides.left.shape[1] <= 1:
            one = [side[:, 0].contiguous() if side.shape[1] else torch.zeros_like(self.cut) for side in sides]
            listed = self.starts, self.lengths, self.columns, self.costs
            return project_in_place(*listed, (one[0], one[1]), gain, total)
        rows = self.packed().long()
        gained = (sides.left[rows] * sides.right[self.columns.long()]).sum(1)
        return project(gained - self.costs, rows, self.lengths, gain, total)

    def unproved(self, sides: Sides, floor: torch.Tensor) -> torch.Tensor:
        """Return the rows in which a pair that is not listed may score more than ``floor``."""
        return torch.nonzero(~(floor >= self.cut + self._rise(sides))).ravel()

    def _rise(self, now: Sides) -> torch.Tensor:
        """Return a bound of how much any score of each row has risen since the row was searched; see CandidateSet."""
        rise = torch.zeros_like(self.cut)
        for number, before in enumerate(self.bonuses):
            mine = torch.nonzero(self.made == number).ravel()
            left, rest = now.left[mine], now.right
            if before.right.shape[1] and now.right.shape[1]:
                gram = before.right.T @ before.right
                change = torch.linalg.pinv(gram, hermitian=True) @ (before.right.T @ now.right)
                rest = now.right - before.right @ change
                rise[mine] = largest_product(left @ change.T - before.left[mine], before.right)
            elif before.right.shape[1]:
                rise[mine] = largest_product(-before.left[mine], before.right)
            rise[mine] += largest_product(left, rest)
        return rise

    def _bonus_of(self, rows: torch.Tensor, sides: Sides) -> Sides:
        """Return a bonus for some rows."""
        return Sides(sides.left[rows], sides.right)

    def _renew(self, rows: torch.Tensor, number: int, cut: torch.Tensor, floor: torch.Tensor | None = None) -> None:
        """Search some rows again with one of the bonuses, to a cut or down to a floor."""
        sides = self._bonus_of(rows, self.bonuses[number])
        found, cut = self.device.find_about(rows, *sides, cut, cut if floor is None else floor)
        if len(rows) == len(self.cut):
            self._take(found)
        else:
            self.starts[rows], self.lengths[rows] = len(self.columns) + pointers_of(found.lengths)[:-1], found.lengths
            costs = self.device.costs(rows[row_numbers(found.lengths)], found.columns)
            self.columns, self.costs = torch.cat([self.columns, found.columns]), torch.cat([self.costs, costs])
            if len(self.columns) > SPARE * int(self.lengths.sum()):
                self.packed()
        self.cut[rows], self.made[rows] = cut, number


def largest_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return a bound of ``max_j <left_i, right_j>``, column by column."""
    if not left.shape[1]:
        return left.sum(1)
    return torch.maximum(left * right.amax(0), left * right.amin(0)).sum(1)
