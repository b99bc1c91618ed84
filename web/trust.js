// How far the network can be relied on: what Python found (report/summary.py), as charts.

import { binned, histogram, lineChart } from "./charts.js";
import { countAt } from "./cut.js";
import { byId, data, nodes, pairs, suggested, supported } from "./data.js";

const zip = (one, other) => one.map((value, place) => [value, other[place]]);
const said = (name) => document.querySelector(`#${name} figcaption`).textContent;

// How many ties people have, in replicates or drawn networks; counted among the ties that count if there are none.
function showDegrees() {
  const values = new Array(nodes.name.length).fill(0);
  for (const { a, b } of pairs().slice(0, countAt(pairs(), suggested.level))) {
    values[a] += 1;
    values[b] += 1;
  }
  histogram(byId("degrees-chart"), data.trust.degrees ?? binned(values), { x: "ties", y: "people", sentence: said("degrees") });
}

export function showTrust() {
  showDegrees();
  const { stability, calibration, precision_recall: scores } = data.trust;
  if (stability) {
    const lines = [
      { name: "weight in common", kind: "curve", points: zip(stability.share, stability.agreement) },
      ...(supported ? [{ name: "rank correlation", kind: "curve second", points: zip(stability.share, stability.correlation) }] : []),
    ];
    lineChart(byId("stability-chart"), lines, { x: "share kept", y: "agreement", sentence: said("stability") });
  }
  if (calibration) {
    const lines = [
      { kind: "guess", points: [[0, 0], [1, 1]] },
      { kind: "curve", points: zip(calibration.evidence, calibration.tied) },
    ];
    lineChart(byId("calibration-chart"), lines, { x: suggested.column, y: "share that is true", sentence: said("calibration") });
  }
  if (scores) {
    const lines = [
      { name: "guessing", kind: "guess", points: [[0, scores.guessing], [1, scores.guessing]] },
      { kind: "curve", points: zip(scores.recall, scores.precision) },
    ];
    lineChart(byId("scores-chart"), lines, { x: "share of true ties found", y: "share of these that is true", sentence: said("scores") });
  }
}
