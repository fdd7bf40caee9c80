// Runs every sample of README.md, CONTRIBUTING.md and docs/ and compares its output with the page. Each page has its own folder and
// its own session with GNOME Keyring.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { parseConfig } from "../../src/config/rtfig.ts";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { createProject, type Project } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";
import { findSamples, PAGES, readPage, type Sample } from "./samples.ts";

const pages = await Promise.all(
  PAGES.map(async (path) => ({ path, samples: findSamples(path, await readPage(path)) })),
);

/** Samples that cannot run in a test, and why. Readers try samples, so this list must stay short. */
const NOT_RUN = [
  'README.md sh: "builds the repository itself"',
  'CONTRIBUTING.md sh: "builds and tests the repository itself"',
  'CONTRIBUTING.md sh: "long runs before a release"',
  'docs/guides/ci.md dockerfile: "builds a container"',
  'docs/guides/ci.md sh: "asks for the password of a keyring"',
  'docs/guides/remote.md sh: "needs a server"',
  'docs/guides/scripts.md sh: "shows forms of the command line"',
  'docs/guides/secrets/credential-helpers.md sh: "changes the folder that rt is in"',
  'docs/guides/shared-cache.md sh: "serves until it is stopped"',
  'docs/guides/watching.md sh: "runs until it is stopped"',
  'docs/guides/watching.md sh: "runs until it is stopped"',
  'docs/reference/secrets.md console: "needs a Mac"',
  'docs/reference/tools.md sh: "needs the tools"',
  'docs/reference/tools.md js: "needs webpack"',
  'docs/reference/tools.md ts: "needs Next"',
  'docs/reference/tools.md js: "needs eslint"',
  'docs/reference/tools.md sh: "makes programs of 100 MB"',
  'docs/releasing.md sh: "builds the repository itself"',
  'docs/releasing.md sh: "needs the key of the releases"',
  'docs/releasing.md sh: "needs a release"',
  'docs/releasing.md sh: "stores the key of the releases"',
  'docs/releasing.md sh: "needs a Mac"',
  'docs/releasing.md sh: "needs a Mac"',
  'docs/releasing.md sh: "installs a release"',
  'docs/releasing.md sh: "needs a release"',
];

test("only the listed samples are not run", () => {
  const marked = pages.flatMap(({ path, samples }) =>
    samples.flatMap(({ language, notRun }) => (notRun ? [`${path} ${language}: "${notRun}"`] : [])),
  );
  expect(marked).toEqual(NOT_RUN);
});

const READERS: Readonly<Record<string, (sample: Sample) => unknown>> = {
  json: ({ code }) => JSON.parse(code),
  yaml: ({ code }) => Bun.YAML.parse(code),
  toml: ({ code, file }) => (file === "rtfig.toml" ? parseConfig(code, file) : Bun.TOML.parse(code)),
};
const RUN = ["ts", "js", "sh"];

describe.skipIf(process.platform !== "linux")("samples of pages", () => {
  let programs: Project;
  beforeAll(async () => {
    programs = await createProject();
    await symlink(RT, programs.join("rt"));
  });
  afterAll(() => programs?.[Symbol.asyncDispose]());

  async function run({ language, code, file }: Sample, project: Project, keyring: Keyring) {
    // Each sample has a new home, because one that starts a keyring must not find another keyring.
    await using home = await createProject();
    const own = { HOME: home.path, XDG_RUNTIME_DIR: home.path };
    const env = { ...keyring.env, ...own, PATH: `${programs.path}:${process.env.PATH}` };
    if (language === "sh") return await runRt({ program: ["bash", "-c", code], cwd: project.path, env });
    const name = file ?? `sample.${language}`;
    if (!file) await project.write({ [name]: code });
    return await runRt({ args: [name], cwd: project.path, env });
  }

  for (const { path, samples } of pages.filter((page) => page.samples.length > 0)) {
    describe(path, () => {
      let keyring: Keyring;
      let project: Project;
      beforeAll(async () => {
        [keyring, project] = await Promise.all([startKeyring(), createProject()]);
      });
      afterAll(async () => {
        await project?.[Symbol.asyncDispose]();
        await keyring?.[Symbol.asyncDispose]();
      });

      test.each(samples.filter(({ notRun }) => !notRun))("$title", async (sample) => {
        const { language, code, file, output } = sample;
        READERS[language]?.(sample);
        if (file) await project.write({ [file]: code });
        const isRun = RUN.includes(language) && !(file && output === undefined);
        expect({ isChecked: isRun || language in READERS || file !== undefined }).toEqual({
          isChecked: true,
        });
        if (!isRun) return;
        // A file without output would prove nothing to the reader.
        if (language !== "sh") expect(output).toBeDefined();
        const result = await run(sample, project, keyring);
        expect(result).toMatchObject({ stdout: output ?? "", status: 0 });
        if (language !== "sh") expect(result.stderr).toBe("");
      });
    });
  }
});
