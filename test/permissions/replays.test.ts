// Replays of known worms take credentials without permissions, and none with the defaults.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";

const SECRET = "secret of the user";
const REPLAYS = ["plugin", "s1ngularity", "shai-hulud-1", "shai-hulud-2", "shai-hulud-3"];
const CREDENTIALS = [
  ".npmrc",
  ".ssh/id_ed25519",
  ".aws/credentials",
  ".config/gh/hosts.yml",
  ".config/gcloud/application_default_credentials.json",
  ".ethereum/keystore/key",
  ".removable",
];

const FILES = {
  ...Object.fromEntries(CREDENTIALS.map((name) => [`home/${name}`, SECRET])),
  "home/.bashrc": "own\n",
  "project/package.json": { name: "root", private: true, workspaces: ["packages/*"] },
  "project/.env": SECRET,
  "project/packages/b/package.json": { name: "b" },
  "project/packages/b/.env": SECRET,
  "project/packages/a/package.json": { name: "a", scripts: { build: "rt ./program.ts" } },
  "project/packages/a/program.ts": readFileSync(join(import.meta.dir, "replays/program.ts"), "utf8"),
};

async function replay(option: string) {
  await using place = await createProject(FILES);
  mkdirSync(place.join("services"));
  const received: Record<string, boolean> = {};
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      received[new URL(request.url).pathname.slice(1)] = (await request.text()).includes(SECRET);
      return new Response();
    },
  });
  const engine = Bun.listen({
    unix: place.join("services/docker.sock"),
    socket: { data() {}, open: (socket: { write(text: string): void }) => socket.write(SECRET) },
  });
  const surroundings = { port: server.port, services: place.join("services") };
  await place.write({ "project/packages/a/surroundings.json": surroundings });
  const { stderr, status } = await runRt({
    args: ["run", option, "build"],
    cwd: place.join("project/packages/a"),
    env: { HOME: place.join("home"), NPM_TOKEN: SECRET, AWS_SECRET_ACCESS_KEY: SECRET },
  });
  engine.stop(true);
  const taken = Object.keys(received).filter((name) => received[name]);
  return {
    status,
    stderr,
    replays: Object.keys(received).toSorted(),
    taken: taken.toSorted(),
    isHomeChanged:
      readFileSync(place.join("home/.bashrc"), "utf8") !== "own\n" ||
      existsSync(place.join("home/processor.sh")) ||
      existsSync(place.join("home/.dev-env")) ||
      !existsSync(place.join("home/.removable")),
    isBuilt: existsSync(place.join("project/packages/a/out.js")),
  };
}

test.skipIf(process.platform !== "linux")(
  "replays of worms take no credentials with permissions, and rt names the refused connection",
  async () => {
    const open = await replay("--no-permissions");
    expect(open).toMatchObject({ status: 0, replays: REPLAYS, taken: REPLAYS, isHomeChanged: true });
    const restricted = await replay("--permissions");
    expect(restricted).toMatchObject({ status: 0, replays: REPLAYS, taken: [], isHomeChanged: false });
    expect(restricted.isBuilt).toBe(true);
    expect(restricted.stderr).toContain("connects to the socket");
    expect(restricted.stderr).toContain("services/docker.sock");
  },
);
