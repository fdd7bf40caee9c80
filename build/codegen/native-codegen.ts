// Compiles the C sources of platform/native/linux to the files in compiled/ there:
//
//   node build/setup.mjs build/codegen/native-codegen.ts
//
// The result is committed, because most machines lack compilers for both processors. hashes.json has the hashes of the sources, the
// flags and the result. A test compares them, and compiles again if the compiler is the same version.
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasProgram } from "../system-programs.ts";

const ROOM = join(import.meta.dir, "../../platform/native/linux");
export const COMPILED = join(ROOM, "compiled");
const SOURCES = [...new Bun.Glob("**/*.{c,h,ld}").scanSync(ROOM)].toSorted();
/** The compiled files. build/executable/elf-compaction.ts appends the front to rt's file; rt contains the others. */
export const STORED = ["registration", "launcher", "sandbox", "monitor", "recorder", "front"] as const;
export type StoredProgram = (typeof STORED)[number];

const COMPILERS = { x64: "x86_64-linux-gnu-gcc", arm64: "aarch64-linux-gnu-gcc" } as const;
export type NativeArchitecture = keyof typeof COMPILERS;
const ARCHITECTURES = Object.keys(COMPILERS) as NativeArchitecture[];

/** Reproducible flags: two compilations have the same bytes. */
const COMMON = [
  ...[
    "-std=gnu11",
    "-Os",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-ffreestanding",
    "-fno-stack-protector",
  ],
  ...["-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fno-ident", "-nostdlib", "-s"],
  ...["-Wl,--build-id=none", "-Wl,-z,noseparate-code"],
];
/** A static program at a fixed address. */
const STATIC = [...COMMON, "-fno-pic", "-fno-pie", "-static", "-no-pie"];
/** The same without variables. Its code and constants are one segment. */
const PROGRAM = [...STATIC, "-Wl,-n"];
/** A library that imports a few functions from the C library of its process. */
const LIBRARY = [
  ...COMMON,
  "-fPIC",
  "-shared",
  "-fvisibility=hidden",
  "-Wl,-z,now",
  "-Wl,--hash-style=gnu",
  "-Wl,-z,norelro",
];
/** Code for any address, which build/executable/elf-compaction.ts appends to rt's file. */
const FRONT = [...COMMON, "-fPIC", "-fvisibility=hidden", "-static", "-Wl,-T,front/front.ld"];
/** Otherwise code is addressed by pages, which the front does not begin at. */
const FRONT_MODEL = { x64: [], arm64: ["-mcmodel=tiny"] } as const;
/** The functions of outlined atomic operations are in libgcc, which no program is linked with. */
const ARCHITECTURE_FLAGS = { x64: [], arm64: ["-mno-outline-atomics"] } as const;
const FLAGS: Readonly<Record<StoredProgram, readonly string[]>> = {
  registration: PROGRAM,
  launcher: PROGRAM,
  sandbox: STATIC,
  monitor: PROGRAM,
  recorder: LIBRARY,
  front: FRONT,
};
const FILES: Readonly<Record<StoredProgram, string>> = {
  registration: "registration.c",
  launcher: "tracee-launcher.c",
  sandbox: "sandbox/launcher.c",
  monitor: "job-monitor.c",
  recorder: "recorder/recorder.c",
  front: "front/front.c",
};

export interface CompiledHashes {
  readonly sources: string;
  readonly flags: string;
  /** Versions of compiler and linker. */
  readonly compilers: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

async function hashSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of SOURCES) hash.update(`${name}\n${await readFile(join(ROOM, name), "utf8")}\n`);
  return hash.digest("hex");
}

/** Returns the versions of compiler and linker; undefined if they are not installed. */
export function versionOf(architecture: NativeArchitecture): string | undefined {
  const compiler = COMPILERS[architecture];
  if (!hasProgram(compiler)) return undefined;
  const runCompiler = (...words: string[]) =>
    Bun.spawnSync(words, { env: { ...process.env, LC_ALL: "C" } }).stdout.toString();
  const linker = runCompiler(compiler, "-print-prog-name=ld").trim();
  return [runCompiler(compiler, "--version"), runCompiler(linker, "--version")]
    .map((text) => text.split("\n")[0])
    .join(", ");
}

function compile(
  name: StoredProgram,
  architecture: NativeArchitecture,
  to: string,
  more: readonly string[] = [],
): void {
  const words = [
    COMPILERS[architecture],
    ...FLAGS[name],
    ...ARCHITECTURE_FLAGS[architecture],
    ...more,
    "-o",
    to,
    FILES[name],
  ];
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: ROOM });
  if (exitCode !== 0)
    throw new Error(`${name}.c cannot be compiled for ${architecture}\n${stderr.toString()}`);
}

/** Returns the bytes of a program, of a library, or of the front's code. @throws Error with the compiler's output */
export async function compileNative(
  name: StoredProgram,
  architecture: NativeArchitecture,
): Promise<Uint8Array> {
  const directory = await mkdtemp(join(tmpdir(), "rt-native-"));
  try {
    const linked = join(directory, name);
    compile(name, architecture, linked, name === "front" ? FRONT_MODEL[architecture] : []);
    return await readFile(name === "front" ? extractCode(linked, architecture) : linked);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Writes the code of a linked file into another file, without the headers. */
function extractCode(linked: string, architecture: NativeArchitecture): string {
  const code = `${linked}.code`;
  const extract = COMPILERS[architecture].replace(/gcc$/, "objcopy");
  const { exitCode } = Bun.spawnSync([extract, "-O", "binary", linked, code]);
  if (exitCode !== 0) throw new Error(`${extract} cannot extract the front's code`);
  return code;
}

/** Path of a compiled file, relative to platform/native/linux/compiled. */
export function compiledName(name: StoredProgram, architecture: NativeArchitecture): string {
  return `${architecture}/${name}.bin`;
}

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** The content of hashes.json, for the compiled files that are there. */
export async function hashCompiled(compilers: Readonly<Record<string, string>>): Promise<CompiledHashes> {
  const files = ARCHITECTURES.flatMap((each) => STORED.map((name) => compiledName(name, each)));
  const hashes = files.map(async (file) => [file, sha256(await readFile(join(COMPILED, file)))] as const);
  return {
    sources: await hashSources(),
    flags: sha256(JSON.stringify([FLAGS, ARCHITECTURE_FLAGS])),
    compilers,
    files: Object.fromEntries(await Promise.all(hashes)),
  };
}

if (import.meta.main) {
  for (const architecture of ARCHITECTURES)
    for (const name of STORED)
      await Bun.write(
        join(COMPILED, compiledName(name, architecture)),
        await compileNative(name, architecture),
      );
  const compilers = Object.fromEntries(ARCHITECTURES.map((each) => [each, versionOf(each) ?? ""]));
  await writeFile(
    join(COMPILED, "hashes.json"),
    `${JSON.stringify(await hashCompiled(compilers), null, 2)}\n`,
  );
}
