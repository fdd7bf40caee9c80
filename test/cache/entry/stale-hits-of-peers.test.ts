// Stale hits that were reported to other tools. In vite-task #532, #587 and vite-plus #39 a read was not traced. In turbo
// #14059 a variable was not part of the cache key.
import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "../../support/processes.ts";
import { REPOSITORY } from "../../support/rt.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

/** Ignores the folders above the project, in which other tests create files. */
const ignoreAbove = (script: string) => `${script} = { ignore = ["/tmp/*", "${tmpdir()}/*", "!."] }`;

test.skipIf(!CAN_TRACE)("vite-task #532: a file that a nested Bun process reads is an input", async () => {
  const code = "console.log(require('fs').readFileSync('data.txt', 'utf8'))";
  await using project = await cachedProject(
    { probe: `sh -c "${process.execPath} -e \\"${code}\\""` },
    { "data.txt": "v1" },
    ignoreAbove("probe"),
  );
  const probe = async () => (await project.rt(["run", "probe"])).stdout;
  expect([await probe(), await project.run("probe")]).toEqual(["v1\n", "hit"]);
  await project.write({ "data.txt": "v2" });
  expect([await probe(), await project.run("probe")]).toEqual(["v2\n", "hit"]);
});

test.skipIf(!CAN_TRACE)("vite-task #587: a file that a static Go program reads is an input", async () => {
  await using project = await cachedProject(
    { check: "node_modules/.bin/esbuild --bundle src/index.ts --outfile=dist/out.js" },
    { "src/index.ts": 'import { a } from "./a";\nconsole.log(a);\n', "src/a.ts": "export const a = 1;\n" },
    ignoreAbove("check"),
  );
  symlinkSync(join(REPOSITORY, "node_modules"), project.join("node_modules"));
  expect([await project.run("check"), await project.run("check")]).toEqual(["ran", "hit"]);
  await project.write({ "src/a.ts": "export const a = ;\n" });
  for (let round = 0; round < 2; round += 1)
    expect(await project.rt(["run", "check"])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("src/a.ts:1:17"),
    });
  await project.write({ "src/a.ts": "export const a = 1;\n" });
  expect(await project.run("check")).toBe("hit");
});

test.skipIf(!CAN_TRACE)(
  "vite-plus #39: a run is not cached when an input is edited after it was read",
  async () => {
    await using project = await cachedProject(
      { build: "cat data; echo > ready; until test -e go; do sleep 0.05; done; rm -f ready go" },
      { data: "1\n" },
      'build = { ignore = ["go", "ready"] }',
    );
    const running = project.run("build");
    await waitUntil(async () => await Bun.file(project.join("ready")).exists());
    await project.write({ data: "2\n", go: "" });
    expect(await running).toMatch(/another process changed \S+data during the run/);
    await project.write({ go: "" });
    expect((await project.rt(["run", "build"])).stdout).toBe("2\n");
    expect(await project.run("build")).toBe("hit");
  },
);

test.skipIf(!CAN_TRACE)("turbo #14059: a script does not get an undeclared variable", async () => {
  const build = 'mkdir -p dist; printf "%s" "$VITE_API_URL" > dist/url';
  const [staging, production] = ["https://staging.example.com", "https://example.com"];
  await using project = await cachedProject({ build }, {}, "build = true");
  const url = async () => await Bun.file(project.join("dist/url")).text();
  // The script does not get the variable, so its output cannot depend on it.
  const warning =
    'build is cached, so it did not get VITE_API_URL; if it needs that, set its rule in [run.cache] to: build = { env = ["VITE_*"] }';
  expect([await project.run("build", { VITE_API_URL: staging }), await url()]).toEqual([warning, ""]);
  expect([await project.run("build", { VITE_API_URL: production }), await url()]).toEqual(["hit", ""]);
  await project.write({ "rtfig.toml": '[run.cache]\nbuild = { env = ["VITE_*"] }\n' });
  expect([await project.run("build", { VITE_API_URL: staging }), await url()]).toEqual(["ran", staging]);
  expect([await project.run("build", { VITE_API_URL: production }), await url()]).toEqual([
    "ran",
    production,
  ]);
  expect([await project.run("build", { VITE_API_URL: staging }), await url()]).toEqual(["hit", staging]);
});
