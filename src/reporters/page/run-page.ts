// Browser script of a run page: a timeline of the scripts, with search, filters and details.
//
// Invariants: everything can be reached with the keyboard.
//
// Non-obvious: the content of a script's `details` is created when it is opened, so that a page of a thousand
// scripts loads fast.
import { formatDuration } from "../../tasks/labels.ts";
import { element, isCommand, plural, readData } from "./elements.ts";
import type { RunData, RunTask, TaskStatus } from "./run-data.ts";
import { createAxis, createRow, NAMES, type TimelineRow, scaleOf } from "./run-timeline.ts";

const OPENED_FAILURES = 5;

const data = readData<RunData>();
const { tasks } = data;
const scale = scaleOf(data);
const rows = tasks.map((task) => createRow(task, data, scale));
const list = element("ol", { id: "scripts" });
const matchCount = element("p", { role: "status", class: "matchCount" });
const search = element("input", { type: "search", id: "search", placeholder: "Name, command or output" });
const order = createOrder();
const filters = createFilters();

document.body.append(createHeader(), createMain());
sort();
for (const { task, details } of rows.filter(({ task }) => task.state === "failed").slice(0, OPENED_FAILURES))
  if (task) details.open = true;
search.addEventListener("input", filter);
order.addEventListener("change", sort);
document.addEventListener("keydown", onKey);

function createHeader(): HTMLElement {
  const failed = tasks.filter(({ state }) => state === "failed").length;
  const counts = Object.entries(NAMES).flatMap(([state, name]) => {
    const count = tasks.filter((task) => task.state === state).length;
    return count > 0 ? [`${count} ${name}`] : [];
  });
  const begun = new Date(data.startedAt);
  return element(
    "header",
    {},
    element(
      "h1",
      {},
      element("span", { class: `verdict ${failed > 0 ? "failed" : "executed"}`, "aria-hidden": "true" }),
      data.title,
    ),
    element(
      "p",
      { class: "lead" },
      `${plural(tasks.length, "script")} in ${formatDuration(data.duration)}: ${counts.join(", ")}`,
    ),
    element("p", {}, describeCritical()),
    ...data.notices.map((notice) => element("p", { class: "notice" }, `Warning: ${notice}`)),
    element(
      "p",
      { class: "fine" },
      "Started ",
      element("time", { datetime: data.startedAt }, begun.toLocaleString()),
      ` · rt ${data.version}`,
    ),
  );
}

function describeCritical(): string {
  const length = tasks.filter(({ isCritical }) => isCritical).length;
  if (data.isSequential) return "The scripts ran one after another (--sequential)";
  const path = `${formatDuration(data.critical)} with any number of processors`;
  const chain =
    length === 1 ? "its longest script" : `its critical path, ${length} scripts that wait for each other`;
  return `The run would have taken ${path}: ${chain}`;
}

function createMain(): HTMLElement {
  return element(
    "main",
    {},
    element(
      "section",
      { class: "controls", "aria-label": "Search and order" },
      element("label", { for: "search" }, "Search"),
      search,
      element("label", { for: "order" }, "Order"),
      order,
      filters,
    ),
    element("p", { class: "fine keys" }, "Keys: / to search, arrows to move, Enter to open a script"),
    matchCount,
    createLegend(),
    createAxis(scale),
    list,
  );
}

function createOrder(): HTMLSelectElement {
  const choices = {
    failures: "Failures first",
    start: "By start",
    duration: "Longest first",
    name: "By name",
  };
  const options = Object.entries(choices).map(([value, text]) => element("option", { value }, text));
  return element("select", { id: "order" }, ...options);
}

/** A filter button for each status that occurs, and one for the critical path. None pressed shows all. */
function createFilters(): HTMLElement {
  const states = (Object.keys(NAMES) as TaskStatus[]).filter((state) =>
    tasks.some((task) => task.state === state),
  );
  const buttons = [...states.map((state) => [state, NAMES[state]]), ["critical", "critical path"]].map(
    ([kind, name]) => {
      const button = element(
        "button",
        { type: "button", "aria-pressed": "false", "data-kind": kind! },
        name!,
      );
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
        filter();
      });
      return button;
    },
  );
  return element("span", { class: "filters", role: "group", "aria-label": "Show only" }, ...buttons);
}

function createLegend(): HTMLElement {
  const kinds = {
    executed: "executed",
    cached: "from the cache",
    failed: "failed",
    wait: "waiting",
    critical: "critical path",
  };
  const marks = Object.entries(kinds).map(([kind, text]) =>
    element("span", {}, element("i", { class: `mark ${kind}` }), text),
  );
  return element("p", { class: "legend", "aria-hidden": "true" }, ...marks);
}

function sort(): void {
  const byStart = (a: TimelineRow, b: TimelineRow) => a.task.start - b.task.start;
  const rank = ({ task }: TimelineRow) => (task.state === "failed" ? 0 : 1);
  const compare: Record<string, (a: TimelineRow, b: TimelineRow) => number> = {
    failures: (a, b) => rank(a) - rank(b) || byStart(a, b),
    start: byStart,
    duration: (a, b) => b.task.duration - a.task.duration,
    name: (a, b) => (a.task.label < b.task.label ? -1 : 1),
  };
  list.replaceChildren(...rows.toSorted(compare[order.value]).map(({ item }) => item));
  filter();
}

function filter(): void {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const pressed = [...filters.querySelectorAll('[aria-pressed="true"]')].map(
    (button) => (button as HTMLElement).dataset.kind,
  );
  let count = 0;
  for (const { task, item } of rows) {
    const isOfKind =
      pressed.length === 0 ||
      pressed.some((kind) => (kind === "critical" ? task.isCritical : kind === task.state));
    const isShown = isOfKind && words.every((word) => textOf(task).includes(word));
    item.hidden = !isShown;
    if (isShown) count++;
  }
  matchCount.textContent = count === tasks.length ? "" : `${count} of ${plural(tasks.length, "script")}`;
}

function textOf(task: RunTask): string {
  const commands = task.steps.map(({ command }) => command).join(" ");
  return `${task.label} ${task.message} ${task.machine ?? ""} ${commands} ${task.output} ${task.outputEnd}`.toLowerCase();
}

function onKey(event: KeyboardEvent): void {
  if (event.key === "Escape" && event.target === search) {
    search.value = "";
    return filter();
  }
  if (event.key === "ArrowDown" && event.target === search) return focusSummary(event, 0);
  if (!isCommand(event)) return;
  if (event.key === "/") {
    event.preventDefault();
    return search.focus();
  }
  const shown = shownSummaries();
  const at = shown.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: shown.length - 1,
  };
  const next = steps[event.key];
  if (next !== undefined) focusSummary(event, next);
}

function focusSummary(event: KeyboardEvent, position: number): void {
  const shown = shownSummaries();
  event.preventDefault();
  shown[Math.max(0, Math.min(position, shown.length - 1))]?.focus();
}

function shownSummaries(): HTMLElement[] {
  return [...list.children].flatMap((item) =>
    (item as HTMLElement).hidden ? [] : [item.querySelector("summary")!],
  );
}
