// Stores rarely needed modules as compressed scripts, which are compiled when a command needs them. With bytecode a module takes
// four times its minified size.
//
// A module of PACKED is imported dynamically, as any other. The build replaces that import by a module that decompresses the script and
// re-exports its exports. A script has copies of its imports, except those in MAINS: a program has one credential store.
import { join } from "node:path";
import type { BunPlugin } from "bun";

const ROOT = join(import.meta.dir, "../..");

/** By script name; each module is imported by `import()` only. */
export const PACKED: Readonly<Record<string, readonly string[]>> = {
  "secrets-mapped": ["src/secrets/grants/env-command", "src/secrets/trust/trust-command"],
  "secrets-check": ["src/secrets/scan/command"],
  "secrets-share": ["src/secrets/age/command", "src/secrets/age/age-file", "src/secrets/import/command"],
  remote: ["src/remote-execution/remote-run", "src/cache/remote/reapi-backend"],
  "registry-tokens": ["src/secrets/registries/tool-config"],
  "secrets-helper": ["src/secrets/helpers/command"],
  upgrade: ["src/cli/upgrade/command"],
  "cache-command": ["src/cache/command"],
  "cache-import": ["src/cache/import/command"],
  "config-command": ["src/cli/config-command", "src/cli/permissions-command"],
  "cache-server": ["src/cache/server/command"],
  help: ["src/cli/help/help"],
  "debug-config": ["src/cli/debug-config"],
  doctor: ["src/cli/doctor/command"],
  completions: ["src/cli/completions/completions"],
  picker: ["src/cli/picker/pick"],
  "plan-graph": ["src/reporters/plan/plan-graph"],
  list: ["src/reporters/list/list-reporter"],
  "github-report": ["src/reporters/terminal/github-reporter"],
  reports: [
    "src/reporters/page/run-page-reporter",
    "src/reporters/report-files/trace-reporter",
    "src/reporters/report-files/junit-reporter",
  ],
};

/** Modules that scripts take from the program, because they are in its chunks anyway. */
const MAINS: readonly string[] = [
  "src/secrets/api/secrets",
  "src/secrets/command-arguments",
  "src/secrets/streams",
  "src/secrets/commands",
  "src/options/options",
  "src/options/commands",
  "src/config/rtfig",
  "src/config/toml-line",
  "src/cli/help/embedded-texts",
  "src/secrets/grants/secret-fetch",
  "src/secrets/grants/mapping",
  "src/secrets/grants/mapping-file",
  "src/secrets/grants/missing-secrets",
  "src/secrets/trust/trust",
  "src/secrets/trust/yes-no-prompt",
  "src/secrets/grants/variable-name",
  "src/cache/store/file-hash-cache",
  "src/cache/store/file-hash-persistence",
  "src/cache/store/cache-store",
  "platform/secrets/secret-provider",
  "platform/processes/process",
  "platform/files/files",
];

const pathOf = (module: string) => join(ROOT, `${module}.ts`);
const mainName = (module: string) => `rt:main/${module}`;

export function packedEntry(name: string): string {
  return PACKED[name]!.map((module) => `export * from ${JSON.stringify(pathOf(module))};`).join("\n");
}

/** For a script's bundle: redirects the program's modules to the program. */
export const fromMain: BunPlugin = {
  name: "rt-from-main",
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, importer, kind }) => {
      const module = MAINS.find((each) => pathOf(each) === join(importer, "..", path));
      if (!module) return undefined;
      // Otherwise it would be an import of the engine, which does not resolve the name.
      if (kind === "dynamic-import") return { path: mainName(module), namespace: "rt-main" };
      return { path: mainName(module), external: true };
    });
    build.onResolve({ filter: /^rt:main\// }, ({ path }) => ({ path, external: true }));
    build.onLoad({ filter: /.*/, namespace: "rt-main" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
};

export interface PackedScript {
  /** Path of the compressed script. */
  readonly file: string;
  readonly script: string;
}

/** For the program's bundle. */
export function packedModules(scripts: ReadonlyMap<string, PackedScript>): BunPlugin {
  const names = new Map(
    Object.entries(PACKED).flatMap(([name, modules]) => modules.map((module) => [pathOf(module), name])),
  );
  return {
    name: "rt-packed",
    setup(build) {
      // Not by file path, which differs in each build and would become part of chunk names.
      build.onResolve({ filter: /^rt:packed\// }, ({ path }) => ({ path, namespace: "rt-packed-file" }));
      build.onLoad({ filter: /.*/, namespace: "rt-packed-file" }, async ({ path }) => ({
        contents: await Bun.file(scripts.get(path.slice("rt:packed/".length))!.file).bytes(),
        loader: "file",
      }));
      build.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, importer, kind }) => {
        const name = names.get(join(importer.replace(/\?.*/, ""), "..", path));
        return name && kind === "dynamic-import" ? { path: name, namespace: "rt-packed" } : undefined;
      });
      build.onLoad({ filter: /.*/, namespace: "rt-packed" }, async ({ path }) => ({
        contents: await unpackingSource(path, scripts.get(path)!.script),
        loader: "js",
      }));
    },
  };
}

async function unpackingSource(name: string, script: string): Promise<string> {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const sources = await Promise.all(PACKED[name]!.map((module) => Bun.file(pathOf(module)).text()));
  const exported = sources.flatMap((source) => transpiler.scan(source).exports);
  const mains = MAINS.filter((module) => script.includes(`"${mainName(module)}"`)).map((module, index) => ({
    module,
    main: `main${index}`,
  }));
  return [
    `import file from ${JSON.stringify(`rt:packed/${name}`)} with { type: "file" };`,
    `import { evaluate } from ${JSON.stringify(pathOf("src/runtime/preload/embedded-script"))};`,
    ...mains.map(({ module, main }) => `import * as ${main} from ${JSON.stringify(pathOf(module))};`),
    `const mains = { ${mains.map(({ module, main }) => `${JSON.stringify(mainName(module))}: ${main}`).join(", ")} };`,
    `const packed = import.meta.require("node:fs").readFileSync(file);`,
    `const script = new TextDecoder().decode(Bun.zstdDecompressSync(packed));`,
    `export const { ${exported.join(", ")} } =`,
    `  evaluate(script, (name) => mains[name] ?? process.getBuiltinModule(name));`,
  ].join("\n");
}

/** All modules in compressed scripts. */
export const PACKED_MODULES: readonly string[] = Object.values(PACKED).flat();
