// Tests redaction in pipes on Windows, with the exit code of the script.
import { expect, test } from "bun:test";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import { createProject } from "../support/project.ts";
import { canRunWindows, openWindows } from "../support/programs/windows.ts";

test.skipIf(!canRunWindows)(
  "rt.exe redacts the output of a script and of a file",
  async () => {
    await using windows = await openWindows();
    await using project = await createProject({
      "package.json": { scripts: { show: "rt show.ts" } },
      "show.ts": "console.log(process.env.TOKEN); console.error(btoa(process.env.TOKEN!)); process.exit(3)",
      "rtfig.toml": '[secrets.TOKEN]\nfrom = "x/token"\n[run.secrets]\nshow = ["TOKEN"]\n',
    });
    const env = { TOKEN: "ghp_A1b2C3d4E5f6" };
    for (const args of [
      ["--silent", "run", "show"],
      ["--secret=TOKEN", "show.ts"],
    ]) {
      const { stdout, stderr, status } = await windows.run({ args, cwd: project.path, env });
      expect({ args, stdout, status }).toEqual({ args, stdout: "[TOKEN]\n", status: 3 });
      expect(stderr).toContain("[TOKEN]");
      expect(stderr).not.toContain(btoa(env.TOKEN).slice(0, 12));
    }
  },
  PREPARATION_TIMEOUT,
);
