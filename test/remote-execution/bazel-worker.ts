// `rt run --remote` on Bazel's worker. `npm run test:remote` runs this file; `npm test` does not find it.
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { startWorker } from "../support/servers/reapi-worker.ts";
import { cleanEnvironment, runRt, startRt } from "../support/rt.ts";

test("Bazel's worker runs scripts with the same result as locally, and its end is an error", async () => {
  await using worker = await startWorker();
  const build =
    "mkdir -p dist/empty; cat in.txt > dist/out; chmod +x dist/out; ln -s out dist/link; echo hi; echo ho >&2";
  await using project = await createProject({
    "package.json": { scripts: { build, bad: "exit 7", wait: `touch $MARK; while :; do sleep 1; done` } },
    "in.txt": "in\n",
    "large.bin": new Uint8Array(5_000_000).map((_, at) => (at * 2_654_435_761) >>> 24),
    "rtfig.toml": [
      `[run.remote]\nurl = "${worker.url}"\nsystem = "${process.platform}-${process.arch}"`,
      '[run.remote.scripts]\nbuild.outputs = ["dist"]\nwait.env = ["MARK"]\n',
    ].join("\n"),
  });
  await Bun.spawn(["git", "init", "-q"], { cwd: project.path, env: cleanEnvironment() }).exited;
  const run = (script: string) => runRt({ args: ["run", "--remote", "--silent", script], cwd: project.path });
  const files = () =>
    Bun.spawnSync(["find", "dist", "-printf", "%y %m %l %p\n"], { cwd: project.path }).stdout.toString();
  const localResult = await runRt({ args: ["run", "--silent", "build"], cwd: project.path });
  const made = files();
  for (let round = 0; round < 2; round++) {
    Bun.spawnSync(["rm", "-r", "dist"], { cwd: project.path });
    expect(await run("build")).toEqual(localResult);
    expect(files()).toBe(made);
  }
  expect(await run("bad")).toEqual({ stdout: "", stderr: "", status: 7 });
  const mark = project.join("mark");
  const child = startRt({
    args: ["run", "--remote", "--silent", "wait"],
    cwd: project.path,
    env: { MARK: mark },
  });
  await waitUntil(() => existsSync(mark));
  await worker.stop();
  expect(await child.exited).toBe(1);
  expect(await new Response(child.stderr).text()).toStartWith(
    `error: The server ${worker.url} cannot be reached: `,
  );
  expect(readdirSync(project.path).filter((name) => name.startsWith(".rt"))).toEqual([]);
}, 120_000);
