// Every target, built here from one system: the same to the byte from another checkout, no larger than it may be, with its
// own system's code and no other's, in a file that its system takes. What can be run here is run in smoke.test.ts.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { checkEngine, enginePath } from "../../build/engine.ts";
import { MOST_ADDED } from "../../build/release.ts";
import type { System } from "../../platform/processes/running-executable.ts";
import { unpackScripts } from "../../src/runtime/modules/embedded-modules.ts";
import { TARGETS, type BuildTarget } from "../../build/targets.ts";
import { compiledFor, PREPARATION } from "../support/programs/compiled.ts";
import { REPOSITORY } from "../support/rt.ts";
import { verifySignature } from "./code-signature.ts";
import { COMPARED, ELSEWHERE_LIMIT, madeElsewhere } from "./elsewhere.ts";
import type { Made } from "./make-elsewhere.ts";
import { readEmbeddedProgram } from "./program-section.ts";
import { readResources } from "./windows-resources.ts";
import manifest from "../../package.json";

/** Words that stand in one system's modules alone. */
const OWN_WORDS: Readonly<Record<BuildTarget["os"], readonly string[]>> = {
  linux: ["org.freedesktop.secrets", "org.freedesktop.DBus"],
  darwin: ["SecItemCopyMatching", "kSecClass", "SecItemAdd"],
  windows: ["kernel32", "advapi32", "CredReadW", "CredWriteW"],
};

const FOLDERS: Readonly<Record<BuildTarget["os"], string>> = {
  linux: "linux",
  darwin: "macos",
  windows: "windows",
};

/** Those that the system's own modules really have: their absence elsewhere proves something. */
async function ownWords(os: BuildTarget["os"]): Promise<readonly string[]> {
  const folder = join(REPOSITORY, "platform");
  const files = [...new Bun.Glob(`**/${FOLDERS[os]}/**/*.ts`).scanSync(folder)];
  const texts = await Promise.all(files.map(async (file) => await Bun.file(join(folder, file)).text()));
  return OWN_WORDS[os].filter((word) => texts.some((text) => text.includes(word)));
}

let elsewhere: Promise<Made>;

beforeAll(() => {
  elsewhere = madeElsewhere(); // in another process, while the first ones are compiled here
});

afterAll(async () => {
  await elsewhere.catch(() => {});
});

test("Linux and macOS have words of their own to look for", async () => {
  expect((await ownWords("linux")).length).toBeGreaterThan(1);
  expect((await ownWords("darwin")).length).toBeGreaterThan(1);
});

for (const target of TARGETS) {
  describe(target.name, () => {
    let file: Buffer;

    beforeAll(async () => {
      file = await readFile(await compiledFor(target));
    }, PREPARATION);

    afterAll(() => {
      file = Buffer.alloc(0);
    });

    test("adds no more to the engine than it may", async () => {
      await checkEngine(target);
      const { size } = await stat(enginePath(target));
      expect(file.length - size).toBeGreaterThan(0);
      expect(file.length - size).toBeLessThanOrEqual(MOST_ADDED);
    });

    test("says rt where the engine says bun", () => {
      const [before, after] = ["bun install", "rt install "].map(
        (name) =>
          [`run '${name}'`, `\r${name} v`, `<green>${name}<r>`].filter((text) => file.includes(text)).length,
      );
      expect({ before, after }).toEqual({ before: 0, after: 3 });
    });

    test("has our program where the engine looks for it", () => {
      const { modules } = readEmbeddedProgram(file, target.os);
      expect(modules[0]!.name).toEndWith("/root/rt");
      expect(modules.length).toBeGreaterThan(20);
      expect(modules[0]!.source).toContain("import");
    });

    test("has no code of another system, and asks for the engine's modules late", async () => {
      const { bytes, modules } = readEmbeddedProgram(file, target.os);
      const system: System = target.os === "windows" ? "win32" : target.os;
      const { parts: all, program } = unpackScripts(file)!;
      const parts = all[system] + program;
      const code = bytes.toString("latin1") + parts;
      for (const [os, words] of Object.entries(OWN_WORDS)) {
        const found = words.filter((word) => code.includes(word));
        if (os !== target.os) expect({ os, found }).toEqual({ os, found: [] });
        else expect(found).toEqual(expect.arrayContaining([...(await ownWords(target.os))]));
      }
      const imported = [parts, ...modules.map(({ source }) => source)].flatMap((source) =>
        [...source.matchAll(/\b(?:from|import)\s*\(?\s*"(?:node:)?([\w/]+)"/g)].map(([, name]) => name!),
      );
      const scripts = modules.filter(({ name }) => name.endsWith(".parts")).length;
      expect(scripts).toBe(1);
      const late = imported.filter(
        (name) => builtinModules.includes(name) && !["crypto", "bun"].includes(name),
      );
      expect(late).toEqual([]);
    });

    if (target.os === "darwin") {
      test("has a signature that is right page by page, and a name that stays", () => {
        expect(verifySignature(file)).toMatchObject({
          problems: [],
          identifier: "rt-runtime.rt",
          requirement: 'designated => identifier "rt-runtime.rt"',
          isAdHoc: true,
        });
      });
    }

    if (target.os === "windows") {
      test("shows its own icon, name and version", () => {
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
        "is the same to the byte from another checkout",
        async () => {
          const { programs } = await elsewhere;
          expect(createHash("sha256").update(file).digest("hex")).toBe(programs[target.name]!);
        },
        ELSEWHERE_LIMIT,
      );
    }
  });
}
