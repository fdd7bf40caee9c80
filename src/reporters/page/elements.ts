// Creates DOM elements and reads the page's data. Text becomes text nodes and is never parsed as HTML.

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

export function readData<Data>(): Data {
  return JSON.parse(document.getElementById("data")!.textContent) as Data;
}

/** Same format as in src/tasks/labels.ts. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_995) return `${(milliseconds / 1000).toFixed(2)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Whether a key press is a command and not text input. */
export function isCommand(event: KeyboardEvent): boolean {
  const isText = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  return !isText && !event.ctrlKey && !event.metaKey && !event.altKey;
}
