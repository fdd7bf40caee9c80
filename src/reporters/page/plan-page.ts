// Browser script of a plan page: draws the dependency graph and lists the scripts with the reasons.
//
// Invariants: each box links to its list entry, so that everything is available by keyboard and without the
// picture.
import { element, isCommand, plural, readData } from "./elements.ts";
import type { Arrow, Box, PlanData, PlanTask } from "./plan-data.ts";

const SVG = "http://www.w3.org/2000/svg";
const data = readData<PlanData>();
const { tasks, drawing } = data;

const boxes = tasks.map((task, index) => drawBox(task, drawing.boxes[index]!, index));
const arrows = drawing.arrows.map((arrow) => ({ arrow, path: drawArrow(arrow) }));
const items = tasks.map(createItem);
const search = element("input", { type: "search", id: "search", placeholder: "Name, command or reason" });
const matchCount = element("p", { role: "status", class: "matchCount" });

document.body.append(
  element(
    "header",
    {},
    element("h1", {}, data.title),
    element("p", { class: "lead" }, `${data.count}, ${data.mode}`),
    ...data.common.map((reason) => element("p", {}, `All: ${reason}`)),
    ...data.notices.map((notice) => element("p", { class: "notice" }, `Warning: ${notice}`)),
    element("p", { class: "fine" }, `Plan only, no script has run · rt ${data.version}`),
  ),
  element(
    "main",
    {},
    element(
      "section",
      { class: "controls", "aria-label": "Search" },
      element("label", { for: "search" }, "Search"),
      search,
    ),
    matchCount,
    ...createLegend(),
    drawGraph(),
    element("h2", {}, "Scripts"),
    element("ol", { class: "packages" }, ...items),
  ),
);
search.addEventListener("input", filter);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target === search) {
    search.value = "";
    filter();
  } else if (event.key === "/" && isCommand(event)) {
    event.preventDefault();
    search.focus();
  }
});

function svg(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  ...content: (Node | string)[]
): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...content);
  return made;
}

/** A legend, if some tasks would run and others are cached. */
function createLegend(): HTMLElement[] {
  if (!tasks.some(({ isHit }) => isHit)) return [];
  const row = (kind: string, text: string) =>
    element("span", {}, element("span", { class: `mark ${kind}` }), text);
  return [
    element("p", { class: "legend" }, row("executed", "would run"), row("cached", "would not run: cached")),
  ];
}

function drawGraph(): HTMLElement {
  const head = svg(
    "marker",
    { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    svg("path", { d: "M0 0L8 4L0 8z" }),
  );
  const { width, height } = drawing;
  const picture = svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Graph" },
    svg("defs", {}, head),
    ...arrows.map(({ path }) => path),
    ...boxes,
  );
  return element(
    "div",
    { class: "graph", role: "region", tabindex: "0", "aria-label": "Dependency graph" },
    picture,
  );
}

function drawBox(
  { label, isHit, reasons }: PlanTask,
  { x, y, width, height }: Box,
  index: number,
): SVGElement {
  const [why] = reasons;
  const lines = [
    svg(
      "text",
      { x, y: why ? y - 2 : y + 5, "text-anchor": "middle" },
      `${shorten(label, (width - 16) / 7.5)} `,
    ),
  ];
  if (why)
    lines.push(
      svg("text", { class: "why", x, y: y + 13, "text-anchor": "middle" }, shorten(why, (width - 16) / 6.2)),
    );
  return svg(
    "a",
    { href: `#script-${index}`, ...(isHit && { class: "cached" }) },
    svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 6 }),
    ...lines,
  );
}

function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength + 1 ? text : `${text.slice(0, Math.floor(maxLength))}…`;
}

/** A curve through all points. */
function drawArrow({ points }: Arrow): SVGElement {
  const [first, ...rest] = points;
  if (!first) return svg("path", {});
  let last = first;
  let d = `M${first.x} ${first.y}`;
  for (const point of rest) {
    const middle = (last.x + point.x) / 2;
    d += `C${middle} ${last.y} ${middle} ${point.y} ${point.x} ${point.y}`;
    last = point;
  }
  return svg("path", { d, "marker-end": "url(#head)" });
}

function createItem(
  { label, directory, commands, isHit, reasons, before }: PlanTask,
  index: number,
): HTMLElement {
  const facts = [
    ...reasons,
    ...(before.length > 0 ? [`after ${before.map((each) => tasks[each]!.label).join(", ")}`] : []),
  ];
  return element(
    "li",
    { id: `script-${index}`, tabindex: "-1", ...(isHit && { class: "cached" }) },
    element("h3", {}, label),
    ...facts.map((fact) => element("p", {}, fact)),
    ...commands.map((command) => element("p", { class: "command" }, element("code", {}, `$ ${command}`))),
    ...(directory === "" ? [] : [element("p", { class: "fine" }, directory)]),
  );
}

function filter(): void {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = tasks.map(({ label, commands, reasons }) => {
    const text = [label, ...commands, ...reasons].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  for (const [index, isShown] of shown.entries()) {
    items[index]!.hidden = !isShown;
    boxes[index]!.classList.toggle("dim", !isShown);
  }
  for (const { arrow, path } of arrows) path.classList.toggle("dim", !shown[arrow.from] || !shown[arrow.to]);
  const count = shown.filter(Boolean).length;
  matchCount.textContent = count === tasks.length ? "" : `${count} of ${plural(tasks.length, "script")}`;
}
