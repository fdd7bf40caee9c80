// Starts the Windows binary of rt, under Wine on Linux and directly on Windows.
//
//   await using windows = await openWindows();      // with its own registry, credentials and users
//   await windows.run({ args: ["-p", "1"] })        // the result, as from runRt()
//   windows.start({ args, cwd })                    // a live process
//
// Non-obvious:
// - Wine's set-up takes ten seconds and is kept in .toolchain. Each test file copies what can change and links to the rest.
// - Wine 8 lacks bcryptprimitives.dll, the engine's random source. A library built here provides it, and also lets Wine return
//   the size of a pipe's content, like Windows.
// - Under Wine the engine prints wrong errors about directories, and cannot install packages.
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TARGETS } from "../../../build/targets.ts";
import { alignSections } from "./aligned-program.ts";
import { compileFor, compileOnce, buildOnce } from "./compiled.ts";
import { resultOf } from "../output.ts";
import { REPOSITORY, type Environment, type RtOptions, type RtResult } from "../rt.ts";

export const isWine = process.platform !== "win32";

/** Wine runs only programs for its own processor. */
export const canRunWindows = !isWine || (process.platform === "linux" && process.arch === "x64");

const PROGRAM = "/usr/lib/wine/wine64";
// A Windows program needs fixed addresses. If the kernel has placed something else there, Wine exits with 1 silently.
const WINE = ["setarch", "x86_64", "--addr-no-randomize", PROGRAM];
const WINESERVER = "/usr/lib/wine/wineserver";

export interface WindowsOptions extends Omit<RtOptions, "stdin" | "program"> {
  stdin?: "pipe" | "ignore";
}

export interface Windows extends AsyncDisposable {
  start(options: WindowsOptions): Bun.Subprocess<"pipe", "pipe", "pipe">;
  /** @param options.input the standard input, empty by default */
  run(options: WindowsOptions & { input?: string | undefined }): Promise<RtResult>;
  /** The command line and environment of rt, for tests that start it in another way. */
  command(...args: string[]): string[];
  readonly environment: Record<string, string>;
  /** Returns the Windows path of a file of this machine. */
  path(file: string): string;
}

export async function openWindows(): Promise<Windows> {
  const [program, prefix] = await Promise.all(
    isWine ? [alignedRt(), copyTemplate()] : [windowsRt(), undefined],
  );
  const system = prefix ? wineEnvironment(prefix) : (process.env as Record<string, string>);
  const command = (...args: readonly string[]) => [...(isWine ? WINE : []), program, ...args];
  if (prefix) {
    await runQuietly([WINESERVER, "-p"], system);
    // The first program starts the system's services, which would keep its pipes open.
    await runQuietly([...WINE, "cmd.exe", "/c", "exit"], system);
  }

  function start({ args = [], cwd = tmpdir(), env = {}, stdin = "ignore" }: WindowsOptions) {
    const options = { cwd, env: { ...system, ...env }, stdout: "pipe", stderr: "pipe" } as const;
    return Bun.spawn(command(...args), { ...options, stdin }) as Bun.Subprocess<"pipe", "pipe", "pipe">;
  }

  /** Uses a shell's pipe for the input. The engine's `stdin` is a socket on Linux, which Wine does not support. */
  async function startWithInput(options: WindowsOptions, input: string) {
    if (!isWine) {
      const child = start({ ...options, stdin: "pipe" });
      void child.stdin.write(input);
      await child.stdin.end();
      return child;
    }
    const file = join(prefix!, `input-${crypto.randomUUID()}`);
    await writeFile(file, input);
    const { args = [], cwd = tmpdir(), env = {} } = options;
    const shell = ["sh", "-c", 'cat "$0" | "$@"', file, ...command(...args)];
    return Bun.spawn(shell, {
      cwd,
      env: { ...system, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  return {
    start,
    command,
    environment: system,
    async run({ input, ...options }) {
      const child = input === undefined ? start(options) : await startWithInput(options, input);
      const { stdout, stderr, status } = await resultOf(child);
      return { stdout: readable(stdout), stderr: readable(stderr), status };
    },
    path: (file) => (isWine ? `Z:${file.replaceAll("/", "\\")}` : file),
    async [Symbol.asyncDispose]() {
      if (!prefix) return;
      await runQuietly([WINESERVER, "-k"], system);
      await runQuietly([WINESERVER, "-w"], system);
      await rm(prefix, { recursive: true, force: true });
    },
  };
}

/**
 * Removes errors that the engine and Wine print only under Wine, and converts line ends. A Wine thread may write to its server
 * after the process has closed the connection.
 */
function readable(output: string): string {
  const lines = output.replaceAll("\r\n", "\n");
  if (!isWine) return lines;
  return lines.replace(/^(?:Internal error: directory mismatch for directory |wine client error:).*\n/gm, "");
}

function wineEnvironment(prefix: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: prefix,
    LANG: "C.UTF-8",
    WINEPREFIX: prefix,
    // The server creates a directory there.
    TMPDIR: prefix,
    WINEARCH: "win64",
    WINEDEBUG: "-all",
    // Sets up neither .NET nor a browser, and shows no window.
    WINEDLLOVERRIDES: "mscoree,mshtml,winemenubuilder.exe=",
    DISPLAY: "",
  };
}

/** Builds the binary like a release. */
export function windowsRt(): Promise<string> {
  return compileFor(TARGETS.find(({ name }) => name === "windows-x64")!);
}

async function alignedRt(): Promise<string> {
  const directory = await compileOnce("for-wine", async (draft) => {
    await mkdir(draft);
    await writeFile(join(draft, "rt.exe"), alignSections(await readFile(await windowsRt())));
  });
  return join(directory, "rt.exe");
}

/** With this variable pipes have no size, as in Wine itself. */
export const WITHOUT_PIPE_SIZES = { WITHOUT_PIPE_SIZES: "1" };

const MISSING = `#include <windows.h>
#include <winternl.h>
BOOLEAN WINAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
  return SystemFunction036(data, (ULONG)size);
}

#define NOT_IMPLEMENTED ((NTSTATUS)0xC0000002)
#define STANDARD_INFORMATION 5
static NTSTATUS(NTAPI *query)(HANDLE, IO_STATUS_BLOCK *, void *, ULONG, int);

static NTSTATUS NTAPI query_pipes_too(HANDLE file, IO_STATUS_BLOCK *io, void *to, ULONG size, int what) {
  NTSTATUS status = query(file, io, to, size, what);
  DWORD available;
  if (status != NOT_IMPLEMENTED || what != STANDARD_INFORMATION || size < 24) return status;
  if (!PeekNamedPipe(file, NULL, 0, NULL, &available, NULL)) return status;
  memset(to, 0, 24);
  ((LONGLONG *)to)[1] = available;
  ((DWORD *)to)[4] = 1;
  return 0;
}

/* In kernelbase.dll's table of what it calls of ntdll.dll. */
BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void *reserved) {
  if (reason != DLL_PROCESS_ATTACH || GetEnvironmentVariableA("WITHOUT_PIPE_SIZES", NULL, 0)) return TRUE;
  BYTE *base = (BYTE *)GetModuleHandleA("kernelbase.dll");
  IMAGE_NT_HEADERS *headers = (IMAGE_NT_HEADERS *)(base + ((IMAGE_DOS_HEADER *)base)->e_lfanew);
  DWORD imports = headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress;
  IMAGE_IMPORT_DESCRIPTOR *from = (IMAGE_IMPORT_DESCRIPTOR *)(base + imports);
  *(FARPROC *)&query = GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtQueryInformationFile");
  for (; from->Name; from++)
    for (void **at = (void **)(base + from->FirstThunk); *at; at++) {
      DWORD before;
      if (*at != (void *)query || !VirtualProtect(at, sizeof *at, PAGE_READWRITE, &before)) continue;
      *at = query_pipes_too;
      VirtualProtect(at, sizeof *at, before, &before);
    }
  return TRUE;
}
`;

/** The name depends on the library that is built into it. */
const TEMPLATE = join(REPOSITORY, `.toolchain/wine-prefix-${Bun.hash(MISSING).toString(36)}`);

/** The template is kept for later runs; only this search happens once in a run. */
async function findTemplate(draft: string): Promise<void> {
  if (!existsSync(TEMPLATE)) await makeTemplate();
  await symlink(TEMPLATE, draft);
}

async function makeTemplate(): Promise<void> {
  if (!existsSync(PROGRAM))
    throw new Error("The tests of the Windows binary need Wine: apt-get install wine64");
  await mkdir(join(TEMPLATE, ".."), { recursive: true });
  const draft = await mkdtemp(`${TEMPLATE}-`);
  const env = wineEnvironment(draft);
  await runQuietly([...WINE, "wineboot.exe", "--init"], env);
  await runQuietly([WINESERVER, "-w"], env);
  const source = join(draft, "bcryptprimitives.c");
  await writeFile(source, MISSING);
  const library = join(draft, "drive_c/windows/system32/bcryptprimitives.dll");
  const flags = ["-O1", "-s", "-shared", "-nostartfiles", "-Wl,--entry=DllMain"];
  await runQuietly(["x86_64-w64-mingw32-gcc", ...flags, "-o", library, source, "-ladvapi32"], env);
  await rename(draft, TEMPLATE);
}

async function copyTemplate(): Promise<string> {
  await buildOnce(join(tmpdir(), "rt-test-wine-prefix"), findTemplate);
  const prefix = await mkdtemp(join(tmpdir(), "rt-wine-"));
  for (const name of ["system.reg", "user.reg", "userdef.reg", ".update-timestamp"])
    await copyFile(join(TEMPLATE, name), join(prefix, name));
  await mkdir(join(prefix, "dosdevices"));
  await mkdir(join(prefix, "drive_c"));
  await symlink("../drive_c", join(prefix, "dosdevices/c:"));
  await symlink("/", join(prefix, "dosdevices/z:"));
  await cp(join(TEMPLATE, "drive_c/users"), join(prefix, "drive_c/users"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  for (const name of ["windows", "ProgramData", "Program Files"])
    await symlink(join(TEMPLATE, "drive_c", name), join(prefix, "drive_c", name));
  return prefix;
}

/** Runs without pipes, which background processes would keep open. */
async function runQuietly(command: readonly string[], env: Environment): Promise<void> {
  const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  await child.exited;
  const isServer = command[0] === WINESERVER; // it fails when it has nothing to do
  if (child.exitCode !== 0 && !isServer)
    throw new Error(`${command.join(" ")} failed with ${child.exitCode}`);
}
