// rt as process 1, as in a container that is started without an init: the kernel keeps every signal from that process that
// it does not handle, so a script must not become it.
import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { createProject } from "../support/project.ts";
import { RT, runRt, startRt } from "../support/rt.ts";

const MAPPING = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
const NAMESPACE = ["unshare", ...MAPPING, "--fork", "--kill-child", "--pid"];
const SERVER = "echo up; exec sleep 60";

describe.skipIf(process.platform !== "linux")("as process 1, rt ends by SIGTERM", () => {
  for (const args of [
    ["run", "serve"],
    ["run", "sh", "-c", SERVER],
  ])
    test.concurrent(args.slice(0, 2).join(" "), async () => {
      await using project = await createProject({
        "package.json": { scripts: { serve: `sh -c '${SERVER}'` } },
      });
      const child = startRt({ program: [...NAMESPACE, RT], args, cwd: project.path });
      const { value } = await child.stdout.getReader().read();
      expect(new TextDecoder().decode(value)).toBe("up\n");
      const inner = Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
      process.kill(inner, "SIGTERM");
      expect(await child.exited).toBe(143);
    });
});

test.skipIf(process.platform !== "linux")(
  "as process 1, rt is not told by .env that it has been here",
  async () => {
    await using project = await createProject({
      ".env": "RT_BECAME=1\n",
      "bunfig.toml": 'preload = ["./evil.ts"]\n',
      "evil.ts": "console.log('evil')",
      "a.ts": "console.log('mine', typeof rt.secrets.get)",
    });
    const { stdout, status } = await runRt({
      program: [...NAMESPACE, RT],
      args: ["--smol", "a.ts"],
      cwd: project.path,
    });
    expect({ stdout, status }).toEqual({ stdout: "mine function\n", status: 0 });
  },
);

describe.skipIf(process.platform !== "linux")("as process 1, rt passes to the program", () => {
  for (const signal of ["SIGQUIT", "SIGUSR1", "SIGUSR2"] as const)
    test.concurrent(signal, async () => {
      const heeding = `trap 'echo got; exit 7' ${signal.slice(3)}; echo up; while :; do read -r line <&3; done`;
      await using project = await createProject({
        "serve.sh": heeding,
        "package.json": { scripts: { serve: "mkfifo wait; exec sh serve.sh 3<>wait" } },
      });
      const child = startRt({ program: [...NAMESPACE, RT], args: ["run", "serve"], cwd: project.path });
      const reader = child.stdout.getReader();
      const { value } = await reader.read();
      expect(new TextDecoder().decode(value)).toBe("up\n");
      const inner = Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
      process.kill(inner, signal);
      expect(await child.exited).toBe(7);
    });
});
