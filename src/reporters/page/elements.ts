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

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Whether a key press is a command and not text input. */
export function isCommand(event: KeyboardEvent): boolean {
  const isText = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  return !isText && !event.ctrlKey && !event.metaKey && !event.altKey;
}
