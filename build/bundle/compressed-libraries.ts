// Stores large libraries that few commands need as compressed scripts, which are compiled when they are imported. With bytecode a
// library takes four times its minified size, and rt adds at most 10 MB to the engine (build/release.ts).
import { join, relative } from "node:path";
import type { BunPlugin } from "bun";
import type { BuildTarget } from "../targets.ts";
import { compress } from "./compress.ts";
import { bundleScript, constantsOf } from "./script-bundle.ts";
import { silentDebug } from "./stubs/silent-debug.ts";

const ROOT = join(import.meta.dir, "../..");
const EVALUATE = join(ROOT, "src/runtime/preload/embedded-script.ts");

/** The exports that rt uses, by library. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  "@xterm/headless": ["Terminal"],
  "@dagrejs/dagre": ["Graph", "layout"],
  "@secretlint/secretlint-rule-preset-recommend": ["rules"],
  "age-encryption": ["armor", "Decrypter", "Encrypter", "generateX25519Identity", "identityToRecipient"],
};

/** Bundles the libraries first, because the bundler waits for ever for a bundle within a plugin. */
export async function compressedLibraries(target: BuildTarget): Promise<BunPlugin> {
  const sources = new Map<string, string>();
  for (const [library, names] of Object.entries(LIBRARIES)) {
    const entry = relative(ROOT, Bun.resolveSync(library, ROOT));
    const { script } = await bundleScript(entry, target, [silentDebug], constantsOf(target));
    sources.set(library, unpackingSource(script, names));
  }
  return {
    name: "rt-compressed-libraries",
    setup(build) {
      build.onResolve({ filter: /^[@a-z]/ }, ({ path }) =>
        sources.has(path) ? { path, namespace: "rt-compressed" } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: "rt-compressed" }, ({ path }) => ({
        contents: sources.get(path)!,
        loader: "js",
      }));
    },
  };
}

function unpackingSource(script: string, names: readonly string[]): string {
  return `
    import { evaluate } from ${JSON.stringify(EVALUATE)};
    const script = Bun.zstdDecompressSync(Uint8Array.fromBase64(${JSON.stringify(compress(script).toBase64())}));
    export const { ${names.join(", ")} } = evaluate(new TextDecoder().decode(script));`;
}
