// The controls, and what they say. Every name goes into the page as text.

const SUGGESTIONS = 20;
const LISTED = 5;
// Columns that are shown in their own way; others are shown as they are.
const COUNTED = ["name", "influence", "followers", "listens_to", "influence_low", "influence_high", "rank_low", "rank_high"];
const root = document.documentElement;

const said = (count) => count.toLocaleString("en");

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// ------------------------------------------------------------------------------------------ what is shown

function sayShown() {
  const list = edges();
  const count = shownCount(list);
  const kind = state.directed ? "lines" : "pairs";
  const known = list.drawn.length;
  const whole = state.directed && currentView().n_edges > known ? ` drawn (the network has ${said(currentView().n_edges)})` : "";
  const { frequency } = list.edge_columns;
  const least = `${Math.round(100 * state.sure)} %`;
  if (frequency) byId("sure").textContent = least;
  const those = frequency ? `that at least ${least} of the members have` : `of weight ${figure(list.weight[list.drawn[count - 1]])} or more`;
  const which = count < known ? `, those ${those}` : "";
  byId("shown").textContent = `Shown: ${count < known ? said(count) : "all"} of ${said(known)} ${kind}${whole}${which}.`;
  byId("threshold").setAttribute("aria-valuetext", `${frequency ? `${least}: ` : ""}${count} ${kind} shown`);
  stage.dataset.edges = count;
  stage.dataset.nodes = drawnCount;
  stage.dataset.view = state.view;
  stage.dataset.selected = state.selected === null ? "" : nodes.name[state.selected];
  base.setAttribute("aria-label", `A drawing of ${drawnCount} nodes and ${count} ${kind}. The table of hubs and the search field give the same in words.`);
}

function refresh() {
  sayShown();
  showSelection();
  redraw();
}

// ------------------------------------------------------------------------------------------- one node

function select(node, { scroll = false } = {}) {
  state.selected = node;
  state.hovered = null;
  byId("tooltip").hidden = true;
  sayShown();
  showSelection();
  drawOverlay();
  drawPaperSoon();
  byId("status").textContent = node === null ? "Nothing is selected." : spoken(node);
  for (const button of document.querySelectorAll("button.node[data-node]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.node) === node));
  }
  if (scroll) byId("network").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
}

function spoken(node) {
  const { into } = neighbours(node, 3);
  const names = into.map((tie) => nodes.name[tie.node]).join(", ");
  return `${nodes.name[node]} is selected. ${names ? `It listens most to ${names}.` : ""}`;
}

const emptySelection = [...byId("selection-text").childNodes];

function showSelection() {
  const node = state.selected;
  const heading = byId("selection-heading");
  const text = byId("selection-text");
  byId("selection").toggleAttribute("data-chosen", node !== null);
  if (node === null) {
    heading.textContent = "Choose a node";
    text.replaceChildren(...emptySelection);
    return;
  }
  heading.textContent = nodes.name[node];
  text.replaceChildren(factsOf(node), ...tieLists(node), clearButton());
}

function factsOf(node) {
  const view = currentView();
  const drawn = node < drawnCount;
  const list = element("dl", null, { class: "settings" });
  const add = (name, value) => {
    const group = element("div", null);
    group.append(element("dt", name, { dir: "auto" }), element("dd", value, { dir: "auto" }));
    list.append(group);
  };
  const influence = drawn ? view.influence : nodes.influence;
  const rank = d3.sum(influence, (value) => value > influence[node]) + 1;
  if (nodes.rank_low && state.view === drawing.fitted) {
    add("influence", `${figure(influence[node])}, ${figure(nodes.influence_low[node])} to ${figure(nodes.influence_high[node])}`);
    add("rank", `${rank}, ${nodes.rank_low[node]} to ${nodes.rank_high[node]}`);
  } else add("influence", `${figure(influence[node])}, rank ${rank}`);
  for (const [column, values] of Object.entries(nodes)) {
    if (COUNTED.includes(column)) continue;
    add(column, figure(drawn && column === "action" ? view.action[node] : values[node]));
  }
  if (!drawn) add("in the drawing", "no, too little influence");
  return list;
}

function tieLists(node) {
  const { into, from } = neighbours(node, state.directed ? LISTED : 2 * LISTED);
  if (!state.directed) {
    const both = [...into, ...from].sort((a, b) => b.weight - a.weight).slice(0, 2 * LISTED);
    return tieList("Tied most to", both, "from");
  }
  const fitted = state.view === drawing.fitted;
  const of = (ties, column) => (fitted && nodes[column][node] > ties.length ? ` (${ties.length} of ${nodes[column][node]})` : "");
  return [
    ...tieList(`Listens most to${of(into, "listens_to")}`, into, "into"),
    ...tieList(`Is listened to most by${of(from, "followers")}`, from, "from"),
  ];
}

function tieList(title, ties, kind) {
  const heading = element("h4", title, { class: kind });
  if (!ties.length) return [heading, element("p", "nobody", { class: "note" })];
  const list = element("ol", null, { class: "ties" });
  for (const tie of ties) {
    const item = element("li", null);
    const button = element("button", null, { type: "button", class: "node" });
    button.append(element("bdi", nodes.name[tie.node]));
    button.addEventListener("click", () => select(tie.node));
    item.append(button, element("span", figure(tie.weight), { class: "figure" }));
    const more = [...(tie.range ? [tie.range.map(figure).join(" to ")] : []), ...tie.columns.filter(([, value]) => value !== "").map(([name, value]) => `${name} ${figure(value)}`)];
    if (more.length) item.append(element("small", more.join(" · "), { class: "figure note" }));
    list.append(item);
  }
  return [heading, list];
}

function clearButton() {
  const button = element("button", "Clear", { type: "button" });
  button.addEventListener("click", clear);
  return button;
}

function clear() {
  byId("search").value = "";
  select(null);
}

// --------------------------------------------------------------------------------------------- controls

function suggest() {
  const field = byId("search");
  const found = matches(field.value, SUGGESTIONS);
  byId("names").replaceChildren(...found.map((node) => element("option", null, { value: nodes.name[node] })));
  const exact = found.find((node) => nodes.name[node] === field.value);
  if (exact !== undefined) select(exact);
}

function search(event) {
  if (event.key !== "Enter") return;
  const [best] = matches(byId("search").value, 1);
  if (best === undefined) byId("status").textContent = "No node has that name.";
  else select(best);
  byId("search").setAttribute("aria-invalid", String(best === undefined));
}

function chooseView(view) {
  state.view = view;
  byId("lam").value = view;
  const { lam } = currentView();
  const own = view === drawing.fitted ? "the graph of this report" : `${said(currentView().n_edges)} ties`;
  const words = lam === null ? own : `λ = ${figure(lam)}: ${own}`;
  byId("lam-said").textContent = words;
  byId("lam").setAttribute("aria-valuetext", words);
  stage.dataset.lam = lam ?? "";
  markFront(view);
  refresh();
}

let markFront = () => {};

function startPath() {
  if (!data.front) return;
  markFront = paretoFront(byId("front-chart"), data.front, byId("front-sentence").textContent, chooseView);
  byId("lam").max = drawing.views.length - 1;
  byId("lam").addEventListener("input", () => chooseView(Number(byId("lam").value)));
  chooseView(state.view);
}

function startControls() {
  byId("search").addEventListener("input", suggest);
  byId("search").addEventListener("keydown", search);
  byId("threshold").addEventListener("input", () => {
    state.hidden = Number(byId("threshold").value);
    state.sure = state.hidden / 100;
    refresh();
  });
  byId("directed").checked = state.directed;
  byId("directed").addEventListener("change", () => {
    state.directed = byId("directed").checked;
    showLegend();
    refresh();
  });
  const surface = d3.select(overlay).call(zoom).on("dblclick.zoom", null);
  const move = (change) => change(calm.matches ? surface : surface.transition().duration(200));
  byId("nearer").addEventListener("click", () => move((target) => zoom.scaleBy(target, 1.5)));
  byId("farther").addEventListener("click", () => move((target) => zoom.scaleBy(target, 1 / 1.5)));
  byId("whole").addEventListener("click", () => move((target) => zoom.transform(target, d3.zoomIdentity)));
  document.addEventListener("keydown", (event) => event.key === "Escape" && clear());
  for (const button of document.querySelectorAll("#hubs button.node")) {
    button.addEventListener("click", () => select(Number(button.dataset.node), { scroll: true }));
  }
}

function startPointer() {
  overlay.addEventListener("click", (event) => select(nodeAt(event)));
  overlay.addEventListener("pointermove", (event) => event.pointerType === "mouse" && hover(nodeAt(event)));
  overlay.addEventListener("pointerleave", () => hover(null));
}

function hover(node) {
  const tooltip = byId("tooltip");
  tooltip.hidden = node === null || moving;
  if (node !== null) {
    tooltip.textContent = nodes.name[node];
    const { x, y, radius } = onScreen.places[node];
    const left = Math.min(Math.max(x - tooltip.offsetWidth / 2, 0), onScreen.width - tooltip.offsetWidth);
    tooltip.style.transform = `translate(${left}px, ${y + radius + 6}px)`;
  }
  overlay.classList.toggle("over-node", node !== null);
  if (node === state.hovered) return;
  state.hovered = node;
  if (state.selected === null) drawOverlay();
}

// --------------------------------------------------------------------------------------- light and dark

const dark = matchMedia("(prefers-color-scheme: dark)");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function theme() {
  return root.dataset.theme ?? (dark.matches ? "dark" : "light");
}

function applyTheme() {
  byId("theme").textContent = theme() === "dark" ? "Light page" : "Dark page";
  readColours(onScreen);
  drawScreen();
}

function startTheme() {
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    applyTheme();
  });
  dark.addEventListener("change", applyTheme);
}

function showLegend() {
  const parts = [
    ["big", "influence"],
    ...(currentView().action ? [["acts", "action"]] : []),
    ["strong", edges().edge_columns.frequency ? "share of members that have the tie" : "weight"],
    ...(state.directed ? [["into", "whom a chosen node listens to"], ["from", "who listens to it"]] : []),
  ];
  byId("legend").replaceChildren(
    ...parts.map(([kind, words]) => {
      const part = element("span", words, { class: "key" });
      part.prepend(element("i", null, { class: kind, "aria-hidden": "true" }));
      return part;
    }),
  );
}

root.classList.add("scripted");
state.hidden = Math.max(0, Math.floor(100 * (1 - LINES_AT_FIRST / Math.max(1, edges().drawn.length))));
if (edges().edge_columns.frequency) {
  while (state.sure < 0.95 && shownCount(edges()) > LINES_AT_FIRST) state.sure += 0.05;
  state.hidden = Math.round(100 * state.sure);
}
byId("threshold").value = state.hidden;
resize();
readColours(onPaper);
for (const container of document.querySelectorAll("[data-chart]")) {
  const name = container.dataset.chart;
  histogram(container, data.distributions[name], name === "weight" ? "weight" : "neighbours", name === "weight" ? "lines" : "nodes");
}
if (data.history) convergence(byId("history-chart"), data.history, data.certificate, document.querySelector("#history figcaption").textContent);
showLegend();
startPath();
startControls();
startPointer();
startTheme();
applyTheme();
sayShown();
new ResizeObserver(() => {
  if (matchMedia("print").matches) return;
  resize();
  drawScreen();
}).observe(stage);
root.dataset.ready = "true";
