// Compiles the C sources of platform/native/linux to programs.ts there, and the front to front/machine-code.ts:
//
//   node build/setup.mjs build/native-codegen.ts && npm run fmt
//
// The result is committed, because most machines lack compilers for both processors. A test compares the hash of the sources, and
// compiles again if the compiler is the same version.
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasProgram } from "./system-programs.ts";

const ROOM = join(import.meta.dir, "../platform/native/linux");
const SOURCES = [
  ...["syscalls.h", "start.h", "registration.c", "tracee-launcher.c", "job-monitor.c"],
  ...[
    ...["tracee-memory.h", "syscall-handlers.h", "file-contents.h", "journal.h", "arena.h", "recorder.c"],
    ...["path-table.h", "interposer-log.h", "preload-injection.h", "path-resolution.h"],
  ].map((name) => `recorder/${name}`),
  ...["interposer/call-log.h", "interposer/interposer.c"],
  ...["tables.h", "text.h", "json.h", "surroundings.h", "plan.h", "front.c", "front.ld"].map(
    (name) => `front/${name}`,
  ),
];
export const PROGRAMS = ["registration", "launcher", "monitor", "recorder"] as const;

export const COMPILERS = { x64: "x86_64-linux-gnu-gcc", arm64: "aarch64-linux-gnu-gcc" } as const;
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
const PROGRAM = [...COMMON, "-fno-pic", "-fno-pie", "-static", "-no-pie", "-Wl,-n"];
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
/** Code for any address, which build/elf-compaction.ts appends to rt's file. */
const FRONT = [...COMMON, "-fPIC", "-fvisibility=hidden", "-static", "-Wl,-T,front/front.ld"];
/** Otherwise code is addressed by pages, which the front does not begin at. */
const FRONT_MODEL = { x64: [], arm64: ["-mcmodel=tiny"] } as const;
type NativeProgram = (typeof PROGRAMS)[number] | "interposer" | "front";
export const FLAGS: Readonly<Record<NativeProgram, readonly string[]>> = {
  registration: PROGRAM,
  launcher: PROGRAM,
  monitor: PROGRAM,
  recorder: LIBRARY,
  interposer: [...LIBRARY, "-ftls-model=initial-exec"],
  front: FRONT,
};
const FILES: Readonly<Record<NativeProgram, string>> = {
  registration: "registration.c",
  launcher: "tracee-launcher.c",
  monitor: "job-monitor.c",
  recorder: "recorder/recorder.c",
  interposer: "interposer/interposer.c",
  front: "front/front.c",
};

/** Returns the hash of all C sources. */
export async function hashSources(): Promise<string> {
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
  name: NativeProgram,
  architecture: NativeArchitecture,
  to: string,
  more: readonly string[] = [],
): void {
  const words = [COMPILERS[architecture], ...FLAGS[name], ...more, "-o", to, FILES[name]];
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: ROOM });
  if (exitCode !== 0)
    throw new Error(`${name}.c cannot be compiled for ${architecture}\n${stderr.toString()}`);
}

/** Returns a program, deflated, as base64. @throws Error with the compiler's output */
export async function compileProgram(
  name: (typeof PROGRAMS)[number],
  architecture: NativeArchitecture,
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "rt-native-"));
  try {
    const made = join(directory, name);
    // The recorder embeds the interposer.
    if (name === "recorder") compile("interposer", architecture, join(directory, "interposer.so"));
    compile(name, architecture, made, [`-Wa,-I,${directory}`]);
    return Buffer.from(Bun.deflateSync(await readFile(made))).toString("base64");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Returns the front's code as base64. @throws Error with the compiler's output */
export async function compileFront(architecture: NativeArchitecture): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "rt-native-"));
  try {
    const [linked, code] = [join(directory, "front"), join(directory, "code")];
    compile("front", architecture, linked, FRONT_MODEL[architecture]);
    const extract = COMPILERS[architecture].replace(/gcc$/, "objcopy");
    const { exitCode } = Bun.spawnSync([extract, "-O", "binary", linked, code]);
    if (exitCode !== 0) throw new Error(`${extract} cannot extract the front's code`);
    return (await readFile(code)).toString("base64");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const compilers = Object.fromEntries(ARCHITECTURES.map((each) => [each, versionOf(each) ?? ""]));
  const made = { sources: await hashSources(), flags: FLAGS, compilers };
  const lines = [
    "// Made by build/native-codegen.ts of the C beside it: programs and a library for Linux, deflated, as base64.",
    `export const MADE = ${JSON.stringify(made)};`,
  ];
  for (const each of ARCHITECTURES) {
    const programs = PROGRAMS.map(async (name) => [name, await compileProgram(name, each)] as const);
    const contents = Object.fromEntries(await Promise.all(programs));
    lines.push(`export const ${each.toUpperCase()} = ${JSON.stringify(contents)};`);
  }
  await writeFile(join(ROOM, "programs.ts"), `${lines.join("\n\n")}\n`);
  const code = ARCHITECTURES.map(async (each) => [each, await compileFront(each)] as const);
  const front = [
    "// Made by build/native-codegen.ts of the C beside it: the front's code, as base64. Only the build reads it.",
    `export const FRONT = ${JSON.stringify(Object.fromEntries(await Promise.all(code)))};`,
  ];
  await writeFile(join(ROOM, "front/machine-code.ts"), `${front.join("\n\n")}\n`);
}
