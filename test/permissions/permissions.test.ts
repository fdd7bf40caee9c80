// Permissions of tasks: their table, trust, and what a task can do with them.
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { networkInterfaces } from "node:os";
import { dirname, join } from "node:path";
import { supportOfLinux } from "../../platform/permissions/linux/support.ts";
import { checkSupport } from "../../src/permissions/support-check.ts";
import { MAX_FILE_SIZE } from "../../platform/files/contract/files.ts";
import { createProject, type Files } from "../support/project.ts";
import { placeRt } from "../support/programs/programs.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { cleanEnvironment, expectRt, REPOSITORY, RT, runRt, ABSENT } from "../support/rt.ts";
import { hashIn } from "../support/trusted.ts";
import { AS_OTHER_USER, isRoot } from "../support/users.ts";

const sandbox = join(
  REPOSITORY,
  "platform/native/linux/compiled",
  process.arch === "arm64" ? "arm64" : "x64",
  "sandbox.bin",
);

const manifest = (scripts: Readonly<Record<string, string>>, more: object = {}): Files => ({
  "package.json": { name: "shop", scripts, ...more },
});

/** A project beside a folder that its tasks cannot reach. */
async function besideFolder(files: Files) {
  const inside = Object.entries(files).map(([name, content]) => [`project/${name}`, content] as const);
  return await createProject({ "outside/data": "outside\n", ...Object.fromEntries(inside) });
}

describe("table", () => {
  const rows: readonly (readonly [title: string, toml: string, message: string, hint: string])[] = [
    [
      "an unknown key has the nearest name in its hint",
      '[tasks.t.permissions]\nwrites = ["dist"]\n',
      'rtfig.toml:2: Unknown key "tasks.t.permissions.writes"',
      "did you mean tasks.t.permissions.write?",
    ],
    [
      "a host without a port is an error",
      '[tasks.t.permissions]\nhosts = ["https://api.acme.com/v1"]\n',
      'rtfig.toml:2: tasks.t.permissions.hosts has "https://api.acme.com/v1", which has no port',
      'write it as in "api.acme.com:443"',
    ],
    [
      "a host with a wildcard for a top-level domain is an error",
      '[tasks.t.permissions]\nhosts = ["*.com:443"]\n',
      'rtfig.toml:2: tasks.t.permissions.hosts has "*.com:443", which is too wide',
      'name a domain, as in "*.example.com:443", or "*" for all hosts',
    ],
    [
      "a number that resolvers read as an address is no host",
      '[tasks.t.permissions]\nhosts = ["2130706433:80"]\n',
      'rtfig.toml:2: tasks.t.permissions.hosts has "2130706433:80", which is not a host',
      'for example "api.example.com:443", "*.example.com:443" or "192.0.2.1:443"',
    ],
    [
      "the port of DNS is an error",
      '[tasks.t.permissions]\nhosts = ["192.0.2.1:53"]\n',
      'rtfig.toml:2: tasks.t.permissions.hosts has "192.0.2.1:53", which has the port of DNS',
      "remove it: rt resolves the names of permitted hosts",
    ],
    [
      "a glob of files is an error",
      '[tasks.t.permissions]\nwrite = ["src/*.ts"]\n',
      'rtfig.toml:2: tasks.t.permissions.write has "src/*.ts", which has wildcards',
      'name a folder, as in "dist" or "dist/**"',
    ],
    [
      "the home folder of another user is an error",
      '[tasks.t.permissions]\nread = ["~other/x"]\n',
      'rtfig.toml:2: tasks.t.permissions.read has "~other/x", which names the folder of another user',
      'write an absolute path, or "~/" for your own folder',
    ],
    [
      "a value of another type is an error",
      '[tasks.t]\npermissions = "all"\n',
      "rtfig.toml:2: tasks.t.permissions needs true or false, not a string",
      "",
    ],
  ];
  for (const [title, toml, message, hint] of rows)
    test(title, async () => {
      await expectRt({
        files: { ...manifest({ t: "echo" }), "rtfig.toml": toml },
        args: ["run", "t"],
        stderr: `error: ${message}\n${hint === "" ? "" : `hint: ${hint}\n`}`,
        status: 1,
      });
    });

  test("--locked needs permissions, and cannot be used with --no-permissions or --learn", async () => {
    const files = manifest({ t: "echo" });
    const other = { "--no-permissions": "--no-permissions", "--learn": "--learn" };
    for (const [option, name] of Object.entries(other))
      await expectRt({
        files,
        args: ["run", "--locked", option, "t"],
        stderr: `error: --locked cannot be used with ${name}\nhint: remove one of them\n`,
        status: 1,
      });
    await expectRt({
      files,
      args: ["run", "--locked", "t"],
      stderr: "error: --locked needs permissions, and no task has them\nhint: add --permissions\n",
      status: 1,
    });
  });

  test.each([
    ["the cache of a user", "~/.cache/**", {}],
    ["a folder in it", "~/.cache/rt/x", {}],
    ["the cache, also if the variable is relative", "~/.cache/**", { XDG_CACHE_HOME: "cache" }],
    ["the target of a link", "../store/**", {}],
    ["decisions about trust", "~/.local/state", {}],
  ] as const)(
    "a table may not open the folders from which rt starts programs: %s",
    async (_, entry, more) => {
      await using place = await createProject({
        "store/x": "",
        "home/.cache/x": "",
        "ws/package.json": { scripts: { t: "echo" } },
        "ws/rtfig.toml": `[tasks.t.permissions]\nwrite = [${JSON.stringify(entry)}]\n`,
      });
      if (entry.startsWith("../")) symlinkSync("../../store", place.join("home/.cache/rt"));
      const env = { HOME: place.join("home"), ...more };
      const { stderr, status } = await runRt({ args: ["run", "--dry-run", "t"], cwd: place.join("ws"), env });
      expect(stderr).toContain(`error: "${entry}" in permissions opens `);
      expect(status).toBe(1);
    },
  );

  test("--dry-run shows the rules of each task", async () => {
    await expectRt({
      files: {
        ...manifest({ build: "echo", free: "echo" }),
        "rtfig.toml":
          '[permissions]\ndefault = true\n[tasks.build.permissions]\nwrite = ["dist/**"]\nhosts = []\n[tasks.free]\npermissions = false\n',
      },
      args: ["run", "--dry-run", "--parallel", "build", "free"],
      stdout:
        "build\n  [tasks.build]: permissions\n  writes dist, its temporary folder\n  reads the project, the system, tools\n  connects to sockets in the project\n  $ echo\nfree\n  [tasks.free]: permissions\n  $ echo\n\n2 scripts would run\n",
    });
  });
});

describe.skipIf(process.platform !== "linux")("enforcement", () => {
  test("an entry outside of the project needs trust", async () => {
    await using place = await besideFolder({
      ...manifest({ t: "cat ../outside/data" }),
      "rtfig.toml": '[tasks.t.permissions]\nread = ["../outside"]\n',
    });
    const [cwd, args] = [place.join("project"), ["run", "--silent", "t"]];
    const refused = await runRt({ args, cwd });
    expect(refused.stdout).toBe("");
    expect(refused.stderr).toContain(
      "is not allowed to give tasks more permissions than the defaults: task t may read ../outside",
    );
    const trusted = await runRt({ args, cwd, env: { RT_TRUST: hashIn(refused) } });
    expect([trusted.stdout, trusted.stderr, trusted.status]).toEqual(["outside\n", "", 0]);
    const without = await runRt({ args: ["run", "--silent", "--no-permissions", "t"], cwd });
    expect(without.stdout).toBe("outside\n");
  });

  test("a task cannot read a token that an earlier task without permissions has given to npm", async () => {
    const npmrc = ".nvm/versions/node/v24.0.0/etc/npmrc";
    const reads = `cat ~/${npmrc}`;
    await using place = await besideFolder({
      "package.json": { scripts: { before: reads, login: `echo _authToken=t >> ~/${npmrc}`, after: reads } },
      "rtfig.toml": "[permissions]\ndefault = true\n[tasks.login]\npermissions = false\n",
    });
    await place.write({ [`home/${npmrc}`]: "audit=false\n" });
    const { stdout, stderr } = await runRt({
      args: ["run", "--silent", "--sequential", "--no-exit-on-error", "before", "login", "after"],
      cwd: place.join("project"),
      env: { HOME: place.join("home") },
    });
    expect(stdout).toBe("before | audit=false\n");
    expect(stderr).toContain(`${npmrc}: Permission denied`);
  });

  test("a task cannot read a configuration of npm that is too large for rt to read", async () => {
    const npmrc = ".nvm/versions/node/v24.0.0/etc/npmrc";
    await using place = await besideFolder(manifest({ t: `head -c 1 ~/${npmrc}` }));
    await place.write({ [`home/${npmrc}`]: "_authToken=t\n" });
    truncateSync(place.join(`home/${npmrc}`), MAX_FILE_SIZE + 1);
    const [cwd, env] = [place.join("project"), { HOME: place.join("home") }];
    const { stdout, stderr } = await runRt({ args: ["run", "--permissions", "t"], cwd, env });
    expect(stdout).toBe("");
    expect(stderr).toContain(`${npmrc}' for reading: Permission denied`);
  });

  test("a task starts where a file has the place of Playwright's browsers", async () => {
    await using place = await besideFolder(manifest({ t: "echo started" }));
    await place.write({ "home/.cache/ms-playwright": "" });
    const [cwd, env] = [place.join("project"), { HOME: place.join("home") }];
    const { stdout, status } = await runRt({ args: ["run", "--permissions", "t"], cwd, env });
    expect([stdout, status]).toEqual(["started\n", 0]);
  });

  test("only the folders of write can be written, and rt makes them", async () => {
    await using place = await besideFolder({
      ...manifest({
        t: "echo > dist/deep/a && echo b > $TMPDIR/b && cat $TMPDIR/b; echo > rtfig.toml; mkdir -p .git/hooks",
      }),
      "rtfig.toml": '[tasks.t.permissions]\nwrite = ["dist/deep/**"]\n',
    });
    const { stdout, stderr, status } = await runRt({ args: ["run", "t"], cwd: place.join("project") });
    expect([stdout, status]).toEqual(["b\n", 1]);
    expect(existsSync(place.join("project/dist/deep/a"))).toBe(true);
    expect(existsSync(place.join("project/.git"))).toBe(false);
    expect(readFileSync(place.join("project/rtfig.toml"), "utf8")).toContain("deep");
    expect(stderr).toContain("try rt run --no-permissions");
  });

  test("no task gets the ruleset that closes files of root to all tasks, and widens it", async () => {
    const program = `
import ctypes, os, struct
libc = ctypes.CDLL(None)
rule = ctypes.create_string_buffer(struct.pack("<Qi", 4, os.open("/etc", os.O_PATH)))
widen = lambda descriptor: libc.syscall(445, descriptor, 1, rule, 0) == 0
widened = sum(map(widen, range(3, 256)))
copies = []
process = os.getpid()
for _ in range(3):
    process = int(open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()[1])
    opened = libc.syscall(434, process, 0)
    copies += [each for each in (libc.syscall(438, opened, number, 0) for number in range(3, 128)) if each >= 0]
widened += sum(map(widen, copies))
def reads(path):
    try: return len(open(path).read()) > 0
    except PermissionError: return False
print(len(copies) > 0, widened, reads("/etc/hosts"), reads("/etc/shadow"))
`;
    const names = ["first", "second", "third", "free"];
    await using place = await besideFolder({
      ...manifest(Object.fromEntries(names.map((name) => [name, "/usr/bin/python3 program.py"]))),
      "program.py": program,
      "rtfig.toml": "[permissions]\ndefault = true\n[tasks.free]\npermissions = false\n",
    });
    const args = ["run", "--silent", "--sequential", ...names];
    const { stdout } = await runRt({ args, cwd: place.join("project") });
    const closed = "False 0 True False\n";
    const open = isRoot ? "True 1 True True\n" : "True 0 True False\n";
    expect(stdout.replaceAll(/^.*\| /gm, "")).toBe(`${closed}${closed}${closed}${open}`);
  });

  test("a later task of root uses what is new in /etc, mounted, or linked from a folder of the system, but no closed file", async () => {
    await using place = await besideFolder({
      ...manifest({
        first: "cat /etc/hosts",
        second: "cat /etc/hosts",
        change: "echo new > /etc/next; mv /etc/next /etc/hosts; mount --bind ../mounted /mnt",
        third: "cat /etc/hosts /mnt/data /etc/shadow; linked",
      }),
      "rtfig.toml":
        '[permissions]\ndefault = true\n[tasks.change]\npermissions = false\n[tasks.third.permissions]\nread = ["/mnt"]\n',
    });
    await place.write({
      "etc/hosts": "old\n",
      "etc/shadow": "hash\n",
      "mounted/data": "mounted\n",
      "opt/x": "",
    });
    await place.write({ "tools/linked": "#!/bin/sh\necho linked\n" });
    chmodSync(place.join("tools/linked"), 0o755);
    symlinkSync(place.join("tools"), place.join("opt/bin"));
    const args = ["run", "--silent", "--sequential", "first", "second", "change", "third"];
    const cwd = place.join("project");
    const hash = hashIn(await runRt({ args, cwd }));
    const enter = 'for each in etc opt; do mount --bind "$0/$each" "/$each"; done; exec "$@"';
    const inside = ["unshare", "-Urm", "sh", "-ec", enter, place.path];
    const { stdout, stderr } = await runRt({
      program: [...inside, RT],
      args,
      cwd,
      env: { RT_TRUST: hash, TMPDIR: place.path, PATH: `/opt/bin:${process.env.PATH}` },
    });
    expect(stdout.replaceAll(/^.*\| /gm, "")).toBe("old\nold\nnew\nmounted\nlinked\n");
    expect(stderr).toContain("/etc/shadow: Permission denied");
  });

  test("a task reads its project and tools in /opt, but not what is beside its project there, nor tokens of agents", async () => {
    const script =
      "cat ../../.credentials ../other /etc/buildkite-agent/token; cat own /opt/tool/file; linked";
    const agent = "opt/agent/_work";
    await using place = await createProject({
      [`${agent}/project/package.json`]: {
        scripts: { first: script, second: script },
        workspaces: ["packages/*"],
      },
      [`${agent}/project/own`]: "own\n",
      [`${agent}/other`]: "other\n",
      [`${agent}/_tool/bin/linked`]: "#!/bin/sh\necho linked\n",
      "opt/agent/.credentials": "token\n",
      "opt/tool/file": "tool\n",
      "etc/buildkite-agent/token": "token\n",
      "etc/hosts": "",
    });
    chmodSync(place.join(agent, "_tool/bin/linked"), 0o755);
    const enter = `for each in etc opt; do mount --bind "$0/$each" "/$each"; done; cd "/${agent}/project"; exec "$@"`;
    const { stdout, stderr } = await runRt({
      program: ["unshare", "-Urm", "sh", "-ec", enter, place.path, RT],
      args: ["run", "--silent", "--permissions", "--sequential", "first", "second"],
      cwd: place.path,
      env: { TMPDIR: place.path, PATH: `/${agent}/_tool/bin:${process.env.PATH}` },
    });
    const denied = stderr.match(/\S+: Permission denied/g);
    expect([stdout.replaceAll(/^.*\| /gm, ""), denied?.length]).toEqual(["own\ntool\nlinked\n".repeat(2), 6]);
  });

  test("a task has nothing of another task in its temporary folder, nor its mode, and folders for nx in it", async () => {
    const scripts = {
      clean: "echo $TMPDIR",
      changed: "echo $TMPDIR; chmod 711 $TMPDIR",
      a: "echo secret > $TMPDIR/a; ls -d $TMPDIR; test $NX_SOCKET_DIR$NX_NATIVE_FILE_CACHE_DIRECTORY = $TMPDIR/nx$TMPDIR/nx-library",
      b: "echo $TMPDIR; ls $TMPDIR $TMPDIR/../*/a; true",
      last: "true",
    };
    await using place = await besideFolder({
      ...manifest(scripts),
      "rtfig.toml": "[permissions]\ndefault = true\n",
    });
    const env = { TMPDIR: place.path };
    const args = ["run", "--silent", "--sequential", ...Object.keys(scripts)];
    const { stdout, stderr } = await runRt({ args, cwd: place.join("project"), env });
    expect(stdout + stderr).toContain("cannot access");
    expect(stdout).not.toContain("/a\n");
    // An empty folder is used again.
    const folders = stdout.match(/rt-\w{6}$/gm)!;
    expect(folders.map((each) => folders.indexOf(each))).toEqual([0, 0, 2, 3]);
    // A script that mentions nx gets a link for `bun`.
    const left = readdirSync(place.path).filter((name) => !name.startsWith("rt-links-"));
    expect(left.toSorted()).toEqual(["outside", "project"]);
  });

  test("the mode of an open file can be changed below the project only", async () => {
    // As tar does: it opens a file without access to its content.
    const code = (path: string) =>
      `import os; f = os.open("${path}", os.O_PATH); os.chmod(f"/proc/self/fd/{f}", 0o640); print("changed")`;
    const script = (path: string) => `python3 -c '${code(path)}'`;
    await using project = await besideFolder(
      manifest({ inside: script("package.json"), outside: script("../outside/data") }),
    );
    const run = (name: string) =>
      runRt({ args: ["--silent", "run", "--permissions", name], cwd: project.join("project") });
    expect((await run("inside")).stdout).toBe("changed\n");
    const outside = await run("outside");
    expect(outside.stdout).toBe("");
    expect(outside.stderr).toContain("PermissionError");
  });

  test("a folder of PATH that leads above HOME opens nothing, also where HOME is a symlink", async () => {
    await using project = await besideFolder(manifest({ t: "cat ../users/me/.npmrc || echo refused" }));
    await project.write({ "users/me/.npmrc": "token\n" });
    symlinkSync(project.join("users/me"), project.join("home"));
    symlinkSync(project.join("users"), project.join("tools"));
    const { stdout } = await runRt({
      args: ["--silent", "run", "--permissions", "t"],
      cwd: project.join("project"),
      env: { HOME: project.join("home"), PATH: `${project.join("tools")}:${process.env.PATH}` },
    });
    expect(stdout).toBe("refused\n");
  });

  test("env files of a package are closed if its folder cannot be listed, or its package.json is invalid", async () => {
    await using place = await besideFolder({
      ...manifest(
        { t: "cat packages/b/.env packages/c/.env || echo refused" },
        { workspaces: ["packages/*"] },
      ),
      "packages/b/package.json": { name: "b" },
      "packages/b/.env": "SECRET=1\n",
      "packages/c/package.json": "{",
      "packages/c/.env": "SECRET=2\n",
    });
    chmodSync(place.path, 0o777);
    chmodSync(place.join("project/packages/b"), 0o711);
    await placeRt(place.join("rt"));
    const { stdout } = await runRt({
      program: [...AS_OTHER_USER, place.join("rt")],
      args: ["--silent", "run", "--permissions", "t"],
      cwd: place.join("project"),
      env: { TMPDIR: place.path },
    });
    expect(stdout).toBe("refused\n");
  });

  test("a symlink in place of a folder of write is an error", async () => {
    await using place = await besideFolder({
      ...manifest({ t: "echo evil > dist/data" }),
      "rtfig.toml": '[tasks.t.permissions]\nwrite = ["dist/**"]\n',
    });
    symlinkSync(place.join("outside"), place.join("project/dist"));
    const { stderr, status } = await runRt({ args: ["run", "t"], cwd: place.join("project") });
    expect([status, stderr]).toEqual([1, expect.stringContaining("in permissions is a link to") as string]);
    expect(readFileSync(place.join("outside/data"), "utf8")).toBe("outside\n");
  });

  test("a task cannot write where an earlier task of the run has put a symlink in place of its folder", async () => {
    await using place = await createProject({
      "project/package.json": {
        scripts: {
          plant: "rm -r dist && ln -s ../outside dist",
          build: "echo changed > dist/file",
        },
      },
      "project/rtfig.toml":
        '[tasks.build]\ndepends-on = ["plant"]\n[tasks.build.permissions]\nwrite = ["dist/**"]\n',
      "project/dist/file": "",
      "outside/file": "own\n",
    });
    const { status } = await runRt({ args: ["run", "build"], cwd: place.join("project") });
    expect([status === 0, await Bun.file(place.join("outside/file")).text()]).toEqual([false, "own\n"]);
  });

  test("a symlink in place of a socket that a task can replace is not followed", async () => {
    const code = `import socket; socket.socket(socket.AF_UNIX).connect("own.sock"); print("connected")`;
    await using place = await besideFolder({
      ...manifest({ t: `python3 -c '${code}'` }),
      "rtfig.toml": '[tasks.t.permissions]\nsockets = ["own.sock"]\n',
    });
    using _service = Bun.listen({ unix: place.join("outside/service.sock"), socket: { data() {} } });
    symlinkSync("../outside/service.sock", place.join("project/own.sock"));
    const { stdout, stderr } = await runRt({ args: ["--silent", "run", "t"], cwd: place.join("project") });
    expect(stdout).toBe("");
    expect(stderr).toContain("PermissionError");
  });

  test("a task uses its project, its sockets and loopback by default", async () => {
    const program = `
      import { createServer, connect } from "node:net";
      import * as fs from "node:fs";
      import { join } from "node:path";
      import { tmpdir } from "node:os";
      const results = [];
      for (const where of [{ port: 0, host: "127.0.0.1" }, { path: "own.sock" }, { path: join(tmpdir(), "own.sock") }]) {
        const server = createServer((socket) => socket.end("answer"));
        await new Promise((resolve) => server.listen(where, resolve));
        const target = where.path ? where : { port: server.address().port, host: "localhost" };
        results.push(await new Promise((resolve, reject) => connect(target).on("data", (data) => resolve(String(data))).on("error", reject)));
        server.close();
      }
      fs.mkdirSync("a/b", { recursive: true });
      fs.writeFileSync("file", "text");
      fs.chmodSync("file", 0o700);
      fs.renameSync("file", "a/b/file");
      fs.linkSync("a/b/file", "a/file");
      results.push((fs.statSync("a/file").mode & 0o777).toString(8));
      console.log(results.join(" "));
      process.exit(0);`;
    await using place = await besideFolder({
      ...manifest({ t: "rt ./program.ts && rt run nested", nested: "echo nested; exit 3" }),
      "program.ts": program,
    });
    const { stdout, status } = await runRt({
      args: ["run", "--silent", "--permissions", "t"],
      cwd: place.join("project"),
    });
    expect([stdout, status]).toEqual(["answer answer answer 700\nnested\n", 3]);
  });

  test("--locked fails a task whose refused socket has a name that begins with a line break", async () => {
    await using place = await besideFolder({
      ...manifest({ t: "/usr/bin/python3 program.py" }),
      "program.py":
        'import socket\ntry: socket.socket(socket.AF_UNIX).connect("\\0\\nname")\nexcept PermissionError: print("refused")\n',
    });
    const { stdout, stderr, status } = await runRt({
      args: ["run", "--silent", "--permissions", "--locked", "t"],
      cwd: place.join("project"),
    });
    expect([stdout, status]).toEqual(["refused\n", 1]);
    expect(stderr).toContain("connects to the abstract socket");
  });

  test("hosts = [] refuses loopback too, and a signal of the script is passed on", async () => {
    await using place = await besideFolder({
      ...manifest({ t: "rt ./program.ts; kill -TERM $$" }),
      "program.ts": `try { await fetch("http://127.0.0.1:9/") } catch {}`,
      "rtfig.toml": "[tasks.t.permissions]\nhosts = []\n",
    });
    const { stderr, status } = await runRt({ args: ["run", "t"], cwd: place.join("project") });
    expect(status).toBe("SIGTERM");
    expect(stderr).toContain("connects to 127.0.0.1:9;");
  });

  test('hosts = ["*"] opens other hosts and UDP, with trust', async () => {
    const address = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
    using server = Bun.serve({ hostname: "0.0.0.0", port: 0, fetch: () => new Response("answer") });
    await using place = await besideFolder({
      ...manifest({ t: "rt ./program.ts" }),
      "program.ts": `
        const socket = await Bun.udpSocket({});
        socket.close();
        console.log(await (await fetch("http://${address ?? "127.0.0.1"}:${server.port}/")).text());`,
      "rtfig.toml": '[tasks.t.permissions]\nhosts = ["*"]\n',
    });
    const [cwd, args] = [place.join("project"), ["run", "--silent", "t"]];
    const { stdout } = await runRt({ args, cwd, env: { RT_TRUST: hashIn(await runRt({ args, cwd })) } });
    expect(stdout).toBe("answer\n");
  });

  test("a secret of the task reaches it and is redacted, and other variables do not", async () => {
    await using place = await besideFolder({
      ...manifest({
        t: "echo $API_TOKEN $OTHER_TOKEN $API_URL; curl -s --unix-socket ../outside/$API_TOKEN http://x/; true",
      }),
      "rtfig.toml":
        '[secrets.API_TOKEN]\nfrom = "shop/api"\n[tasks.t]\npermissions = true\nsecrets = ["API_TOKEN"]\nenv = ["API_URL"]\n',
    });
    const given = { API_TOKEN: "the-token-of-the-api", OTHER_TOKEN: "other", API_URL: "url" };
    chmodSync(place.path, 0o777);
    using _server = Bun.listen({ unix: place.join("outside", given.API_TOKEN), socket: { data() {} } });
    // Other users may not reach the checkout.
    await placeRt(place.join("rt"));
    const env = { ...given, TMPDIR: place.path };
    const cwd = place.join("project");
    // With secrets, the kernel closes rt's own memory to other programs of a user, but not to those of root.
    const program = [...AS_OTHER_USER, place.join("rt")];
    const args = ["run", "--silent", "t"];
    const { stdout, stderr } = await runRt({ program, args, cwd, env });
    expect(stdout).toBe("[API_TOKEN] url\n");
    // A refusal names the socket.
    expect(stderr).toContain("outside/[API_TOKEN]");
    expect(stderr).not.toContain(given.API_TOKEN);
    // Without permissions, a single script would inherit the terminal.
    for (const filter of [[], ["--filter=shop"]]) {
      const command = [...program, ...args.toSpliced(1, 0, ...filter)];
      await using terminal = startOnTerminal(command, cleanEnvironment(env), { cwd, isSessionLeader: true });
      expect(await terminal.awaitExit()).toBe(0);
      await terminal.awaitClose();
      expect(terminal.shown).toContain("[API_TOKEN] url");
      expect(terminal.shown).not.toContain(given.API_TOKEN);
    }
  });

  test("a cached task has its permissions in the key, and cannot read more when it is traced", async () => {
    await using place = await besideFolder({
      ...manifest({ t: "cat ../outside/data > out 2>&1; wc -l < package.json > count" }),
      "rtfig.toml": "[tasks.t]\ncache = true\npermissions = true\n",
    });
    const env = { XDG_CACHE_HOME: place.join("cache") };
    const run = async (...options: string[]) => {
      const { stderr } = await runRt({
        args: ["run", "--why", ...options, "t"],
        cwd: place.join("project"),
        env,
      });
      return [readFileSync(place.join("project/out"), "utf8"), stderr];
    };
    const [first] = await run();
    expect(first).toContain("Permission denied");
    const [, again] = await run();
    expect(again).toContain("cache hit");
    const [without, why] = await run("--no-permissions");
    expect(without).toBe("outside\n");
    expect(why).not.toContain("cache hit");
  });

  test("a task does not start if a restriction cannot be installed", async () => {
    // The tracer of the cached task has the only listener that a process tree can have.
    await using place = await besideFolder({
      ...manifest({ outer: "rt run --permissions inner", inner: "echo > started" }),
      "rtfig.toml": "[tasks.outer]\ncache = true\n",
    });
    const { stderr, status } = await runRt({
      args: ["run", "outer"],
      cwd: place.join("project"),
      env: { XDG_CACHE_HOME: place.join("cache") },
    });
    expect(stderr).toContain(
      "error: Permissions cannot be enforced, so nothing was started: the seccomp listener failed (errno 16)\n",
    );
    expect([status, existsSync(place.join("project/started"))]).toEqual([126, false]);
  });

  test("rt keeps no descriptor of a task that has ended", async () => {
    const count = "ls /proc/$PPID/fd | wc -l";
    // rt closes the pipes and the pidfd of a task shortly after its end, so the numbers may differ.
    const tasks = Array.from({ length: 12 }, (_, index) => `t${index}`);
    // As root, the second task opens a ruleset for all further ones.
    const names = ["first", "second", "before", ...tasks, "after"];
    const scripts = Object.fromEntries(names.map((name) => [name, "true"]));
    await using place = await createProject({
      ...manifest({ ...scripts, before: count, after: count }),
      "rtfig.toml":
        "[permissions]\ndefault = true\n[tasks.before]\npermissions = false\n[tasks.after]\npermissions = false\n",
    });
    const { stdout } = await runRt({
      args: ["run", "--silent", "--sequential", ...names],
      cwd: place.path,
    });
    const [before, after] = stdout.match(/\d+$/gm) ?? [];
    expect(Number(before)).toBeGreaterThan(3);
    expect(Number(after) - Number(before)).toBeLessThan(tasks.length / 2);
  });

  test("a task does not start, with a message, if the list of its rules is incomplete", async () => {
    const program = `
import os, struct, subprocess
rules = os.memfd_create("rules")
paths = b"h${ABSENT}\\0r/usr\\0R/bin\\0R/lib\\0R/lib64"
os.write(rules, struct.pack("<iiiiiiQ", 0, 0, -1, -1, 0, len(paths), 0) + paths)
launcher = os.memfd_create("launcher")
os.write(launcher, open("${sandbox}", "rb").read())
passed = (rules, launcher)
words = ["rt-permitted", *["0"] * 4, str(rules), "0", "0", str(launcher), "/bin/echo", "echo", "started"]
done = subprocess.run(words, executable=f"/proc/self/fd/{launcher}", pass_fds=passed, capture_output=True, text=True)
print(done.returncode, done.stdout + done.stderr, end="")`;
    const { stdout, stderr } = Bun.spawnSync(["python3", "-c", program]);
    expect(stderr.toString() + stdout.toString()).toBe(
      "126 error: Permissions cannot be enforced, so nothing was started: reading its rules failed (errno 22)\n",
    );
  });

  test("a task inherits no descriptor of its launcher, which reaps orphans and survives 70 connections at a time", async () => {
    const program = `
import os, socket, subprocess, threading
print(*sorted(each for each in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + each)))
server = socket.create_server(("127.0.0.1", 0), backlog=0)
busy = []
def connect():
    try: socket.create_connection(server.getsockname())
    except BlockingIOError: busy.append(1)
threads = [threading.Thread(target=connect, daemon=True) for each in range(70)]
for each in threads: each.start()
while not busy: pass
reader, writer = os.pipe()
orphan = subprocess.run(["sh", "-c", "exec 3<&0; cat <&3 >/dev/null & echo $!"], stdout=subprocess.PIPE, stdin=reader).stdout
os.close(writer)
while os.path.exists("/proc/" + orphan.decode().strip()): pass
print("reaped", flush=True)
os._exit(0)`;
    await using place = await besideFolder({
      ...manifest({ t: "/usr/bin/python3 program.py" }),
      "program.py": program,
    });
    const { stdout, stderr, status } = await runRt({
      args: ["run", "--silent", "--permissions", "t"],
      cwd: place.join("project"),
    });
    expect([stdout, stderr, status]).toEqual(["0 1 2\nreaped\n", "", 0]);
  });

  test("an older kernel is an obstacle without Landlock 3, and lacks signals before 6", () => {
    expect(supportOfLinux(0).obstacle).toContain("no Landlock");
    expect(supportOfLinux(2).obstacle).toContain("version 2 of Landlock, and 3 is needed");
    expect(supportOfLinux(5)).toEqual({ missing: [expect.stringContaining("signals") as string] });
    expect(supportOfLinux(6)).toEqual({ missing: [] });
  });

  test("--locked makes a restriction that the kernel lacks an error instead of a warning", () => {
    const tasks = [{ label: "build" }];
    const gap =
      "permissions do not cover signals to processes outside of the task (Linux 6.12) on this system";
    expect(checkSupport(supportOfLinux(5), tasks, false)).toBe(`warning: ${gap}`);
    expect(() => checkSupport(supportOfLinux(5), tasks, true)).toThrow(`--locked: ${gap}`);
    expect(checkSupport(supportOfLinux(6), tasks, true)).toBeUndefined();
    expect(() => checkSupport(supportOfLinux(2), tasks, false)).toThrow(
      "The permissions of build cannot be enforced: the kernel has version 2 of Landlock",
    );
  });

  test("vite, tsc, vitest and esbuild run under the defaults", async () => {
    const packages = ["vite", "typescript", "vitest", "esbuild"];
    await using place = await besideFolder({
      ...manifest(
        {
          t: "vite build --logLevel warn && tsc -p . && vitest run && esbuild --bundle src/main.ts --outfile=out/bundle.js",
        },
        { type: "module" },
      ),
      "rtfig.toml": `[tasks.t.permissions]\nread = [${JSON.stringify(join(REPOSITORY, "node_modules"))}]\n`,
      "index.html": '<script type="module" src="/src/main.ts"></script>',
      "src/main.ts": 'import { add } from "./add";\nconsole.log(add(1));\n',
      "src/add.ts":
        "export const add = (value: number): number => value + 1;\ndeclare global {\n  const console: { log(value: unknown): void };\n}\n",
      "test/add.test.ts":
        'import { expect, test } from "vitest";\nimport { add } from "../src/add";\ntest("adds", () => expect(add(1)).toBe(2));\n',
      "tsconfig.json": {
        compilerOptions: {
          outDir: "out",
          rootDir: "src",
          types: [],
          // The declarations of the browser take a second.
          lib: ["es5"],
          module: "esnext",
          moduleResolution: "bundler",
        },
        include: ["src"],
      },
    });
    for (const name of [
      ...packages,
      ...packages.map((each) => `.bin/${each === "typescript" ? "tsc" : each}`),
    ]) {
      const link = place.join("project/node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(REPOSITORY, "node_modules", name), link);
    }
    const [cwd, args] = [place.join("project"), ["run", "--silent", "t"]];
    const { stdout, stderr, status } = await runRt({
      args,
      cwd,
      env: { RT_TRUST: hashIn(await runRt({ args, cwd })) },
    });
    expect([status, stderr]).toEqual([0, expect.not.stringContaining("was refused") as string]);
    expect(stdout).toContain("1 passed");
    for (const file of ["dist/index.html", "out/main.js", "out/bundle.js"])
      expect(existsSync(join(cwd, file))).toBe(true);
  });
});
