// When a service is ready, and what is said when it is not.
import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { RT, runRt } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";
import { ask, createServices, logOf, runServices, serve } from "./server.ts";

const config = (ready: string) => `[tasks.db]\nservice = true\n${ready}\n[tasks.test]\ndepends-on = ["db"]\n`;

/** `late.js`: listens when the file "go" exists. */
const late = (before: string, address: string) => `
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
${before}
writeFileSync("begun", "");
while (!existsSync("go")) await Bun.sleep(20);
createServer((socket) => socket.end("hello")).listen(${address}, () => writeFileSync("listens", ""));
`;

describe("a service without ready", () => {
  test("a service is ready when it listens on a Unix socket", async () => {
    await using project = await createServices({ db: `exec ${RT} late.js`, test: "ls listens" }, config(""), {
      "late.js": late('writeFileSync("go", "");', '"db.sock"'),
    });
    const { status, lines } = await runServices(project, "test");
    expect({ status, ready: lines.find((line) => line.includes("Ready")) }).toEqual({
      status: 0,
      ready: "db: Ready (db.sock)",
    });
  });

  test("a service is not ready when only its debugger listens", async () => {
    await using project = await createServices(
      {
        db: `exec node --inspect=${freePort().port} late.mjs`,
        test: "ls listens",
        open: "until test -e begun; do sleep 0.05; done; sleep 0.5; touch go",
      },
      config(""),
      { "late.mjs": late("", "0").replace("Bun.sleep(20)", "new Promise((done) => setTimeout(done, 20))") },
    );
    const { status, stdout } = await runServices(project, "test", "open");
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining("test: listens") });
  });

  test("a service is not ready when a tool's own socket listens", async () => {
    await using project = await createServices(
      {
        db: `exec ${RT} late.js`,
        test: "ls listens",
        open: "until test -e begun; do sleep 0.05; done; sleep 0.5; touch go",
      },
      config(""),
      { "late.js": late('createServer().listen("tsx-0/1.pipe");', "0"), "tsx-0/keep": "" },
    );
    expect((await runServices(project, "test", "open")).status).toBe(0);
  });

  test("a service is not ready when another program listens", async () => {
    using other = Bun.serve({ port: 0, fetch: () => new Response() });
    await using project = await createServices(
      { db: "echo waits; exec sleep 1000", test: "echo never" },
      config('ready = { timeout = "1s" }'),
    );
    const { status, lines, stderr } = await runServices(project, "test");
    expect(other.port).toBeGreaterThan(0);
    expect({ status, last: lines.slice(-2) }).toEqual({
      status: 124,
      last: [
        "db: Not ready after 1s; rt waited for a TCP port or Unix socket on which it listens",
        "test: Skipped because db did not succeed",
      ],
    });
    expect(stderr).toStartWith("The last lines of db:\n  waits\n");
  });
});

describe("ready", () => {
  test("port waits for a connection", async () => {
    const { port } = freePort();
    await using project = await createServices(
      { db: serve("db"), test: ask("db") },
      config(`ready = { port = ${port} }`),
    );
    await project.write({
      "server.js": `setTimeout(() => { Bun.serve({ port: ${port}, fetch: () => new Response("db") }); require("fs").writeFileSync("db.port", "${port}"); }, 100)`,
    });
    const { status, lines } = await runServices(project, "test");
    expect({ status, lines: lines.slice(0, 2) }).toEqual({
      status: 0,
      lines: [`db: Ready (port ${port})`, "test: db"],
    });
  });

  test("port is an error when another program uses the port", async () => {
    using other = Bun.serve({ port: 0, fetch: () => new Response() });
    await using project = await createServices(
      { db: serve("db"), test: "echo never" },
      config(`ready = { port = ${other.port} }`),
    );
    const { status, lines } = await runServices(project, "test");
    expect({ status, lines }).toEqual({
      status: 1,
      lines: [
        `db: Port ${other.port} is in use by another program`,
        "test: Skipped because db did not succeed",
      ],
    });
  });

  test("log waits for a text, also in colours and across writes", async () => {
    await using project = await createServices(
      {
        db: "printf 'rea\\033[32mdy'; touch printed; echo ' in 5 ms'; exec sleep 1000",
        test: "ls printed",
      },
      config('ready = { log = "ready in" }'),
    );
    const { status, stdout, left } = await runServices(project, "test");
    expect({ status, left }).toEqual({ status: 0, left: [] });
    expect(stdout).toContain('db: Ready ("ready in")\n');
  });

  test("http waits for a status of success", async () => {
    const { port } = freePort();
    const url = `http://localhost:${port}/health`;
    const server = (status: string) =>
      `let count = 0; Bun.serve({ port: ${port}, fetch: () => new Response("", { status: ${status} }) });`;
    await using project = await createServices(
      { db: `exec ${RT} server.js`, test: "echo ran" },
      config(`ready = { http = "${url}" }`),
      { "server.js": server("count++ < 3 ? 503 : 200") },
    );
    expect((await runServices(project, "test")).lines.slice(0, 2)).toEqual([
      `db: Ready (${url})`,
      "test: ran",
    ]);
  });

  test("http names the last status after the limit", async () => {
    using other = Bun.serve({ port: 0, fetch: () => new Response("", { status: 500 }) });
    const url = `http://localhost:${other.port}/health`;
    await using project = await createServices(
      { db: "exec sleep 1000", test: "echo never" },
      config(`ready = { http = "${url}", timeout = "2s" }`),
    );
    expect((await runServices(project, "test")).lines.at(-2)).toBe(
      `db: Not ready after 2s; rt waited for ${url}, which answers with status 500; it printed nothing`,
    );
  });

  test("command waits for exit code 0, with the service's directory and programs", async () => {
    await using project = await createServices(
      { db: "exec sleep 1000", test: "cat attempts" },
      config('ready = { command = ["check"] }'),
      { "node_modules/.bin/check": "#!/bin/sh\necho x >> attempts; test $(wc -l < attempts) -gt 2\n" },
    );
    chmodSync(project.join("node_modules/.bin/check"), 0o755);
    const { status, lines } = await runServices(project, "test");
    expect({ status, lines: lines.slice(0, 4) }).toEqual({
      status: 0,
      lines: ['db: Ready ("check")', "test: x", "test: x", "test: x"],
    });
  });

  test("the last lines of a service do not contain secrets", async () => {
    await using project = await createServices(
      { db: "echo $TOKEN; exit 1", test: "echo never" },
      `${config('secrets = ["TOKEN"]')}[secrets.TOKEN]\nfrom.command = ["echo", "value-of-the-token"]\n`,
    );
    const env = { RT_TRUST: await trustOf(project.path) };
    const { stdout, stderr } = await runRt({ args: ["run", "test"], cwd: project.path, env });
    expect(stderr).toContain("The last lines of db:\n");
    expect(stdout + stderr).not.toContain("value-of-the-token");
  });
});

function freePort(): { readonly port: number } {
  using server = Bun.serve({ port: 0, fetch: () => new Response() });
  return { port: server.port! };
}

test("an error names the line of a key that a service cannot have", async () => {
  const cases: [string, string, string?][] = [
    ["service = true\nretries = 1", "retries cannot be used with service = true"],
    ["service = true\ncache = true", "cache cannot be used with service = true"],
    ['outputs = ["dist"]\nservice = true', "outputs cannot be used with service = true"],
    ['interactive = true\ntimeout = "1m"', "timeout cannot be used with interactive = true"],
    ['service = true\nready = { port = 1, log = "x" }', "ready has port and log"],
    [
      'service = true\nready = { http = "localhost:3000" }',
      'ready has http = "localhost:3000", which is not a URL',
    ],
    ["service = true\nready = { command = [] }", "ready has a command without a program"],
    ['service = true\nready = { timeout = "soon" }', 'ready has timeout = "soon"'],
  ];
  for (const [rows, problem] of cases) {
    await using project = await createServices({ db: "true" }, `[tasks.db]\n${rows}\n`);
    const { stderr, status } = await runServices(project, "db");
    const key = problem.split(" ")[0]!;
    const line = `[tasks.db]\n${rows}`.split("\n").findIndex((each) => each.startsWith(key)) + 1;
    expect({ status, first: stderr.split("\n")[0] }).toEqual({
      status: 1,
      first: `error: rtfig.toml:${line}: tasks.db.${problem}`,
    });
  }
});

test("a service is neither cached nor retried when another row says so for all tasks", async () => {
  await using project = await createServices(
    { db: serve("db"), test: ask("db") },
    '[tasks."*"]\ncache = true\nretries = 2\ntimeout = "1h"\n[tasks.db]\nservice = true\n[tasks.test]\ndepends-on = ["db"]\n',
  );
  const { status, stdout } = await runServices(project, "--dry-run", "test");
  expect({ status, rows: stdout.match(/^db\n(?: {2}.*\n)*/)?.[0] }).toEqual({
    status: 0,
    rows: `db\n  [tasks.db]: service\n  $ ${serve("db")}\n`,
  });
  expect((await runServices(project, "test")).status).toBe(0);
  expect(await logOf(project)).toEqual(["db started", "db ended"]);
});
