// Provides the native addon of @vscode/windows-registry for the Windows binaries.
//
// Non-obvious:
// - The package contains C++ sources for the user's machine. For cross builds the addon is compiled here with MinGW; on Windows the
//   package's own build is used.
// - The addon is linked against NODE.EXE. A delay-load hook of the linker returns the running program instead.
// - Distributions have no MinGW for arm64; that binary has no addon, and its messages contain less.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BunPlugin } from "bun";
import { errorCode } from "../../platform/caught-error.ts";
import type { BuildTarget } from "../targets.ts";

const ROOT = join(import.meta.dir, "../..");
const PACKAGE = join(ROOT, "node_modules/@vscode/windows-registry");
const HEADERS = join(ROOT, "node_modules/node-api-headers");
const LOADER = join(ROOT, "platform/processes/windows/registry-addon.ts");
const BUILT = join(ROOT, ".toolchain/windows-registry");

/** The compiler's name, on every system. */
const COMPILER = "x86_64-w64-mingw32-g++";
const DLLTOOL = "x86_64-w64-mingw32-dlltool";

const HOOK = `#include <windows.h>
#include <delayimp.h>
static FARPROC WINAPI answer(unsigned event, PDelayLoadInfo) {
  return event == dliNotePreLoadLibrary ? (FARPROC)GetModuleHandleW(NULL) : NULL;
}
PfnDliHook __pfnDliNotifyHook2 = answer;
`;

/** Embeds the addon. A compressed script cannot contain files, so there the addon is absent. */
export async function windowsRegistry(
  target: Pick<BuildTarget, "os" | "arch">,
  canEmbed: boolean,
): Promise<BunPlugin> {
  const addon = canEmbed && target.os === "windows" && target.arch === "x64" ? await findAddon() : undefined;
  return {
    name: "rt-windows-registry",
    setup(build) {
      build.onResolve({ filter: /[\\/]winregistry\.node$/ }, () =>
        addon === undefined ? { path: "winregistry", namespace: "no-addon" } : { path: LOADER },
      );
      build.onResolve({ filter: /^rt:registry-addon$/ }, () => ({ path: addon! }));
      // Otherwise the bundler would load it by its extension.
      build.onLoad({ filter: /[\\/]winregistry\.node$/ }, async ({ path }) => ({
        contents: await readFile(path),
        loader: "file",
      }));
      build.onLoad({ filter: /.*/, namespace: "no-addon" }, () => ({
        contents: "throw new Error('The registry cannot be read here')",
        loader: "js",
      }));
    },
  };
}

async function findAddon(): Promise<string> {
  const own = join(PACKAGE, "build/Release/winregistry.node");
  if (existsSync(own)) return own;
  const { version } = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8")) as {
    version: string;
  };
  const built = join(BUILT, version, "winregistry.node");
  if (!existsSync(built)) await buildAddon(built);
  return built;
}

async function buildAddon(file: string): Promise<void> {
  await mkdir(join(file, ".."), { recursive: true });
  const directory = await mkdtemp(join(BUILT, "build-"));
  try {
    const definitions = await Promise.all(
      ["js_native_api.def", "node_api.def"].map((name) => readFile(join(HEADERS, "def", name), "utf8")),
    );
    const names = definitions.flatMap((text) => text.split("\n").filter((line) => /^\w+$/.test(line.trim())));
    const exports = ["NAME NODE.EXE", "EXPORTS", ...names.filter((name) => name.trim() !== "EXPORTS")];
    await writeFile(join(directory, "node_api.def"), exports.join("\n"));
    await writeFile(join(directory, "hook.cc"), HOOK);
    run(directory, DLLTOOL, [
      "-d",
      "node_api.def",
      "--output-delaylib",
      "libnode_api.a",
      "-m",
      "i386:x86-64",
    ]);
    const flags = ["-shared", "-O2", "-s", "-static", "-Wl,--no-insert-timestamp"];
    const definition = "-DNODE_GYP_MODULE_NAME=winregistry";
    const sources = [join(PACKAGE, "src/winregistry.cc"), "hook.cc"];
    const libraries = ["-L.", "-lnode_api", "-ldelayimp"];
    const include = `-I${join(HEADERS, "include")}`;
    run(directory, COMPILER, [...flags, definition, include, ...sources, ...libraries, "-o", "out.node"]);
    await rename(join(directory, "out.node"), file);
  } finally {
    await rm(directory, { recursive: true });
  }
}

function run(directory: string, program: string, args: readonly string[]): void {
  // dlltool does not remove its temporary files.
  const env = { ...process.env, TMPDIR: directory };
  const { status, stderr, error } = spawnSync(program, args, { cwd: directory, env, encoding: "utf8" });
  if (status === 0) return;
  if (errorCode(error) === "ENOENT") {
    throw new Error(
      `The binary for Windows needs the C++ compiler of MinGW (${program}); on Debian or Ubuntu: apt-get install g++-mingw-w64-x86-64-win32`,
    );
  }
  throw new Error(`${program} failed: ${stderr || error?.message}`);
}
