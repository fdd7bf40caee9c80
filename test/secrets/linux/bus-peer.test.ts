// rt accepts only this user and root as the session bus. Another user at the bus address gets no data.
import { describe, expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { createProject } from "../../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../../support/rt.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../../support/users.ts";

/** Listens and prints the bytes that it receives. */
const IMPOSTOR = `import { createServer } from "node:net";
import { writeSync } from "node:fs";
createServer((client) => {
  writeSync(1, "got ");
  client.on("data", (bytes) => writeSync(1, bytes));
}).listen(process.argv[2].replace("@", "\\0"), () => writeSync(1, "listening\\n"));
`;

describe.skipIf(process.platform !== "linux" || !isRoot).each(["a path", "an abstract name"])(
  "another user at the address of the session bus, %s",
  (kind) => {
    test("receives no message from rt", async () => {
      await using project = await createProject({ "impostor.ts": IMPOSTOR, "open/x": "" });
      await chmod(project.path, 0o755);
      await chmod(project.join("open"), 0o777);
      const name = kind === "a path" ? project.join("open/bus") : `@${project.path}`;
      const address = kind === "a path" ? `unix:path=${name}` : `unix:abstract=${project.path}`;
      await using impostor = Bun.spawn([...AS_OTHER_USER, RT, project.join("impostor.ts"), name], {
        env: cleanEnvironment(),
        stdout: "pipe",
        stderr: "inherit",
      });
      const reader = impostor.stdout.getReader();
      expect(new TextDecoder().decode((await reader.read()).value)).toBe("listening\n");
      const env = { DBUS_SESSION_BUS_ADDRESS: address };
      expect(await runRt({ args: ["secrets", "set", "a", "b"], env, stdin: "the value" })).toEqual({
        stdout: "",
        stderr: expect.stringContaining(
          `error: The D-Bus socket ${address} belongs to another user (uid ${OTHER_USER_ID})\nhint: `,
        ),
        status: 2,
      });
      expect(new TextDecoder().decode((await reader.read()).value)).toBe("got ");
    });
  },
);
