// Who may answer as the session bus: this user and root. What anybody else has put at its address gets nothing.
import { describe, expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { AS_OTHER, isRoot, NOBODY } from "../support/users.ts";

/** Listens, and tells what it is sent. */
const IMPOSTOR = `import os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1].replace("@", "\\0"))
server.listen()
os.write(1, b"listening\\n")
while True:
    client, _ = server.accept()
    os.write(1, b"got " + client.recv(4096))
`;

describe.skipIf(process.platform !== "linux" || !isRoot).each(["a path", "an abstract name"])(
  "another user at the address of the session bus, %s",
  (kind) => {
    test("gets nothing", async () => {
      await using project = await createProject({ "impostor.py": IMPOSTOR, "open/x": "" });
      await chmod(project.path, 0o755);
      await chmod(project.join("open"), 0o777);
      const name = kind === "a path" ? project.join("open/bus") : `@${project.path}`;
      const address = kind === "a path" ? `unix:path=${name}` : `unix:abstract=${project.path}`;
      await using impostor = Bun.spawn([...AS_OTHER, "python3", project.join("impostor.py"), name], {
        stdout: "pipe",
        stderr: "inherit",
      });
      const reader = impostor.stdout.getReader();
      expect(new TextDecoder().decode((await reader.read()).value)).toBe("listening\n");
      const env = { DBUS_SESSION_BUS_ADDRESS: address };
      expect(await runRt({ args: ["secrets", "set", "a", "b"], env, stdin: "the value" })).toEqual({
        stdout: "",
        stderr: expect.stringContaining(
          `error: What listens at ${address} is another user's (uid ${NOBODY})\nhint: `,
        ),
        status: 2,
      });
      expect(new TextDecoder().decode((await reader.read()).value)).toBe("got ");
    });
  },
);
