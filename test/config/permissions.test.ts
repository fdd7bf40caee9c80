// Keys of rtfig.toml for permissions of tasks. test/permissions has what a task can do with them.
import { expect } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { effect } from "./effects.ts";

async function preview(toml: string): Promise<string> {
  const manifest = { name: "shop", scripts: { build: "echo" } };
  await using project = await createProject({ "package.json": manifest, "rtfig.toml": toml });
  return (await runRt({ args: ["run", "--dry-run", "build"], cwd: project.path })).stdout;
}

const table = (line: string) => preview(`[tasks.build.permissions]\n${line}\n`);

effect("tasks.*.permissions", "gives a task the defaults", async () => {
  expect(await preview("[tasks.build]\npermissions = true\n")).toContain(
    "  writes the project, its temporary",
  );
  expect(await preview("[tasks.build]\npermissions = false\n")).not.toContain("writes");
});

effect("tasks.*.permissions.read", "adds folders that it may read", async () => {
  expect(await table('read = ["/srv/data/**"]')).toContain("  reads /srv/data, the system, tools\n");
});

effect("tasks.*.permissions.write", "replaces the project by its folders", async () => {
  expect(await table('write = ["dist"]')).toContain("  writes dist, its temporary folder\n");
});

effect("tasks.*.permissions.hosts", "chooses between this host, all and none", async () => {
  expect(await table('hosts = ["*"]')).toContain("  connects to all hosts, sockets in the project\n");
  expect(await table("hosts = []")).toContain("  connects to sockets in the project\n");
});

effect("tasks.*.permissions.sockets", "adds sockets", async () => {
  expect(await table('sockets = ["/run/db"]')).toContain("sockets in the project, sockets in /run/db\n");
});

effect("permissions.default", "gives tasks without a row the defaults", async () => {
  expect(await preview("[permissions]\ndefault = true\n")).toContain("  writes the project, its temporary");
});
