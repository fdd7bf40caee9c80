// Makes the binary: `bun build/compile.ts` leaves the host's at dist/rt, and its manual page at dist/rt.1.
//
// Five bundles go into it. Four are scripts for processes that are started as the engine: the preload, as a
// `data:` URL, what it carries as a text (see src/runtime/modules/deferred-modules.ts), the parts that it finds in the finished file (see
// src/runner/engine/preload.ts), and what speaks with debuggers. The fifth is everything else, split into chunks, so that a start
// reads only what it needs.
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { BunPlugin } from "bun";
import { renderManual } from "./docs/man-page.ts";
import type { System } from "../platform/processes/running-executable.ts";
import { packScripts, type EmbeddedSources } from "../src/runtime/modules/embedded-modules.ts";
import { PRELOAD_URL_START } from "../src/runtime/preload/preload-url.ts";
import { MAIN, ownCopies, sharedChunks } from "./chunks.ts";
import { compactElf } from "./elf-compaction.ts";
import { compress } from "./compress.ts";
import { enginePath } from "./engine.ts";
import { renameTools } from "./engine-message-patch.ts";
import { signAdHoc } from "./macos/signature.ts";
import { fromMain, PACKED, packedEntry, packedModules, type PackedScript } from "./compressed-modules.ts";
import { bundlePages } from "./bundled-pages.ts";
import { PRODUCT } from "./product.ts";
import { shortenCutOff } from "./console-depth-patch.ts";
import { type BuildTarget, hostTarget } from "./targets.ts";
import { texts } from "./embedded-texts.ts";
import { lateBuiltins } from "./lazy-builtins.ts";
import { setMetadata } from "./windows-metadata.ts";
import { silentDebug } from "./stubs/silent-debug.ts";
import { dbusOptional } from "./stubs/dbus-optional.ts";
import { windowsRegistry } from "./windows-registry.ts";

const ROOT = join(import.meta.dir, "..");
export const DIST = join(ROOT, "dist");

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

/** Leaves the other systems' modules out: what `platform/<subject>/*.ts` imports of them becomes an empty module. */
function onlyFor({ os }: Pick<BuildTarget, "os">): BunPlugin {
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

function constantsOf({ os, arch }: Pick<BuildTarget, "os" | "arch">): Record<string, string> {
  const platform = os === "windows" ? "win32" : os;
  return { "process.platform": JSON.stringify(platform), "process.arch": JSON.stringify(arch) };
}

export interface Compiled {
  /** The files that code was taken from, relative to the root. */
  readonly inputs: ReadonlySet<string>;
}

function inputsOf({ metafile }: Bun.BuildOutput): Set<string> {
  const used = Object.values(metafile!.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return new Set(used.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path));
}

/** A module and all it imports, as one function expression of (exports, require, module, __filename, __dirname). */
async function bundleScript(
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

/** A script that gets another one and the module that evaluates it. */
function named(script: string): string {
  // Not wrapped into another function, since what stands in a function is read once more when that is called.
  const renamed = script.replace("__filename, __dirname)", "lateScript, importMeta)");
  if (renamed === script || /\brequire\(/.test(script))
    throw new Error("The preload's script is not as expected");
  return renamed;
}

/** An evaluation has a name of its own: a stack trace would show the whole URL otherwise. */
function preloadSource(script: string, lateScript: string): string {
  const body = `${named(script)}\n//# sourceURL=rt:runtime`;
  const values = ["{}", "0", "{ exports: {} }", JSON.stringify(lateScript), "import.meta"];
  return `(0, eval)(${JSON.stringify(body)})(${values.join(", ")})`;
}

function asUrl(source: string): string {
  return PRELOAD_URL_START + Buffer.from(source).toString("base64");
}

/** The beginning of a module in the file system, or all of it: see src/runner/engine/debugger.ts. */
function asDebugger(script: string, first: string): string {
  return [
    "// @bun", // read as it is
    "const own = { exports: {} };",
    `(${script.trimEnd().replace(/;$/, "")})(own.exports, process.getBuiltinModule, own, "", "");`,
    `own.exports.${first}();`,
    "",
  ].join("\n");
}

/** By its content, as platform/files/private-file.ts names what it writes. */
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

/** What this program carries for processes that are no more than the engine: the same whatever it is built for. */
function embedScripts(plugins: readonly BunPlugin[]): Promise<EmbeddedScripts> {
  return plugins.length > 0 ? bundleScripts(plugins) : (unchanged ??= bundleScripts([]));
}

async function bundleScripts(plugins: readonly BunPlugin[]): Promise<EmbeddedScripts> {
  const parts: Partial<Record<System, string>> = {};
  const inputs: string[] = [];
  for (const [os, system] of SYSTEMS) {
    const define = { "process.platform": JSON.stringify(system) };
    // Of any processor: which one it is, is asked when it runs.
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

/** The modules that only exist here: "rt:preload" and "rt:parts" (see src/runner/engine/preload.ts). */
function generatedModules(
  preload: string,
  optionPreload: string,
  debuggerScripts: Readonly<Record<string, string>>,
  partsFile: string,
): BunPlugin {
  return {
    name: "rt-generated",
    setup(build) {
      build.onResolve({ filter: /^rt:parts$/ }, () => ({ path: partsFile }));
      // The path is from the root, since it gets into the chunk's name, and so into the program.
      // A copy for each that imports it, since a chunk of its own would cost each of them more than its size.
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

/** What the toolchain leaves undone for a system. */
async function finish(program: Uint8Array, target: BuildTarget): Promise<Uint8Array> {
  const { os } = target;
  renameTools(program, await readFile(enginePath(target)));
  shortenCutOff(program);
  if (os === "linux") return compactElf(program);
  return os === "darwin" ? signAdHoc(program, PRODUCT.identifier) : setMetadata(program);
}

/**
 * Two builds of one source are the same to the byte, wherever they are made. The names of modules, from the working
 * directory, and of the output get into the program; so these are always the same.
 *
 * @param plugins change what goes in, for tests that need another system's modules in a program that they can start
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
    const inputs = await bundle(target, draft, plugins);
    // Written in one go: a file that is written in pieces, as the toolchain does, is slower to map.
    const finished = `${draft}.finished`;
    await writeFile(finished, await finish(await readFile(draft), target), { mode: 0o755 });
    await rename(finished, outfile);
    return { inputs };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Writes the scripts of build/compressed-modules.ts, compressed. */
async function packCommands(
  target: BuildTarget,
  directory: string,
  plugins: readonly BunPlugin[],
): Promise<Compiled & { scripts: ReadonlyMap<string, PackedScript> }> {
  const pages = await bundlePages();
  const inputs: string[] = [...pages.inputs];
  const scripts = new Map<string, PackedScript>();
  for (const name of Object.keys(PACKED)) {
    const entry = join(directory, `${name}.ts`);
    await Bun.write(entry, packedEntry(name));
    const made = await bundleScript(
      relative(ROOT, entry),
      target,
      [...plugins, fromMain, silentDebug, pages.plugin],
      // A library that looks for its own files would not find them, and the path is another one in each build.
      { ...constantsOf(target), __dirname: '""' },
    );
    const file = join(directory, `rt-${name}.packed`);
    await Bun.write(file, compress(made.script));
    scripts.set(name, { file, script: made.script });
    inputs.push(...made.inputs);
  }
  return { scripts, inputs: new Set(inputs) };
}

/** @returns what code was taken from */
async function bundle(
  target: BuildTarget,
  outfile: string,
  plugins: readonly BunPlugin[],
): Promise<Set<string>> {
  const directory = dirname(outfile);
  const constants = constantsOf(target);
  const scripts = await embedScripts(plugins);
  const late = await bundleScript("src/runtime/preload/deferred-preload.ts", target, [], constants);
  const preload = await bundleScript("src/runtime/preload/preload.ts", target, [], constants);
  const options = await bundleScript("src/runtime/preload/option-effects.ts", target, [], constants);
  const packed = await packCommands(target, directory, plugins);
  const attachment = await bundleScript("src/debugger/bootstrap.ts", target, [], constants);
  const thread = await bundleScript("src/debugger/debugger-thread.ts", target, [], constants);
  const partsFile = join(directory, "rt.parts");
  await Bun.write(partsFile, scripts.packed);
  const output = await Bun.build({
    entrypoints: [MAIN],
    target: "bun",
    format: "esm",
    splitting: true,
    bytecode: true,
    minify: true,
    metafile: true,
    loader: { ".parts": "file", ".packed": "file" },
    define: constants,
    plugins: [
      ...plugins,
      onlyFor(target),
      packedModules(packed.scripts),
      sharedChunks(target),
      ownCopies,
      dbusOptional,
      await windowsRegistry(target, true),
      generatedModules(
        asUrl(preloadSource(preload.script, late.script)),
        asUrl(preloadSource(options.script, "")),
        {
          program: `${asDebugger(attachment.script, "prepare")}${preloadSource(preload.script, late.script)};own.exports.attach();\n`,
          thread: asDebugger(thread.script, "serveFromThread"),
        },
        partsFile,
      ),
      texts,
      lateBuiltins,
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
  return new Set([
    ...inputsOf(output),
    ...scripts.inputs,
    ...late.inputs,
    ...preload.inputs,
    ...options.inputs,
    ...packed.inputs,
    ...attachment.inputs,
    ...thread.inputs,
  ]);
}

if (import.meta.main) {
  const target = hostTarget();
  await compile(target, join(DIST, target.file));
  await Bun.write(join(DIST, "rt.1"), renderManual());
}
