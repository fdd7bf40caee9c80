// Splits the program into chunks. By default the bundler creates one for each dynamically imported module and for each set of shared
// modules: ninety. At each start the engine registers all chunks, which takes a microsecond for each.
//
// Non-obvious:
// - The shortest starts have private copies of all static imports, because reading a chunk costs more than its code. So a class may
//   exist more than once, and errors are identified by name.
// - Modules that are rarely needed, or only together, share a chunk.
import { dirname, join, relative } from "node:path";
import type { BunPlugin } from "bun";
import { PACKED_MODULES } from "./compressed-modules.ts";
import type { BuildTarget } from "../targets.ts";

const ROOT = join(import.meta.dir, "../..");
export const MAIN = join(ROOT, "src/main.ts");

/** Chunks of starts besides main. A start needs at most three of them. Each has copies of its imports. */
const STARTS = [
  "command-line",
  "engine",
  "debugger",
  "script-start",
  "start-memo",
  "many",
  "config",
  "permissions",
];
const MARKS = ["main", ...STARTS].map((name) => `?${name}`);

/** The query that makes a path a separate module for the bundler. */
function markOf(importer: string): string | undefined {
  return importer === MAIN ? "?main" : MARKS.find((mark) => importer.endsWith(mark));
}

export const ownCopies: BunPlugin = {
  name: "rt-own-copies",
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\/.*\.(?:ts|json)$/ }, ({ path, importer, kind }) => {
      const mark = kind === "import-statement" ? markOf(importer) : undefined;
      return mark ? { path: join(dirname(importer), path) + mark } : undefined;
    });
    build.onLoad({ filter: /\.(?:ts|json)\?[a-z-]+$/ }, async ({ path }) => {
      const file = path.slice(0, path.lastIndexOf("?"));
      const text = await Bun.file(file).text();
      if (file.endsWith(".json")) return { contents: text, loader: "json" };
      return { contents: text, loader: "ts" };
    });
  },
};

/**
 * Dynamically imported modules, by their shared chunk. The build fails for a dynamic import that is neither here nor in ALONE.
 */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  secrets: [
    "src/secrets/api/secrets",
    "platform/secrets/secret-provider",
    "platform/secrets/linux/secret-service",
    "platform/secrets/macos/keychain",
    "platform/secrets/windows/credential-store",
  ],
  "secrets-command": [
    "src/secrets/command",
    "src/secrets/hidden-prompt",
    "src/secrets/grants/missing-secrets",
  ],
  "secrets-mapping": [
    "src/secrets/grants/secret-provisioning",
    "src/secrets/grants/command-source",
    "src/secrets/grants/age-source",
    "src/secrets/grants/secret-types",
    "src/secrets/registries/project-registries",
  ],
  "command-line": ["src/cli/command-line"],
  engine: ["src/runner/engine/engine", "src/runner/engine/preload", "src/runner/engine/stdin-start"],
  debugger: ["src/runner/engine/debugger"],
  "debugger-texts": ["src/runner/engine/debugger-bundle"],
  "script-start": ["src/runner/fast-path/script-start", "src/runner/script/launch"],
  "start-memo": ["src/runner/fast-path/start-memo"],
  "stdio-strategy": [
    "src/runner/script/stdio-strategy",
    "src/runner/script/redacted-process",
    "src/redaction/minimum-length",
  ],
  redaction: ["src/redaction/stream", "src/redaction/text", "src/redaction/printers"],
  many: [
    "src/runner/task-run/multi-script",
    "src/runner/watch/script-watch",
    "src/runner/watch/multi-package-watch",
    "src/runner/watch/engine-watch",
    "src/runner/script/step-wait",
    "src/cli/parent-process",
    "src/workspace/members",
    "src/workspace/affected",
    "src/tasks/planning/script-list",
    "src/runner/task-run/dry-run-preview",
    "src/tasks/planning/selection-reasons",
    "src/tasks/planning/shard",
    "src/tasks/planning/table-plan",
    "src/tasks/planning/affected-tasks",
    "src/reporters/plan/dry-run",
    "src/reporters/report-files/report-file",
    "src/reporters/report-files/json-reporter",
    "src/reporters/terminal/live-reporter",
    "src/reporters/terminal/grouped-reporter",
    "src/reporters/terminal/json-lines-reporter",
  ],
  config: [
    "src/config/rtfig",
    "src/config/root-config",
    "src/config/tasks/task-rules",
    "src/config/tasks/changed-rules",
    "src/runner/task-run/task-target",
  ],
  cache: [
    "src/cache/key/rule-globs",
    "src/runner/task-run/cache/cached-task",
    "src/runner/task-run/cache/memoized-run",
    "src/config/settings/cache",
    "src/config/settings/server-uses",
    "platform/tracing/tracing",
    "platform/tracing/linux/tracer",
  ],
  permissions: [
    "src/config/settings/permissions",
    "src/permissions/task-permissions",
    "platform/permissions/linux/support",
    "platform/permissions/linux/permitted-child",
    "platform/permissions/linux/terminals",
    "platform/permissions/macos/support",
    "platform/permissions/macos/permitted-child",
  ],
  refusals: [
    "src/permissions/refusal-explainer",
    "src/permissions/refusal-text",
    "src/permissions/task-observation",
    "src/secrets/trust/permission-consent",
    "platform/permissions/linux/host-resolver",
  ],
  restricted: [
    "src/runner/task-run/unrestricted-target",
    "src/runner/restricted/restricted-target",
    "src/runner/restricted/package-binary",
    "src/config/settings/install-scripts",
    "src/config/settings/create-template",
    "src/runner/install-scripts/install-shim",
    "src/runner/install-scripts/lifecycle-script",
    "src/runner/install-scripts/changed-scripts",
  ],
  "shared-cache": ["src/runner/task-run/remote/remote-cache", "src/runner/task-run/remote/remote-consent"],
  share: ["src/runner/task-run/remote/share", "src/tasks/leases/shared-run"],
  settings: [
    "src/config/settings/tool",
    "src/config/settings/share",
    "src/runner/option-files",
    "src/runner/script/env-files",
    "src/runner/script/path-shims",
    "src/runner/engine/build-arguments",
    "src/runtime/compiled/compiled-program",
  ],
  "engine-config": ["src/config/engine-config", "src/config/overridden-test-keys"],
  messages: [
    "src/did-you-mean",
    "src/printable",
    "src/cli/help/embedded-texts",
    "src/cli/script-list",
    "src/cli/pick-invocation",
    "src/cli/misplaced-options",
    "src/runner/resolve/shadowed-script",
    "src/cli/repl-arguments",
    "src/runner/resolve/suggestion",
    "src/runner/resolve/member-scripts",
    "src/runner/engine/node-arguments",
    "src/runner/file/engine-fallback",
  ],
};

/** Dynamically imported modules with a separate chunk, or with a copy in the chunk that imports them; each with its reason. */
const ALONE: Readonly<Record<string, string>> = {
  "src/options/options": "a start without options does not need the table",
  "src/options/commands": "`rt dev` needs the names of commands, and no other part of the command line",
  "src/output": "only for the rest of a message that a full pipe did not accept, and for warnings",
  "src/runner/file/in-process": "the chunk of main contains it",
  "src/config/settings/remote": "few projects run scripts on a server",
  "src/workspace/jsonc": "only for a package.json that is not JSON (comments, errors)",
  "src/workspace/syntax-error-line": "only for a file with a syntax error",
  "src/csrf/csrf": "the parts of the runtime contain it",
  "platform/processes/process": "main needs it only to exit by a signal",
  "platform/tracing/tracer-process": "only for processes that outlive a traced script",
  "platform/tracing/linux/background-supervisor": "only for processes that outlive a traced script",
  "platform/files/shim-links": "only to create a missing shim directory",
  "platform/files/state-directory": "only to read or write trust records",
  "platform/files/private-file": "few starts write a file",
  "platform/native/linux/memory-program":
    "the chunks for tracing, permissions and pseudo-terminals contain it",
  "platform/secrets/linux/dbus/dbus-encoder": "only for D-Bus messages that are not prepared at build time",
  "platform/secrets/linux/diagnosis": "rt doctor",
  "platform/secrets/macos/diagnosis": "rt doctor",
  "platform/secrets/windows/diagnosis": "rt doctor",
  "platform/processes/windows/registry": "only to explain a failure of the credential store",
};

/** All modules that may be imported dynamically. */
export const LATE_MODULES: readonly string[] = [
  ...Object.values(SHARED).flat(),
  ...Object.keys(ALONE),
  ...PACKED_MODULES,
];

/** Folder names in `platform` that belong to one operating system. */
const FOLDERS: Readonly<Record<BuildTarget["os"], string>> = {
  linux: "/linux/",
  darwin: "/macos/",
  windows: "/windows/",
};

const LATE: readonly string[] = ["dynamic-import", "require-call"];

/** An import receives all exports of its chunk. */
export function sharedChunks({ os }: BuildTarget): BunPlugin {
  const absent = Object.values(FOLDERS).filter((folder) => folder !== FOLDERS[os]);
  const modulesOf = (name: string) =>
    SHARED[name]!.filter((module) => !absent.some((folder) => module.includes(folder))).map((module) =>
      join(ROOT, `${module}.ts`),
    );
  const names = new Map(
    Object.keys(SHARED).flatMap((name) => modulesOf(name).map((module) => [module, name] as const)),
  );
  return {
    name: "rt-shared-chunks",
    setup(build) {
      build.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, importer, kind }) => {
        if (!LATE.includes(kind)) return undefined;
        const from = importer.replace(/\?.*/, "");
        const module = join(dirname(from), path);
        requirePlace(relative(ROOT, module), relative(ROOT, from));
        const name = names.get(module);
        return name ? { path: name, namespace: "chunk" } : undefined;
      });
      build.onLoad({ filter: /.*/, namespace: "chunk" }, async ({ path }) => {
        const modules = modulesOf(path);
        await rejectDuplicates(path, modules);
        const mark = STARTS.includes(path) ? `?${path}` : "";
        const contents = modules.map((module) => `export * from ${JSON.stringify(module + mark)};`);
        return { contents: contents.join("\n"), loader: "js" };
      });
      build.onResolve({ filter: /^[^.].*\.ts\?[a-z-]+$/ }, ({ path }) => ({ path }));
    },
  };
}

/** An unlisted module would become a chunk, which slows down every start. */
function requirePlace(module: string, importer: string): void {
  if (!/^(?:src|platform)[\\/]/.test(importer) || LATE_MODULES.includes(module.replace(/\.ts$/, ""))) return;
  throw new Error(
    `${importer} imports ${module} when it is needed, and build/bundle/chunks.ts has no chunk for it: ` +
      "add it to SHARED, beside what it is needed with, or to ALONE with the reason",
  );
}

/** `export *` omits a name that two modules export. */
async function rejectDuplicates(chunk: string, modules: readonly string[]): Promise<void> {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const seen = new Set<string>();
  for (const module of modules) {
    for (const name of transpiler.scan(await Bun.file(module).text()).exports) {
      if (seen.has(name)) throw new Error(`Two modules of the chunk "${chunk}" export ${name}`);
      seen.add(name);
    }
  }
}
