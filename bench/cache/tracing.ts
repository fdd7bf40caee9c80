// Measures the overhead of tracing, compared with the same script uncached. Small scripts show the start-up, real ones the cost
// of calls.
//
// The goals were measured with programs of one thread. tsc 7, and vite with a thousand modules, access files from several
// threads. On two processors, the kernel's user notification alone took 1.2 times as long for them as no tracing. So their rows
// have no goal.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TimedCommand, timeCommands } from "../processes.ts";
import { compareTimes, type Figure } from "../row.ts";

/** Three uncounted rounds create the cache entries. */
const RUNS = 15;
/** Allowed extra time at the start of a script, in ms. */
const MOST_AT_START = 12;

const PACKAGES = [
  "typescript@7.0.2",
  // The compiler in JavaScript, with which the goals were measured.
  "typescript-5@npm:typescript@5.9.3",
  "vite@8.3.8",
  "vitest@5.1.1",
  "eslint@10.15.0",
  "@eslint/js@10.0.1",
  "react@19.3.1",
  "react-dom@19.3.1",
  "lodash-es@4.18.1",
  "date-fns@4.4.0",
];

const WORKLOADS: Readonly<Record<string, readonly [script: string, goal?: number]>> = {
  "node script, 100 files": ["node work.cjs", 1.2],
  "vite, 100 lines": ["vite build --outDir small small", 1.05],
  "vite, 1,250 modules": ["vite build"],
  // Both are called tsc, so their paths distinguish them.
  "tsc 7, 300 modules": ["node_modules/typescript/bin/tsc --noEmit -p ."],
  "tsc 5.9, 300 modules": ["node_modules/typescript-5/bin/tsc --noEmit -p .", 1.05],
  "eslint, 300 files": ["eslint src", 1.2],
  "vitest, 4 files of 300 modules": ["vitest run --globals", 1.2],
};
const FILES = 300;

function createFiles(): Record<string, string> {
  const scripts = Object.fromEntries(Object.entries(WORKLOADS).map(([name, [script]]) => [name, script]));
  const files: Record<string, string> = {
    "package.json": JSON.stringify({ name: "p", scripts: { ...scripts, true: "/bin/true" } }),
    "rtfig.toml": `[run.cache]\n${[...Object.keys(WORKLOADS), "true"].map((name) => `"${name}" = true`).join("\n")}\n`,
    "small/index.html": '<script type="module" src="./0.ts"></script>',
    "small/99.ts": "console.log(1);\n",
    "index.html": '<script type="module" src="/src/main.ts"></script>',
    "src/main.ts": [
      'import { createRoot } from "react-dom/client";',
      'import * as lodash from "lodash-es";',
      'import * as dates from "date-fns";',
      'import { sum0 } from "./m0.js";',
      "console.log(lodash, dates, createRoot, sum0(1));",
    ].join("\n"),
    "work.cjs": 'for (let i = 0; i < 100; i++) require("fs").readFileSync(`small/${i}.ts`)',
    "eslint.config.mjs": 'import js from "@eslint/js";\nexport default [js.configs.recommended];\n',
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        strict: true,
        module: "nodenext",
        target: "es2022",
        skipLibCheck: true,
        types: [],
      },
      include: ["src/m*.ts"],
      exclude: ["src/main.ts"],
    }),
  };
  for (let file = 0; file < 99; file += 1) files[`small/${file}.ts`] = `import "./${file + 1}";\n`;
  for (let file = 0; file < FILES; file += 1) {
    const isLast = file === FILES - 1;
    files[`src/m${file}.ts`] = [
      isLast ? "" : `import { sum${file + 1} } from "./m${file + 1}.js";`,
      'import { format } from "date-fns";',
      `export interface Item${file} { readonly id: number; readonly tags: readonly string[] }`,
      `export const name${file} = ({ id, tags }: Item${file}): string => format(new Date(id), "yyyy") + tags.join();`,
      `export const sum${file} = (first: number): number => first + ${isLast ? 1 : `sum${file + 1}(first)`};`,
    ].join("\n");
    files[`src/l${file}.js`] =
      `export const f = (x) => {\n  if (x > ${file}) return [1, 2].map((y) => y * x);\n  return [];\n};\n`;
  }
  for (let file = 0; file < 4; file += 1)
    files[`src/t${file}.test.ts`] =
      'import { sum0 } from "./m0.js";\ntest("sums", () => expect(sum0(0)).toBe(1));\n';
  return files;
}

/** Throws when the packages are unavailable. */
async function createProject(cwd: string): Promise<void> {
  for (const [path, text] of Object.entries(createFiles())) await Bun.write(join(cwd, path), text);
  const words = ["npm", "install", "--no-save", "--no-audit", "--no-fund", ...PACKAGES];
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd, stdout: "ignore", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`what is to be followed cannot be installed: ${stderr}`);
}

export async function measureTracing(
  rt: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly Figure[]> {
  const cwd = await mkdtemp(join(tmpdir(), "rt-bench-"));
  try {
    await createProject(cwd);
    const time = (script: string, runs: number) => {
      const command = (how: string): TimedCommand => ({
        name: how,
        argv: [rt, `--${how}`, "run", script],
        env,
      });
      const [followed, plain] = timeCommands([command("force"), command("no-cache")], runs, cwd);
      return [followed!, { ...plain!, name: "not cached" }] as const;
    };
    const rows = Object.entries(WORKLOADS).flatMap(([name, [, goal]]) =>
      compareTimes(`${name}, followed and kept`, time(name, RUNS), { "not cached": goal }, 1),
    );
    const [followed, plain] = time("true", 51);
    const more = followed.median - plain.median;
    rows.push({
      figure: `true, followed and kept, milliseconds more : ${plain.name}`,
      ours: `${followed.median.toFixed(1)} ms`,
      peer: `${plain.median.toFixed(1)} ms`,
      ratio: more,
      goal: `<= ${MOST_AT_START}`,
      met: more <= MOST_AT_START,
    });
    return rows;
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}
