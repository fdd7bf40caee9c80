// Tests every target: reproducible bytes, limited size, code of one system only. See smoke.test.ts for those that can
// run here.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { checkEngine, enginePath } from "../../../build/engine.ts";
import { MOST_ADDED } from "../../../build/release.ts";
import type { System } from "../../../platform/processes/running-executable.ts";
import { unpackScripts } from "../../../src/runtime/modules/embedded-modules.ts";
import { TARGETS, type BuildTarget } from "../../../build/targets.ts";
import { compileFor, PREPARATION_TIMEOUT } from "../../support/programs/compiled.ts";
import { REPOSITORY } from "../../support/rt.ts";
import { verifySignature } from "./code-signature.ts";
import { COMPARED, ELSEWHERE_LIMIT, checksumsOfOtherCheckout } from "./elsewhere.ts";
import type { BuildChecksums } from "./make-elsewhere.ts";
import { readEmbeddedProgram } from "./program-section.ts";
import { readResources } from "./windows-resources.ts";
import manifest from "../../../package.json";

/** Strings that only one system's modules contain. */
const SYSTEM_STRINGS: Readonly<Record<BuildTarget["os"], readonly string[]>> = {
  linux: ["org.freedesktop.secrets", "org.freedesktop.DBus"],
  darwin: ["SecItemCopyMatching", "kSecClass", "SecItemAdd"],
  windows: ["kernel32", "advapi32", "CredReadW", "CredWriteW"],
};

const FOLDERS: Readonly<Record<BuildTarget["os"], string>> = {
  linux: "linux",
  darwin: "macos",
  windows: "windows",
};

/** Returns the strings that the system's modules do contain: only their absence in other targets proves something. */
async function findSystemStrings(os: BuildTarget["os"]): Promise<readonly string[]> {
  const folder = join(REPOSITORY, "platform");
  const files = [...new Bun.Glob(`**/${FOLDERS[os]}/**/*.ts`).scanSync(folder)];
  const texts = await Promise.all(files.map(async (file) => await Bun.file(join(folder, file)).text()));
  return SYSTEM_STRINGS[os].filter((word) => texts.some((text) => text.includes(word)));
}

let otherChecksums: Promise<BuildChecksums>;

beforeAll(() => {
  otherChecksums = checksumsOfOtherCheckout(); // in a separate process, while the first targets are compiled
});

afterAll(async () => {
  await otherChecksums.catch(() => {});
});

test("Linux and macOS modules contain strings to search for", async () => {
  expect((await findSystemStrings("linux")).length).toBeGreaterThan(1);
  expect((await findSystemStrings("darwin")).length).toBeGreaterThan(1);
});

for (const target of TARGETS) {
  describe(target.name, () => {
    let file: Buffer;

    beforeAll(async () => {
      file = await readFile(await compileFor(target));
    }, PREPARATION_TIMEOUT);

    afterAll(() => {
      file = Buffer.alloc(0);
    });

    test("stays within the size limit on top of the engine", async () => {
      await checkEngine(target);
      const { size } = await stat(enginePath(target));
      expect(file.length - size).toBeGreaterThan(0);
      expect(file.length - size).toBeLessThanOrEqual(MOST_ADDED);
    });

    test("prints rt where the engine prints bun", () => {
      const [before, after] = ["bun install", "rt install "].map(
        (name) =>
          [`run '${name}'`, `\r${name} v`, `<green>${name}<r>`].filter((text) => file.includes(text)).length,
      );
      expect({ before, after }).toEqual({ before: 0, after: 3 });
    });

    test("contains rt's program where the engine expects it", () => {
      const { modules } = readEmbeddedProgram(file, target.os);
      expect(modules[0]!.name).toEndWith("/root/rt");
      expect(modules.length).toBeGreaterThan(20);
      expect(modules[0]!.source).toContain("import");
    });

    test("contains no code of another system", async () => {
      const { bytes, modules } = readEmbeddedProgram(file, target.os);
      const system: System = target.os === "windows" ? "win32" : target.os;
      const { parts: all, program } = unpackScripts(file)!;
      const parts = all[system] + program;
      const code = bytes.toString("latin1") + parts;
      for (const [os, words] of Object.entries(SYSTEM_STRINGS)) {
        const found = words.filter((word) => code.includes(word));
        if (os !== target.os) expect({ os, found }).toEqual({ os, found: [] });
        else expect(found).toEqual(expect.arrayContaining([...(await findSystemStrings(target.os))]));
      }
      const scripts = modules.filter(({ name }) => name.endsWith(".parts")).length;
      expect(scripts).toBe(1);
    });

    if (target.os === "darwin") {
      test("contains a valid signature of every page, and a stable name", () => {
        expect(verifySignature(file)).toMatchObject({
          problems: [],
          identifier: "rt-runtime.rt",
          requirement: 'designated => identifier "rt-runtime.rt"',
          isAdHoc: true,
        });
      });
    }

    if (target.os === "windows") {
      test("contains its icon, name and version", () => {
        const { icons, strings, fixedVersion } = readResources(file);
        expect(icons).toEqual([16, 24, 32, 48, 64, 128, 256]);
        expect(fixedVersion).toBe(`${manifest.version}.0`);
        expect(strings).toMatchObject({
          FileDescription: "rt",
          ProductName: "rt-runtime",
          ProductVersion: manifest.version,
          OriginalFilename: "rt.exe",
          Comments: manifest.description,
        });
      });
    }

    if (COMPARED.includes(target.name)) {
      test(
        "has the same bytes from another checkout",
        async () => {
          const { programs } = await otherChecksums;
          expect(createHash("sha256").update(file).digest("hex")).toBe(programs[target.name]!);
        },
        ELSEWHERE_LIMIT,
      );
    }
  });
}
