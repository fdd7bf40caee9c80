// Keys of rtfig.toml for --watch.
import { expect } from "bun:test";
import { startLive } from "../options/live.ts";
import { createProject } from "../support/project.ts";
import { runIn } from "../options/prove.ts";
import { effect } from "./effects.ts";

/** Returns the file that restarts the script, of those that are written one after the other. */
async function reason(config: string, names: readonly string[]): Promise<string> {
  const files = Object.fromEntries(names.map((name) => [name, ""]));
  await using project = await createProject({
    ...files,
    "rtfig.toml": config,
    "package.json": { scripts: { dev: "echo started; sleep 1000" } },
    ".git/index.lock": "", // git's lock merges all writes into one change
  });
  await using live = startLive({ args: ["--watch", "run", "dev"], cwd: project.path });
  await live.see("started");
  for (const name of names) await project.write({ [name]: "1" });
  await Bun.file(project.join(".git/index.lock")).delete();
  return (await live.see(/rt: (.*) changed/))[1]!;
}

effect(
  "watch.paths",
  "selects the watched files; a run without --watch ignores an invalid value",
  async () => {
    const names = ["a.ts", "views/b.hbs", "src/c.ts"];
    expect(await reason('[watch]\npaths = "views"', names)).toBe("views/b.hbs");
    expect(await reason('[watch]\npaths = ["*.ts", "src/c.ts"]', names)).toBe("a.ts and 1 more");
    const files = {
      "rtfig.toml": '[watch]\npaths = ["{"]',
      "package.json": { scripts: { dev: "echo done" } },
    };
    expect((await runIn(files, ["run", "dev"])).stdout).toBe("done\n");
    expect((await runIn(files, ["--watch", "run", "dev"])).stderr).toContain("its { is not closed");
  },
);

effect("watch.ignore", "excludes files", async () => {
  expect(await reason('[watch]\nignore = ["a.*", "src/"]', ["a.ts", "src/c.ts", "z.ts"])).toBe("z.ts");
});
