// Bundles the scripts for processes that run as the engine: the preload, its deferred modules, and the debugger.
import { join, relative } from "node:path";
import type { BunPlugin } from "bun";
import type { System } from "../../platform/processes/running-executable.ts";
import { packScripts, type EmbeddedSources } from "../../src/runtime/modules/embedded-modules.ts";
import { PRELOAD_URL_START } from "../../src/runtime/preload/preload-url.ts";
import type { BuildTarget } from "../targets.ts";
import { bundleScript, type Compiled } from "./script-bundle.ts";

const ROOT = join(import.meta.dir, "../..");

/** Names the parameters of a script that receives the deferred script and import.meta. */
function named(script: string): string {
  // Without another wrapper function: the engine parses a function's body again when it is called.
  const renamed = script.replace("__filename, __dirname)", "lateScript, importMeta)");
  if (renamed === script || /\brequire\(/.test(script))
    throw new Error("The preload's script is not as expected");
  return renamed;
}

/** Sets a sourceURL: a stack trace would show the whole data URL otherwise. */
export function preloadSource(script: string, lateScript: string): string {
  const body = `${named(script)}\n//# sourceURL=rt:runtime`;
  const values = ["{}", "0", "{ exports: {} }", JSON.stringify(lateScript), "import.meta"];
  return `(0, eval)(${JSON.stringify(body)})(${values.join(", ")})`;
}

export function asUrl(source: string): string {
  return PRELOAD_URL_START + Buffer.from(source).toString("base64");
}

/** The beginning of a module file, or all of it: see src/runner/engine/debugger.ts. */
export function asDebugger(script: string, first: string): string {
  return [
    "// @bun", // read as it is
    "const own = { exports: {} };",
    `(${script.trimEnd().replace(/;$/, "")})(own.exports, process.getBuiltinModule, own, "", "");`,
    `own.exports.${first}();`,
    "",
  ].join("\n");
}

/** By a hash of the content, as platform/files/private-file.ts names files. */
function nameOf(script: string): string {
  return `debugger-${new Bun.CryptoHasher("sha256").update(script).digest("hex").slice(0, 32)}.js`;
}

const SYSTEMS: readonly (readonly [BuildTarget["os"], System])[] = [
  ["linux", "linux"],
  ["darwin", "darwin"],
  ["windows", "win32"],
];

interface EmbeddedScripts extends Compiled {
  readonly packed: Uint8Array;
}

let unchanged: Promise<EmbeddedScripts> | undefined;

/** Bundles the scripts for engine processes. They are the same for all targets. */
export function embedScripts(plugins: readonly BunPlugin[]): Promise<EmbeddedScripts> {
  return plugins.length > 0 ? bundleScripts(plugins) : (unchanged ??= bundleScripts([]));
}

async function bundleScripts(plugins: readonly BunPlugin[]): Promise<EmbeddedScripts> {
  const parts: Partial<Record<System, string>> = {};
  const inputs: string[] = [];
  for (const [os, system] of SYSTEMS) {
    const define = { "process.platform": JSON.stringify(system) };
    // For any processor: the script checks it at run time.
    const made = await bundleScript(
      "src/runtime/modules/lazy-modules.ts",
      { os, arch: "x64" },
      plugins,
      define,
    );
    parts[system] = made.script;
    inputs.push(...made.inputs);
  }
  const anywhere = { os: "linux", arch: "x64" } as const;
  const program = await bundleScript("src/runtime/compiled/compiled-program-preload.ts", anywhere, [], {});
  const late = await bundleScript("src/runtime/modules/deferred-modules.ts", anywhere, [], {});
  const scripts: EmbeddedSources = {
    parts: parts as EmbeddedSources["parts"],
    program: `${named(program.script)}\n//# sourceURL=rt:runtime`,
    late: late.script,
  };
  return { packed: packScripts(scripts), inputs: new Set([...inputs, ...program.inputs, ...late.inputs]) };
}

/** The virtual modules "rt:preload" and "rt:parts" (see src/runner/engine/preload.ts). */
export function generatedModules(
  preload: string,
  optionPreload: string,
  debuggerScripts: Readonly<Record<string, string>>,
  parts: Uint8Array,
): BunPlugin {
  return {
    name: "rt-generated",
    setup(build) {
      build.onResolve({ filter: /^rt:parts$/ }, () => ({ path: "rt.parts", namespace: "rt-parts" }));
      build.onLoad({ filter: /.*/, namespace: "rt-parts" }, () => ({ contents: parts, loader: "file" }));
      // Relative to the root, because the path becomes part of the chunk's name and so of the program. Each importer gets a copy,
      // because a shared chunk would cost each of them more than its size.
      build.onResolve({ filter: /^rt:preload$/ }, ({ importer }) => ({
        path: `for:${relative(ROOT, importer)}`,
        namespace: "rt",
      }));
      build.onLoad({ filter: /.*/, namespace: "rt" }, () => ({
        contents: `export default ${JSON.stringify(preload)}`,
        loader: "js",
      }));
      build.onResolve({ filter: /^rt:debugger(?:-texts)?$/ }, ({ path }) => ({
        path: path === "rt:debugger" ? "names-of-files" : "files",
        namespace: "rt-debugger",
      }));
      build.onLoad({ filter: /.*/, namespace: "rt-debugger" }, ({ path }) => ({
        contents: Object.entries(debuggerScripts)
          .map(([name, script]) => [name, path === "names-of-files" ? nameOf(script) : script])
          .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
          .join("\n"),
        loader: "js",
      }));
      build.onResolve({ filter: /^rt:option-preload$/ }, ({ importer }) => ({
        path: `option-for:${relative(ROOT, importer)}`,
        namespace: "rt-option",
      }));
      build.onLoad({ filter: /.*/, namespace: "rt-option" }, () => ({
        contents: `export default ${JSON.stringify(optionPreload)}`,
        loader: "js",
      }));
    },
  };
}
