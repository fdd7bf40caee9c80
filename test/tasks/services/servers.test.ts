// Programs that users run as services.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { createProject } from "../../support/project.ts";
import { PYTHON } from "../../support/programs/programs.ts";
import { runRt } from "../../support/rt.ts";
import { freePort } from "../../support/servers/ports.ts";
import { HAS_REDIS } from "../../support/servers/redis.ts";
import { createServices, runServices } from "./server.ts";

const WEB =
  'require("http").createServer((_, response) => response.end()).listen(+process.argv[2], "127.0.0.1");';

/** A server that leaves its parent and session before it listens. */
const DAEMON = `
import os, sys, time
from http.server import HTTPServer, SimpleHTTPRequestHandler
if os.fork(): sys.exit(0)
os.setsid()
if os.fork(): os._exit(0)
time.sleep(0.1)
HTTPServer(("127.0.0.1", int(sys.argv[1])), SimpleHTTPRequestHandler).serve_forever()
`;

test.skipIf(process.platform !== "linux")(
  "servers of Node.js and Python, and one that forks, answer when their dependents start, and none is left",
  async () => {
    const commands = [
      ...["web", "web", "web"].map(() => (port: number) => `exec node web.cjs ${port}`),
      ...["py", "py", "py"].map(
        () => (port: number) => `exec ${PYTHON} -m http.server ${port} --bind 127.0.0.1`,
      ),
      (port: number) => `${PYTHON} daemon.py ${port}`,
    ];
    const ports = new Set<number>();
    while (ports.size < commands.length) ports.add(freePort());
    const scripts: Record<string, string> = {};
    for (const [at, port] of [...ports].entries()) {
      scripts[`s${at}`] = commands[at]!(port);
      scripts[`ask${at}`] = `curl -sfo /dev/null 127.0.0.1:${port}`;
    }
    const rows = commands.map(
      (_, at) => `[tasks.s${at}]\nservice = true\n[tasks.ask${at}]\ndepends-on = ["s${at}"]\n`,
    );
    await using project = await createServices(scripts, rows.join(""), {
      "web.cjs": WEB,
      "daemon.py": DAEMON,
    });
    const asked = commands.map((_, at) => `ask${at}`);
    const { status, lines, left } = await runServices(project, "--no-exit-on-error", ...asked);
    expect({ status, left }).toEqual({ status: 0, left: [] });
    for (const [at, port] of [...ports].entries()) expect(lines).toContain(`s${at}: Ready (port ${port})`);
  },
);

test.skipIf(process.platform !== "linux" || !HAS_REDIS)(
  "two redis servers are ready and ended when they run as daemons and have overwritten their environment",
  async () => {
    const scripts: Record<string, string> = {};
    for (const name of ["a", "b"]) {
      const port = freePort();
      scripts[`redis-${name}`] =
        `redis-server --port ${port} --save '' --daemonize yes --dir "$PWD" --pidfile "$PWD/${name}.pid"`;
      scripts[`ask-${name}`] = `redis-cli -p ${port} ping && cp ${name}.pid was-${name}.pid`;
    }
    await using project = await createServices(
      scripts,
      '[tasks."redis-*"]\nservice = true\n[tasks.ask-a]\ndepends-on = ["redis-a"]\n[tasks.ask-b]\ndepends-on = ["redis-b"]\n',
    );
    const { status, lines } = await runServices(project, "--no-exit-on-error", "ask-a", "ask-b");
    const pids = ["a", "b"].map((name) => Number(readFileSync(project.join(`was-${name}.pid`), "utf8")));
    // A zombie has no program.
    const left = pids.filter((pid) => existsSync(`/proc/${pid}/exe`));
    for (const pid of left) process.kill(pid, "SIGKILL");
    expect({ status, left }).toEqual({ status: 0, left: [] });
    expect(lines).toContain("ask-a: PONG");
  },
);

test.skipIf(process.platform !== "linux")(
  "a service with permissions listens, and the program that checks it has them too",
  async () => {
    await using project = await createProject({
      "outside/data": "",
      "project/web.cjs": WEB,
      "project/package.json": {
        scripts: { web: `exec node web.cjs ${freePort()}`, db: "exec sleep 1000", test: "echo ran" },
      },
      "project/rtfig.toml": `[tasks.web]
service = true
permissions = true
[tasks.db]
service = true
permissions = true
ready.command = ["sh", "-c", "touch checked; touch ../outside/checked; true"]
[tasks.test]
depends-on = ["web", "db"]
`,
    });
    const { stdout, status } = await runRt({ args: ["run", "test"], cwd: project.join("project") });
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/web: Ready \(port \d+\)/),
    });
    expect(await Bun.file(project.join("project/checked")).exists()).toBe(true);
    expect(await Bun.file(project.join("outside/checked")).exists()).toBe(false);
  },
);
