// Host names in the permissions of tasks, with a DNS server and addresses of their own (hosts/world.ts).
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createProject } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";
import { hashIn } from "../support/trusted.ts";

const WORLD = join(import.meta.dir, "hosts/world.ts");
const LIKE_DOCKER = ["/usr/bin/python3", join(import.meta.dir, "hosts/forbidden-call.py")];
/** Gives the namespaces addresses beyond loopback, and a DNS server. */
const ENTER = `
ip link set lo up
for each in 198.51.100.7 198.51.100.9 10.1.2.3; do ip address add $each/32 dev lo; done
mount --bind "$0/resolv.conf" /etc/resolv.conf
mount --bind "$0/hosts" /etc/hosts
exec "$@"`;

const QUERIES = readFileSync(join(import.meta.dir, "hosts/queries.ts"), "utf8");
const FILES = {
  "etc/resolv.conf": "nameserver 127.0.0.1\nsearch corp.test\n",
  "etc/hosts": "127.0.0.1 localhost\n198.51.100.9 file.acme.test\n127.0.0.1 here.acme.test\n",
};

/**
 * Runs a task in the world.
 * @param lines programs of the task
 * @param hosts entries of its table
 * @param wrapper a program that starts rt
 */
async function runTask(
  lines: readonly string[],
  hosts: string | undefined,
  args: readonly string[] = ["--silent"],
  wrapper: readonly string[] = [],
) {
  await using place = await createProject({
    ...FILES,
    "shop/package.json": { name: "shop", scripts: { t: "sh ./t.sh" } },
    "shop/queries.ts": QUERIES,
    "shop/t.sh": `${lines.join("\n")}\n`,
    "shop/rtfig.toml": `[tasks.t.permissions]\n${hosts === undefined ? "" : `hosts = ${hosts}\n`}`,
  });
  const cwd = place.join("shop");
  const hash = hashIn(await runRt({ args: ["run", "t"], cwd }));
  const inside = ["unshare", "-Urnm", "sh", "-ec", ENTER, place.join("etc"), process.execPath, WORLD];
  const result = await runRt({
    program: [...inside, ...wrapper, RT],
    args: ["run", ...args, "t"],
    cwd,
    env: hash === undefined ? {} : { RT_TRUST: hash },
  });
  const [, stdout = "", asked = ""] = /^([^]*)asked: (.*)\n$/.exec(result.stdout) ?? [];
  return { ...result, stdout, asked };
}

const fetchBy = {
  curl: (url: string) => `curl -s --max-time 20 ${url} || echo failed`,
  node: (url: string) =>
    `node -e 'fetch("${url}").then((it) => it.text()).then((it) => process.stdout.write(it), () => console.log("failed"))'`,
  python: (url: string) =>
    `/usr/bin/python3 -c 'import urllib.request as r; print(r.urlopen("${url}").read().decode(), end="")' 2>&- || echo failed`,
  rt: (url: string) =>
    `${RT} -p 'await fetch("${url}").then((it) => it.text()).then((it) => it.trim(), () => "failed")'`,
};
const resolveByNode = (name: string) =>
  `node -e 'require("dns").resolve4("${name}", (error, found) => console.log(error ? error.code : found.join()))'`;

describe.skipIf(process.platform !== "linux")("permitted hosts", () => {
  test("programs reach a listed host by its name, on its port only", async () => {
    const url = "http://api.acme.test:8080/";
    const { stdout, stderr, asked } = await runTask(
      [
        ...Object.values(fetchBy).map((line) => line(url)),
        resolveByNode("api.acme.test"),
        fetchBy.curl("http://api.acme.test:80/"),
        fetchBy.curl("http://10.1.2.3:8080/"),
      ],
      '["api.acme.test:8080"]',
    );
    expect(stdout).toBe(`${"served by 198.51.100.7:8080\n".repeat(4)}198.51.100.7\n${"failed\n".repeat(2)}`);
    expect(stderr.replaceAll(/process \d+/g, "process N")).toBe(
      [
        'warning: t was refused: curl (process N) connects to api.acme.test:80; to allow it, change in [tasks.t.permissions] of rtfig.toml: hosts = ["api.acme.test:8080", "api.acme.test:80"]\n',
        'warning: t was refused: curl (process N) connects to 10.1.2.3:8080; to allow it, change in [tasks.t.permissions] of rtfig.toml: hosts = ["api.acme.test:8080", "10.1.2.3:8080"]\n',
      ].join(""),
    );
    expect(asked).toBe("api.acme.test");
  });

  test("connections work where the container forbids pidfd_getfd, as Docker's default does", async () => {
    const url = "http://api.acme.test:8080/";
    const local = `/usr/bin/python3 -c 'import socket, threading; server = socket.socket(socket.AF_UNIX); server.bind("s"); server.listen(); client = socket.socket(socket.AF_UNIX); client.settimeout(20); client.connect("s"); client.sendall(b"local"); print(server.accept()[0].recv(9).decode())'`;
    const { stdout, stderr } = await runTask(
      [
        ...Object.values(fetchBy).map((line) => line(url)),
        fetchBy.curl("http://10.1.2.3:8080/"),
        fetchBy.curl("http://198.51.100.7:8081/"),
        local,
      ],
      '["api.acme.test:*"]',
      ["--silent"],
      LIKE_DOCKER,
    );
    expect(stdout).toBe(`${"served by 198.51.100.7:8080\n".repeat(4)}${"failed\n".repeat(2)}local\n`);
    expect(stderr.replaceAll(/process \d+/g, "process N")).toBe(
      'warning: t was refused: curl (process N) connects to 10.1.2.3:8080; to allow it, change in [tasks.t.permissions] of rtfig.toml: hosts = ["api.acme.test:*", "10.1.2.3:8080"]\n',
    );
    const open = await runTask(
      [...Object.values(fetchBy).map((line) => line(url)), resolveByNode("api.acme.test")],
      '["*"]',
      ["--silent"],
      LIKE_DOCKER,
    );
    expect([open.stdout, open.stderr]).toEqual([
      `${"served by 198.51.100.7:8080\n".repeat(4)}198.51.100.7\n`,
      "",
    ]);
  });

  test("a name that is not listed does not leave the machine, and is explained once", async () => {
    const { stdout, stderr, asked } = await runTask(
      [
        fetchBy.curl("http://data.evil.test:8080/"),
        fetchBy.node("http://data.evil.test:8080/"),
        resolveByNode("api.acme.test.evil.test"),
        resolveByNode("xapi.acme.test"),
      ],
      undefined,
    );
    expect(stdout).toBe(`${"failed\n".repeat(2)}${"ENOTFOUND\n".repeat(2)}`);
    const lines = stderr
      .replaceAll(/: \S+ \(process \d+\)/g, ":")
      .trimEnd()
      .split("\n");
    expect(lines).toEqual(
      ["data.evil.test", "api.acme.test.evil.test", "xapi.acme.test"].map(
        (name) =>
          `warning: t was refused: looks up the host ${name}; to allow it, add to [tasks.t.permissions] of rtfig.toml: hosts = ["localhost:*", "${name}:443"] (or with another port)`,
      ),
    );
    expect(asked).toBe("");
  });

  test("an answer with an address of this host or its link opens nothing", async () => {
    const { stdout, stderr } = await runTask(
      [
        fetchBy.curl("http://rebound.acme.test:8080/"),
        fetchBy.curl("http://half.acme.test:8080/"),
        fetchBy.curl("http://here.acme.test:8080/"),
        fetchBy.curl("http://127.0.0.1:8080/"),
        fetchBy.curl("http://half.acme.test:853/"),
      ],
      '["rebound.acme.test:*", "half.acme.test:*", "here.acme.test:*"]',
    );
    expect(stdout).toBe("failed\nserved by 198.51.100.7:8080\nfailed\nfailed\nfailed\n");
    expect(stderr).toContain(
      "looks up the host rebound.acme.test, whose address is that of this machine or its link",
    );
    expect(stderr).toContain("connects to half.acme.test:853;");
  });

  test("a wildcard opens names below it, and no private address", async () => {
    const { stdout, stderr } = await runTask(
      [
        fetchBy.curl("http://EU.cdn.test:8080/"),
        fetchBy.curl("http://intern.cdn.test:8080/"),
        fetchBy.curl("http://cdn.test:8080/"),
        fetchBy.curl("http://intern.acme.test:8080/"),
      ],
      '["*.cdn.test:8080", "intern.acme.test:8080"]',
    );
    expect(stdout).toBe("served by 198.51.100.7:8080\nfailed\nfailed\nserved by 10.1.2.3:8080\n");
    expect(stderr).toContain("looks up the host intern.cdn.test, whose address is private, by a wildcard");
    expect(stderr).toContain("looks up the host cdn.test;");
  });

  test("names of /etc/hosts and of the search list, and addresses, are hosts", async () => {
    const { stdout, stderr } = await runTask(
      [
        fetchBy.curl("http://file.acme.test:8080/"),
        fetchBy.curl("http://db:8080/"),
        fetchBy.curl("http://198.51.100.9:80/"),
        fetchBy.curl("http://localhost:8080/"),
        fetchBy.node("http://app.localhost:8080/"),
      ],
      '["file.acme.test:8080", "db:8080", "198.51.100.9:80", "localhost:8080"]',
    );
    expect([stdout, stderr]).toEqual([
      "served by 198.51.100.9:8080\nserved by 198.51.100.7:8080\nserved by 198.51.100.9:80\nserved by 127.0.0.1:8080\nserved by 127.0.0.1:8080\n",
      "",
    ]);
  });

  test("malformed, long and many queries end their connection, and others are answered", async () => {
    const { stdout, asked } = await runTask(
      [`${RT} queries.ts`],
      '["api.acme.test:8080", "*.cdn.test:8080"]',
    );
    expect(stdout).toBe(
      "pointer: closed\nlong name: closed\nlong message: closed\ntwo questions: closed\nanswer: closed\nnothing: closed\nvalid: answered\nin two parts: answered\n200 connections: some connected\nafter these: answered\n",
    );
    expect(asked).toBe("api.acme.test");
  });

  test("--learn proposes hosts by their names", async () => {
    const { stdout } = await runTask(
      ["api.acme.test", "file.acme.test", "localhost"].map((name) => fetchBy.curl(`http://${name}:8080/`)),
      undefined,
      ["--silent", "--learn"],
    );
    expect(stdout).toContain('+ hosts = ["localhost:*", "api.acme.test:8080", "file.acme.test:8080"]\n');
  });

  test("--explain uses rt's resolver too", async () => {
    const { stdout, stderr } = await runTask(
      [fetchBy.curl("http://api.acme.test:8080/"), fetchBy.curl("http://evil.test:8080/")],
      '["api.acme.test:8080"]',
      ["--silent", "--explain"],
    );
    expect(stdout).toBe("served by 198.51.100.7:8080\nfailed\n");
    expect(stderr).toContain(
      'looks up the host evil.test; to allow it, change in [tasks.t.permissions] of rtfig.toml: hosts = ["api.acme.test:8080", "evil.test:443"]',
    );
  });
});
