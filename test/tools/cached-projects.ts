// Projects of third-party tools with a cached script and the row in [tasks] that docs/reference/cache.md names for the tool.
// `npm run tools` runs them before a release.
//
// Invariants:
// - One source of each project contains BEFORE, and so does the script's output folder or its terminal output.
// - The files of a tool's own starter are not changed, so a new setting of a new version is tested too.
import type { Files } from "../support/project.ts";

export interface CachedToolProject {
  readonly tool: string;
  /** npm package specifiers; the first is the tool. */
  readonly packages: readonly string[];
  /** The script's command, as in docs/reference/cache.md. */
  readonly script: string;
  /** The lines of its row in [tasks] after `cache = true`. */
  readonly row: readonly string[];
  /** Environment of rt. The tool gets only the variables that its rule names. */
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of npx that create the project in the current folder. */
  readonly starter?: readonly string[];
  readonly files: Files;
  /** The file that contains BEFORE. */
  readonly source: string;
  /** The output folder of the script. */
  readonly outputFolder?: string;
  /** Why the result is a hit only in a checkout with the same path. */
  readonly notShared?: string;
}

export const BEFORE = "saidBefore";
export const AFTER = "saidAfter";

const SOURCES: Files = {
  "src/main.js": `import { said } from "./said.js";\nconsole.log(said);\n`,
  "src/said.js": `export const said = "${BEFORE}";\n`,
};

const TYPED: Files = {
  "src/main.ts": `import { said } from "./said.ts";\nconsole.log(said);\n`,
  "src/said.ts": `export const said: string = "${BEFORE}";\n`,
};

const UNUSED: Files = { "src/main.js": `const ${BEFORE} = 1;\n` };

const TSCONFIG = {
  compilerOptions: {
    ...{ module: "nodenext", target: "es2023", lib: ["es2023", "dom"], types: [], strict: true },
    ...{ rootDir: "src", outDir: "dist", rewriteRelativeImportExtensions: true },
  },
  include: ["src"],
};

const SCRIPT_BUILD = { source: "src/said.js", outputFolder: "dist" };
const TYPED_BUILD = { source: "src/said.ts", outputFolder: "dist" };

export const CACHED_PROJECTS: readonly CachedToolProject[] = [
  {
    tool: "tsc",
    packages: ["typescript"],
    script: "tsc",
    row: [],
    files: { ...TYPED, "tsconfig.json": TSCONFIG },
    ...TYPED_BUILD,
  },
  {
    tool: "eslint",
    packages: ["eslint", "@eslint/js"],
    script: "eslint src",
    row: [],
    files: {
      ...UNUSED,
      "eslint.config.js": `import js from "@eslint/js";
export default [js.configs.recommended, { rules: { "no-unused-vars": "warn" } }];`,
    },
    source: "src/main.js",
  },
  {
    tool: "oxlint",
    packages: ["oxlint"],
    script: "oxlint src",
    row: [],
    notShared: "it lists the folders above the project",
    files: UNUSED,
    source: "src/main.js",
  },
  {
    tool: "Vite, `vite build`",
    packages: ["vite"],
    script: "vite build",
    row: [],
    files: { ...TYPED, "index.html": `<script type="module" src="/src/main.ts"></script>` },
    ...TYPED_BUILD,
  },
  {
    tool: "create-vite, `tsc -b && vite build`",
    packages: ["create-vite"],
    script: "tsc -b && vite build",
    row: [`outputs = ["node_modules/.tmp/**", "dist/**"]`],
    starter: ["create-vite@latest", ".", "--no-interactive", "--template", "react-ts"],
    files: { "src/App.tsx": `export default function App() {\n  return <p>${BEFORE}</p>;\n}\n` },
    source: "src/App.tsx",
    outputFolder: "dist",
  },
  {
    tool: "Vitest",
    packages: ["vitest", "vite"],
    script: "vitest run",
    row: [],
    files: {
      ...TYPED,
      "src/said.test.ts": `import { expect, test } from "vitest";
import "./main.ts";
test("adds", () => expect(1 + 1).toBe(2));`,
    },
    source: "src/said.ts",
  },
  {
    tool: "Jest",
    packages: ["jest"],
    script: "jest",
    row: [],
    files: {
      "src/said.cjs": `module.exports = "${BEFORE}";\n`,
      "src/said.test.cjs": `const said = require("./said.cjs");
console.log(said);
test("adds", () => expect(1 + 1).toBe(2));`,
      "jest.config.cjs": `module.exports = { moduleFileExtensions: ["cjs", "js"], testMatch: ["**/*.test.cjs"] };`,
    },
    source: "src/said.cjs",
  },
  {
    tool: "webpack",
    packages: ["webpack", "webpack-cli"],
    script: "webpack --mode production --entry ./src/main.js",
    row: [],
    files: SOURCES,
    ...SCRIPT_BUILD,
  },
  {
    tool: "Rollup",
    packages: ["rollup"],
    script: "rollup src/main.js --dir dist",
    row: [],
    files: SOURCES,
    ...SCRIPT_BUILD,
  },
  {
    tool: "esbuild",
    packages: ["esbuild"],
    script: "esbuild src/main.ts --bundle --outdir=dist",
    row: [],
    files: TYPED,
    ...TYPED_BUILD,
  },
  {
    tool: "tsup",
    packages: ["tsup", "typescript"],
    script: "tsup src/main.ts",
    row: [],
    files: TYPED,
    ...TYPED_BUILD,
  },
  {
    tool: "tsx",
    packages: ["tsx"],
    script: "tsx src/main.ts",
    row: [],
    files: TYPED,
    source: "src/said.ts",
  },
  {
    tool: "Mocha",
    packages: ["mocha"],
    script: "mocha src",
    row: [],
    files: { ...SOURCES, "src/main.js": `import { said } from "./said.js";\nit(said, () => {});\n` },
    source: "src/said.js",
  },
  {
    tool: "Nest, `nest build`",
    packages: ["@nestjs/cli"],
    script: "nest build",
    row: [],
    starter: ["@nestjs/cli@latest", "new", ".", "--skip-git", "--skip-install", "--package-manager", "npm"],
    files: { "src/said.ts": `export const said = "${BEFORE}";\n` },
    source: "src/said.ts",
    outputFolder: "dist",
  },
  {
    tool: "Astro, `astro build`",
    packages: ["astro"],
    script: "astro build",
    row: [`env = ["ASTRO_TELEMETRY_DISABLED"]`],
    env: { ASTRO_TELEMETRY_DISABLED: "1" },
    files: { "src/pages/index.astro": `---\nconst said = "${BEFORE}";\n---\n<p>{said}</p>\n` },
    source: "src/pages/index.astro",
    outputFolder: "dist",
  },
  {
    tool: "Next, `next build`",
    packages: ["next", "react", "react-dom"],
    script: "next build",
    row: [`env = ["NEXT_TELEMETRY_DISABLED"]`, `outputs = [".next/**"]`, `ignore = [".next/cache/**"]`],
    env: { NEXT_TELEMETRY_DISABLED: "1" },
    files: {
      "app/layout.js":
        "export default function Layout({ children }) { return <html><body>{children}</body></html>; }",
      "app/page.js": `export default function Page() { return <p>${BEFORE}</p>; }`,
    },
    source: "app/page.js",
    outputFolder: ".next",
    notShared: "`.next/required-server-files.json` contains its path",
  },
];
