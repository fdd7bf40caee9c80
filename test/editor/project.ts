// The project that the editor opens. Important lines end with a mark.

export const SOURCES: Readonly<Record<string, string>> = {
  "a.ts": `interface Sum {
  a: number;
}

const top1 = { name: "module" };
let ticks = 0;

function add({ a }: Sum, extra: number): number {
  let answer: number = a + extra;
  const object = { answer, list: [1, 2] };
  const list = [object]; // inner
  return list[0]!.answer;
}

interface Fail {
  next: boolean;
}
const fail: Fail = { next: false };
Object.assign(globalThis, { fail });

function tick(): void {
  ticks += 1;
  const sum = add({ a: ticks }, 10); // call
  console.log("tick", sum, top1);
  try {
    if (fail.next) throw new TypeError("asked for"); // throws
  } catch {
    fail.next = false;
  }
}
setInterval(tick, 100);
console.log("running");
`,
  "top.ts": `interface None {}

const first: number = 1; // first
console.log("top", first);
setInterval(() => {}, 1000);
`,
  "watched.ts": `interface None {}

let value = 1;
function show(): void {
  console.log("value", value); // inner
}
setInterval(show, 100);
`,
  "packages/app/main.ts": `interface None {}

const first: number = 1; // first
console.log("app", first);
setInterval(() => {}, 1000);
`,
  "packages/app/package.json": JSON.stringify({ name: "app", scripts: { dev: "rt main.ts" } }),
  "package.json": JSON.stringify({
    name: "root",
    workspaces: ["packages/*"],
    scripts: { start: "rt top.ts" },
  }),
};

/** Returns the number of the line that ends with a mark, counting from 1. */
export function lineOf(file: string, mark: string): number {
  return SOURCES[file]!.split("\n").findIndex((line) => line.endsWith(mark)) + 1;
}
