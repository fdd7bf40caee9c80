// `delete` resolves with true only for the call that deleted the credential, with concurrent calls in threads and processes.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import { startKeePassXC } from "../support/keyring/keepassxc.ts";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { startKWallet } from "../support/keyring/kwallet.ts";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";

const CALLERS = 4;
const ROUNDS = 10;

/** Every caller connects before the first round, so that the deletes of a round overlap. */
const PROGRAMS = {
  "store.ts": `for (let round = 0; round < ${ROUNDS}; round++) await rt.secrets.set(process.argv[2], "n" + round, "value");`,
  "process.ts": `
    await rt.secrets.get("nothing", "there");
    console.log("ready");
    for await (const line of console) console.log(await rt.secrets.delete(process.argv[2], line));`,
  "threads.ts": `
    const threads = Array.from({ length: ${CALLERS} }, () => new Worker(new URL("./thread.ts", import.meta.url).href));
    const ask = (thread, name) => new Promise((resolve) => {
      thread.onmessage = ({ data }) => resolve(data);
      thread.postMessage([process.argv[2], name]);
    });
    await Promise.all(threads.map((thread) => ask(thread, "absent")));
    for (let round = 0; round < ${ROUNDS}; round++)
      console.log((await Promise.all(threads.map((thread) => ask(thread, "n" + round)))).filter(Boolean).length);
    process.exit();`,
  "thread.ts": `onmessage = async ({ data: [service, name] }) => postMessage(await rt.secrets.delete(service, name));`,
};

const KEYRINGS: Readonly<Record<string, () => Promise<Keyring>>> = {
  "GNOME Keyring": startKeyring,
  KWallet: startKWallet,
  KeePassXC: startKeePassXC,
};

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split("\n");
    text = lines.pop()!;
    yield* lines;
  }
}

for (const [label, start] of Object.entries(KEYRINGS)) {
  describe.skipIf(process.platform !== "linux")(
    `${label}, when ${CALLERS} callers delete one credential at once`,
    () => {
      let keyring: Keyring;
      let project: Project;
      beforeAll(async () => {
        [keyring, project] = await Promise.all([start(), createProject(PROGRAMS)]);
      }, PREPARATION_TIMEOUT);
      afterAll(async () => {
        await project?.[Symbol.asyncDispose]();
        await keyring?.[Symbol.asyncDispose]();
      });

      const store = async (service: string) => {
        const args = [project.join("store.ts"), service];
        expect(await runRt({ args, env: keyring.env })).toEqual({ stdout: "", stderr: "", status: 0 });
      };

      test("delete() resolves with true for one of the threads", async () => {
        await store("threads");
        const { stdout, stderr } = await runRt({
          args: [project.join("threads.ts"), "threads"],
          env: keyring.env,
        });
        expect({ stdout, stderr }).toEqual({ stdout: "1\n".repeat(ROUNDS), stderr: "" });
      });

      test("delete() resolves with true for one of the processes", async () => {
        await store("processes");
        const callers = Array.from({ length: CALLERS }, () => {
          const child = Bun.spawn([RT, project.join("process.ts"), "processes"], {
            env: cleanEnvironment(keyring.env),
            stdin: "pipe",
            stdout: "pipe",
            stderr: "inherit",
          });
          return { child, lines: readLines(child.stdout) };
        });
        try {
          const answers = () => Promise.all(callers.map(async ({ lines }) => (await lines.next()).value));
          expect(new Set(await answers())).toEqual(new Set(["ready"]));
          for (let round = 0; round < ROUNDS; round++) {
            for (const { child } of callers) {
              void child.stdin.write(`n${round}\n`);
              void child.stdin.flush();
            }
            expect((await answers()).toSorted()).toEqual(["false", "false", "false", "true"]);
          }
        } finally {
          for (const { child } of callers) {
            child.kill("SIGKILL");
            await child.exited;
          }
        }
      });
    },
  );
}
