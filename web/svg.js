// A stand-in for a canvas that writes SVG: as much of a canvas as the drawing uses, so that one drawing serves both.

const escaped = (text) => String(text).replace(/[&<>"']/g, (mark) => `&#${mark.codePointAt(0)};`);
const short = (value) => Number(value.toFixed(2));

export class SvgContext {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], path: [], dash: "" });
    Object.assign(this, { globalAlpha: 1, lineWidth: 1, fillStyle: "#000", strokeStyle: "#000", font: "", textAlign: "start" });
    this.measuring = document.createElement("canvas").getContext("2d");
  }

  beginPath() { this.path = []; }
  moveTo(x, y) { this.path.push(`M${short(x)} ${short(y)}`); }
  lineTo(x, y) { this.path.push(`L${short(x)} ${short(y)}`); }
  quadraticCurveTo(a, b, x, y) { this.path.push(`Q${short(a)} ${short(b)} ${short(x)} ${short(y)}`); }
  closePath() { this.path.push("Z"); }

  arc(x, y, radius, from = 0, to = 2 * Math.PI) {
    const at = (angle) => `${short(x + radius * Math.cos(angle))} ${short(y + radius * Math.sin(angle))}`;
    const r = short(radius);
    if (to - from > 6.28) this.path.push(`M${at(0)}A${r} ${r} 0 1 1 ${at(Math.PI)}A${r} ${r} 0 1 1 ${at(0)}Z`);
    else this.path.push(`${this.path.length ? "L" : "M"}${at(from)}A${r} ${r} 0 ${to - from > Math.PI ? 1 : 0} 1 ${at(to)}`);
  }

  setLineDash(dash) { this.dash = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""; }
  clearRect() {}
  measureText(text) { this.measuring.font = this.font; return this.measuring.measureText(text); }

  fillRect(x, y, width, height) {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${escaped(this.fillStyle)}" opacity="${short(this.globalAlpha)}"/>`);
  }

  put(paint) {
    if (this.path.length) this.parts.push(`<path d="${this.path.join("")}" ${paint} opacity="${short(this.globalAlpha)}"/>`);
  }

  fill() { this.put(`fill="${escaped(this.fillStyle)}"`); }
  stroke() { this.put(`fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}"${this.dash}`); }

  text(words, x, y, paint) {
    const anchor = { center: "middle", end: "end" }[this.textAlign] ?? "start";
    const [, weight, size] = /^(\d+) (\d+)px/.exec(this.font) ?? [null, 400, 13];
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" text-anchor="${anchor}" dominant-baseline="central" font-family="sans-serif" font-size="${size}" font-weight="${weight}" ${paint}>${escaped(words)}</text>`);
  }

  fillText(words, x, y) { this.text(words, x, y, `fill="${escaped(this.fillStyle)}"`); }
  strokeText(words, x, y) { this.text(words, x, y, `fill="none" stroke="${escaped(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}" stroke-linejoin="round"`); }

  toString() {
    const { width, height } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${this.parts.join("\n")}</svg>\n`;
  }
}
