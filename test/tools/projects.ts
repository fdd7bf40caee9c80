// Projects of third-party tools that import rt, with the configuration that docs/reference/tools.md names for the tool. `npm test` runs
// those whose packages are development dependencies; `npm run tools` runs all before a release.
import type { Files } from "../support/project.ts";

export interface ToolProject {
  readonly tool: string;
  /** npm package specifiers; the first is the tool. */
  readonly packages: readonly string[];
  /** The configuration that docs/reference/tools.md names. */
  readonly needs: string;
  readonly files: Files;
  /** Command lines of rt that exit with 0. The last one prints SAID, unless a server returns it. */
  readonly steps: readonly (readonly string[])[];
  /** The command line of a server at $PORT whose first page contains SAID. */
  readonly server?: readonly string[];
  /** The error message of a tool that cannot work under rt. */
  readonly fails?: string;
}

export const SAID = "rt: true function";

const EXPRESSION = "`rt: ${CSRF.verify(CSRF.generate('key'), { secret: 'key' })} ${typeof secrets.get}`";
const APP = `import { CSRF, secrets } from "rt";\nexport const said = ${EXPRESSION};\nconsole.log(said);\n`;

const scripts = (lines: Readonly<Record<string, string>>) => ({
  "package.json": { name: "tool", private: true, type: "module", scripts: lines },
});

const BUILD = ["--rt", "run", "build"];
const DEV = ["--rt", "run", "dev"];
const NOTHING = "nothing";

const SVELTE = {
  packages: [
    ...["@sveltejs/kit@2", "@sveltejs/adapter-node@5", "@sveltejs/vite-plugin-svelte@7"],
    ...["svelte@5", "vite@8"],
  ],
  files: {
    ...scripts({ dev: "vite dev --strictPort --port $PORT", build: "vite build" }),
    "svelte.config.js": `import adapter from "@sveltejs/adapter-node";\nexport default { kit: { adapter: adapter() } };`,
    "vite.config.js": `import { sveltekit } from "@sveltejs/kit/vite";\nexport default { plugins: [sveltekit()] };`,
    "src/app.html": "<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>",
    "src/routes/+page.svelte": "<script>let { data } = $props();</script><p>{data.said}</p>",
    "src/routes/+page.server.js": `${APP.replace("export ", "")}export const load = () => ({ said });`,
  },
};

const REACT_ROUTER = {
  packages: [
    ...["react-router@7", "@react-router/dev@7", "@react-router/node@7", "@react-router/serve@7"],
    ...["react@19", "react-dom@19", "vite@7", "isbot"],
  ],
  files: {
    ...scripts({ dev: "react-router dev --strictPort --port $PORT", build: "react-router build" }),
    "vite.config.js": `import { reactRouter } from "@react-router/dev/vite";\nexport default { plugins: [reactRouter()] };`,
    "app/root.jsx": `import { Outlet } from "react-router";
export default function Root() { return <html><body><Outlet /></body></html>; }`,
    "app/routes.js": `import { index } from "@react-router/dev/routes";\nexport default [index("home.jsx")];`,
    "app/said.server.js": APP,
    "app/home.jsx": `import { said } from "./said.server.js";
export const loader = () => ({ said });
export default function Home({ loaderData }) { return <p>{loaderData.said}</p>; }`,
  },
};

const NEXT = {
  packages: ["next", "react", "react-dom"],
  needs: "`const { secrets, CSRF } = globalThis.rt` for the import",
  files: {
    ...scripts({ dev: "next dev -p $PORT", build: "next build" }),
    "app/layout.js":
      "export default function Layout({ children }) { return <html><body>{children}</body></html>; }",
    "app/page.js": `const { CSRF, secrets } = globalThis.rt;
export default function Page() { return <p>{${EXPRESSION}}</p>; }`,
    "shown.js": `import { readFileSync } from "node:fs";
console.log(/rt: \\w+ \\w+/.exec(readFileSync(".next/server/app/index.html", "utf8"))[0]);`,
  },
};

const vitest = (pool: string, fails?: string): ToolProject => ({
  tool: `Vitest, \`--pool=${pool}\``,
  packages: ["vitest@5", "vite@8"],
  needs: fails === undefined ? NOTHING : "`--pool=threads`",
  ...(fails === undefined ? {} : { fails }),
  files: {
    ...scripts({ test: `vitest run --pool=${pool} --reporter=verbose` }),
    "vite.config.js": `export default { cacheDir: ".cache" };`,
    "app.js": APP,
    "app.test.js": `import { expect, test } from "vitest";
import { said } from "./app.js";
test("has rt", () => expect(said).toBe("${SAID}"));`,
  },
  steps: [["--rt", "run", "test"]],
});

export const PROJECTS: readonly ToolProject[] = [
  {
    tool: "Vite, server rendering in development",
    packages: ["vite"],
    needs: NOTHING,
    files: {
      ...scripts({ dev: "node dev.js" }),
      "app.js": APP,
      "dev.js": `import { createServer } from "vite";
const server = await createServer({ server: { middlewareMode: true }, appType: "custom", cacheDir: ".cache" });
await server.ssrLoadModule("/app.js");
await server.close();`,
    },
    steps: [["--rt", "run", "dev"]],
  },
  {
    tool: "Vite, `vite build --ssr`",
    packages: ["vite"],
    needs: NOTHING,
    files: {
      ...scripts({ build: "vite build --ssr app.js" }),
      "app.js": APP,
      "vite.config.js": `export default { cacheDir: ".cache" };`,
    },
    steps: [BUILD, ["dist/app.js"]],
  },
  vitest("threads"),
  vitest("forks", "child.channel?.unref is not a function"),
  vitest("vmThreads", "The property 'exportNames.default' is duplicated"),
  {
    tool: "esbuild",
    packages: ["esbuild"],
    needs: "`--external:rt`",
    files: {
      ...scripts({
        build: "esbuild app.js --bundle --platform=node --format=esm --external:rt --outfile=out.js",
      }),
      "app.js": APP,
    },
    steps: [BUILD, ["out.js"]],
  },
  {
    tool: "tsup",
    packages: ["tsup", "typescript"],
    needs: "`--external rt`",
    files: { ...scripts({ build: "tsup app.js --format esm --external rt" }), "app.js": APP },
    steps: [BUILD, ["dist/app.js"]],
  },
  {
    tool: "webpack",
    packages: ["webpack", "webpack-cli"],
    needs: '`externals: { rt: "node-commonjs rt" }`',
    files: {
      ...scripts({ build: "webpack" }),
      "app.js": APP,
      "webpack.config.js": `export default { mode: "production", target: "node", entry: "./app.js",
  output: { filename: "app.cjs" }, externals: { rt: "node-commonjs rt" } };`,
    },
    steps: [BUILD, ["dist/app.cjs"]],
  },
  { tool: "SvelteKit, `vite dev`", ...SVELTE, needs: NOTHING, steps: [], server: DEV },
  {
    tool: "SvelteKit, `vite build` with adapter-node 5",
    ...SVELTE,
    needs: NOTHING,
    steps: [BUILD],
    server: ["build/index.js"],
  },
  { tool: "React Router, `react-router dev`", ...REACT_ROUTER, needs: NOTHING, steps: [], server: DEV },
  {
    tool: "React Router, `react-router build`",
    ...REACT_ROUTER,
    needs: NOTHING,
    steps: [BUILD],
    server: ["--rt", "react-router-serve", "build/server/index.js"],
  },
  { tool: "Next, `next dev`", ...NEXT, steps: [], server: DEV },
  { tool: "Next, `next build`", ...NEXT, steps: [BUILD, ["shown.js"]] },
  {
    tool: "eslint, eslint-plugin-n and eslint-plugin-import-x",
    packages: ["eslint", "eslint-plugin-n", "eslint-plugin-import-x"],
    needs: NOTHING,
    files: {
      ...scripts({ lint: "eslint app.js" }),
      "app.js": APP,
      "eslint.config.js": `import n from "eslint-plugin-n";
import x from "eslint-plugin-import-x";
export default [{ files: ["app.js"], plugins: { n, x }, rules: { "n/no-missing-import": "error", "n/no-extraneous-import": "error", "x/no-unresolved": "error", "x/no-extraneous-dependencies": "error" } }];`,
    },
    steps: [["--rt", "run", "lint"], ["app.js"]],
  },
  {
    tool: "eslint, eslint-plugin-import",
    packages: ["eslint@9", "eslint-plugin-import"],
    needs: '`settings: { "import/core-modules": ["rt"] }`',
    files: {
      ...scripts({ lint: "eslint app.js" }),
      "app.js": APP,
      "eslint.config.js": `import imported from "eslint-plugin-import";
export default [{ files: ["app.js"], plugins: { import: imported }, settings: { "import/core-modules": ["rt"] }, rules: { "import/no-unresolved": "error", "import/no-extraneous-dependencies": "error" } }];`,
    },
    steps: [["--rt", "run", "lint"], ["app.js"]],
  },
];
