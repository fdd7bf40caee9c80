// The rows of docs/reference/differences.md that can be executed: a test runs stock Bun and rt, and compares the outputs with these texts.
import { join } from "node:path";
import { format, renderTable, ROOT } from "./markdown.ts";

export interface Difference {
  readonly what: string;
  readonly bun: string;
  readonly rt: string;
  /** Arguments for both programs, in a project with these files. */
  readonly args: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Patterns of each output, with the exit code as the last line. */
  readonly shows: { readonly bun: RegExp; readonly rt: RegExp };
}

const WORKSPACE = {
  "package.json": '{ "name": "r", "workspaces": ["a", "b"] }',
  "a/package.json": '{ "name": "a", "scripts": { "t": "echo from a" } }',
  "b/package.json": '{ "name": "b", "scripts": { "t": "echo from b" } }',
};
const PACKAGE = {
  "node_modules/d/package.json": '{ "name": "d", "exports": { "x": "./x.js", "default": "./z.js" } }',
  "node_modules/d/x.js": 'export default "x";',
  "node_modules/d/z.js": 'export default "z";',
  "node_modules/m/package.json": '{ "name": "m", "y": "./y.js", "z": "./z.js" }',
  "node_modules/m/y.js": 'export default "y";',
  "node_modules/m/z.js": 'export default "z";',
};
const FILE = { "f.ts": 'console.log("ran", process.env.PORT);' };

export const DIFFERENCES: readonly Difference[] = [
  {
    what: "Commas in `--conditions`",
    bun: "one name that contains them",
    rt: "separate names",
    args: ["--conditions=none,x", "f.ts"],
    files: { ...PACKAGE, "f.ts": 'import d from "d"; console.log(d);' },
    shows: { bun: /^z\n0$/, rt: /^x\n0$/ },
  },
  {
    what: "Commas in `--main-fields`",
    bun: "one name that contains them",
    rt: "separate names",
    args: ["--main-fields=none,y", "f.ts"],
    files: { ...PACKAGE, "f.ts": 'import d from "m"; console.log(d);' },
    shows: { bun: /Cannot find package/, rt: /^y\n0$/ },
  },
  {
    what: "Order of `--preload`, `--require`, `--import`",
    bun: "all `--preload`, then all `--require`, then all `--import`",
    rt: "the order of the command line",
    args: ["--import=./p.ts", "--require=./q.ts", "--preload=./r.ts", "f.ts"],
    files: {
      ...FILE,
      ...Object.fromEntries(["p", "q", "r"].map((name) => [`${name}.ts`, `console.log("${name}");`])),
    },
    shows: { bun: /^r\nq\np\nran/, rt: /^p\nq\nr\nran/ },
  },
  {
    what: "`-e ''`",
    bun: "prints its help",
    rt: "runs an empty program",
    args: ["-e", ""],
    shows: { bun: /Usage[^]*\n0$/, rt: /^0$/ },
  },
  {
    what: "`-p ''`",
    bun: "prints its help",
    rt: "prints `undefined`",
    args: ["-p", ""],
    shows: { bun: /Usage[^]*\n0$/, rt: /^undefined\n0$/ },
  },
  {
    what: "`run --filter <pattern>` without a script",
    bun: 'looks for a script "run"',
    rt: "lists the scripts of the packages",
    args: ["run", "--filter", "a"],
    files: WORKSPACE,
    shows: { bun: /Script "run" not found[^]*\n1$/, rt: /a scripts \(1 found\)[^]*\n0$/ },
  },
  {
    what: "Braces in `--filter '{a,b}'`",
    bun: "matches no package",
    rt: "matches both packages by name",
    args: ["run", "--filter", "{a,b}", "t"],
    files: WORKSPACE,
    shows: {
      bun: /No workspace packages matched[^]*\n1$/,
      rt: /from a[^]*from b[^]*\n0$|from b[^]*from a[^]*\n0$/,
    },
  },
  {
    what: "Missing file of `--env-file`",
    bun: "is ignored",
    rt: "prints a warning and runs",
    args: ["--env-file=gone", "f.ts"],
    files: FILE,
    shows: { bun: /^ran undefined\n0$/, rt: /ran undefined[^]*warning: --env-file[^]*\n0$/ },
  },
  {
    what: "`run` without a package.json",
    bun: "prints its help; exit code 0",
    rt: "error; exit code 1",
    args: ["run"],
    shows: { bun: /Usage[^]*\n0$/, rt: /^error: No package\.json[^]*\n1$/ },
  },
  {
    what: "Empty value, as in `--title=`",
    bun: "is ignored",
    rt: "error before the program starts",
    args: ["--title=", "f.ts"],
    files: FILE,
    shows: { bun: /^ran undefined\n0$/, rt: /^error: --title needs a value[^]*\n1$/ },
  },
  {
    what: "`--define` with a name that is not an identifier",
    bun: "error after the program; exit code 0",
    rt: "error before the program; exit code 1",
    args: ["--define=1a:2", "f.ts"],
    files: FILE,
    shows: { bun: /^ran undefined[^]*error[^]*\n0$/, rt: /^error: --define cannot substitute[^]*\n1$/ },
  },
  {
    what: "`--port` with `PORT`, `BUN_PORT` or `NODE_PORT`",
    bun: "the variable has precedence",
    rt: "`--port` has precedence and sets `PORT` and `BUN_PORT` of the program",
    args: ["--port=41234", "f.ts"],
    files: FILE,
    env: { PORT: "41235" },
    shows: { bun: /^ran 41235\n0$/, rt: /^ran 41234\n0$/ },
  },
  {
    what: "`--extension-order=.js`",
    bun: "`require()` finds no other extensions, `import` does",
    rt: "both try other extensions last",
    args: ["--extension-order=.js", "r.cjs"],
    files: { "r.cjs": 'console.log(require("./f"));', "f.ts": "export default 1;" },
    shows: { bun: /Cannot find module[^]*\n1$/, rt: /default: 1[^]*\n0$/ },
  },
  {
    what: "Options of `test` with the same keys of `[test]`",
    bun: "the file has precedence",
    rt: "the option has precedence",
    args: ["test", "--rerun-each=1"],
    files: {
      "a.test.ts": 'import { test } from "bun:test"; test("passes", () => {});',
      "bunfig.toml": "[test]\nrerunEach = 2\n",
      "rtfig.toml": "[test]\nrerunEach = 2\n",
    },
    shows: { bun: /2 pass[^]*\n0$/, rt: /1 pass[^]*\n0$/ },
  },
];

const FILE_NAME = "docs/reference/differences.md";
const START = "## Differences that a test compares\n";
const END = "\n## Limitations\n";

/** Returns the page with the table of these rows. */
export async function renderDifferences(): Promise<string> {
  const page = await Bun.file(join(ROOT, FILE_NAME)).text();
  const [before, behind] = [page.slice(0, page.indexOf(START)), page.slice(page.indexOf(END))];
  const table = renderTable(
    ["Subject", "Stock Bun", "rt"],
    DIFFERENCES.map(({ what, bun, rt }) => [what, bun, rt]),
  );
  const introduction =
    "`bun build/docs.ts` writes this table from `build/docs/differences.ts`. A test runs each command line with both programs.";
  return format(`${before}${START}\n${introduction}\n\n${table}\n${behind}`, FILE_NAME);
}
