/** Writes what is drawn as a file: PNG as seen, SVG of all of it. */
import type Sigma from "sigma";

import { isDark } from "../shell/theme";

const LINE = 13; // pixels from one line of a name to the next

export function savePng(sigma: Sigma): void {
  sigma.refresh(); // WebGL forgets what it drew: it is drawn again in the same turn
  const layers = Object.values(sigma.getCanvases());
  const first = layers[0];
  if (!first) return;
  const canvas = Object.assign(document.createElement("canvas"), { width: first.width, height: first.height });
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.fillStyle = isDark() ? "#16161d" : "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const layer of layers) if (layer.width) context.drawImage(layer, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && save(blob, "helix-graph.png"));
}

export function saveSvg(sigma: Sigma): void {
  save(new Blob([svgOf(sigma)], { type: "image/svg+xml" }), "helix-graph.svg");
}

export function svgOf(sigma: Sigma): string {
  const graph = sigma.getGraph();
  const { width, height } = sigma.getDimensions();
  const at = (id: string) => {
    const { x, y, size } = sigma.getNodeDisplayData(id) ?? { x: 0, y: 0, size: 1 };
    return { ...sigma.framedGraphToViewport({ x, y }), size };
  };
  const lines = graph.mapEdges((_, __, source, target) => {
    const [a, b] = [at(source), at(target)];
    return `<line x1="${a.x.toFixed(1)}" y1="${a.y.toFixed(1)}" x2="${b.x.toFixed(1)}" y2="${b.y.toFixed(1)}"/>`;
  });
  const nodes = graph.mapNodes((id, { color, label }) => {
    const { x, y, size } = at(id);
    const circle = `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${size.toFixed(1)}" fill="${color as string}"/>`;
    const lines = String(label).split("\n");
    const texts = lines.map((line, place) => `<text x="${(x + size + 2).toFixed(1)}" y="${(y + 4 + LINE * place).toFixed(1)}">${escaped(line)}</text>`);
    return circle + texts.join("");
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<g stroke="#999" stroke-opacity=".6">${lines.join("")}</g>`,
    nodes.join("\n"),
    "</svg>\n",
  ].join("\n");
}

// eslint-disable-next-line no-control-regex -- XML 1.0 holds no other control characters
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const escaped = (text: string): string =>
  text
    .replaceAll(FORBIDDEN, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");

function save(blob: Blob, name: string): void {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
