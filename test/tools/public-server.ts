// Starts turborepo-remote-cache of npm, a server of turbo's protocol that others wrote, in front of a folder.
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { waitUntil } from "../support/processes.ts";
import type { Environment } from "../support/rt.ts";
import { installTool, runProgram, type Workshop } from "./installation.ts";

const PACKAGE = "turborepo-remote-cache";
const TOKEN = "token-of-a-trial";
const KEY = "a-key-of-the-team";

/** Returns the environment variables of a client. The server ends with this process. */
export async function startPublicServer(workshop: Workshop): Promise<Environment> {
  const folder = join(workshop.folder, PACKAGE);
  mkdirSync(folder);
  runProgram(["npm", "init", "--yes"], folder, workshop.path);
  await installTool(folder, [PACKAGE], workshop);
  const port = await findPort();
  const server = Bun.spawn(["node", `node_modules/.bin/${PACKAGE}`], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      PATH: workshop.path,
      NODE_ENV: "production",
      LOG_LEVEL: "error",
      PORT: `${port}`,
      TURBO_TOKEN: TOKEN,
      // It stores signatures only with a key, which it does not compare.
      TURBO_REMOTE_CACHE_SIGNATURE_KEY: KEY,
      STORAGE_PROVIDER: "local",
      STORAGE_PATH: join(folder, "store"),
    },
  });
  process.on("exit", () => server.kill()); // the trials end with process.exit
  const url = `http://localhost:${port}`;
  const headers = { authorization: `Bearer ${TOKEN}` };
  await waitUntil(async () => {
    if (server.exitCode !== null) throw new Error(`${PACKAGE} ended with ${server.exitCode}`);
    return await fetch(`${url}/v8/artifacts/status`, { headers }).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    TURBO_API: url,
    TURBO_TEAM: "acme",
    TURBO_TOKEN: TOKEN,
    TURBO_REMOTE_CACHE_SIGNATURE_KEY: KEY,
  };
}

async function findPort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return await promise;
}
