// The requests of a run to the credential store: all at once, each address once, with one dialog, or none.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeSecretService } from "../../support/keyring/fake-secret-service.ts";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Project } from "../../support/project.ts";
import { type RtResult, runRt } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";

const NAMES = ["S1", "S2", "S3", "S4", "SAME"];
const addressOf = (name: string) => (name === "SAME" ? "S1" : name);
const CONFIG = `${NAMES.map((name) => `[secrets.${name}]\nfrom = "acme/${addressOf(name)}"\nredact = false\n`).join("")}
[secrets.GONE]
from = "acme/gone"
optional = true
[run.secrets]
show = ${JSON.stringify([...NAMES, "GONE"])}
`;

describe.skipIf(process.platform !== "linux")("fetching", () => {
  let keyring: Keyring;
  let project: Project;
  let trust: string;
  beforeAll(async () => {
    const scripts = { show: "echo $S1 $S2 $S3 $S4 $SAME $GONE", plain: "echo plain" };
    [keyring, project] = await Promise.all([
      startKeyring({ service: "none" }),
      createProject({ "rtfig.toml": CONFIG, "package.json": { scripts } }),
    ]);
    trust = await trustOf(project.path);
  });
  afterAll(async () => {
    await keyring?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });
  const run = (...args: string[]): Promise<RtResult> =>
    runRt({ args, cwd: project.path, env: { ...keyring.env, RT_TRUST: trust } });
  const startStore = async (isLocked: boolean) => {
    const fake = await FakeSecretService.start(keyring.address);
    for (const name of NAMES.slice(0, 4)) fake.addItem("acme", name, `v${name}`, { isLocked });
    return fake;
  };

  test("a fetch reads each address once over one session, and one dialog unlocks all", async () => {
    await using fake = await startStore(true);
    // One dialog unlocks a whole keyring.
    void fake.called("Prompt").then(() => {
      for (const item of fake.items.values()) item.isLocked = false;
      fake.replies.set("Unlock", ["aoo", [[], "/"]]);
    });
    expect(await run("--silent", "--no-redact", "run", "show")).toEqual({
      stdout: "vS1 vS2 vS3 vS4 vS1\n",
      stderr: "",
      status: 0,
    });
    // The first session is encrypted, which this store rejects; the second is plain.
    expect([fake.count("OpenSession"), fake.count("Prompt"), fake.maxOpenPrompts]).toEqual([2, 1, 1]);
    expect(fake.count("GetSecret") + fake.count("GetSecrets")).toBe(4);
  });

  test("a declined dialog is one error that names all secrets", async () => {
    await using fake = await startStore(true);
    fake.prompts = "dismiss";
    const { stdout, stderr, status } = await run("--silent", "run", "show");
    expect([stdout, status, fake.count("Prompt")]).toEqual(["", 1, 1]);
    expect(stderr).toStartWith("error: Cannot read S1, S2, S3, S4, SAME from the credential store: ");
    expect(stderr).not.toContain("vS");
  });

  test("no secret is fetched for scripts without secrets, for plans and for lists of names", async () => {
    await using fake = await startStore(true);
    expect((await run("--silent", "run", "plain")).stdout).toBe("plain\n");
    expect((await run("run", "--dry-run", "--sequential", "show")).stdout).toContain("S1 from acme/S1");
    expect(fake.calls).toEqual([]);
    expect((await run("secrets", "env")).status).toBe(0);
    expect([fake.count("Unlock"), fake.count("GetSecret"), fake.count("GetSecrets")]).toEqual([0, 0, 0]);
  });
});
