"""The smoothness term with its graphs on a GPU: best responses from a list of candidates that proves itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ...validation import Array
from ..passes import Bonus, NeighbourSpread, Part, Work
from ..smoothness import Smoothness
from .candidates import Candidates, Sides
from .coupling import CudaCoupling
from .device import memory_said, to_device, torch
from .points import CudaPoints
from .segments import project, row_numbers, row_sums

SAMPLE = 256


class CudaSmoothness(Smoothness):
    """Nothing held but the points and a list of candidates. See :class:`~nashgraph.couplings.Smoothness`.

    A best response costs what the candidates cost; rows that these do not suffice for are searched again, so that every
    answer is that among all pairs. So nothing is gained by descending on listed pairs: ``lists`` is false.
    """

    name = "cuda"
    proves = True
    points: CudaPoints

    def __init__(self, points: CudaPoints, beta: float, c: float) -> None:
        super().__init__(points, beta, c)
        self.before = points.search.searched

    def respond(self, left: Array, right: Array) -> CudaCoupling:
        """Return the graph that answers a rank-one bonus."""
        bonus = Bonus.of(left, right, self.dtype)
        exact = self.points.search.exact
        sides = Sides(to_device(bonus.left, exact), to_device(bonus.right, exact))
        with memory_said():
            candidates = self._candidates()
            found = candidates.project(sides, self.gain, self.c)
            costs = candidates.costs[found.edges].double()
            cost, square = float(found.weights @ costs), float(found.weights @ found.weights)
            limits = 2.0 * self.beta * found.above - found.top - to_device(bonus.shift, exact)
            weights = found.weights.to(candidates.costs.dtype)
            columns = candidates.columns[found.edges]
        self._count()
        return CudaCoupling(found.lengths, columns, weights, cost, square, limits)

    def hold(self, weights: Any) -> CudaCoupling:
        """Return a given W in S as a coupling."""
        csr = sparse.csr_array(weights, dtype=self.dtype)
        csr.eliminate_zeros()
        csr.sort_indices()
        lengths, columns, values = self._put(csr.data, csr.indices, csr.indptr)
        cost = float(values.double() @ self.points.search.costs(row_numbers(lengths), columns).double())
        return CudaCoupling(lengths, columns, values, cost, float(values.double() @ values.double()))

    def revive(self, arrays: Mapping[str, Array], cost: float, square: float, threshold: Array | None) -> CudaCoupling:
        """Return the graph that gave these ``arrays``, to the bit."""
        parts = self._put(*(arrays[part] for part in ("data", "indices", "indptr")))
        limits = None if threshold is None else to_device(threshold, self.points.search.exact)
        return CudaCoupling(*parts, cost, square, limits)

    def _put(self, data: Array, indices: Array, indptr: Array) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return lengths, columns and weights of the rows of a CSR matrix on the device."""
        values = to_device(data, self.points.search.points)
        columns = torch.from_numpy(indices.astype(np.int32)).to(values.device)
        return torch.from_numpy(np.diff(indptr).astype(np.int64)).to(values.device), columns, values

    def run(self, work: Work[Part]) -> Iterator[Part]:
        """Yield the parts of a pass; what needs neighbours only is answered from the candidates, in one part."""
        known: Any = work
        if isinstance(known, NeighbourSpread):
            yield float(self._spread(known))  # type: ignore[misc]
        else:
            yield from super().run(work)

    def _spread(self, work: NeighbourSpread) -> torch.Tensor:
        """Return what :class:`NeighbourSpread` asks for."""
        exact = self.points.search.exact
        candidates, threshold = self._candidates(), to_device(work.threshold, exact)
        nothing = Sides(torch.zeros_like(threshold), torch.zeros_like(threshold))
        candidates.reach(nothing, -threshold)
        self._count()
        rows = candidates.packed()
        edges = torch.nonzero(candidates.costs < threshold[rows]).ravel()
        rows, right = rows[edges], to_device(work.right, exact)[candidates.columns[edges]]
        lengths = torch.bincount(rows, minlength=len(threshold))
        mean = row_sums(right, lengths) / lengths.clamp(min=1)
        return to_device(work.left, exact).square() @ row_sums((right - mean[rows]).square(), lengths)

    def _candidates(self) -> Candidates:
        """Return the points' candidates, made at first for as many neighbours as a sample of the nodes has."""
        search = self.points.search
        if self.points.has_candidates:
            return self.points.candidates(0.0)
        rows = search.shuffled[:SAMPLE]
        nothing = torch.zeros(len(search), dtype=torch.float64, device=rows.device)
        degrees = [1]
        for _, scores in search.blocks(rows, None, nothing[rows], nothing):
            lengths = torch.full((len(scores),), scores.shape[1], device=rows.device)
            found = project(scores.ravel(), row_numbers(lengths), lengths, self.gain, self.c)
            degrees.append(int(found.lengths.max()))
        return self.points.candidates(max(degrees))

    def _count(self) -> None:
        """Count the passes that all searches of some rows amount to."""
        self.passes = -(-(self.points.search.searched - self.before) // self.n_nodes**2)
