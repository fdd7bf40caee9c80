// Tests the release key. Signatures match minisign's and OpenSSH's, the secret key stays in its file or store, and
// the build signs only with a published key.
import { describe, expect, test } from "bun:test";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createKeyPair, publicKeyOf, signContent } from "../../../build/release/minisign.ts";
import { signRelease } from "../../../build/release/release-key.ts";
import { RELEASE_KEYS } from "../../../src/cli/upgrade/release-keys.ts";
import { checkSignature, readPublicKey } from "../../../src/cli/upgrade/minisign.ts";
import { readRelease } from "../../../src/cli/upgrade/release.ts";
import { startKeyring } from "../../support/keyring/keyring.ts";
import { createProject } from "../../support/project.ts";
import { NEXT_KEY, TEST_KEY } from "../../support/programs/release-key.ts";
import { type Environment, REPOSITORY, runRt } from "../../support/rt.ts";
import manifest from "../../../package.json";

const releaseKey = async (args: readonly string[], env: Environment = {}) =>
  await runRt({ program: [process.execPath, "build/release/release-key.ts"], args, cwd: REPOSITORY, env });

test("the table contains at most two keys, and no key of the tests", () => {
  expect(RELEASE_KEYS.length).toBeLessThanOrEqual(2);
  for (const key of RELEASE_KEYS) expect(readPublicKey(key).point.length).toBe(32);
  for (const { publicKey } of [TEST_KEY, NEXT_KEY]) expect(RELEASE_KEYS).not.toContain(publicKey);
});

describe.skipIf(process.platform === "win32")("signatures", () => {
  test("match minisign's with rt's keys", async () => {
    await using project = await createProject({ sums: "some sums\n" });
    const text = signContent(Buffer.from("some sums\n"), "rt 1.2.3", TEST_KEY.secretKey);
    await writeFile(project.join("sums.minisig"), text);
    const { stdout } = await Bun.$`minisign -V -m sums -P ${TEST_KEY.publicKey}`.cwd(project.path).quiet();
    expect(stdout.toString()).toBe("Signature and comment signature verified\nTrusted comment: rt 1.2.3\n");
    const other = Bun.$`minisign -V -m sums -P ${NEXT_KEY.publicKey}`.cwd(project.path).quiet().nothrow();
    expect((await other).exitCode).not.toBe(0);
  });

  test("made by minisign are accepted, except for its legacy kind", async () => {
    await using project = await createProject({ sums: "some sums\n" });
    await Bun.$`minisign -G -W -p key.pub -s key`.cwd(project.path).quiet();
    await Bun.$`minisign -S -m sums -s key -t ${"rt 3.2.1"}`.cwd(project.path).quiet();
    await Bun.$`minisign -S -l -m sums -s key -x sums.old`.cwd(project.path).quiet();
    const key = (await readFile(project.join("key.pub"), "utf8")).split("\n")[1]!;
    const check = async (file: string) =>
      checkSignature(Buffer.from("some sums\n"), await readFile(project.join(file)), [key]);
    expect(await check("sums.minisig")).toEqual({ isValid: true, comment: "rt 3.2.1" });
    expect(await check("sums.old")).toEqual({ isValid: false, fault: "form" });
    expect(publicKeyOf(await readFile(project.join("key"), "utf8"))).toBe(key);
  });

  test("contain the version of the release, and need a known key", async () => {
    await using project = await createProject({ SHA256SUMS: `${"0".repeat(64)}  rt\n` });
    await signRelease(project.path, NEXT_KEY.secretKey, [TEST_KEY.publicKey, NEXT_KEY.publicKey]);
    const [sums, signature] = [project.join("SHA256SUMS"), project.join("SHA256SUMS.minisig")];
    const read = async () =>
      readRelease("rt", await readFile(sums), await readFile(signature), [NEXT_KEY.publicKey]);
    expect(await read()).toEqual({ version: manifest.version, sum: "0".repeat(64) });
    await expect(signRelease(project.path, createKeyPair().secretKey, [TEST_KEY.publicKey])).rejects.toThrow(
      "is not in src/cli/upgrade/release-keys.ts",
    );
  });
});

describe.skipIf(process.platform === "win32")("npm run release-key", () => {
  test("creates a key in a file that only its owner can read, and prints only the public key", async () => {
    await using project = await createProject();
    const file = project.join("key");
    const { stdout, stderr, status } = await releaseKey(["create", "--file", file]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const secret = await readFile(file, "utf8");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(stdout).toContain(`"${publicKeyOf(secret)}"`);
    expect(stdout).not.toContain(secret.split("\n")[1]!.slice(0, 120).slice(-40));
    expect(await releaseKey(["create", "--file", file])).toMatchObject({ status: 1 });
    expect(await readFile(file, "utf8")).toBe(secret);
  });

  test("creates one key in the credential store, and signs with it", async () => {
    await using keyring = await startKeyring();
    const first = await releaseKey(["create"], keyring.env);
    expect(first).toMatchObject({ stderr: "", status: 0 });
    expect(await releaseKey(["create"], keyring.env)).toMatchObject({
      stderr: expect.stringMatching(/^error: The credential store has a key already/),
      status: 1,
    });
    const [, publicKey] = /"(RW[^"]+)",/.exec(first.stdout)!;
    await using project = await createProject({ SHA256SUMS: "" });
    // rt reads the key, but the table lacks it.
    expect(await releaseKey(["sign", project.path], keyring.env)).toEqual({
      stdout: "",
      stderr: `error: The key ${publicKey} is not in src/cli/upgrade/release-keys.ts, so nobody would accept its signature\n`,
      status: 1,
    });
  });

  test("names a missing or damaged key without printing any part of it", async () => {
    await using keyring = await startKeyring();
    const sign = async (key?: string) =>
      (await releaseKey(["sign", "."], { ...keyring.env, RT_RELEASE_KEY: key })).stderr;
    expect(await sign()).toStartWith("error: There is no key to sign with: RT_RELEASE_KEY is not set");
    expect(await sign("nonsense")).toBe(
      "error: The secret key is none of minisign without a password (minisign -G -W)\n",
    );
    const damaged = Buffer.from(TEST_KEY.secretKey, "base64");
    damaged[70]! ^= 1;
    expect(await sign(damaged.toString("base64"))).toBe("error: The secret key is damaged\n");
    expect((await releaseKey([])).stderr).toStartWith("error: Say either: create");
  });
});
