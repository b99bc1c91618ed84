// The charts: plain SVG, one sentence each beside them.

import * as d3 from "d3";

const CHART = { top: 12, right: 14, bottom: 42, left: 46 };
const drawnLog = 1e-17; // a value of exactly zero is drawn here

const polyline = (points) => `M${points.map((point) => point.map((at) => at.toFixed(2)).join(",")).join("L")}`;

// A chart is made for the width it has, so that its letters are as large as the text around it.
function makeChart(container, title) {
  const width = Math.min(Math.max(container.clientWidth, 270), 440);
  const height = Math.round(0.4 * width + 84);
  const svg = d3.select(container).append("svg").attr("viewBox", `0 0 ${width} ${height}`);
  svg.attr("role", "img").attr("aria-label", title);
  return {
    svg,
    x: (scale, domain) => scale.domain(domain).range([CHART.left, width - CHART.right]),
    y: (scale, domain) => scale.domain(domain).range([height - CHART.bottom, CHART.top + 14]),
    width,
    height,
  };
}

function drawAxes({ svg, width, height }, x, y, xLabel, yLabel, yTicks = (axis) => axis.ticks(4)) {
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(0,${height - CHART.bottom})`)
    .call(d3.axisBottom(x).ticks(5).tickSizeOuter(0));
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(${CHART.left},0)`)
    .call(yTicks(d3.axisLeft(y)).tickSize(CHART.left + CHART.right - width))
    .call((axis) => axis.select(".domain").remove());
  svg
    .append("text")
    .attr("x", width - CHART.right)
    .attr("y", height - 6)
    .attr("text-anchor", "end")
    .text(xLabel);
  svg.append("text").attr("x", 0).attr("y", 10).text(yLabel);
}

// Lines on axes from 0 to 1, or from the lowest value: each has a name, points and a class of its own.
export function lineChart(container, lines, { x: xLabel, y: yLabel, sentence }) {
  const chart = makeChart(container, sentence);
  const all = lines.flatMap(({ points }) => points);
  const x = chart.x(d3.scaleLinear(), [Math.min(0, d3.min(all, ([at]) => at)), 1]);
  const y = chart.y(d3.scaleLinear(), [Math.min(0, d3.min(all, ([, at]) => at)), 1]);
  drawAxes(chart, x, y, xLabel, yLabel);
  for (const { points, kind, name } of lines) {
    chart.svg.append("path").attr("class", kind).attr("d", polyline(points.map(([across, up]) => [x(across), y(up)])));
    if (!name) continue;
    const [across, up] = points[points.length - 1];
    chart.svg.append("text").attr("x", x(across) - 4).attr("y", y(up) + (kind === "curve" ? 16 : -6)).attr("text-anchor", "end").text(name);
  }
}

// How many people have each number of ties: bins of one width of whole numbers, a bar each if there is room.
const BARS = 24;
export function binned(values) {
  const most = d3.max(values) || 0;
  const width = Math.ceil((most + 1) / BARS);
  const ties = d3.range(0, most + 1 + width, width);
  const people = new Array(ties.length - 1).fill(0);
  for (const value of values) people[Math.floor(value / width)] += 1;
  return { ties, people };
}

// Bars over bins, with their intervals where there are some.
export function histogram(container, { ties, people, low, high }, { x: xLabel, y: yLabel, sentence }) {
  const chart = makeChart(container, sentence);
  const x = chart.x(d3.scaleLinear(), [ties[0], ties[ties.length - 1]]);
  const y = chart.y(d3.scaleLinear(), [0, d3.max(high ?? people) || 1]);
  drawAxes(chart, x, y, xLabel, yLabel);
  people.forEach((count, bin) => {
    const [left, right] = [x(ties[bin]), x(ties[bin + 1])];
    chart.svg.append("rect").attr("class", "count").attr("x", left + 0.5).attr("y", y(count))
      .attr("width", Math.max(1, right - left - 1)).attr("height", y(0) - y(count));
    if (!high) return;
    const middle = (left + right) / 2;
    chart.svg.append("line").attr("class", "interval-line").attr("x1", middle).attr("x2", middle).attr("y1", y(low[bin])).attr("y2", y(high[bin]));
  });
}

// The steps of a run, by what its certificate measures; a step without a value (an infinite gap) is left out.
export function convergence(container, history, { measure, tol: tolerance }, sentence) {
  const known = d3.range(history.value.length).filter((step) => history.value[step] !== null);
  if (!known.length) return;
  const iteration = known.map((step) => history.iteration[step]);
  const values = known.map((step) => Math.max(history.value[step], drawnLog));
  const low = d3.min([...values, tolerance || Infinity]);
  const chart = makeChart(container, sentence);
  const x = chart.x(d3.scaleLinear(), [0, Math.max(1, d3.max(iteration))]);
  const y = chart.y(d3.scaleLog(), [low / 2, d3.max(values) * 2]);
  const decades = d3.range(Math.ceil(Math.log10(low / 2)), Math.floor(Math.log10(d3.max(values) * 2)) + 1);
  const every = Math.ceil(decades.length / 5);
  const ticks = decades.filter((_, k) => (decades.length - 1 - k) % every === 0).map((power) => Number(`1e${power}`));
  const { svg } = chart;
  drawAxes(chart, x, y, "step", measure, (axis) =>
    axis.tickValues(ticks).tickFormat((value) => (value >= 0.01 ? String(value) : value.toExponential(0))),
  );
  if (tolerance) {
    svg.append("line").attr("class", "asked").attr("x1", CHART.left).attr("x2", chart.width - CHART.right)
      .attr("y1", y(tolerance)).attr("y2", y(tolerance));
    svg.append("text").attr("class", "asked").attr("x", CHART.left + 4).attr("y", y(tolerance) - 5).text("asked for");
  }
  svg.append("path").attr("class", "curve").attr("d", polyline(values.map((value, step) => [x(iteration[step]), y(value)])));
  svg.append("circle").attr("class", "end").attr("r", 4)
    .attr("cx", x(iteration[iteration.length - 1])).attr("cy", y(values[values.length - 1]));
}

// The front, with the graph now drawn marked; returns what marks another one.
export function paretoFront(container, { lam, smoothness_cost: cost, welfare, fitted }, sentence, choose) {
  const padded = (values) => {
    const [low, high] = d3.extent(values.filter((value) => value !== null));
    const pad = (high - low || Math.abs(high) || 1) * 0.06;
    return [low - pad, high + pad];
  };
  const chart = makeChart(container, sentence);
  const { svg } = chart;
  const x = chart.x(d3.scaleLinear(), padded(cost));
  const y = chart.y(d3.scaleLinear(), padded(welfare));
  drawAxes(chart, x, y, "misfit J(W): smoother to the left", "welfare");
  const solved = d3.range(lam.length).filter((k) => cost[k] !== null && welfare[k] !== null);
  svg.append("path").attr("class", "curve").attr("d", polyline(solved.map((k) => [x(cost[k]), y(welfare[k])])));
  svg
    .selectAll("circle.point")
    .data(solved)
    .join("circle")
    .attr("class", (k) => (fitted[k] ? "point fitted" : "point"))
    .attr("r", (k) => (fitted[k] ? 5 : 4))
    .attr("cx", (k) => x(cost[k]))
    .attr("cy", (k) => y(welfare[k]))
    .on("click", (_, k) => choose(k));
  const marker = svg.append("circle").attr("class", "marker").attr("r", 9);
  return (k) => {
    const known = solved.includes(k);
    marker.attr("visibility", known ? "visible" : "hidden");
    if (known) marker.attr("cx", x(cost[k])).attr("cy", y(welfare[k]));
  };
}
