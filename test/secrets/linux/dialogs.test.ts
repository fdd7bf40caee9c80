// The keyring's own dialogs on a display, answered by typing.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Display, startDisplay } from "../../support/keyring/display.ts";
import {
  KEYRING_PASSWORD,
  type Keyring,
  type KeyringOptions,
  startKeyring,
} from "../../support/keyring/keyring.ts";
import { startKWallet, WALLET_PASSWORD } from "../../support/keyring/kwallet.ts";
import { createProject } from "../../support/project.ts";
import { type RtResult, runRt, startRt } from "../../support/rt.ts";

const PROMPTER = "gcr-prompter";

/** Reads one pair twenty times concurrently and prints the number of each value or error code. */
const READ_TWENTY = `
  import { secrets } from "rt";
  const results = {};
  await Promise.all(Array.from({ length: 20 }, async () => {
    const result = await secrets.get("a", "b").catch((error) => error.code);
    results[result] = (results[result] ?? 0) + 1;
  }));
  console.log(JSON.stringify(results));`;

/** Reads three times, aborts on SIGUSR1, and reads again. */
const READ_UNTIL_TOLD = `
  import { secrets } from "rt";
  const controller = new AbortController();
  process.once("SIGUSR1", () => controller.abort("enough"));
  const read = (name) => secrets.get({ service: "a", name, signal: controller.signal }).catch(console.log);
  await Promise.all(["b", "b", "c"].map(read));
  console.error("given up");
  console.log(await secrets.get("a", "b"));`;

/** Stores twenty credentials concurrently. */
const STORE_TWENTY = `
  import { secrets } from "rt";
  const names = Array.from({ length: 20 }, (_, index) => "n" + index);
  await Promise.all(names.map((name) => secrets.set("many", name, "value")));`;

const printed = (stdout: string) => ({ stdout, stderr: "", status: 0 });
const DISMISSED = {
  stdout: "",
  stderr: expect.stringMatching(/^error: The keyring's dialog was dismissed\nhint: .*\n$/),
  status: 2,
};

let display: Display;
beforeAll(async () => {
  if (process.platform === "linux") display = await startDisplay();
});
afterAll(() => display?.[Symbol.asyncDispose]());

function run(keyring: Keyring, args: string[], stdin?: string): Promise<RtResult> {
  return runRt({ args: ["secrets", ...args], stdin, env: keyring.env });
}

async function enter(password: string): Promise<void> {
  await display.type(password);
  await display.press("Return");
}

describe.skipIf(process.platform !== "linux")("the dialog of GNOME Keyring", () => {
  const open = (options?: KeyringOptions) => startKeyring({ ...options, display: display.name });

  async function openLocked(): Promise<Keyring> {
    const keyring = await open();
    expect(await run(keyring, ["set", "a", "b"], "value")).toEqual(printed(""));
    await keyring.lock();
    return keyring;
  }

  async function runProgram(keyring: Keyring, code: string): Promise<string> {
    await using project = await createProject({ "main.ts": code });
    const { stdout, stderr, status } = await runRt({ args: [project.join("main.ts")], env: keyring.env });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    return stdout;
  }

  async function choosePassword(): Promise<void> {
    await display.awaitDialog(PROMPTER);
    // A space would press a button of a dialog whose cursor is not in the field yet.
    await display.type("new-password");
    await display.press("Tab");
    await enter("new-password");
  }

  async function readAgain(keyring: Keyring): Promise<void> {
    const reading = run(keyring, ["get", "a", "b"]);
    await display.awaitDialog(PROMPTER);
    await enter(KEYRING_PASSWORD);
    expect(await reading).toEqual(printed("value"));
  }

  test("a dialog unlocks the keyring for the waiting operation and for later ones", async () => {
    await using keyring = await openLocked();
    const reading = run(keyring, ["get", "a", "b"]);
    const { title } = await display.awaitDialog(PROMPTER);
    expect(title).toBe("Unlock Login Keyring");
    await enter(KEYRING_PASSWORD);
    expect(await reading).toEqual(printed("value"));
    await display.awaitNoDialog(PROMPTER);
    expect(await run(keyring, ["set", "a", "b"], "other")).toEqual(printed(""));
    expect(await run(keyring, ["get", "a", "b"])).toEqual(printed("other"));
  });

  test("a dialog appears again after a wrong password", async () => {
    await using keyring = await openLocked();
    const deleting = run(keyring, ["delete", "a", "b"]);
    const { shape } = await display.awaitDialog(PROMPTER);
    await enter("wrong");
    await display.awaitDialog(PROMPTER, (dialog) => dialog.shape !== shape); // the dialog shows an error
    await enter(KEYRING_PASSWORD);
    expect(await deleting).toEqual(printed(""));
    expect((await run(keyring, ["get", "a", "b"])).status).toBe(1);
  });

  test("a single dialog unlocks the keyring for twenty concurrent reads", async () => {
    await using keyring = await openLocked();
    const reading = runProgram(keyring, READ_TWENTY);
    await display.awaitDialog(PROMPTER);
    expect(await display.count(PROMPTER)).toBe(1);
    await enter(KEYRING_PASSWORD);
    expect(await reading).toBe('{"value":20}\n');
  });

  test("a declined dialog rejects all waiting operations, and the next operation opens another", async () => {
    await using keyring = await openLocked();
    const reading = runProgram(keyring, READ_TWENTY);
    await display.awaitDialog(PROMPTER);
    await display.press("Escape");
    expect(await reading).toBe('{"ERR_SECRETS_CANCELED":20}\n');
    await display.awaitNoDialog(PROMPTER);
    const storing = run(keyring, ["set", "a", "b"], "not stored");
    await display.awaitDialog(PROMPTER);
    await display.press("Escape");
    expect(await storing).toEqual(DISMISSED);
    await display.awaitNoDialog(PROMPTER);
    await readAgain(keyring);
  });

  // GNOME Keyring keeps its dialog open after the operation was aborted, and exits on a request to close it. So the answer
  // to the open dialog must serve the next operation.
  test("a dialog that an aborted operation left open serves the next operation", async () => {
    await using keyring = await openLocked();
    await using project = await createProject({ "main.ts": READ_UNTIL_TOLD });
    const child = startRt({ args: [project.join("main.ts")], env: keyring.env });
    await display.awaitDialog(PROMPTER);
    child.kill("SIGUSR1");
    await child.stderr.getReader().read();
    await enter(KEYRING_PASSWORD);
    expect(await new Response(child.stdout).text()).toBe("enough\nenough\nenough\nvalue\n");
    await display.awaitNoDialog(PROMPTER);
    expect(await run(keyring, ["get", "a", "b"])).toEqual(printed("value"));
  });

  test("a dialog that an ended process left open serves the next process", async () => {
    await using keyring = await openLocked();
    const child = startRt({ args: ["secrets", "get", "a", "b"], env: keyring.env });
    await display.awaitDialog(PROMPTER);
    child.kill("SIGINT");
    await child.exited;
    expect(child.signalCode).toBe("SIGINT");
    await readAgain(keyring);
    await display.awaitNoDialog(PROMPTER);
  });

  test("a dialog creates the missing default keyring when the user agrees", async () => {
    await using keyring = await open({ isUnlocked: false });
    const declined = run(keyring, ["set", "a", "b"], "value");
    await display.awaitDialog(PROMPTER);
    await display.press("Escape");
    expect(await declined).toEqual(DISMISSED);
    await display.awaitNoDialog(PROMPTER);
    const storing = run(keyring, ["set", "a", "b"], "value");
    await choosePassword();
    expect(await storing).toEqual(printed(""));
    expect(await keyring.isOpen()).toBe(true);
    expect(await run(keyring, ["get", "a", "b"])).toEqual(printed("value"));
  });

  test("a dialog creates one default keyring for twenty concurrent operations", async () => {
    await using keyring = await open({ isUnlocked: false });
    const storing = runProgram(keyring, STORE_TWENTY);
    await choosePassword();
    await storing;
    const { stdout } = await run(keyring, ["list", "many"]);
    expect(stdout.match(/\n/g)).toHaveLength(20);
    expect(await keyring.run(["sh", "-c", "ls .local/share/keyrings/*.keyring | wc -l"])).toBe("1");
  });
});

describe.skipIf(process.platform !== "linux")("the dialog of KWallet", () => {
  // While the wallet is locked, KWallet returns an empty value.
  test("a dialog of KWallet unlocks the wallet, or rejects the operation, as the user decides", async () => {
    await using keyring = await startKWallet({ display: display.name });
    expect(await run(keyring, ["set", "a", "b"], "value")).toEqual(printed(""));
    await keyring.lock();
    for (const args of [
      ["get", "a", "b"],
      ["set", "a", "b"],
      ["delete", "a", "b"],
      ["get", "a", "absent"],
    ]) {
      const declined = run(keyring, args, "not stored");
      await display.awaitDialog("kwalletd5");
      await display.press("Escape");
      expect(await declined).toEqual(DISMISSED);
      await display.awaitNoDialog("kwalletd5");
    }
    const reading = run(keyring, ["get", "a", "b"]);
    await display.awaitDialog("kwalletd5");
    await enter(WALLET_PASSWORD);
    expect(await reading).toEqual(printed("value"));
  });
});
