// Bundles one module with the modules that it imports into a script.
import { join } from "node:path";
import type { BunPlugin } from "bun";
import type { BuildTarget } from "../targets.ts";
import { dbusOptional } from "./stubs/dbus-optional.ts";
import { windowsRegistry } from "./windows-registry.ts";

const ROOT = join(import.meta.dir, "../..");

/** Replaces the other systems' modules, as imported by `platform/<subject>/*.ts`, by empty modules. */
export function onlyFor({ os }: Pick<BuildTarget, "os">): BunPlugin {
  const absent = { linux: "windows", darwin: "windows|linux", windows: "posix|linux" }[os];
  return {
    name: "rt-platform",
    setup(build) {
      build.onResolve({ filter: new RegExp(`^\\.{1,2}/(?:.*/)?(?:${absent})/`) }, ({ path, importer }) =>
        /[\\/]platform[\\/][^\\/]+[\\/][^\\/]+$/.test(importer) ? { path, namespace: "absent" } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: "absent" }, () => ({ contents: "export {};", loader: "js" }));
    },
  };
}

export function constantsOf({ os, arch }: Pick<BuildTarget, "os" | "arch">): Record<string, string> {
  const platform = os === "windows" ? "win32" : os;
  return {
    "process.platform": JSON.stringify(platform),
    "process.arch": JSON.stringify(arch),
    // A library cannot find its own files, and the path would differ in each build.
    __dirname: '""',
  };
}

export interface Compiled {
  /** Bundled source files, relative to the root. */
  readonly inputs: ReadonlySet<string>;
}

export function inputsOf({ metafile }: Bun.BuildOutput): Set<string> {
  const used = Object.values(metafile!.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return new Set(used.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path));
}

/** Bundles a module as one function expression of (exports, require, module, __filename, __dirname). */
export async function bundleScript(
  entry: string,
  target: Pick<BuildTarget, "os" | "arch">,
  plugins: readonly BunPlugin[],
  define: Record<string, string>,
): Promise<Compiled & { script: string }> {
  const result = await Bun.build({
    entrypoints: [join(ROOT, entry)],
    target: "bun",
    format: "cjs",
    minify: true,
    metafile: true,
    define,
    plugins: [...plugins, dbusOptional, onlyFor(target), await windowsRegistry(target, false)],
  });
  const source = await result.outputs[0]!.text();
  return { script: source.slice(source.indexOf("(function")), inputs: inputsOf(result) };
}
