// Signatures for macOS, made without a Mac and looked at by a verifier that knows nothing of how they are made. That it
// finds what is wrong is shown with what the toolchain leaves, and with single bytes that were changed.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter } from "node:path";
import { signAdHoc } from "../../build/macos/signature.ts";
import { PRODUCT } from "../../build/product.ts";
import { createProject, type Project } from "../support/project.ts";
import { verifySignature } from "./code-signature.ts";
import { readEmbeddedProgram } from "./program-section.ts";

let project: Project;
/** What the toolchain itself makes, by architecture. */
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

test("the toolchain's own program for x64 is not validly signed, which is why there is a signer", () => {
  expect(verifySignature(raw.x64!).problems).toEqual(
    expect.arrayContaining([expect.stringMatching(/^\d+ pages have another hash$/)]),
  );
  expect(verifySignature(raw.arm64!).problems).toEqual(["it does not say what it is known by"]);
});

for (const arch of ["x64", "arm64"]) {
  describe(`signed for ${arch}`, () => {
    let signed: Buffer;
    beforeAll(() => {
      signed = Buffer.from(signAdHoc(raw[arch]!, "com.example.tool"));
    });

    test("every page is right, and the program is known by its name", () => {
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

    test("it is the same when it is signed again", () => {
      expect(Buffer.from(signAdHoc(signed, "com.example.tool")).equals(signed)).toBe(true);
    });

    test("the code in front of the signature is untouched, but for the sizes in its commands", () => {
      const end = signed.readUInt32LE(signatureCommand(signed) + 8);
      const commands = 32 + signed.readUInt32LE(20);
      expect(signed.subarray(commands, end).equals(raw[arch]!.subarray(commands, end))).toBe(true);
      expect(readEmbeddedProgram(signed, "darwin").modules[0]!.source).toContain("here");
    });

    test("a changed byte is found, wherever it is", () => {
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

test("what is no program for macOS is not signed", () => {
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
    const args = [SIGN, `${import.meta.dir}/../../build/macos/sign.ts`, project.join("arm64"), project.path];
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

  test.skipIf(process.platform === "darwin")("is refused where there is no codesign", async () => {
    const { stderr, status } = await run(process.env.PATH!);
    expect({ stderr, status }).toEqual({
      stderr: expect.stringContaining("needs codesign, which is on a Mac alone"),
      status: 1,
    });
  });

  // codesign runs on a Mac alone. This one writes down what it was asked for; the library leaves the hardened runtime
  // out where the kernel is not a Mac's.
  test.skipIf(process.platform === "darwin")(
    "asks codesign for the entitlements and the name, of the command and of the app",
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
      const asked = (await readFile(log, "utf8")).trim().split("\n");
      const signed = asked.filter((line) => line.startsWith("--sign"));
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
      expect(asked.some((line) => line.startsWith("--verify --deep"))).toBe(true);
    },
  );

  test("has the entitlements that an engine with a JIT needs under the hardened runtime", async () => {
    const plist = await readFile(`${import.meta.dir}/../../build/macos/entitlements.plist`, "utf8");
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
