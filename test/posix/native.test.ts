// Checks that rt's native programs match their sources and work alone. test/cache/entry and test/runner test their use.
import { describe, expect, test } from "bun:test";
import { chmod, copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasProgram } from "../../build/system-programs.ts";
import {
  COMPILED,
  compiledName,
  type CompiledHashes,
  compileNative,
  hashCompiled,
  type NativeArchitecture,
  STORED,
  type StoredProgram,
  versionOf,
} from "../../build/codegen/native-codegen.ts";
import hashes from "../../platform/native/linux/compiled/hashes.json";
import { openSocketPair, receiveDescriptor, writeBytes } from "../../platform/tracing/linux/fd-passing.ts";
import { closeDescriptor, openPipe, readAvailable } from "../../platform/native/posix/pipe.ts";
import { createProject, type Project } from "../support/project.ts";

const RECORDED: CompiledHashes = hashes;
const IS_LINUX = process.platform === "linux";
const CAN_EMULATE = IS_LINUX && process.arch === "x64" && hasProgram("qemu-aarch64");
const ARCHITECTURES: readonly NativeArchitecture[] = ["x64", "arm64"];

test("the compiled files match the C sources (otherwise run build/codegen/native-codegen.ts)", async () => {
  expect(RECORDED).toEqual(await hashCompiled(RECORDED.compilers));
});

for (const architecture of ARCHITECTURES) {
  const isSame = IS_LINUX && versionOf(architecture) === RECORDED.compilers[architecture];
  test.skipIf(!isSame)(
    `compiling the C sources again yields the same bytes for ${architecture}`,
    async () => {
      for (const name of STORED) {
        const compiled = Buffer.from(await compileNative(name, architecture));
        expect(compiled.equals(await readFile(compiledFile(name, architecture)))).toBe(true);
      }
    },
  );
}

function compiledFile(name: StoredProgram, architecture: NativeArchitecture): string {
  return join(COMPILED, compiledName(name, architecture));
}

/** Copies a native program and returns its command line, with an emulator for another processor. */
async function place(
  project: Project,
  name: StoredProgram,
  architecture: NativeArchitecture,
): Promise<string[]> {
  const file = project.join(name);
  await copyFile(compiledFile(name, architecture), file);
  await chmod(file, 0o755);
  return architecture === process.arch ? [file] : ["qemu-aarch64", file];
}

interface Launch {
  /** The launcher's byte, and whether it sent a listener. */
  readonly report: { byte: number; hasListener: boolean } | null;
  readonly code: number;
  readonly output: string;
}

/** @param answer whether to confirm the start; otherwise rt's end of the socket closes */
async function launch(
  project: Project,
  { words, filter, answer }: { words: readonly string[]; filter: Uint8Array; answer: boolean },
  architecture: NativeArchitecture = process.arch as NativeArchitecture,
): Promise<Launch> {
  const program = await place(project, "launcher", architecture);
  const [socket, peer] = openSocketPair();
  if (filter.length > 0) writeBytes(socket, filter);
  const child = Bun.spawn([...program, ...words], {
    cwd: project.path,
    env: { ONLY: "this" },
    stdio: ["ignore", "pipe", "pipe", peer],
  });
  closeDescriptor(peer);
  if (filter.length === 0) closeDescriptor(socket);
  const received = filter.length === 0 ? null : receiveDescriptor(socket);
  if (answer) writeBytes(socket, new Uint8Array(1));
  if (filter.length > 0) closeDescriptor(socket);
  const output = async (stream: ReadableStream) => await new Response(stream).text();
  const [written, result] = await Promise.all([output(child.stdout), output(child.stderr)]);
  if (received && received.descriptor >= 0) closeDescriptor(received.descriptor);
  return {
    report: received && { byte: received.byte, hasListener: received.descriptor >= 0 },
    code: await child.exited,
    output: written + result,
  };
}

/** Returns a filter of one instruction, which returns `value` for every call. */
const returning = (value: number) => new Uint8Array(Uint32Array.of(0x06, value).buffer);
const ALLOW = returning(0x7fff0000);
const MALFORMED = new Uint8Array(8).fill(0xff);
const [EINVAL, ENOSYS] = [22, 38];
const GRANTED = { byte: 0, hasListener: true };
const SHOW = 'echo "$0" "$@"; env; ls /proc/self/fd; grep Sig[BI] /proc/self/status';

describe.skipIf(!IS_LINUX)("the launcher", () => {
  test("the launcher becomes the program, which inherits only the filter", async () => {
    await using project = await createProject();
    const words = [
      "/bin/sh",
      "any name",
      "-c",
      `${SHOW}; grep -E 'NoNew|Seccomp:' /proc/self/status`,
      "a",
      "",
      "b c",
    ];
    const { report, code, output } = await launch(project, { words, filter: ALLOW, answer: true });
    expect({ report, code }).toEqual({ report: GRANTED, code: 0 });
    expect(output.split("\n").filter((line) => !/^(?:PWD|OLDPWD|SHLVL|_)=/.test(line))).toEqual([
      ...["a  b c", "ONLY=this", "0", "1", "2", "3"], // ls opened the last one
      ...["SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2", ""],
    ]);
  });

  test("the launcher starts no program when the kernel rejects the filter or rt has exited", async () => {
    await using project = await createProject();
    const words = ["/bin/sh", "sh", "-c", "echo started"];
    const nothing = { code: 126, output: "" };
    expect(await launch(project, { words, filter: MALFORMED, answer: true })).toEqual({
      report: { byte: EINVAL, hasListener: false },
      ...nothing,
    });
    expect(await launch(project, { words, filter: ALLOW, answer: false })).toEqual({
      report: GRANTED,
      ...nothing,
    });
    expect(await launch(project, { words, filter: new Uint8Array(), answer: false })).toEqual({
      report: null,
      ...nothing,
    });
    expect(Bun.spawnSync([project.join("launcher")]).exitCode).toBe(126);
  });

  test("the launcher reports a program that cannot start, with a shell's exit code", async () => {
    await using project = await createProject({ text: "echo", locked: "" });
    await chmod(project.join("text"), 0o755);
    const run = async (program: string) => {
      const words = [program, program];
      const { code, output } = await launch(project, { words, filter: ALLOW, answer: true });
      return { code, output };
    };
    const refusal = (shown: string, error: string) => `error: Cannot run "${shown}": ${error}\n`;
    expect(await run("absent\x1b[31mé\x7f")).toEqual({
      code: 127,
      output: refusal("absent?[31m???", "ENOENT"),
    });
    expect(await run("./locked")).toEqual({ code: 126, output: refusal("./locked", "EACCES") });
    expect(await run("./text")).toEqual({ code: 126, output: refusal("./text", "ENOEXEC") });
    expect(await run("./text/x")).toEqual({ code: 126, output: refusal("./text/x", "ENOTDIR") });
  });

  test.skipIf(!CAN_EMULATE)("the launcher refuses on emulated arm64, which has no such filter", async () => {
    await using project = await createProject();
    const words = ["/bin/sh", "sh", "-c", "echo started"];
    const { report, code, output } = await launch(project, { words, filter: ALLOW, answer: true }, "arm64");
    expect({ report, code, output }).toEqual({
      report: { byte: ENOSYS, hasListener: false },
      code: 126,
      output: "",
    });
  });
});

interface StartRequest {
  readonly program: string;
  readonly words: readonly string[];
  readonly directory?: string;
  readonly first?: readonly string[];
  readonly without?: readonly string[];
  readonly last?: readonly string[];
  /** Number of bytes at the end that are not sent. */
  readonly missing?: number;
}

/** Encodes `struct start_request` of job-monitor.c. */
function encodeStartRequest({
  program,
  words,
  directory = "",
  missing = 0,
  ...variables
}: StartRequest): Uint8Array {
  const { first = [], without = [], last = [] } = variables;
  const texts = [directory, program, ...words, ...first, ...without, ...last];
  const bytes = Buffer.from(texts.map((text) => `${text}\0`).join(""));
  const counts = Uint32Array.of(bytes.length, words.length, first.length, without.length, last.length);
  return Buffer.concat([new Uint8Array(counts.buffer), bytes.subarray(0, bytes.length - missing)]);
}

describe.skipIf(!IS_LINUX)("the job monitor", () => {
  for (const architecture of ARCHITECTURES)
    test.skipIf(architecture !== process.arch && !CAN_EMULATE)(
      `reports the started process and exits with its status on ${architecture}`,
      async () => {
        await using project = await createProject({ text: "echo", "inner/file": "" });
        await chmod(project.join("text"), 0o755);
        const command = await place(project, "monitor", architecture);
        const run = async (request: StartRequest | undefined) => {
          const [requests, reports] = [openPipe({ isPolled: false }), openPipe({ isPolled: false })];
          const child = Bun.spawn([...command, "4", "3"], {
            cwd: project.path,
            env: { ONLY: "this", GONE: "that", GO: "on" },
            stdio: ["ignore", "pipe", "ignore", reports.writer, requests.reader],
          });
          closeDescriptor(reports.writer);
          closeDescriptor(requests.reader);
          if (request) writeBytes(requests.writer, encodeStartRequest(request));
          closeDescriptor(requests.writer);
          const output = await new Response(child.stdout).text();
          await child.exited;
          const report = new Int32Array(readAvailable(reports.reader)!.slice().buffer);
          closeDescriptor(reports.reader);
          return { report: [...report], output, status: child.signalCode ?? child.exitCode };
        };
        const pid = expect.any(Number);
        const shell = (line: string, more: Partial<StartRequest> = {}): StartRequest => ({
          program: "/bin/sh",
          words: ["any name", "-c", line, "a", "b c"],
          ...more,
        });
        const result = await run(shell('echo "$0" "$@" $ONLY $$; exit 7'));
        expect(result).toEqual({ report: [pid], output: `a b c this ${result.report[0]}\n`, status: 7 });
        const changed = await run({
          program: "/usr/bin/env",
          words: ["env"],
          first: ["GONE=first", "FIRST=1"],
          without: ["GONE", "ON", "ABSENT"],
          last: ["LAST=2\n3", "ONLY=twice"],
        });
        // The emulator reverses the order.
        expect(changed.output).toMatch(
          /^GONE=first\nFIRST=1\n(ONLY=this\nGO=on|GO=on\nONLY=this)\nLAST=2\n3\nONLY=twice\n$/,
        );
        const elsewhere = await run(shell("pwd -P", { directory: project.join("inner") }));
        expect(elsewhere.output).toBe(`${project.join("inner")}\n`);
        for (const signal of ["SIGTERM", "SIGKILL", "SIGSEGV"] as const)
          expect(await run(shell(`kill -${signal.slice(3)} $$`))).toEqual({
            report: [pid],
            output: "",
            status: signal,
          });
        const [ENOENT, ENOEXEC, EACCES, ENOTDIR] = [2, 8, 13, 20];
        for (const [program, error] of [
          ["./absent", ENOENT],
          ["./text", ENOEXEC],
          [".", EACCES],
        ] as const)
          expect(await run({ program, words: [program] })).toEqual({
            report: [pid, error],
            output: "",
            status: 126,
          });
        expect(await run(shell("echo on", { directory: project.join("text") }))).toEqual({
          report: [pid, ENOTDIR],
          output: "",
          status: 126,
        });
        const nothing = { report: [pid], output: "", status: 126 };
        expect(await run(undefined)).toEqual(nothing);
        expect(await run(shell("echo on", { missing: 1 }))).toEqual(nothing);
      },
    );
});
