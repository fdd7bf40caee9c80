// A shared cache over the Remote Execution API on Bazel's worker. `npm run test:remote` runs this file; `npm test` does not
// find it. The worker has no BatchReadBlobs, inlines no content, and loses results whose blobs were deleted from its disk.
import { expect, test } from "bun:test";
import { readlink, rm, stat } from "node:fs/promises";
import { startWorker } from "../../support/servers/reapi-worker.ts";
import { cachedProject } from "../cached-project.ts";

test("Bazel's worker shares outputs, and a run warns when the worker has stopped", async () => {
  await using worker = await startWorker();
  const script =
    "mkdir -p dist/empty; cat page > dist/page; chmod +x dist/page; ln -s page dist/link; cat large large > dist/large; echo hi; echo ho >&2";
  const large = new Uint8Array(3_000_000).map((_, at) => (at * 2_654_435_761) >>> 24);
  const config = `build = true\n[cache.remote]\nurl = "${worker.url}"\n`;
  await using project = await cachedProject({ build: script }, { page: "hello", large }, config);
  const run = async (key = "k") => {
    await rm(`${project.cache}/rt`, { recursive: true, force: true });
    await rm(project.join("dist"), { recursive: true, force: true });
    const result = await project.rt(["run", "build"], { TURBO_REMOTE_CACHE_SIGNATURE_KEY: key });
    expect(result).toMatchObject({ stdout: "hi\n", status: 0 });
    expect(await Bun.file(project.join("dist/page")).text()).toBe("hello");
    expect((await stat(project.join("dist/page"))).mode & 0o777).toBe(0o755);
    expect(await readlink(project.join("dist/link"))).toBe("page");
    expect((await stat(project.join("dist/empty"))).isDirectory()).toBe(true);
    const made = await Bun.file(project.join("dist/large")).bytes();
    expect(Buffer.compare(made, Buffer.concat([large, large]))).toBe(0);
    const warnings = result.stderr.split("\n").filter((line) => line.startsWith("warn"));
    return [result.stderr.includes("Cached (saved "), ...warnings];
  };
  expect(await run()).toEqual([false]);
  for (let round = 0; round < 3; round++) expect(await run()).toEqual([true]);
  // The cache key includes the signature key.
  expect(await run("other")).toEqual([false]);
  expect(await run("other")).toEqual([true]);
  await worker.stop();
  expect(await run()).toEqual([
    false,
    "warning: Shared cache: cannot connect (UNAVAILABLE); continuing without it",
  ]);
}, 120_000);
