// Scripts that are not run again, on Windows: what is declared counts, as nobody can follow them there.
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { PREPARATION } from "../support/compiled.ts";
import { createProject } from "../support/project.ts";
import { canRunWindows, openWindows } from "../support/windows.ts";

test.skipIf(!canRunWindows)(
  "a script whose outputs are declared is not run again when nothing has changed",
  async () => {
    await using windows = await openWindows();
    await using project = await createProject({
      "package.json": {
        name: "app",
        scripts: { build: "mkdir -p dist/deep && cat source > dist/deep/out && echo built" },
      },
      "rtfig.toml": '[run]\nshell = "rt"\n[run.cache]\nbuild = { outputs = ["dist/**"] }\nother = true\n',
      source: "one",
    });
    const cache = windows.path(project.join("cache"));
    const run = async (...words: string[]) => {
      const { stdout, stderr, status } = await windows.run({
        args: ["--why", ...words, "run", "build"],
        cwd: project.path,
        env: { XDG_CACHE_HOME: cache },
      });
      const text = stdout + stderr;
      expect({ text, status }).toMatchObject({ text: expect.stringContaining("built"), status: 0 });
      return /build (runs: [^\r\n]*|need not run)/.exec(text)?.[1] ?? text;
    };
    const out = project.join("dist/deep/out");
    expect(await run()).toStartWith("runs: it has not run before");
    await rm(project.join("dist"), { recursive: true });
    expect(await run()).toBe("need not run");
    expect(await Bun.file(out).text()).toBe("one");
    await project.write({ source: "two" });
    expect(await run()).toStartWith("runs: source is another");
    expect(await Bun.file(out).text()).toBe("two");
    await project.write({ source: "one" });
    expect(await run()).toBe("need not run");
    expect(await Bun.file(out).text()).toBe("one");
  },
  PREPARATION,
);
