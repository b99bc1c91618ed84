// The sheets. A sheet is something to draw the network on: the screen, with a second canvas above it for the ties of one
// node, and paper, which is drawn in advance, because what is drawn while a page prints comes out blank.

import { zoomIdentity } from "d3";
import { byId } from "./data.js";

export const PAPER = { width: 720, height: 500, scale: 3, delay: 400 };

export const stage = byId("stage");
export const base = byId("base");
export const overlay = byId("overlay");
export const printed = byId("printed");
export const onScreen = { context: base.getContext("2d"), canvas: base };
export const above = { context: overlay.getContext("2d") };
export const onPaper = { context: printed.getContext("2d"), canvas: printed, width: PAPER.width, height: PAPER.height };
export const camera = { transform: zoomIdentity, moving: false, finder: null };
