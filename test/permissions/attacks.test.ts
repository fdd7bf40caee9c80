// A hostile script tries to reach credentials, sockets, other processes and files outside of its project. Each attempt works
// without permissions, and fails with them.
//
// Non-obvious: all attempts of one side are made by one process, because starts take longer than attempts.
import { beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { createProject, type Project } from "../support/project.ts";
import type { Result } from "../support/output.ts";
import { runRt } from "../support/rt.ts";

const SECRET = "secret of the user";
const ATTACK = readFileSync(join(import.meta.dir, "attack-program.ts"), "utf8");

const FILES = {
  "home/.npmrc": SECRET,
  "home/.aws/credentials": SECRET,
  "home/.ssh/id_ed25519": SECRET,
  "home/.config/gh/hosts.yml": SECRET,
  "home/.git-credentials": SECRET,
  "home/.local/share/keyrings/login.keyring": SECRET,
  "home/.cargo/credentials.toml": SECRET,
  "home/.movable": SECRET,
  "home/.removable": SECRET,
  "home/.bashrc": "own\n",
  "home/.profile": "own\n",
  "other/private.txt": SECRET,
  "temporary.txt": SECRET,
  "project/package.json": { name: "root", private: true, workspaces: ["packages/*"] },
  "project/.env": SECRET,
  "project/packages/b/package.json": { name: "b" },
  "project/packages/b/.env": SECRET,
  "project/packages/b/.env.local": SECRET,
  "project/packages/a/package.json": { name: "a", scripts: { attack: "rt ./attack-program.ts" } },
  "project/packages/a/attack-program.ts": ATTACK,
};

/** An attempt does not work on a system without what it needs, whatever the permissions are. */
const OPTIONAL = [
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
];

interface Side {
  readonly results: Readonly<Record<string, string>>;
  readonly rt: Result;
  readonly hasLeftProcess: boolean;
}

async function attack(options: readonly string[]): Promise<Side> {
  await using place: Project = await createProject(FILES);
  mkdirSync(place.join("services"));
  // The client ends the connection.
  const listen = { data() {}, open: (socket: { write(text: string): void }) => socket.write(SECRET) };
  const abstract = `rt-test-${process.pid}-${options.length}`;
  const servers = ["bus", "docker.sock", "agent.sock"].map((name) =>
    Bun.listen({ unix: place.join("services", name), socket: listen }),
  );
  servers.push(Bun.listen({ unix: `\0${abstract}`, socket: listen }));
  const server = Bun.listen({ hostname: "0.0.0.0", port: 0, socket: listen });
  const victim = Bun.spawn(["sleep", "600"], { env: { SECRET }, stdio: ["ignore", "pipe", "ignore"] });
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const packageDirectory = place.join("project/packages/a");
  const results = join(packageDirectory, "results.json");
  const surroundings = {
    home: place.join("home"),
    other: place.join("other"),
    services: place.join("services"),
    abstract,
    victim: victim.pid,
    address: addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "",
    port: server.port,
    results,
  };
  await Bun.write(join(packageDirectory, "surroundings.json"), JSON.stringify(surroundings));
  try {
    const rt = await runRt({
      args: ["run", ...options, "attack"],
      cwd: packageDirectory,
      env: {
        HOME: place.join("home"),
        GITHUB_TOKEN: SECRET,
        SSH_AUTH_SOCK: place.join("services/agent.sock"),
      },
    });
    const left = join(packageDirectory, "left-process");
    const pid = existsSync(left) ? readFileSync(left, "utf8") : "";
    const hasLeftProcess = pid !== "" && existsSync(`/proc/${pid}`);
    if (hasLeftProcess) process.kill(Number(pid), "SIGKILL");
    return {
      results: existsSync(results) ? (JSON.parse(readFileSync(results, "utf8")) as Side["results"]) : {},
      rt,
      hasLeftProcess,
    };
  } finally {
    for (const each of [...servers, server]) each.stop(true);
    victim.kill();
  }
}

let [open, restricted]: Side[] = [];

beforeAll(async () => {
  open = await attack(["--no-permissions"]);
  restricted = await attack(["--permissions"]);
});

const namesWith = (side: Side, result: string) =>
  Object.keys(side.results).filter((name) => side.results[name] === result);

test("every attempt works without permissions", () => {
  const failed = Object.entries(open!.results).filter(
    ([name, result]) => result !== "worked" && !OPTIONAL.includes(name),
  );
  expect([failed, open!.hasLeftProcess]).toEqual([[], true]);
  expect(Object.keys(open!.results).length).toBeGreaterThan(50);
});

test("no attempt works with the default permissions", () => {
  expect(Object.keys(restricted!.results)).toEqual(Object.keys(open!.results));
  expect(namesWith(restricted!, "worked")).toEqual(["leaves a process running"]);
  expect(restricted!.hasLeftProcess).toBe(false);
});

test("rt names each refused connection once, although the script succeeds", () => {
  const { stderr, status } = restricted!.rt;
  expect(status).toBe(0);
  expect(stderr).toContain("services/bus");
  expect(stderr.match(/docker\.sock/g)).toHaveLength(2);
  expect(stderr).toContain('add to [tasks.attack.permissions] of rtfig.toml: sockets = ["');
});
