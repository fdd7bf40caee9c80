// How the program is cut into chunks. The toolchain makes one of each module that is imported when it is needed, and
// one of each set of modules that several of these share. Left alone that gives ninety, and the engine enters all of
// them in a table at each start: a microsecond each, whether they are read or not.
//
// Two things make them fewer. What the shortest starts consist of gets a copy of its own of everything that it imports
// statically, since reading a chunk costs more than its code; a class may therefore exist more than once, and errors
// are told apart by their name. And what is rarely needed, or never without the other, shares a chunk.
import { dirname, join, relative } from "node:path";
import type { BunPlugin } from "bun";
import { withoutBuiltinImports } from "./late-builtins.ts";
import { PACKED_MODULES } from "./packed.ts";
import type { BuildTarget } from "./targets.ts";

const ROOT = join(import.meta.dir, "..");
export const MAIN = join(ROOT, "src/main.ts");

/** What starts are made of, beside main itself, which needs at most two of them. Each has copies of what it imports. */
const STARTS = ["command-line", "engine", "debugger", "script-start", "many"];
const MARKS = ["main", ...STARTS].map((name) => `?${name}`);

/** The mark on a path that makes it another module for the toolchain. */
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
      return { contents: withoutBuiltinImports(text), loader: "ts" };
    });
  },
};

/**
 * Modules that are imported when they are needed, by the chunk that they share. A module that is imported so and stands
 * neither here nor in ALONE ends the build with what to do.
 */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  secrets: [
    "src/secrets/secrets",
    "platform/secret-provider",
    "platform/linux/secret-service",
    "platform/macos/keychain",
    "platform/windows/credential-store",
  ],
  "secrets-command": ["src/secrets/command", "src/secrets/hidden-prompt", "src/secrets/mapping/missing"],
  "secrets-mapping": [
    "src/secrets/mapping/provision",
    "src/secrets/mapping/command-source",
    "src/secrets/mapping/age-source",
    "src/secrets/mapping/declaration",
    "src/secrets/registries/project-registries",
  ],
  "command-line": ["src/cli/command-line"],
  engine: ["src/run/engine/engine", "src/run/engine/preload", "src/run/engine/input"],
  debugger: ["src/run/engine/debugger"],
  "debugger-texts": ["src/run/engine/debugger-texts"],
  "script-start": ["src/run/script-start", "src/run/script/launch"],
  attended: ["src/run/script/places", "src/run/script/attended", "src/redaction/length"],
  redaction: ["src/redaction/stream", "src/redaction/text", "src/redaction/printers"],
  many: [
    "src/run/many",
    "src/run/watch/script-watch",
    "src/run/watch/packages-watch",
    "src/run/watch/engine-watch",
    "src/run/script/waiting",
    "src/cli/own-child",
    "src/workspace/members",
    "src/workspace/affected",
    "src/tasks/list",
    "src/tasks/preview",
    "src/tasks/reasons",
    "src/tasks/shard",
    "src/tasks/report/dry-run",
    "src/tasks/report/file",
    "src/tasks/report/json",
    "src/tasks/report/live",
  ],
  cache: [
    "src/run/cached",
    "src/run/recalled",
    "src/settings/cache",
    "src/settings/server-uses",
    "platform/tracing",
    "platform/linux/tracing/tracer",
  ],
  "shared-cache": ["src/run/remote-cache", "src/run/remote/consent"],
  share: ["src/run/share", "src/tasks/share/open"],
  settings: [
    "src/config/rtfig",
    "src/settings/tool",
    "src/settings/share",
    "src/run/named-files",
    "src/run/script/env-files",
    "src/run/script/stand-ins",
    "src/run/engine/build-words",
    "src/runtime/program",
  ],
  handover: ["src/config/handover", "src/config/overridden"],
  words: [
    "src/nearest",
    "src/printable",
    "src/cli/texts",
    "src/cli/list",
    "src/cli/picked",
    "src/cli/refusal",
    "src/run/target/shadowed",
    "src/cli/repl-words",
    "src/run/target/suggestion",
    "src/run/engine/node-words",
    "src/run/file/takeover",
  ],
};

/** Imported when they are needed, by themselves or as a part of a chunk that has them anyway; each with its reason. */
const ALONE: Readonly<Record<string, string>> = {
  "src/options/options": "a start without options does without the table",
  "src/options/commands": "`rt dev` asks for no more of the command line",
  "src/own-output": "for a pipe that takes a part; others have it anyway",
  "src/run/file/in-process": "in main's own chunk",
  "src/settings/remote": "needs node:path, and few projects send scripts away",
  "src/workspace/lenient-json": "for a package.json that is no JSON",
  "src/workspace/syntax-line": "for a file that cannot be parsed",
  "src/csrf/csrf": "in the runtime's parts",
  "platform/process": "for a death by signal, of which main knows nothing else",
  "platform/traced": "for what a script has left running",
  "platform/linux/tracing/caretaker": "for what a script has left running",
  "platform/links": "writes, which few starts do",
  "platform/state-directory": "what rt remembers: few starts ask for it",
  "platform/private-file": "writes, which few starts do",
  "platform/linux/native/memory-program":
    "a part of what follows scripts, and of what has terminals for them",
  "platform/linux/codec": "messages that are not prepared",
  "platform/linux/diagnosis": "rt doctor",
  "platform/macos/diagnosis": "rt doctor",
  "platform/windows/diagnosis": "rt doctor",
  "platform/windows/registry": "explains a failure",
};

/** Every module that may be imported when it is needed. */
export const LATE_MODULES: readonly string[] = [
  ...Object.values(SHARED).flat(),
  ...Object.keys(ALONE),
  ...PACKED_MODULES,
];

/** The folder of `platform` that only one system's program has. */
const FOLDERS: Readonly<Record<BuildTarget["os"], string>> = {
  linux: "platform/linux/",
  darwin: "platform/macos/",
  windows: "platform/windows/",
};

const LATE: readonly string[] = ["dynamic-import", "require-call"];

/** An import gets all that the modules of its chunk export, and takes what it wants. */
export function sharedChunks({ os }: BuildTarget): BunPlugin {
  const absent = Object.values(FOLDERS).filter((folder) => folder !== FOLDERS[os]);
  const modulesOf = (name: string) =>
    SHARED[name]!.filter((module) => !absent.some((folder) => module.startsWith(folder))).map((module) =>
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

/** Left to the toolchain, it would become a chunk that every start pays for. */
function requirePlace(module: string, importer: string): void {
  if (!/^(?:src|platform)[\\/]/.test(importer) || LATE_MODULES.includes(module.replace(/\.ts$/, ""))) return;
  throw new Error(
    `${importer} imports ${module} when it is needed, and build/chunks.ts has no chunk for it: ` +
      "add it to SHARED, beside what it is needed with, or to ALONE with the reason",
  );
}

/** Of a name that two modules export, `export *` would give neither. */
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
