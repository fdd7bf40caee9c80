// A hostile script tries to reach credentials, sockets, other processes and files outside of its project. Each attempt works
// without permissions, and fails with them. docs/reference/security.md has the numbers.
//
// Non-obvious: all attempts of one side are made by one process, because starts take longer than attempts.
import { beforeAll, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { openPair } from "../../platform/terminal/posix/terminal-modes.ts";
import { readPage } from "../docs/samples.ts";
import { project } from "./attacks/project.ts";
import { createProject, type Project } from "../support/project.ts";
import type { Result } from "../support/output.ts";
import { runRt } from "../support/rt.ts";

const SECRET = "secret of the user";
const PROGRAM = join(import.meta.dir, "attacks");

const COMMAND = "rt ./attacks/program.ts";
/** As root, a ruleset of the run limits all steps but the first. */
const STEPS = { preattack: "true", attack: COMMAND, prestrict: "true", strict: COMMAND };

const FILES = {
  "home/.npmrc": SECRET,
  "home/.aws/credentials": SECRET,
  "home/.ssh/id_ed25519": SECRET,
  "home/.config/gh/hosts.yml": SECRET,
  "home/.git-credentials": `https://user:${encodeURIComponent(SECRET)}@git.example\n${SECRET}\n`,
  "home/.local/share/keyrings/login.keyring": SECRET,
  "home/.cargo/credentials.toml": SECRET,
  "home/.docker/config.json": SECRET,
  "home/.kube/config": SECRET,
  "home/.config/gcloud/application_default_credentials.json": SECRET,
  "home/.config/google-chrome/Default/Login Data": SECRET,
  "home/.ethereum/keystore/key": SECRET,
  "home/.bash_history": SECRET,
  "home/.gnupg/key": SECRET,
  "home/.netrc": SECRET,
  "home/.ssh/authorized_keys": "own\n",
  "home/.gitconfig": "[credential]\nhelper = store\n",
  "home/.cache/rt/result": SECRET,
  "home/.cache/ms-playwright/mcp-chrome-profile/Cookies": SECRET,
  "home/.local/bin/tool": "own\n",
  "home/.npm/_cacache/content": "own\n",
  "home/.nvm/versions/node/v1/bin/npm": "own\n",
  "home/.nvm/versions/node/v1/etc/npmrc": `//registry.example/:_authToken=${SECRET}\n`,
  "home/.nvm/versions/node/v0/etc/npmrc": `//registry.example/:_authToken=${SECRET}\n`,
  "home/.deno/deployctl/credentials.json": SECRET,
  "home/.exchanged/file": "own\n",
  "home/.exchangeable": "own\n",
  "home/.local/share/pnpm/store/shared.js": "own\n",
  "home/.movable": SECRET,
  "home/.removable": SECRET,
  "home/.movable-folder/key": SECRET,
  "home/.exchangeable-folder/key": SECRET,
  "home/.bashrc": "own\n",
  "home/.profile": "own\n",
  "other/private.txt": SECRET,
  "temporary.txt": SECRET,
  "project/package.json": { name: "root", private: true, workspaces: ["packages/*"] },
  "project/.env": SECRET,
  "project/.envrc": SECRET,
  "project/rtfig.toml": '[tasks.strict.permissions]\nwrite = ["out/**"]\n',
  "project/.git/config": "own\n",
  "project/.git/hooks/sample": "own\n",
  "project/.vscode/tasks.json": "own\n",
  "project/.github/workflows/test.yml": "own\n",
  "project/node_modules/dependency/index.js": "own\n",
  "project/node_modules/.bin/tool": "own\n",
  "project/package-lock.json": {},
  "project/packages/b/package.json": { name: "b" },
  "project/packages/b/.env": SECRET,
  "project/packages/b/.env.local": SECRET,
  "project/packages/b/.dev.vars": SECRET,
  "project/packages/a/package.json": { name: "a", scripts: STEPS },
  "project/packages/a/source.ts": "own\n",
  "project/packages/a/out/kept": "",
  ...Object.fromEntries(
    readdirSync(PROGRAM).map((name) => [
      `project/packages/a/attacks/${name}`,
      readFileSync(join(PROGRAM, name), "utf8"),
    ]),
  ),
};

/** The field of /proc/PID/stat with the address of the environment. */
const ENVIRONMENT_FIELD = 49;

/** An attempt does not work on a system without what it needs, whatever the permissions are. */
const OPTIONAL = [
  "connects to a resolver of this host",
  "connects to an address beyond loopback",
  "connects to a mapped address",
  "connects by TCP fast open",
  "opens a socket of multipath TCP",
  "opens a socket of the kernel's crypto",
  "uses io_uring",
  "makes a user namespace",
  "mounts a file system",
  "changes a setting of the kernel",
  "traces another process",
  "copies a descriptor of another process",
  "opens the memory of another process",
  "opens a message queue of other processes",
  "reads the memory of another process",
  "writes the memory of another process",
  "compares the kernel's objects with another process",
  "connects by IPv6 beyond loopback",
  "sends UDP by IPv6",
  "opens a raw socket",
  "opens a socket of network devices",
  "opens a socket to the machine's host",
  "listens to the kernel's events of devices",
  "opens a socket of SCTP",
  "handles its own page faults",
  "measures the machine with perf",
  "loads a program into the kernel",
  "adds a key to the user's keyring",
  "puts input into the terminal",
  "makes a network namespace",
  "becomes another user",
  "makes a device",
  "changes its root folder",
  "opens a file by its handle",
  "reads through a copy of a mount",
  "gets the files that other programs open",
  "enters the namespaces of another process",
  "gives a program capabilities",
  "opens a disk",
  "reads the machine's memory",
  "moves the memory of another process",
  "reads the kernel's log",
  "calls the kernel as a 32-bit program",
  "runs a program as root by sudo",
  "changes the mode of ~/.aws by an access list",
  "changes the mode of a program by a descriptor and an access list",
  "changes the attributes of a program by its descriptor",
  "has the kernel write a file to the home folder",
  "connects by TCP fast open that connect begins",
  "sends an echo request",
  "opens a socket of a cluster",
  "opens a pair of sockets of a cluster",
  "opens a socket of Bluetooth",
  "opens a socket of shared memory communication",
  "opens a raw socket of IPv6",
  "opens a socket of the kernel's audit",
  "opens a socket of the kernel's connections",
  "announces a group with its data to the network",
  "sends packets for this host along a route by another machine",
  "copies a descriptor of a process that has started it",
  "advises the kernel about the memory of another process",
  "opens a file system by the new calls of mounts",
  "changes a setting below /sys",
];

/** The title of each group in docs/reference/security.md. */
const GROUPS = {
  reading: "read credentials and tokens",
  writing: "change files outside of the project, and modes",
  processes: "reach other processes, and stay after the end",
  connections: "connect to keyring, agents, engines, other machines",
  kernel: "use the kernel to get around the limits",
  privileged: "the same as root",
  project: "change files of the project that other programs run",
} as const;
type Group = keyof typeof GROUPS;
type Results = Readonly<Record<Group, Readonly<Record<string, string>>>>;

interface Side {
  readonly groups: Results;
  readonly results: Readonly<Record<string, string>>;
  readonly rt: Result;
  /** How many processes still ran after the end of the task. */
  readonly leftProcesses: number;
}

/** Listens at the port of DNS; returns undefined if the user has no right to. */
function listenAsResolver(socket: Parameters<typeof Bun.listen>[0]["socket"]) {
  try {
    return Bun.listen({ hostname: "127.53.0.1", port: 53, socket });
  } catch {
    return undefined;
  }
}

async function attack(...words: readonly string[]): Promise<Side> {
  await using place: Project = await createProject(FILES);
  mkdirSync(place.join("services"));
  // The client ends the connection.
  const listen = { data() {}, open: (socket: { write(text: string): void }) => socket.write(SECRET) };
  const abstract = `rt-test-${process.pid}-${words.join("-")}`;
  const servers = ["bus", "docker.sock", "agent.sock", "movable.sock"].map((name) =>
    Bun.listen({ unix: place.join("services", name), socket: listen }),
  );
  for (const unix of [`\0${abstract}`, place.join("home/.gnupg/S.gpg-agent")])
    servers.push(Bun.listen({ unix, socket: listen }));
  const server = Bun.listen({ hostname: "::", port: 0, socket: listen });
  const resolver = listenAsResolver(listen);
  mkdirSync(place.join("project/packages/a/node_modules"));
  symlinkSync(place.join("home/.gnupg"), place.join("project/packages/a/node_modules/.bin"));
  symlinkSync(place.join("home/.bashrc"), place.join("home/.link"));
  const shared = "home/.local/share/pnpm/store/shared.js";
  linkSync(place.join(shared), place.join("project/node_modules/dependency/shared.js"));
  const terminal = openPair()!;
  const secretFile = openSync(place.join("other/private.txt"), "r");
  const victim = Bun.spawn(["sleep", "600"], {
    env: { SECRET },
    stdio: ["ignore", "pipe", "ignore", secretFile],
  });
  const signalled = Bun.spawn(["env", "--block-signal=USR1", "sleep", "600"], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const packageDirectory = place.join("project/packages/a");
  const results = join(packageDirectory, "out/results.json");
  const surroundings = {
    home: place.join("home"),
    other: place.join("other"),
    services: place.join("services"),
    abstract,
    victim: victim.pid,
    signalled: signalled.pid,
    place: Number(readFileSync(`/proc/${victim.pid}/stat`, "utf8").split(" ")[ENVIRONMENT_FIELD]),
    opened: 3,
    terminal: terminal.path,
    address: addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "",
    address6:
      addresses.find(({ family, internal, scopeid }) => family === "IPv6" && !internal && !scopeid)
        ?.address ?? "",
    port: server.port,
    resolver: resolver?.hostname ?? "",
    results,
  };
  await Bun.write(join(packageDirectory, "surroundings.json"), JSON.stringify(surroundings));
  try {
    const rt = await runRt({
      args: ["run", ...words],
      cwd: packageDirectory,
      env: {
        HOME: place.join("home"),
        PATH: `${place.join("home/.nvm/versions/node/v1/bin")}:${process.env.PATH}`,
        GITHUB_TOKEN: SECRET,
        NPM_TOKEN: SECRET,
        npm_config__auth: SECRET,
        SSH_AUTH_SOCK: place.join("services/agent.sock"),
      },
    });
    const left = ["left-process", "left-daemon", "left-sibling"]
      .map((name) => join(packageDirectory, "out", name))
      .flatMap((file) => (existsSync(file) ? [Number(readFileSync(file, "utf8"))] : []))
      .filter((pid) => existsSync(`/proc/${pid}`));
    for (const pid of left) process.kill(pid, "SIGKILL");
    const groups = (existsSync(results) ? JSON.parse(readFileSync(results, "utf8")) : {}) as Results;
    return {
      groups,
      results: Object.assign({}, ...Object.values(groups)) as Side["results"],
      rt,
      leftProcesses: left.length,
    };
  } finally {
    for (const each of [...servers, server, resolver]) each?.stop(true);
    victim.kill();
    signalled.kill();
    for (const descriptor of [secretFile, terminal.master, terminal.slave]) closeSync(descriptor);
  }
}

let [open, restricted, strict]: Side[] = [];

beforeAll(async () => {
  open = await attack("--no-permissions", "attack");
  restricted = await attack("--permissions", "attack");
  strict = await attack("strict");
}, 120_000);

const namesWith = (side: Side, result: string) =>
  Object.keys(side.results).filter((name) => side.results[name] === result);

/** They start processes, which end with the task. */
const STARTS = [
  "leaves a process running",
  "leaves a daemon running",
  "leaves a process as a child of its parent",
];

test("every attempt works without permissions", () => {
  const failed = Object.entries(open!.results).filter(
    ([name, result]) => result !== "worked" && result !== "needs root" && !OPTIONAL.includes(name),
  );
  expect([failed, open!.leftProcesses]).toEqual([[], STARTS.length]);
  expect(Object.keys(open!.results).length).toBeGreaterThan(100);
});

test("no attempt works with the default permissions, except on the project itself", () => {
  expect(Object.keys(restricted!.results)).toEqual(Object.keys(open!.results));
  expect(namesWith(restricted!, "worked")).toEqual([...STARTS, ...Object.keys(project)]);
  expect(restricted!.leftProcesses).toBe(0);
});

test("no attempt works if write names a folder", () => {
  expect(Object.keys(strict!.results)).toEqual(Object.keys(open!.results));
  expect([namesWith(strict!, "worked"), strict!.leftProcesses]).toEqual([STARTS, 0]);
});

test("docs/reference/security.md has the number of attempts, and of those that are stopped", async () => {
  const page = await readPage("docs/reference/security.md");
  const stopped = (side: Side, group: Group) =>
    Object.entries(side.groups[group]).filter(
      // The processes have ended with the task.
      ([name, result]) => result !== "worked" || STARTS.includes(name),
    ).length;
  const groups = Object.keys(GROUPS) as Group[];
  const rows = groups.map((group) => {
    const tried = Object.keys(open!.groups[group]).length;
    return [GROUPS[group], tried, stopped(restricted!, group), stopped(strict!, group)] as const;
  });
  const sum = (column: 1 | 2 | 3) => rows.reduce((total, row) => total + row[column], 0);
  const table = [...rows, ["all", sum(1), sum(2), sum(3)] as const];
  const shown = table.map((row) => `| ${row.join(" | ")} |`);
  const written = page.split("\n").map((line) => line.replaceAll(/ {2,}/g, " "));
  expect(written.filter((line) => shown.includes(line))).toEqual(shown);
});

test("rt names each refused connection once, although the script succeeds", () => {
  const { stderr, status } = restricted!.rt;
  expect(status).toBe(0);
  expect(stderr).toContain("services/bus");
  expect(stderr.match(/docker\.sock/g)).toHaveLength(2);
  expect(stderr).toContain('add to [tasks.attack.permissions] of rtfig.toml: sockets = ["');
});
