// Programs that stepping.test.ts steps through in rt and in Node.js. Each stops at its `debugger` statement first. One statement
// a line: the engines divide a line into different stops.

export interface SteppingProgram {
  readonly name: string;
  readonly source: string;
  /** Commands of a session; the last one repeats until the program ends. */
  readonly sessions: readonly string[];
  /** rt's stops in sessions where they differ from Node.js'; docs/guides/debugging.md has the reasons. */
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
    sessions: ["over", "out"],
  },
];
