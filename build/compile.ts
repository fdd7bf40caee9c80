// Builds the binary: `bun build/compile.ts` writes the host's to dist/rt, and its manual page to dist/rt.1.
//
// It contains five bundles. Four are scripts for processes that run as the engine:
// - the preload (a `data:` URL)
// - its deferred modules as text (src/runtime/modules/deferred-modules.ts)
// - the parts in the finished file (src/runner/engine/preload.ts)
// - the debugger
//
// The fifth is the program, split into chunks so that a start reads only what it needs.
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BunPlugin } from "bun";
import { renderManual } from "./docs/man-page.ts";
import { MAIN, mainCopies } from "./bundle/main-copies.ts";
import { compactElf } from "./executable/elf-compaction.ts";
import { enginePath } from "./engine.ts";
import { asDebugger, asUrl, embedScripts, generatedModules, preloadSource } from "./bundle/engine-scripts.ts";
import { bundleScript, type Compiled, constantsOf, inputsOf, onlyFor } from "./bundle/script-bundle.ts";
import { renameTools } from "./executable/engine-message-patch.ts";
import { signAdHoc } from "./macos/signature.ts";
import { frontFor } from "./executable/front.ts";
import { compressedLibraries } from "./bundle/compressed-libraries.ts";
import { nativePrograms } from "./bundle/native-programs.ts";
import { bundlePages } from "./bundle/bundled-pages.ts";
import { PRODUCT } from "./product.ts";
import { shortenCutOff } from "./executable/console-depth-patch.ts";
import { type BuildTarget, hostTarget } from "./targets.ts";
import { texts } from "./bundle/embedded-texts.ts";
import { setMetadata } from "./executable/windows-metadata.ts";
import { silentDebug } from "./bundle/stubs/silent-debug.ts";
import { dbusOptional } from "./bundle/stubs/dbus-optional.ts";
import { windowsRegistry } from "./bundle/windows-registry.ts";

const ROOT = join(import.meta.dir, "..");
export const DIST = join(ROOT, "dist");

/** The engine's loader for these files. It is passed at startup, because rt's main module has another type. */
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
  ".bmp",
  ".tiff",
  ".heic",
  ".mov",
  ".m4a",
  ".flac",
  ".aac",
  ".csv",
  ".tsv",
  ".sql",
  ".xml",
  ".bin",
  ".dat",
  ".zip",
  ".gz",
  ".pem",
  ".glsl",
  ".vert",
  ".frag",
  ".wgsl",
  ".graphql",
  ".gql",
  ".proto",
  ".glb",
];

/** Target-specific steps after the bundler. */
async function finish(program: Uint8Array, target: BuildTarget, preload: string): Promise<Uint8Array> {
  const { os } = target;
  renameTools(program, await readFile(enginePath(target)));
  shortenCutOff(program);
  if (os === "linux") return compactElf(program, await frontFor(target, preload));
  return os === "darwin" ? signAdHoc(program, PRODUCT.identifier) : setMetadata(program);
}

/**
 * Builds a program. Builds of the same source have the same bytes wherever they are made. Module names and the output's name,
 * which become part of the program, are therefore constant.
 *
 * @param plugins change the input, for tests that need another system's modules in a program that they can run
 */
export async function compile(
  target: BuildTarget,
  outfile: string,
  plugins: readonly BunPlugin[] = [],
): Promise<Compiled> {
  process.chdir(ROOT);
  await mkdir(dirname(outfile), { recursive: true });
  const directory = await mkdtemp(`${outfile}.build-`);
  const draft = join(directory, target.file);
  try {
    const { inputs, preload } = await bundle(target, draft, plugins);
    // Written at once: a file that the bundler has written in pieces is slower to map.
    const finished = `${draft}.finished`;
    await writeFile(finished, await finish(await readFile(draft), target, preload), { mode: 0o755 });
    await rename(finished, outfile);
    return { inputs };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Bundle extends Compiled {
  /** The URL that the engine gets. */
  readonly preload: string;
}

async function bundle(target: BuildTarget, outfile: string, plugins: readonly BunPlugin[]): Promise<Bundle> {
  const constants = constantsOf(target);
  const scripts = await embedScripts(plugins);
  const late = await bundleScript("src/runtime/preload/deferred-preload.ts", target, [], constants);
  const preload = await bundleScript("src/runtime/preload/preload.ts", target, [], constants);
  const options = await bundleScript("src/runtime/preload/option-effects.ts", target, [], constants);
  const pages = await bundlePages();
  const preloadUrl = asUrl(preloadSource(preload.script, late.script));
  const attachment = await bundleScript("src/debugger/bootstrap.ts", target, [], constants);
  const thread = await bundleScript("src/debugger/debugger-thread.ts", target, [], constants);
  const output = await Bun.build({
    entrypoints: [MAIN],
    target: "bun",
    format: "esm",
    splitting: true,
    bytecode: true,
    minify: true,
    metafile: true,
    define: constants,
    plugins: [
      ...plugins,
      onlyFor(target),
      nativePrograms,
      silentDebug,
      await compressedLibraries(target),
      pages.plugin,
      mainCopies,
      dbusOptional,
      await windowsRegistry(target, true),
      generatedModules(
        preloadUrl,
        asUrl(preloadSource(options.script, "")),
        {
          program: `${asDebugger(attachment.script, "prepare")}${preloadSource(preload.script, late.script)};own.exports.attach();\n`,
          thread: asDebugger(thread.script, "serveFromThread"),
        },
        scripts.packed,
      ),
      texts,
    ],
    compile: {
      target: target.engine as Bun.Build.CompileTarget,
      outfile,
      autoloadTsconfig: true,
      autoloadPackageJson: true,
      autoloadBunfig: false,
      execArgv: FILE_LOADERS.map((extension) => `--loader=${extension}:file`),
    },
  });
  const inputs = new Set([
    ...inputsOf(output),
    ...scripts.inputs,
    ...late.inputs,
    ...preload.inputs,
    ...options.inputs,
    ...pages.inputs,
    ...attachment.inputs,
    ...thread.inputs,
  ]);
  return { inputs, preload: preloadUrl };
}

if (import.meta.main) {
  const target = hostTarget();
  await compile(target, join(DIST, target.file));
  await Bun.write(join(DIST, "rt.1"), renderManual());
}
