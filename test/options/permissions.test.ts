// --permissions and --no-permissions decide whether the kernel limits a script.
import { describe, expect } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { prove } from "./prove.ts";

describe.skipIf(process.platform !== "linux")("permissions", () => {
  async function readOutside(args: readonly string[], config = ""): Promise<string> {
    await using project = await createProject({
      outside: "readable\n",
      "shop/package.json": { scripts: { show: "cat ../outside || echo refused" } },
      "shop/rtfig.toml": config,
    });
    const run = { args: ["--silent", "run", ...args, "show"], cwd: project.join("shop") };
    return (await runRt(run)).stdout;
  }

  prove("permissions", "closes files outside of the project to a script", async () => {
    expect(await readOutside([])).toBe("readable\n");
    expect(await readOutside(["--permissions"])).toBe("refused\n");
  });

  prove("no-permissions", "opens what rtfig.toml closes", async () => {
    const config = "[permissions]\ndefault = true\n";
    expect(await readOutside([], config)).toBe("refused\n");
    expect(await readOutside(["--no-permissions"], config)).toBe("readable\n");
  });
});
