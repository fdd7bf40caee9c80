// Tries random calls on the listener of permissions (platform/native/linux/recorder/connect-guard.h). `npm run test:fuzz` tries the most.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createProject } from "../support/project.ts";
import { createRandom } from "../support/random.ts";

const SOURCE = join(import.meta.dir, "guard-program.c");
/** RT_FUZZ=100000, as before a release, makes it 10 million calls. */
const RUNS = 100 * Number(process.env.RT_FUZZ ?? 0);
/** Milliseconds. */
const LIMIT = 1_800_000;

/** Ports of a server, of DNS, and of DNS over TLS, in the order of the network. */
const PORTS = [80, 53, 853].map((port) => [port >> 8, port & 0xff]);

/** Loopback, beyond it, and a path, each in an address. */
const ADDRESSES = [
  ...PORTS.map((port) => [2, 0, ...port, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
  ...PORTS.map((port) => [10, 0, ...port, 0, 0, 0, 0, ...Array<number>(15).fill(0), 1, 0, 0, 0, 0]),
  [2, 0, 0, 80, 192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0],
  [2, 0, 0, 80, 192, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0],
  [2, 0, 0, 53, 192, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0],
  ...PORTS.map((port) => [2, 0, ...port, 192, 0, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0]),
  [10, 0, 0, 80, 0, 0, 0, 0, ...[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1], 0, 0, 0, 0],
  [1, 0, ...Buffer.from("/project/own.sock\0")],
  [1, 0, 0, ...Buffer.from("abstract")],
  [1, 0, 0, ...Buffer.from("a\0\n77 resolver x\x005\0\n")],
];
const PATHS = ["file\0", "/proc/self/fd/3\0", "/project/own.sock\0", "\0"].map((path) => [
  ...Buffer.from(path),
]);

/** The layout of `decide`: network, threads and launcher, process, call, memory, and arguments with their kind. */
function listSeeds(): Uint8Array[] {
  const at = [0, 0];
  const small = (value: number) => [128, value];
  const seeds: number[][] = [];
  for (const [network, kind] of [0, 1, 2, 3].flatMap((each) => [0, 128].map((kind) => [each, kind] as const)))
    for (const address of ADDRESSES)
      seeds.push([
        network,
        kind,
        0,
        0,
        address.length,
        ...address,
        ...small(5),
        ...at,
        ...small(address.length),
      ]);
  for (const call of [2, 3, 4, 5])
    for (const path of PATHS)
      seeds.push([1, 0, 0, call, path.length, ...path, ...small(5), ...at, ...small(0o44), ...small(0)]);
  // The rest are the answers of the simulated kernel: descriptors of each place, and success.
  const answered = seeds.flatMap((seed) =>
    [22, 5, 6, 7, 8, 9, 11, 12, 13, 15].map((answer) =>
      Uint8Array.from([...seed, ...Array<number>(20).fill(answer)]),
    ),
  );
  return [...answered, ...listReplacements(), LONG_FLAGS];
}

/** A connection to a resolver. The flags of the descriptor have too many digits. */
const LONG_FLAGS = Uint8Array.from([
  ...[3, 0, 0, 0, 16, 2, 0, 0, 53, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
  ...[128, 5, 0, 0, 128, 16, 0, 0, 0, 0, 0],
  ...[0, 0, 22, 32, ...Buffer.from(`\nflags:\t${"7".repeat(24)}`)],
]);

/** A connection to this host, of a socket that the guard cannot copy and replaces. The last answer is that of the replacement. */
function listReplacements(): Uint8Array[] {
  const address = [2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
  const call = [1, 0, 0, 0, address.length, ...address, 128, 5, 0, 0, 128, address.length, 128, 0, 22];
  const [memory, isWaiting, descriptor, isForbidden, flags, isTcp] = [5, 0, 22, 0, 7, 0];
  const copy = [memory, isWaiting, descriptor, isWaiting, isForbidden];
  const socket = [descriptor, flags, isTcp, descriptor];
  const [isNonblocking, isConnected, areFlagsSet] = [1, 0, 0];
  return [0, 1].map((answer) =>
    Uint8Array.from([...call, ...copy, ...socket, isNonblocking, isConnected, areFlagsSet, answer]),
  );
}

function compileProgram(command: readonly string[]): void {
  const flags = ["-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"];
  expect(Bun.spawnSync([...command, ...flags, SOURCE]).stderr.toString()).toBe("");
}

const NUMBERS = [0, 1, 2, 3, 5, 127, 128, 192, 255];

test.skipIf(process.platform !== "linux")(
  "the listener makes permitted calls only, and answers each call once, for changed calls",
  async () => {
    await using project = await createProject();
    const program = project.join("guard");
    compileProgram(["cc", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", program]);
    const random = createRandom(1);
    const seeds = listSeeds();
    const changed = Array.from({ length: 5000 }, () => {
      const input = random.pick(seeds).slice();
      for (let each = random.below(5); each >= 0; each -= 1)
        input[random.below(input.length)] = random.pick([...NUMBERS, random.below(256)]);
      return input;
    });
    const inputs = [...seeds, ...changed].flatMap((input) => [
      new Uint8Array(Uint32Array.of(input.length).buffer),
      input,
    ]);
    const { exitCode, stderr } = Bun.spawnSync([program], { stdin: Buffer.concat(inputs) });
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  },
);

// It needs clang, which only `npm run test:fuzz` installs.
if (RUNS > 0 && process.platform === "linux")
  test(
    "libFuzzer finds no call of the listener that is not permitted, and no access outside of a buffer",
    async () => {
      const files = Object.fromEntries(listSeeds().map((seed, index) => [`corpus/${index}`, seed]));
      await using project = await createProject(files);
      const program = project.join("fuzzer");
      const flags = ["-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"];
      compileProgram(["clang", "-DFUZZER", ...flags, "-o", program]);
      const { exitCode, stderr } = Bun.spawnSync(
        [program, `-runs=${RUNS}`, "-max_len=600", `-seed=${process.env.RT_FUZZ_SEED ?? 1}`, "corpus"],
        { cwd: project.path },
      );
      const end = stderr.toString().trimEnd().split("\n").at(-1);
      expect({ exitCode, end }).toEqual({ exitCode: 0, end: expect.stringContaining(`Done ${RUNS} runs`) });
    },
    LIMIT,
  );
