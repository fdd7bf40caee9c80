// `rt doctor` with real stores, in every state that it reports.
import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { FakeSecretService } from "../support/keyring/fake-secret-service.ts";
import { startKeePassXC } from "../support/keyring/keepassxc.ts";
import { KEYRING_PASSWORD, type Keyring, SECRETS_PATH, startKeyring } from "../support/keyring/keyring.ts";
import { startKWallet } from "../support/keyring/kwallet.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { ABSENT, type Environment, runRt } from "../support/rt.ts";

interface Report {
  ready: boolean;
  store: string | null;
  checks: { name: string; status: string; found: string; remedy?: string }[];
}

async function examine(env: Record<string, string | undefined>): Promise<Report & { status: unknown }> {
  const { stdout, stderr, status } = await runRt({ args: ["doctor", "--json"], env });
  expect(stderr).toBe("");
  return { ...(JSON.parse(stdout) as Report), status };
}

const SET = ["secrets", "set", "a", "b"];

const statuses = ({ checks }: Report) => checks.map(({ name, status }) => [name, status]);
const ALL_GOOD = [
  ["session bus", "ok"],
  ["secret service", "ok"],
  ["default keyring", "ok"],
  ["encryption", "ok"],
];

async function isLocked(keyring: Keyring): Promise<unknown> {
  const [path] = await keyring.call(SECRETS_PATH, "org.freedesktop.Secret.Service", "ReadAlias", "s", [
    "default",
  ]);
  const property = ["org.freedesktop.Secret.Collection", "Locked"];
  const [answer] = await keyring.call(
    path as string,
    "org.freedesktop.DBus.Properties",
    "Get",
    "ss",
    property,
  );
  return (answer as { value: unknown }).value;
}

describe.skipIf(process.platform !== "linux").concurrent("rt doctor", () => {
  test.each([
    ["GNOME Keyring", startKeyring, "gnome-keyring-daemon"],
    ["KWallet", startKWallet, "kwalletd5"],
    ["KeePassXC", startKeePassXC, "keepassxc"],
  ] as [string, () => Promise<Keyring>, string][])(
    "finds no problem with an open %s and names it",
    async (store, start, program) => {
      await using keyring = await start();
      const report = await examine(keyring.env);
      expect(report).toMatchObject({ ready: true, store, status: 0 });
      expect(statuses(report)).toEqual(ALL_GOOD);
      expect(report.checks[0]!.found).toContain(keyring.address);
      expect(report.checks[1]!.found).toContain(program);
      expect(report.checks[3]!.found).toContain("encrypted");
      const stored = await runRt({ args: ["secrets", "set", "a", "b"], stdin: "value", env: keyring.env });
      expect(stored.status).toBe(0);
    },
  );

  test("prints a line for each check and a last line with the result", async () => {
    await using keyring = await startKeyring();
    const { stdout, stderr, status } = await runRt({ args: ["doctor"], env: keyring.env });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const lines = stdout.slice(stdout.indexOf("\n\n") + 2).split("\n");
    expect(lines.slice(0, 4).map((line) => line.split(/ {2,}/, 2))).toEqual(
      ALL_GOOD.map(([a, b]) => [b!, a!]),
    );
    expect(lines.slice(4)).toEqual(["", "Credentials can be stored", ""]);
  });

  test("reports a locked keyring as a problem, leaves it locked, and suggests a remedy for the display", async () => {
    await using keyring = await startKeyring();
    await keyring.lock();
    const headless = await examine(keyring.env);
    expect(headless).toMatchObject({ ready: false, status: 1 });
    expect(statuses(headless)).toEqual(ALL_GOOD.with(2, ["default keyring", "problem"]));
    expect(headless.checks[2]).toMatchObject({ found: expect.stringMatching(/"Login" is locked/) });
    expect(headless.checks[2]!.remedy).toContain("gnome-keyring-daemon --replace --unlock");
    const displayed = await examine({ ...keyring.env, DISPLAY: ":0" });
    expect(displayed.checks[2]!.remedy).toContain("dialog");
    expect(await isLocked(keyring)).toBe(true);
    const { stdout } = await runRt({ args: ["doctor"], env: keyring.env });
    expect(stdout).toMatch(/\n {27}run gnome-keyring-daemon .*\n/);
    expect(stdout).toEndWith(
      "\nCredentials cannot be stored now\nhint: use an age-encrypted file instead: rt help encrypted-file\n",
    );
  });

  for (const [what, isUnlocked] of [
    ["locked", true],
    ["missing", false],
  ] as const)
    for (const [who, remedyOf] of [
      ["it", async (env: Environment) => (await examine(env)).checks[2]!.remedy!],
      [
        "a command that needs it",
        async (env: Environment) => (await runRt({ args: SET, stdin: "value", env })).stderr,
      ],
    ] as const)
      test(`the hint of ${who} for a ${what} default keyring of GNOME resolves the problem`, async () => {
        await using keyring = await startKeyring({ isUnlocked });
        if (isUnlocked) await keyring.lock();
        const [, command] = /run (gnome-keyring-daemon [-\w ]+) with/.exec(await remedyOf(keyring.env))!;
        await keyring.run(command!.split(" "), KEYRING_PASSWORD);
        // The command exits before its daemon owns the name on the bus.
        await waitUntil(() => keyring.isOpen());
        expect(await examine(keyring.env)).toMatchObject({ ready: true });
        const stored = await runRt({ args: SET, stdin: "value", env: keyring.env });
        expect(stored).toEqual({ stdout: "", stderr: "", status: 0 });
      });

  test("reports a missing default keyring and does not create it", async () => {
    await using keyring = await startKeyring({ isUnlocked: false });
    for (let round = 0; round < 2; round++) {
      const report = await examine({ ...keyring.env, DISPLAY: ":0" });
      expect(report).toMatchObject({ ready: false, store: "GNOME Keyring", status: 1 });
      expect(report.checks[2]).toMatchObject({
        name: "default keyring",
        status: "problem",
        found: "No default keyring exists",
      });
      expect(report.checks[2]!.remedy).toContain("gnome-keyring-daemon --replace --unlock");
    }
  });

  test("names programs to install when no secret service is on the bus", async () => {
    await using keyring = await startKeyring({ service: "none" });
    const report = await examine(keyring.env);
    expect(report).toMatchObject({ ready: false, store: null, status: 1 });
    expect(statuses(report)).toEqual([
      ["session bus", "ok"],
      ["secret service", "problem"],
    ]);
    expect(report.checks[1]!.remedy).toMatch(/GNOME Keyring.*KWallet.*KeePassXC/);
  });

  test("starts and checks a service that the bus can start", async () => {
    await using keyring = await startKeyring({ service: "activatable" });
    const first = await examine(keyring.env);
    expect(first.store).toBe("GNOME Keyring");
    expect(first.checks[1]!.found).toContain("started by this check");
    const second = await examine(keyring.env);
    expect(second.checks[1]!.found).not.toContain("started by this check");
  });

  test("names the address when there is no bus", async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}/a;unix:path=${ABSENT}/b` };
    const report = await examine(env);
    expect(report).toMatchObject({ ready: false, store: null, status: 1 });
    expect(statuses(report)).toEqual([["session bus", "problem"]]);
    expect(report.checks[0]!.found).toContain(env.DBUS_SESSION_BUS_ADDRESS);
    expect(report.checks[0]!.remedy).toContain("dbus-run-session");
    const unset = { DBUS_SESSION_BUS_ADDRESS: undefined, XDG_RUNTIME_DIR: `${ABSENT}/run` };
    expect((await examine(unset)).checks[0]!.found).toContain(`${ABSENT}/run/bus`);
  });

  test("reports a bus that never answers", async () => {
    await using project = await createProject();
    const server = createServer(() => {}).listen(project.join("bus"));
    const report = await examine({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${project.join("bus")}` });
    expect(statuses(report)).toEqual([["session bus", "problem"]]);
    expect(report.checks[0]!.found).toContain("did not respond");
    server.close();
  });

  test("reports a service that never answers", async () => {
    await using keyring = await startKeyring({ service: "none" });
    await using fake = await FakeSecretService.start(keyring.address);
    fake.silent.add("ReadAlias");
    const report = await examine(keyring.env);
    expect(report).toMatchObject({ ready: false, status: 1 });
    expect(report.checks.at(-1)).toMatchObject({ name: "default keyring", status: "problem" });
    expect(report.checks.at(-1)!.found).toContain("ReadAlias received no reply");
  });

  test("warns about a service that accepts only unencrypted values, and only reads from it", async () => {
    await using keyring = await startKeyring({ service: "none" });
    await using fake = await FakeSecretService.start(keyring.address);
    const report = await examine(keyring.env);
    expect(report).toMatchObject({ ready: true, status: 0 });
    expect(report.checks[3]).toMatchObject({ name: "encryption", status: "warning" });
    expect([...new Set(fake.calls)].sort()).toEqual(["Get", "OpenSession", "ReadAlias"]);
  });

  test("rejects arguments with an error", async () => {
    const result = await runRt({ args: ["doctor", "who"] });
    expect(result).toEqual({
      stdout: "",
      stderr: 'error: Unexpected argument "who"\nhint: use rt doctor [--json]\n',
      status: 2,
    });
    expect((await runRt({ args: ["doctor", "--jsno"] })).stderr).toStartWith(
      'error: Unknown option "--jsno"\n',
    );
    const help = await runRt({ args: ["doctor", "--help"] });
    expect(help).toMatchObject({ stderr: "", status: 0 });
    expect(help.stdout).toContain("Usage\n  rt doctor [--json]\n");
  });
});
