// What a script's row has inside: what it waited for, what ran beside it, its commands and what it wrote.
import { element, formatDuration } from "./elements.ts";
import type { RunData, RunTask } from "./run-data.ts";
import { renderOutput } from "./terminal-text.ts";

/** Shorter ones are how long it takes to start a process. */
const WORTH_TELLING = 20; // ms
const MOST_NAMED = 12;

export function createInside(task: RunTask, data: RunData): HTMLElement {
  const { tasks } = data;
  const inside = element("div", { class: "inside" });
  const facts: [string, string][] = [["Outcome", task.message]];
  if (task.machine !== undefined) facts.push(["Machine", task.machine]);
  if (task.why !== undefined) facts.push([task.state === "cached" ? "Found by" : "Not cached", task.why]);
  if (task.where !== undefined) facts.push(["Where", task.where]);
  if (task.steps.length > 0)
    facts.push([
      "Ran",
      `from ${formatDuration(task.start)} to ${formatDuration(task.start + task.duration)}`,
    ]);
  const waits = describeWaits(task, data);
  if (waits !== "") facts.push(["Waited", waits]);
  const beside = besides(task, tasks);
  if (beside.length > 0) facts.push(["Beside it", nameSome(beside)]);
  const after = tasks.filter(({ before }) => before.some((index) => tasks[index] === task));
  if (after.length > 0) facts.push(["Waiting for it", nameSome(after)]);
  if (task.directory !== "") facts.push(["Folder", task.directory]);
  const secrets = task.steps.flatMap((step) => step.secrets);
  if (secrets.length > 0) facts.push(["Secrets", secrets.join(", ")]);
  inside.append(
    element("dl", {}, ...facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])),
  );
  for (const { script, command, duration } of task.steps)
    inside.append(
      element(
        "p",
        { class: "command" },
        element("code", {}, `$ ${command}`),
        ` ${script}${duration === null ? "" : `, ${formatDuration(duration)}`}`,
      ),
    );
  inside.append(createOutput(task));
  return inside;
}

function createOutput({ label, output, omitted, outputEnd }: RunTask): HTMLElement {
  if (output + outputEnd === "" && omitted === 0) return element("p", { class: "fine" }, "It wrote nothing");
  const text = element(
    "pre",
    { tabindex: "0", role: "region", "aria-label": `Output of ${label}` },
    ...renderOutput(output),
  );
  if (omitted > 0)
    text.append(
      element("span", { class: "omitted" }, `\n[${omitted.toLocaleString("en")} bytes are left out here]\n`),
      ...renderOutput(outputEnd),
    );
  return text;
}

function describeWaits({ ready, start, last, steps }: RunTask, data: RunData): string {
  if (steps.length === 0) return "";
  const told: string[] = [];
  if (last !== undefined && ready > WORTH_TELLING)
    told.push(`${formatDuration(ready)} until ${data.tasks[last]!.label} had ended`);
  if (start - ready > WORTH_TELLING) {
    const why = data.isSequential
      ? "for its turn: --sequential"
      : `for a free place${data.limit === undefined ? "" : `: ${data.limit} run at a time`}`;
    told.push(`${formatDuration(start - ready)} ${why}`);
  }
  return told.join(", then ");
}

function besides(task: RunTask, tasks: readonly RunTask[]): RunTask[] {
  const end = task.start + task.duration;
  if (task.steps.length === 0) return [];
  return tasks.filter(
    (each) =>
      each !== task && each.steps.length > 0 && each.start < end && each.start + each.duration > task.start,
  );
}

function nameSome(some: readonly RunTask[]): string {
  const names = some.slice(0, MOST_NAMED).map(({ label }) => label);
  const rest = some.length - names.length;
  return names.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
