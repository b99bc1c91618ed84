r"""The pairs found by a search, with their costs, and what they prove of those that were not found."""

from __future__ import annotations

from typing import NamedTuple

from .device import torch
from .search import FURTHER, TRIES, Search
from .segments import Projection, Ragged, places_of, pointers_of, project, project_in_place, row_numbers, smallest

ROOM = 0.5  # how far below its threshold a row is searched, in units of what its best score is above it
SPARE = 1.5  # times what rows have, beyond which what they had before is cleared away
TINY = 1e-300
MOST = 0.5  # share of the rows that fall short beyond which all are searched again


class Sides(NamedTuple):
    """A rank-one bonus l r^T on the device, in float64."""

    left: torch.Tensor
    right: torch.Tensor


class Candidates:
    r"""All pairs of score :math:`l^0_i r^0_j - D_{ij} \ge cut_i`, row by row, each row with a bonus of its own.

    Attributes
    ----------
    lengths, starts : tensors of shape (n_nodes,)
        How many pairs each row has, and where they begin; what was searched again is put at the end.
    columns, costs : tensors
        Column and cost of each pair, columns upward in each row.
    cut : tensor of shape (n_nodes,)
    """

    def __init__(self, search: Search, wanted: int) -> None:
        n = len(search)
        nothing = torch.zeros(n, dtype=torch.float64, device=search.points.device)
        self.search = search
        self.rights, self.left = [nothing], nothing.clone()  # the bonuses that rows were searched with
        self.made = torch.zeros(n, dtype=torch.int64, device=nothing.device)  # with which right side each
        self.cut = search.first_cuts(wanted)
        self._take(search.find(search.everyone, nothing, nothing, self.cut))
        self.deepen(1, search.everyone)

    def _take(self, found: Ragged) -> None:
        self.lengths, self.columns = found
        self.starts = pointers_of(self.lengths)[:-1]
        self.costs = self.search.costs(row_numbers(self.lengths), self.columns)

    def packed(self) -> torch.Tensor:
        """Put rows one after the other, without what is no longer theirs, and return the row of each pair."""
        if len(self.columns) > int(self.lengths.sum()):
            places = places_of(self.lengths, self.starts)
            self.columns, self.costs = self.columns[places], self.costs[places]
        self.starts = pointers_of(self.lengths)[:-1]
        return row_numbers(self.lengths)

    def deepen(self, kept: int, rows: torch.Tensor) -> None:
        """Search rows with fewer than ``kept`` candidates again, until none is left; all have been without bonus."""
        for tries in range(TRIES + 1):
            short = rows[self.lengths[rows] < kept]
            if not len(short):
                return
            nothing = torch.zeros(len(short), dtype=torch.float64, device=short.device)
            if tries < TRIES:
                cut = FURTHER * self.cut[short]
            else:  # exactly, and a little beyond: ties are kept together
                best, _ = self.search.best(short, kept, nothing, self.rights[0])
                cut = (1.0 + 1e-9) * best[:, -1]
            self._renew(short, 0, nothing, cut)

    def nearest(self, kept: int, rows: torch.Tensor) -> torch.Tensor:
        """Return the ``kept`` smallest costs of some rows, sorted upward; ``plain`` must be so."""
        self.deepen(kept, rows)
        while True:
            costs = smallest(self.costs, self.starts[rows], self.lengths[rows], kept)
            # The search finds all above the cut, and may find some below it.
            short = torch.nonzero(-costs[:, -1] < self.cut[rows]).ravel()
            if not len(short):
                return costs
            cut = -(1.0 + 1e-9) * costs[short, -1].double()
            self._renew(rows[short], 0, torch.zeros_like(cut), cut)

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

        Those are searched down to ``room`` below the floor, so that the next bonus may find all it needs; less far
        where there are many.
        """
        short = self.unproved(sides, floor)
        if not len(short):
            return False
        if len(short) > MOST * len(self.cut):
            short = self.search.everyone
        self.rights.append(sides.right)
        self._renew(short, len(self.rights) - 1, sides.left[short], (floor - room)[short], floor[short])
        return True

    def _project(self, sides: Sides, gain: float, total: float) -> Projection:
        if self.search.tiles:
            return project_in_place(self.starts, self.lengths, self.columns, self.costs, sides, gain, total)
        rows = self.packed()
        return project(sides.left[rows] * sides.right[self.columns] - self.costs, rows, self.lengths, gain, total)

    def unproved(self, sides: Sides, floor: torch.Tensor) -> torch.Tensor:
        """Return the rows in which a pair that is not listed may score more than ``floor``."""
        return torch.nonzero(~(floor >= self.cut + self._rise(sides))).ravel()

    def _rise(self, now: Sides) -> torch.Tensor:
        r"""Return a bound of how much any score of each row has risen since the row was searched.

        With any number :math:`\rho`, :math:`l_i r_j - l^0_i r^0_j = l_i (r_j - \rho r^0_j) + (\rho l_i - l^0_i) r^0_j`,
        and each part is largest where its right side is largest or least.
        """
        before = torch.stack(self.rights)
        share = before @ now.right / (before * before).sum(1).clamp(min=TINY)
        change = now.right - share[:, None] * before
        more = share[self.made] * now.left - self.left
        return self._most(now.left, change) + self._most(more, before)

    def _most(self, left: torch.Tensor, rights: torch.Tensor) -> torch.Tensor:
        """Return the largest of ``left_i * right_j`` over j, with each row's own right side."""
        return torch.maximum(left * rights.amax(1)[self.made], left * rights.amin(1)[self.made])

    def _renew(
        self,
        rows: torch.Tensor,
        number: int,
        left: torch.Tensor,
        cut: torch.Tensor,
        floor: torch.Tensor | None = None,
    ) -> None:
        """Search some rows again with one of the bonuses, given its left side there, to a cut or down to a floor."""
        found, cut = self.search.find_about(rows, left, self.rights[number], cut, cut if floor is None else floor)
        if len(rows) == len(self.cut):
            self._take(found)
        else:
            self.starts[rows], self.lengths[rows] = len(self.columns) + pointers_of(found.lengths)[:-1], found.lengths
            costs = self.search.costs(rows[row_numbers(found.lengths)], found.columns)
            self.columns, self.costs = torch.cat([self.columns, found.columns]), torch.cat([self.costs, costs])
            if len(self.columns) > SPARE * int(self.lengths.sum()):
                self.packed()
        self.cut[rows], self.made[rows], self.left[rows] = cut, number, left
