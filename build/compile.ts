// Makes the binary: `bun build/compile.ts` leaves the host's at dist/rt.
//
// Two bundles go into it. The first is the preload that the engine gets when rt starts it anew, one script as
// a `data:` URL (see src/run/engine.ts). The second is everything else, split into chunks, so that a start
// reads only what it needs.
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BunPlugin } from "bun";
import { dbusOptional } from "./stubs/dbus-optional.ts";

const ROOT = join(import.meta.dir, "..");
const DIST = join(ROOT, "dist");

/** What the engine would do with these files as entry or import, told to it at start since our main is none of them. */
const FILE_LOADERS = [
  ".svg",
  ".png",
  ".jpg",
  ".jpeg",
  ".gif",
  ".webp",
  ".ico",
  ".avif",
  ".woff",
  ".woff2",
  ".ttf",
  ".otf",
  ".eot",
  ".mp3",
  ".mp4",
  ".webm",
  ".ogg",
  ".wav",
  ".pdf",
];

async function bundlePreload(): Promise<string> {
  const result = await Bun.build({
    entrypoints: [join(ROOT, "src/runtime/preload.ts")],
    target: "bun",
    format: "cjs",
    minify: true,
    plugins: [dbusOptional],
  });
  const [output] = result.outputs;
  // The bundle is a function expression of (exports, require, module, __filename, __dirname).
  const body = `(function (preloadUrl) { return (${(await output!.text()).replace(/^\/\/.*\n/, "")})\n})\n//# sourceURL=rt:runtime`;
  const url = 'import.meta.path.slice(import.meta.path.indexOf("data:"))';
  const source = `(0, eval)(${JSON.stringify(body)})(${url})({}, import.meta.require, { exports: {} }, "", "")`;
  return `data:text/javascript;base64,${Buffer.from(source).toString("base64")}`;
}

/** The module "rt:preload": the first bundle, as text of the second. */
function preloadPlugin(url: string): BunPlugin {
  return {
    name: "rt-preload",
    setup(build) {
      build.onResolve({ filter: /^rt:preload$/ }, () => ({ path: "preload", namespace: "rt" }));
      build.onLoad({ filter: /.*/, namespace: "rt" }, () => ({
        contents: `export default ${JSON.stringify(url)}`,
        loader: "js",
      }));
    },
  };
}

export async function compile(outfile: string): Promise<void> {
  const preload = await bundlePreload();
  await mkdir(DIST, { recursive: true });
  const draft = `${outfile}.${process.pid}`;
  await Bun.build({
    entrypoints: [join(ROOT, "src/main.ts"), join(ROOT, "src/runtime/worker.ts")],
    target: "bun",
    format: "esm",
    splitting: true,
    bytecode: true,
    minify: true,
    plugins: [dbusOptional, preloadPlugin(preload)],
    compile: {
      outfile: draft,
      autoloadTsconfig: true,
      autoloadPackageJson: true,
      autoloadBunfig: false,
      execArgv: FILE_LOADERS.map((extension) => `--loader=${extension}:file`),
    },
  });
  // The toolchain writes the file in pieces, which leaves it slower to map than one copied in one go.
  const copy = `${draft}.copy`;
  await copyFile(draft, copy);
  await rename(copy, outfile);
  await rm(draft);
}

if (import.meta.main) {
  const outfile = join(DIST, process.platform === "win32" ? "rt.exe" : "rt");
  await compile(outfile);
}
