// Secrets with one name and different values: what each package gets, and that none is shown.
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { startLive } from "../../options/live.ts";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";

const isUnix = process.platform !== "win32";

test.skipIf(!isUnix)("one name has one value in a run, whatever each package's .env contains", async () => {
  const show = "rt -p process.env.TOKEN; cat ../../fetched ../../inherited";
  const packages = ["lib", "web"].map((name) => ({
    [`packages/${name}/package.json`]: { name, scripts: { show } },
    [`packages/${name}/.env`]: `TOKEN=value-of-${name}\n`,
  }));
  await using project = await createProject({
    "rtfig.toml": `[secrets.TOKEN]\nfrom.command = ["cat", "fetched"]\n[run.secrets]\nshow = ["TOKEN"]\n`,
    "package.json": { name: "root", workspaces: ["packages/*"] },
    fetched: "the-fetched-value\n",
    inherited: "the-inherited-value\n",
    ...Object.assign({}, ...packages),
  });
  const run = async (env: Record<string, string>) => {
    const args = ["--silent", "run", "--filter=*", "--sequential", "show"];
    const { stdout } = await runRt({ args, cwd: project.path, env });
    return stdout.trimEnd().split("\n");
  };
  const both = (...texts: string[]) =>
    ["lib", "web"].flatMap((name) => texts.map((text) => `${name}:show | ${text}`));
  const trusted = { RT_TRUST: await trustOf(project.path) };
  expect(await run(trusted)).toEqual(both("[TOKEN]", "[TOKEN]", "the-inherited-value"));
  // A variable of the environment replaces the source, whose value is then not a secret.
  const inherited = { TOKEN: "the-inherited-value" };
  expect(await run(inherited)).toEqual(both("[TOKEN]", "the-fetched-value", "[TOKEN]"));
});

test.skipIf(!isUnix)(
  "a watched run redacts both the old and the new value of a secret in all scripts",
  async () => {
    await using apart = await createProject({ value: "the-first-value", old: "the-first-value" });
    const [value, old, pipe] = ["value", "old", "pipe"].map((name) => apart.join(name));
    await Bun.$`mkfifo ${pipe}`;
    await using project = await createProject({
      "rtfig.toml": `[secrets.TOKEN]\nfrom.command = ["cat", "${value}"]\n[run.secrets]\ndev = ["TOKEN"]\n`,
      "package.json": { name: "root", workspaces: ["packages/*"] },
      "packages/web/package.json": {
        name: "web",
        scripts: { dev: `echo "web has $TOKEN, and reads $(cat ${old})."; sleep 1000` },
      },
      "packages/lib/package.json": {
        name: "lib",
        scripts: { dev: `echo "lib has $TOKEN."; while :; do cat ${pipe}; done` },
      },
    });
    await using live = startLive({
      args: ["--watch", "run", "--filter=*", "--parallel", "dev"],
      cwd: project.path,
      env: { RT_TRUST: await trustOf(project.path) },
    });
    await live.see(/(?:(?:web has \[TOKEN\], and reads|lib has) \[TOKEN\]\.[^]*){2}/);
    await writeFile(value!, "the-second-value");
    await project.write({ "packages/web/a.ts": "1" });
    await live.see("web has [TOKEN], and reads ");
    await live.see(".");
    await writeFile(pipe!, "lib hears the-second-value and the-first-value.\n");
    await live.see(/lib hears .*\./);
    expect(live.output).toContain("lib hears [TOKEN] and [TOKEN].");
    expect(live.output).not.toContain("-value");
  },
);
