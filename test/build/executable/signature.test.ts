// Tests ad-hoc signatures for macOS with an independent verifier. The toolchain's own output and changed bytes prove
// that the verifier finds errors.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter } from "node:path";
import { signAdHoc } from "../../../build/macos/signature.ts";
import { PRODUCT } from "../../../build/product.ts";
import { createProject, type Project } from "../../support/project.ts";
import { verifySignature } from "./code-signature.ts";
import { readEmbeddedProgram } from "./program-section.ts";

let project: Project;
/** The toolchain's output by architecture. */
const raw: Record<string, Buffer> = {};

beforeAll(async () => {
  project = await createProject({ "main.ts": 'console.log("here")' });
  for (const arch of ["x64", "arm64"]) {
    const outfile = project.join(arch);
    await Bun.build({
      entrypoints: [project.join("main.ts")],
      compile: { target: `bun-darwin-${arch}` as Bun.Build.CompileTarget, outfile },
    });
    raw[arch] = await readFile(outfile);
  }
});

afterAll(async () => await project[Symbol.asyncDispose]());

test("the toolchain's own signature for x64 is invalid, so the build needs a signer", () => {
  expect(verifySignature(raw.x64!).problems).toEqual(
    expect.arrayContaining([expect.stringMatching(/^\d+ pages have another hash$/)]),
  );
  expect(verifySignature(raw.arm64!).problems).toEqual(["it does not say what it is known by"]);
});

for (const arch of ["x64", "arm64"]) {
  describe(`a program signed for ${arch}`, () => {
    let signed: Buffer;
    beforeAll(() => {
      signed = Buffer.from(signAdHoc(raw[arch]!, "com.example.tool"));
    });

    test("contains a valid hash of every page, and its name", () => {
      expect(verifySignature(signed)).toEqual({
        problems: [],
        identifier: "com.example.tool",
        requirement: 'designated => identifier "com.example.tool"',
        isAdHoc: true,
        pages: Math.ceil(
          signed.readUInt32LE(signatureCommand(signed) + 8) / (arch === "x64" ? 0x1000 : 0x4000),
        ),
      });
    });

    test("stays the same when it is signed again", () => {
      expect(Buffer.from(signAdHoc(signed, "com.example.tool")).equals(signed)).toBe(true);
    });

    test("keeps the code before the signature, except for sizes in its commands", () => {
      const end = signed.readUInt32LE(signatureCommand(signed) + 8);
      const commands = 32 + signed.readUInt32LE(20);
      expect(signed.subarray(commands, end).equals(raw[arch]!.subarray(commands, end))).toBe(true);
      expect(readEmbeddedProgram(signed, "darwin").modules[0]!.source).toContain("here");
    });

    test("fails verification after any changed byte", () => {
      const signature = signed.readUInt32LE(signatureCommand(signed) + 8);
      const requirement = signed.indexOf(Buffer.from("fade0c01", "hex"), signature);
      const cases: ReadonlyArray<readonly [at: number, problem: RegExp]> = [
        [40, /^1 pages have another hash$/],
        [signed.length >> 1, /^1 pages have another hash$/],
        [signature - 1, /^1 pages have another hash$/],
        [signature + 5, /^the super blob is not as long as the signature$/],
        [signature + 8 + 28 + 35, /^not all code in front of the signature is signed$/],
        [requirement + 45, /^special slot -2 is wrong$/],
      ];
      for (const [at, problem] of cases) {
        signed[at]! ^= 1;
        const { problems } = verifySignature(signed);
        signed[at]! ^= 1;
        expect({ at, problems }).toEqual({
          at,
          problems: expect.arrayContaining([expect.stringMatching(problem)]),
        });
      }
      const longer = Buffer.concat([signed, Buffer.alloc(16)]);
      expect(verifySignature(longer).problems).toEqual([
        "the signature does not end with the file",
        "__LINKEDIT does not end with the file",
      ]);
    });
  });
}

function signatureCommand(file: Buffer): number {
  let at = 32;
  while (file.readUInt32LE(at) !== 0x1d) at += file.readUInt32LE(at + 4);
  return at;
}

test("signAdHoc() rejects a file that is not a program for macOS", () => {
  expect(() => signAdHoc(Buffer.from("#!/bin/sh\n".repeat(20)), "x")).toThrow(
    "This is no 64-bit Mach-O program",
  );
  const other = Buffer.alloc(4096);
  other.writeUInt32LE(0xfeedfacf);
  expect(() => signAdHoc(other, "x")).toThrow("has a place for a signature");
});

describe("signing with an identity", () => {
  const SIGN = `const { signWithIdentity } = await import(process.argv[1]);
const files = await signWithIdentity(process.argv[2], "Developer ID Application: Somebody (TEAM)", process.argv[3]);
console.log(JSON.stringify(files.map(({ path, isExecutable }) => [path, isExecutable])));`;

  async function run(path: string) {
    const args = [
      SIGN,
      `${import.meta.dir}/../../../build/macos/sign.ts`,
      project.join("arm64"),
      project.path,
    ];
    const child = Bun.spawn([process.execPath, "-e", ...args], {
      env: { ...process.env, PATH: path },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { stdout, stderr, status: await child.exited };
  }

  test.skipIf(process.platform === "darwin")("fails without codesign", async () => {
    const { stderr, status } = await run(process.env.PATH!);
    expect({ stderr, status }).toEqual({
      stderr: expect.stringContaining("needs codesign, which is on a Mac alone"),
      status: 1,
    });
  });

  // codesign exists only on a Mac. This replacement records its arguments. The library omits the hardened runtime on
  // other kernels.
  test.skipIf(process.platform === "darwin")(
    "calls codesign with the entitlements and the name, for the command and the app",
    async () => {
      await mkdir(project.join("tools"));
      const log = project.join("asked");
      const identity =
        '  1) 0123456789ABCDEF0123456789ABCDEF01234567 "Developer ID Application: Somebody (TEAM)"';
      await writeFile(project.join("tools/security"), `#!/bin/sh\necho '${identity}'\n`, { mode: 0o755 });
      await writeFile(project.join("tools/codesign"), `#!/bin/sh\necho "$@" >> ${log}\n`, { mode: 0o755 });
      const { stdout, stderr, status } = await run(`${project.join("tools")}${delimiter}${process.env.PATH}`);
      expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
      expect(JSON.parse(stdout).toSorted()).toEqual([
        ["rt.app/Contents/Info.plist", false],
        ["rt.app/Contents/MacOS/rt", true],
      ]);
      const calls = (await readFile(log, "utf8")).trim().split("\n");
      const signed = calls.filter((line) => line.startsWith("--sign"));
      expect(signed.length).toBe(3);
      for (const line of signed)
        expect(line).toMatch(
          new RegExp(
            `^--sign 0123\\w+ --force .*--timestamp (?:--options runtime )?--identifier ${PRODUCT.identifier} --entitlements \\S+entitlements.plist \\S+$`,
          ),
        );
      const paths = signed.map((line) => line.split(" ").at(-1)!);
      expect(paths.map((path) => path.replace(/^.*\.sign-\w+\//, ""))).toEqual(
        expect.arrayContaining([project.join("arm64"), "rt.app/Contents/MacOS/rt", "rt.app"]),
      );
      expect(calls.some((line) => line.startsWith("--verify --deep"))).toBe(true);
    },
  );

  test("uses the entitlements of an engine with a JIT under the hardened runtime", async () => {
    const plist = await readFile(`${import.meta.dir}/../../../build/macos/entitlements.plist`, "utf8");
    const keys = [...plist.matchAll(/<key>com\.apple\.security\.cs\.([\w-]+)<\/key>\s*<true\/>/g)].map(
      ([, key]) => key!,
    );
    expect(keys.toSorted()).toEqual([
      "allow-dyld-environment-variables",
      "allow-jit",
      "allow-unsigned-executable-memory",
      "disable-executable-page-protection",
      "disable-library-validation",
    ]);
  });
});
