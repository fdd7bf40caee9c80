// Projects of third-party tools that are tried with permissions: those of the cache, and tools that no cache entry is for.
import { BEFORE, CACHED_PROJECTS } from "./cached-projects.ts";
import type { ScriptProject } from "./project-setup.ts";

export interface PermittedProject extends ScriptProject {
  /** The script is a server at $PORT, whose page contains BEFORE. Otherwise its output folder or its output does. */
  readonly isServer?: boolean;
}

const WORKSPACE = {
  "package.json": {
    ...{ name: "root", private: true, packageManager: "npm@11.0.0", workspaces: ["packages/*"] },
  },
  "packages/a/package.json": {
    ...{
      name: "a",
      version: "1.0.0",
      scripts: { build: `mkdir -p dist && echo ${BEFORE} | tee dist/a.txt` },
    },
  },
};

const PAGE = {
  "index.html": `<html><body>${BEFORE}<script type="module" src="/main.js"></script></body></html>`,
};
const MAIN = { "main.js": `document.body.title = "${BEFORE}";\n` };

const NEW_PROJECTS: readonly PermittedProject[] = [
  {
    tool: "Vite, `vite dev`",
    packages: ["vite"],
    script: "vite dev --strictPort --port $PORT",
    row: [],
    files: { ...PAGE, ...MAIN },
    isServer: true,
  },
  {
    tool: "Prettier",
    packages: ["prettier"],
    script: "prettier --write src && cat src/main.js",
    row: [],
    files: { "src/main.js": `const ${BEFORE}   =  1\n` },
  },
  {
    tool: "Biome",
    packages: ["@biomejs/biome"],
    script: "biome check --write src && cat src/main.js",
    row: [],
    files: { "src/main.js": `export const ${BEFORE}   =  1\n` },
  },
  {
    tool: "Parcel",
    packages: ["parcel"],
    script: "parcel build index.html",
    row: [],
    files: { ...PAGE, ...MAIN },
    outputFolder: "dist",
  },
  {
    tool: "Rspack",
    packages: ["@rspack/cli", "@rspack/core"],
    script: "rspack build",
    row: [],
    files: { "src/index.js": `console.log("${BEFORE}");\n` },
    outputFolder: "dist",
  },
  {
    tool: "Sass",
    packages: ["sass"],
    script: "sass main.scss dist/main.css",
    row: [],
    files: { "main.scss": `p { &::before { content: "${BEFORE}"; } }\n` },
    outputFolder: "dist",
  },
  {
    tool: "Tailwind CSS",
    packages: ["@tailwindcss/cli", "tailwindcss"],
    script: "tailwindcss -i main.css -o dist/main.css",
    row: [],
    files: { "main.css": `@import "tailwindcss";\n.${BEFORE} { color: red; }\n` },
    outputFolder: "dist",
  },
  {
    tool: "Rolldown",
    packages: ["rolldown"],
    script: "rolldown main.js --dir dist",
    row: [],
    files: MAIN,
    outputFolder: "dist",
  },
  {
    tool: "Terser",
    packages: ["terser"],
    script: "mkdir -p dist && terser main.js --output dist/main.js",
    row: [],
    files: MAIN,
    outputFolder: "dist",
  },
  {
    tool: "PostCSS",
    packages: ["postcss-cli", "postcss"],
    script: "postcss main.css --no-map --dir dist",
    row: [],
    files: { "main.css": `.${BEFORE} { color: red; }\n` },
    outputFolder: "dist",
  },
  {
    tool: "TypeDoc",
    packages: ["typedoc", "typescript@5"],
    // It removes the output folder otherwise, which a table does not allow.
    script: "typedoc --out dist --cleanOutputDir false src/main.ts",
    row: [],
    files: {
      "src/main.ts": `/** Says. */\nexport const ${BEFORE} = 1;\n`,
      "tsconfig.json": { compilerOptions: { module: "nodenext", types: [] }, include: ["src"] },
    },
    outputFolder: "dist",
  },
  {
    tool: "Drizzle Kit, `drizzle-kit generate`",
    packages: ["drizzle-kit", "drizzle-orm"],
    script: "drizzle-kit generate --dialect sqlite --schema src/schema.ts --out dist",
    row: [],
    files: {
      "src/schema.ts": `import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
export const said = sqliteTable("${BEFORE}", { id: integer("id").primaryKey() });\n`,
    },
    outputFolder: "dist",
  },
  {
    tool: "turbo",
    packages: ["turbo"],
    script: "turbo run build",
    row: [`env = ["TURBO_TELEMETRY_DISABLED"]`],
    env: { TURBO_TELEMETRY_DISABLED: "1" },
    files: {
      ...WORKSPACE,
      // Without RES_OPTIONS the programs of turbo's tasks ask for names by UDP.
      "turbo.json": { globalPassThroughEnv: ["RES_OPTIONS"], tasks: { build: { outputs: ["dist/**"] } } },
    },
    outputFolder: "packages/a/dist",
  },
  {
    tool: "nx",
    packages: ["nx"],
    script: "nx run-many -t build",
    row: [],
    files: {
      ...WORKSPACE,
      "nx.json": { targetDefaults: { build: { cache: true, outputs: ["{projectRoot}/dist"] } } },
    },
    outputFolder: "packages/a/dist",
  },
  {
    tool: "husky, `git commit`",
    packages: ["husky"],
    script: "husky && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m one",
    row: [],
    files: { ".husky/pre-commit": `mkdir -p dist && echo ${BEFORE} > dist/hook.txt\n` },
    outputFolder: "dist",
  },
  {
    tool: "Playwright, with Chromium",
    packages: ["playwright-core"],
    script: "node browse.js",
    row: [],
    files: {
      "browse.js": `import { createServer } from "node:http";
import { chromium } from "playwright-core";
const server = createServer((_, response) => response.end("<p>${BEFORE}</p>"));
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium" });
const page = await browser.newPage();
await page.goto(\`http://127.0.0.1:\${server.address().port}/\`);
console.log(await page.innerText("p"));
await browser.close();
server.close();\n`,
    },
  },
];

export const PERMITTED_PROJECTS: readonly PermittedProject[] = [...CACHED_PROJECTS, ...NEW_PROJECTS];
