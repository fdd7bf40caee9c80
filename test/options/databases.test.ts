// --redis-preconnect and --sql-preconnect with real servers of the test.
import { describe, expect } from "bun:test";
import { chmod, chown, mkdir } from "node:fs/promises";
import { outputOfProgram } from "../support/output.ts";
import { freePort } from "../support/servers/ports.ts";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, startRt } from "../support/rt.ts";
import { waitUntil } from "../support/processes.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../support/users.ts";
import { prove } from "./prove.ts";

/** A program without connections. */
const idle = { "a.ts": 'console.log("started"); setInterval(() => {}, 1000);' };

const outputOf = (command: readonly string[]) => outputOfProgram(command, { env: cleanEnvironment() });

describe("databases", () => {
  prove("redis-preconnect", "connects to REDIS_URL at the start", async () => {
    await using project = await createProject(idle);
    const socket = project.join("redis.sock");
    const settings = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", project.path];
    const redis = Bun.spawn(["redis-server", ...settings], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
    const clients = async () =>
      (await outputOf(["redis-cli", "-s", socket, "client", "list"])).trim().split("\n").length;
    await waitUntil(() => Bun.spawnSync(["redis-cli", "-s", socket, "ping"]).exitCode === 0);
    expect(await clients()).toBe(1);
    const env = { REDIS_URL: `redis+unix://${socket}` };
    const child = startRt({ args: ["--redis-preconnect", "a.ts"], cwd: project.path, env });
    await waitUntil(async () => (await clients()) > 1);
    child.kill();
    redis.kill();
    await Promise.all([child.exited, redis.exited]);
  });

  prove("sql-preconnect", "connects to DATABASE_URL at the start", async () => {
    await using project = await createProject(idle);
    await using database = await startPostgres(project.join("postgres"));
    const query = "select count(*) from pg_stat_activity where backend_type = 'client backend'";
    const clients = async () => Number(await database.query(query));
    expect(await clients()).toBe(1);
    const env = { DATABASE_URL: database.url };
    const child = startRt({ args: ["--sql-preconnect", "a.ts"], cwd: project.path, env });
    await waitUntil(async () => (await clients()) > 1);
    child.kill();
    await child.exited;
  });
});

interface Postgres extends AsyncDisposable {
  readonly url: string;
  query(text: string): Promise<string>;
}

/** PostgreSQL does not run as root. */
async function startPostgres(directory: string): Promise<Postgres> {
  await mkdir(directory);
  if (isRoot) {
    await chmod(`${directory}/..`, 0o755);
    await chown(directory, OTHER_USER_ID, OTHER_USER_ID);
  }
  const programs = (
    await outputOf([
      "sh",
      "-c",
      "ls -d /usr/lib/postgresql/*/bin /opt/homebrew/opt/postgresql*/bin 2>/dev/null | tail -1; true",
    ])
  ).trim();
  const program = (name: string) => (programs === "" ? name : `${programs}/${name}`);
  const data = `${directory}/data`;
  await outputOf([
    ...AS_OTHER_USER,
    program("initdb"),
    "-D",
    data,
    "-U",
    "rt",
    "-A",
    "trust",
    "--no-sync",
    "-E",
    "UTF8",
  ]);
  const port = freePort();
  const settings = ["-D", data, "-k", directory, "-h", "127.0.0.1", "-p", String(port), "-F"];
  const server = Bun.spawn([...AS_OTHER_USER, program("postgres"), ...settings], {
    env: cleanEnvironment(),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const connection = ["-h", directory, "-p", String(port), "-U", "rt", "postgres"];
  await waitUntil(() => Bun.spawnSync([program("psql"), ...connection, "-c", "select 1"]).exitCode === 0);
  return {
    url: `postgres://rt@127.0.0.1:${port}/postgres`,
    query: async (text) => await outputOf([program("psql"), ...connection, "-Atc", text]),
    async [Symbol.asyncDispose]() {
      server.kill("SIGQUIT");
      await server.exited;
    },
  };
}
