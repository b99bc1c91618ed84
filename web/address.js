// The address follows what is chosen, and what is chosen follows the address: a link opens the same view, Back goes back.

import { aspects, colourBy } from "./aspects.js";
import { byId, drawing, nodes, state } from "./data.js";
import { decode, encode } from "./hash.js";
import { chooseView, setCut } from "./page.js";
import { compare, select } from "./selection.js";
import { chooseTab } from "./tabs.js";

let opening = null;
let applying = false;

const chosen = () => ({
  node: state.selected === null ? null : nodes.name[state.selected],
  other: state.other === null ? null : nodes.name[state.other],
  colour: aspects[state.aspect].name,
  cut: state.cut,
  view: state.view,
  directed: state.directed,
  tab: state.tab,
});

// A node that is chosen is a step to go back from; a cut that is dragged is not.
export function keepAddress() {
  if (opening === null || applying) return;
  const text = encode(chosen(), opening);
  const now = location.hash.replace(/^#/, "");
  if (text === now) return;
  const before = decode(now, opening);
  const step = before.node !== chosen().node || before.other !== chosen().other;
  try {
    history[step ? "pushState" : "replaceState"](null, "", `${location.pathname}${location.search}${text ? `#${text}` : ""}`);
  } catch {
    // A page inside a frame without an address of its own keeps none.
  }
}

function followAddress() {
  const { node, other, colour, cut, view, directed, tab } = decode(location.hash, opening);
  applying = true;
  const place = aspects.findIndex(({ name }) => name === colour);
  if (place >= 0 && place !== state.aspect) colourBy(place);
  if (view !== state.view && drawing.views[view]) chooseView(view);
  Object.assign(state, { directed });
  byId("directed").checked = directed;
  setCut(cut);
  if (tab !== state.tab && ["network", "matrix", "map"].includes(tab)) chooseTab(tab);
  const [one, second] = [node, other].map((name) => (name !== null && nodes.name.includes(name) ? nodes.name.indexOf(name) : null));
  if (one !== state.selected) select(one);
  if (second !== state.other) compare(second);
  applying = false;
}

export function startAddress() {
  opening = chosen();
  if (location.hash.length > 1) followAddress();
  addEventListener("popstate", followAddress);
  copying("share", () => location.href, "Copy it from the address bar");
  copying("copy-methods", () => byId("methods").textContent, "It is under “What was done”");
}

// A button that copies a text, and says where else it is if a browser does not let it.
function copying(id, text, otherwise) {
  const button = byId(id);
  const words = button.textContent;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = otherwise;
    }
    setTimeout(() => (button.textContent = words), 2000);
  });
}
