// A run whose first upload exceeds its time limit before a later script is looked up in the shared cache.
import { expect } from "bun:test";
import { rm } from "node:fs/promises";
import { type Environment, startRt } from "../../support/rt.ts";
import { trustAll } from "../../support/trusted.ts";
import { cachedProject } from "../cached-project.ts";

/** @param slow makes the server leave all further uploads unanswered */
export async function expectReadingAfterSlowUpload(
  url: string,
  variables: Environment,
  slow: () => void,
): Promise<void> {
  const config = `first = true\nlast = true\n[cache.remote]\nurl = "${url}"\nupload-timeout = 1\n`;
  const held = "echo held; until [ -e go ]; do sleep 0.05; done";
  await using project = await cachedProject(
    { first: "cat page", held, last: "cat other" },
    { page: "1", other: "2" },
    config,
  );
  const env = { XDG_CACHE_HOME: project.cache, ...variables, ...(await trustAll(project.path, variables)) };
  expect((await project.rt(["run", "last"], env)).status).toBe(0);
  await rm(`${project.cache}/rt`, { recursive: true, force: true });
  slow();
  const args = ["run", "--sequential", "first", "held", "last"];
  const child = startRt({ args, cwd: project.path, env });
  const stdout = new Response(child.stdout).text();
  let stderr = "";
  for await (const chunk of child.stderr) {
    stderr += new TextDecoder().decode(chunk);
    if (stderr.includes("warning: ")) await project.write({ go: "" });
  }
  expect([await child.exited, stderr.match(/^warning: .*/gm)]).toEqual([
    0,
    ["warning: Shared cache: no response within 1 s; results are not uploaded"],
  ]);
  expect(stderr + (await stdout)).toMatch(/last.*Cached \(saved /);
}
