r"""The pairs found by a search, with their costs, and what they prove of those that were not found."""

from __future__ import annotations

from typing import NamedTuple

from .device import torch
from .search import FURTHER, TRIES, Search
from .segments import Projection, Ragged, order_in_rows, pointers_of, project, row_numbers

ROOM = 1.0  # how far below its threshold a row is searched, in units of what its best score is above it
MOST = 0.5  # share of the rows that fall short beyond which all are searched again


class Sides(NamedTuple):
    """A rank-one bonus l r^T on the device, in float64."""

    left: torch.Tensor
    right: torch.Tensor


class Candidates:
    r"""All pairs of score :math:`l^0_i r^0_j - D_{ij} \ge cut_i`, row by row, each row with a bonus of its own.

    Attributes
    ----------
    lengths, rows, columns, costs : tensors
        How many pairs each row has; row, column and cost of each pair, columns upward in each row.
    cut : tensor of shape (n_nodes,)
    """

    def __init__(self, search: Search, wanted: int) -> None:
        n = len(search)
        nothing = torch.zeros(n, dtype=torch.float64, device=search.points.device)
        self.search = search
        self.sides = [Sides(nothing, nothing)]
        self.made = torch.zeros(n, dtype=torch.int64, device=nothing.device)  # with which of these bonuses
        self.cut = search.first_cuts(wanted)
        self._take(search.find(search.everyone, nothing, nothing, self.cut))
        self.deepen(1)

    def _take(self, found: Ragged) -> None:
        self.lengths, self.columns = found
        self.rows = row_numbers(self.lengths)
        self.costs = self.search.costs(self.rows, self.columns)

    def deepen(self, kept: int) -> None:
        """Search rows with fewer than ``kept`` candidates again, until none is left; all have been without bonus."""
        for tries in range(TRIES + 1):
            short = torch.nonzero(self.lengths < kept).ravel()
            if not len(short):
                return
            nothing = torch.zeros(len(short), dtype=torch.float64, device=short.device)
            if tries < TRIES:
                cut = FURTHER * self.cut[short]
            else:  # exactly, and a little beyond: ties are kept together
                best, _ = self.search.best(short, kept, nothing, self.sides[0].right)
                cut = (1.0 + 1e-9) * best[:, -1]
            self._renew(short, 0, nothing, cut)

    def nearest(self, kept: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the ``kept`` smallest costs of each row, sorted upward, and whose they are; ``plain`` must be so."""
        self.deepen(kept)
        while True:
            order = order_in_rows(self.costs, self.rows)
            places = order[pointers_of(self.lengths)[:-1, None] + torch.arange(kept, device=order.device)]
            costs = self.costs[places]
            # The search finds all above the cut, and may find some below it.
            short = torch.nonzero(-costs[:, -1] < self.cut).ravel()
            if not len(short):
                return costs, self.columns[places]
            cut = -(1.0 + 1e-9) * costs[short, -1].double()
            self._renew(short, 0, torch.zeros_like(cut), cut)

    @property
    def plain(self) -> bool:
        """Whether all rows were searched without bonus."""
        return not bool(self.made.any())

    def project(self, sides: Sides, gain: float, total: float) -> Projection:
        """Return the best response of every row to a bonus, proved to be that among all pairs."""
        found = self._project(sides, gain, total)
        threshold = found.top - found.above / gain
        # Fewer pairs have a lower threshold: all edges of the true answer lie above that of the pairs listed.
        renewed = self.reach(sides, threshold, ROOM * (found.top - threshold))
        return self._project(sides, gain, total) if renewed else found

    def reach(self, sides: Sides, floor: torch.Tensor, room: torch.Tensor | float = 0.0) -> bool:
        """See to it that all pairs that score more than ``floor`` are listed; return whether rows were searched.

        Those are searched down to ``room`` below the floor, so that the next bonus may find all it needs.
        """
        short = self.unproved(sides, floor)
        if not len(short):
            return False
        if len(short) > MOST * len(self.cut):
            short = self.search.everyone
        self.sides.append(sides)
        self._renew(short, len(self.sides) - 1, sides.left[short], (floor - room)[short])
        return True

    def _project(self, sides: Sides, gain: float, total: float) -> Projection:
        scores = sides.left[self.rows] * sides.right[self.columns] - self.costs
        return project(scores, self.rows, self.lengths, gain, total)

    def unproved(self, sides: Sides, floor: torch.Tensor) -> torch.Tensor:
        """Return the rows in which a pair that is not listed may score more than ``floor``."""
        return torch.nonzero(~(floor >= self.cut + self._rise(sides))).ravel()

    def _rise(self, now: Sides) -> torch.Tensor:
        r"""Return a bound of how much any score of each row has risen since the row was searched.

        With any number :math:`\rho`, :math:`l_i r_j - l^0_i r^0_j = l_i (r_j - \rho r^0_j) + (\rho l_i - l^0_i) r^0_j`,
        and each part is largest where its right side is largest or least.
        """
        rise = torch.zeros_like(self.cut)
        for number in torch.unique(self.made).tolist():
            before, mine = self.sides[number], self.made == number
            square = float(before.right @ before.right)
            share = float(now.right @ before.right) / square if square > 0 else 0.0
            left, was = now.left[mine], before.left[mine]
            rise[mine] = _most(left, now.right - share * before.right) + _most(share * left - was, before.right)
        return rise

    def _renew(self, rows: torch.Tensor, number: int, left: torch.Tensor, cut: torch.Tensor) -> None:
        """Search some rows again with one of the bonuses, given its left side there."""
        found = self.search.find(rows, left, self.sides[number].right, cut)
        if len(rows) == len(self.cut):
            self._take(found)
        else:
            self._replace(rows, found)
        self.cut[rows], self.made[rows] = cut, number

    def _replace(self, rows: torch.Tensor, found: Ragged) -> None:
        """Put what was found into the place of what some rows had."""
        renewed = torch.zeros(len(self.cut), dtype=torch.bool, device=rows.device)
        renewed[rows] = True
        old = torch.nonzero(~renewed[self.rows]).ravel()
        lengths = self.lengths.clone()
        lengths[rows] = found.lengths
        starts = pointers_of(lengths)
        kept_places = old + (starts - pointers_of(self.lengths))[:-1][self.rows[old]]
        new_places, new = found.places(starts[rows]), rows[row_numbers(found.lengths)]
        columns = torch.empty(int(starts[-1]), dtype=self.columns.dtype, device=rows.device)
        costs = torch.empty(len(columns), dtype=self.costs.dtype, device=rows.device)
        columns[kept_places], costs[kept_places] = self.columns[old], self.costs[old]
        columns[new_places], costs[new_places] = found.columns, self.search.costs(new, found.columns)
        self.lengths, self.columns, self.costs, self.rows = lengths, columns, costs, row_numbers(lengths)


def _most(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the largest of ``left_i * right_j`` over j."""
    return torch.maximum(left * right.max(), left * right.min())
