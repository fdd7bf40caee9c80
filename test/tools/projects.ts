// Projects of other people's tools that use rt: what docs/tools.md says of them is what is configured here. Those whose
// packages are among our own run in `npm test`, all of them in `npm run tools`, before a release.
import type { Files } from "../support/project.ts";

export interface ToolProject {
  readonly tool: string;
  /** What has to be installed, as npm names it. */
  readonly packages: readonly string[];
  /** What docs/tools.md says has to be written. */
  readonly needs: string;
  readonly files: Files;
  /** Command lines of rt; the last one prints SAID, and all end with 0. */
  readonly steps: readonly (readonly string[])[];
}

export const SAID = "rt: true function";

const EXPRESSION = "`rt: ${CSRF.verify(CSRF.generate('key'), { secret: 'key' })} ${typeof secrets.get}`";
const APP = `import { CSRF, secrets } from "rt";\nexport const said = ${EXPRESSION};\nconsole.log(said);\n`;

const scripts = (lines: Readonly<Record<string, string>>) => ({
  "package.json": { name: "tool", private: true, type: "module", scripts: lines },
});

const BUILD = ["--rt", "run", "build"];
const NOTHING = "nothing";

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
  {
    tool: "Vitest, `--pool=threads`",
    packages: ["vitest", "vite"],
    needs: NOTHING,
    files: {
      ...scripts({ test: "vitest run --pool=threads --reporter=verbose" }),
      "vite.config.js": `export default { cacheDir: ".cache" };`,
      "app.js": APP,
      "app.test.js": `import { expect, test } from "vitest";
import { said } from "./app.js";
test("has rt", () => expect(said).toBe("${SAID}"));`,
    },
    steps: [["--rt", "run", "test"]],
  },
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
  {
    tool: "SvelteKit, `vite build`",
    packages: ["@sveltejs/kit", "svelte", "vite", "@sveltejs/vite-plugin-svelte"],
    needs: NOTHING,
    files: {
      ...scripts({ build: "vite build" }),
      "svelte.config.js": "export default {};",
      "vite.config.js": `import { sveltekit } from "@sveltejs/kit/vite";\nexport default { plugins: [sveltekit()] };`,
      "src/app.html": "<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>",
      "src/routes/+page.svelte": "<script>let { data } = $props();</script><p>{data.said}</p>",
      "src/routes/+page.server.js": `${APP.replace("export ", "")}export const load = () => ({ said });`,
    },
    steps: [BUILD],
  },
  {
    tool: "React Router, `react-router build`",
    packages: [
      ...["react-router@7", "@react-router/dev@7", "@react-router/node@7", "@react-router/serve@7"],
      ...["react@19", "react-dom@19", "vite@7", "isbot"],
    ],
    needs: NOTHING,
    files: {
      ...scripts({ build: "react-router build" }),
      "vite.config.js": `import { reactRouter } from "@react-router/dev/vite";\nexport default { plugins: [reactRouter()] };`,
      "app/root.jsx": `import { Outlet } from "react-router";
export default function Root() { return <html><body><Outlet /></body></html>; }`,
      "app/routes.js": `import { index } from "@react-router/dev/routes";\nexport default [index("home.jsx")];`,
      "app/said.server.js": APP,
      "app/home.jsx": `import { said } from "./said.server.js";
export const loader = () => ({ said });
export default function Home({ loaderData }) { return <p>{loaderData.said}</p>; }`,
    },
    steps: [BUILD, ["build/server/index.js"]],
  },
  {
    tool: "Next, `next build`",
    packages: ["next", "react", "react-dom"],
    needs: "`const { secrets, CSRF } = globalThis.rt` for the import",
    files: {
      ...scripts({ build: "next build" }),
      "app/layout.js":
        "export default function Layout({ children }) { return <html><body>{children}</body></html>; }",
      "app/page.js": `const { CSRF, secrets } = globalThis.rt;
export default function Page() { return <p>{${EXPRESSION}}</p>; }`,
      "shown.js": `import { readFileSync } from "node:fs";
console.log(/rt: \\w+ \\w+/.exec(readFileSync(".next/server/app/index.html", "utf8"))[0]);`,
    },
    steps: [BUILD, ["shown.js"]],
  },
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
