// Programs that stepping.test.ts steps through in rt and in Node.js. Each stops at its `debugger` statement first. A line has one
// statement, because the engines stop at different positions of a line.

export interface SteppingProgram {
  readonly name: string;
  readonly source: string;
  /** Commands of a session; the last one repeats until the program ends. */
  readonly sessions: readonly string[];
  /** rt's stops in sessions where they differ from Node.js'; docs/reference/debugger.md has the reasons. */
  readonly differences?: Readonly<Record<string, string>>;
}

export const STEPPING_PROGRAMS: readonly SteppingProgram[] = [
  {
    name: "a method that returns another object's method call",
    source: `class Service {
  hello() {
    const a = 1;
    return a + 1;
  }
}
class Controller {
  service = new Service();
  get() {
    debugger;
    return this.service.hello();
  }
}
function request(controller) {
  const answer = controller.get();
  return answer;
}
const seen = request(new Controller());
console.log(seen);
`,
    sessions: ["over", "into", "out", "over into out over"],
  },
  {
    name: "three functions that return each other's calls",
    source: `function first(x) {
  return second(x + 1);
}
function second(x) {
  return third(x + 1);
}
function third(x) {
  debugger;
  const y = x + 1;
  return y;
}
const value = first(1);
console.log(value);
`,
    sessions: ["over", "out", "into"],
  },
  {
    name: "arrow functions that are one call",
    source: `const add = (a, b) => {
  const sum = a + b;
  return sum;
};
const twice = (a) =>
  add(a, a);
const run = () => {
  debugger;
  const one = twice(1);
  return twice(one);
};
const total = run();
console.log(total);
`,
    sessions: ["over", "into", "over into out"],
  },
  {
    name: "calls behind operators in a return statement",
    source: `function yes(x) {
  return x > 0;
}
function no(x) {
  return x < 0;
}
function choose(x) {
  debugger;
  return x > 1
    ? yes(x)
    : no(x);
}
function either(x) {
  return no(x) || yes(x);
}
const a = choose(2);
const b = either(1);
console.log(a, b);
`,
    sessions: ["over", "into", "out"],
  },
  {
    name: "recursion in tail position",
    source: `function count(n) {
  if (n === 0) {
    debugger;
    return "done";
  }
  return count(n - 1);
}
const text = count(3);
console.log(text);
`,
    sessions: ["over", "out"],
  },
  {
    name: "a tail call that throws",
    source: `function fail() {
  debugger;
  throw new Error("no");
}
function pass() {
  return fail();
}
function guard() {
  try {
    return pass();
  } catch (error) {
    const { message } = error;
    return message;
  } finally {
    console.log("finally");
  }
}
const text = guard();
console.log(text);
`,
    sessions: ["over", "out"],
    differences: {
      over: "fail:2 fail:3 guard:12 guard:13 guard:15 :19",
      out: "fail:2 guard:12 :19",
    },
  },
  {
    name: "an inherited method and a constructor in tail position",
    source: `class Base {
  constructor(v) {
    this.v = v;
  }
  size() {
    return this.v;
  }
}
class Derived extends Base {
  size() {
    debugger;
    return super.size();
  }
}
function make() {
  return new Derived(4);
}
const made = make();
const size = made.size();
const other = make();
console.log(size, other.v);
`,
    sessions: ["over", "into", "out"],
    differences: {
      into: "size:11 size:12 size:6 size:12 :20 make:16 Base:3 make:16 :21",
    },
  },
  {
    name: "an await of a resolved promise",
    source: `async function load(x) {
  const y = await Promise.resolve(x);
  return y + 1;
}
async function main() {
  debugger;
  const a = await load(1);
  const b = await load(a);
  return b;
}
main().then((v) => {
  console.log(v);
});
`,
    sessions: ["over", "into"],
    differences: {
      over: "main:6 main:7 main:8 main:9",
      into: "main:6 main:7 load:2 load:3 main:9 :13",
    },
  },
  {
    name: "an await of a timer",
    source: `import { setTimeout as sleep } from "node:timers/promises";
async function pause() {
  debugger;
  const a = 1;
  await sleep(5);
  const b = a + 1;
  return b;
}
async function main() {
  const c = await pause();
  console.log(c);
}
await main();
console.log("end");
`,
    sessions: ["over", "out"],
    differences: {
      over: "pause:3 pause:4 pause:5 pause:6 pause:7",
      out: "pause:3 pause:7 main:11",
    },
  },
  {
    name: "async functions that return calls",
    source: `async function inner() {
  const a = await 1;
  return a;
}
async function plain() {
  debugger;
  return inner();
}
async function awaited() {
  return await plain();
}
const v = await awaited();
console.log(v);
`,
    sessions: ["over"],
    differences: {
      over: "plain:6 plain:7",
    },
  },
  {
    name: "two async functions at once",
    source: `const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function one() {
  debugger;
  await wait(8);
  const a = "one";
  return a;
}
async function two() {
  await wait(2);
  const b = "two";
  return b;
}
const both = await Promise.all([one(), two()]);
console.log(both);
`,
    sessions: ["over"],
    differences: {
      over: "one:3 one:4 one:5 one:6",
    },
  },
  {
    name: "a rejected await",
    source: `async function fail() {
  await null;
  throw new Error("no");
}
async function guard() {
  debugger;
  try {
    await fail();
    console.log("not reached");
  } catch (error) {
    return error.message;
  }
}
const text = await guard();
console.log(text);
`,
    sessions: ["over"],
    differences: {
      over: "guard:6 guard:8",
    },
  },
  {
    name: "a loop over an async generator",
    source: `async function* numbers() {
  yield 1;
  await null;
  yield 2;
}
async function main() {
  debugger;
  let sum = 0;
  for await (const n of numbers()) {
    sum += n;
  }
  return sum;
}
console.log(await main());
`,
    sessions: ["over"],
    differences: {
      over: "main:7 main:8 main:9 main:10 main:9 main:10 main:9 main:12",
    },
  },
  {
    name: "a loop over a generator",
    source: `function* numbers() {
  yield 1;
  yield 2;
}
function sum() {
  debugger;
  let total = 0;
  for (const n of numbers()) {
    total += n;
  }
  return total;
}
const total = sum();
console.log(total);
`,
    sessions: ["over", "into", "out"],
    differences: {
      into: "sum:6 sum:7 sum:8 numbers:3 sum:8 numbers:2 sum:9 sum:8 numbers:3 sum:9 sum:8 sum:11 :14",
    },
  },
  {
    name: "a generator that delegates",
    source: `function* inner() {
  const a = yield 1;
  return a;
}
function* outer() {
  debugger;
  const b = yield* inner();
  return b;
}
const all = [...outer()];
console.log(all);
`,
    sessions: ["over", "out"],
    differences: {
      over: "outer:6 outer:7 outer:8",
      out: "outer:6",
    },
  },
  {
    name: "a callback of a timer",
    source: `function later(name) {
  debugger;
  const text = name + "!";
  console.log(text);
}
setTimeout(later, 1, "first");
setTimeout(() => {
  console.log("second");
}, 20);
`,
    sessions: ["over", "out"],
    differences: {
      over: "later:2 later:3 later:4",
    },
  },
  {
    name: "callbacks of promises",
    source: `function start() {
  debugger;
  return Promise.resolve(1);
}
const promise = start()
  .then((v) => {
    const w = v + 1;
    return w;
  })
  .then((v) => {
    console.log(v);
  });
await promise;
console.log("end");
`,
    sessions: ["over"],
    differences: {
      over: "start:2 start:3 :13",
    },
  },
  {
    name: "a listener of an event",
    source: `import { EventEmitter } from "node:events";
const events = new EventEmitter();
events.on("go", (x) => {
  const y = x + 1;
  console.log(y);
});
function go() {
  debugger;
  return events.emit("go", 1);
}
const had = go();
console.log(had);
`,
    sessions: ["over", "out"],
  },
  {
    name: "an exception that a caller catches",
    source: `function deep() {
  debugger;
  const n = null;
  n.field;
}
function middle() {
  deep();
  console.log("not reached");
}
function top() {
  try {
    middle();
  } catch {
    console.log("caught");
  }
}
top();
console.log("end");
`,
    sessions: ["over", "out"],
    differences: {
      over: "deep:2 deep:3 top:14 :18",
      out: "deep:2 top:14 :18",
    },
  },
  {
    name: "loops and branches",
    source: `function run(list) {
  debugger;
  let sum = 0;
  for (let i = 0; i < list.length; i++) {
    if (list[i] > 1) {
      continue;
    }
    sum += list[i];
  }
  while (sum < 3) {
    sum++;
  }
  switch (sum) {
    case 3:
      sum = 4;
      break;
    default:
      sum = 5;
  }
  return sum;
}
const sum = run([1, 2]);
console.log(sum);
`,
    sessions: ["over", "out"],
  },
];
