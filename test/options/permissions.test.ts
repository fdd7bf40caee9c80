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
    const { stdout, stderr } = await runRt(run);
    return stdout + (/reads [^;]*; .*/.exec(stderr)?.[0] ?? "").replaceAll(project.path, "");
  }

  prove("permissions", "closes files outside of the project to a script", async () => {
    expect(await readOutside([])).toBe("readable\n");
    expect(await readOutside(["--permissions"])).toBe("refused\n");
  });

  prove("explain", "names the refused file, and the line that allows it", async () => {
    expect(await readOutside(["--explain"])).toBe(
      'refused\nreads /outside; to allow it, add to [tasks.show.permissions] of rtfig.toml: read = ["../outside"]',
    );
  });

  prove("locked", "fails a script that succeeds although a connection was refused", async () => {
    await using project = await createProject({
      "package.json": { scripts: { post: "echo > /dev/tcp/10.0.0.1/80 || echo done" } },
      "rtfig.toml": "[tasks.post]\ncache = true\npermissions = true\n",
    });
    const env = { XDG_CACHE_HOME: project.join("cache") };
    const run = async (...options: string[]) => {
      const { stdout, stderr, status } = await runRt({
        args: ["run", ...options, "post"],
        cwd: project.path,
        env,
      });
      return [stdout, status, /error: .*/.exec(stderr)?.[0]];
    };
    expect((await run()).slice(0, 2)).toEqual(["done\n", 0]);
    const failure = "error: The task tried more than its permissions allow";
    // The entry of the first run does not count.
    expect(await run("--locked")).toEqual(["done\n", 1, failure]);
    expect(await run("--locked")).toEqual(["done\n", 1, failure]);
  });

  prove("learn", "proposes the permissions that a script needs", async () => {
    expect(await readOutside(["--learn"])).toContain(
      'rtfig.toml\n+ [tasks.show.permissions]\n+ read = ["../outside"]\n+ write = []\n',
    );
  });

  prove("no-permissions", "opens what rtfig.toml closes", async () => {
    const config = "[permissions]\ndefault = true\n";
    expect(await readOutside([], config)).toBe("refused\n");
    expect(await readOutside(["--no-permissions"], config)).toBe("readable\n");
  });
});
