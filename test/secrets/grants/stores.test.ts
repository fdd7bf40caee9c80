// [secrets] of rtfig.toml with each credential store of Linux. Granted scripts get the value, output is redacted, and a missing
// secret is reported with the command that stores it. test/windows/secret-scripts.test.ts has Windows.
import { expect, test } from "bun:test";
import { startKeePassXC } from "../../support/keyring/keepassxc.ts";
import { startKeyring } from "../../support/keyring/keyring.ts";
import { startKWallet } from "../../support/keyring/kwallet.ts";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";

const FILES = {
  "package.json": {
    scripts: {
      all: "echo $ONE; printenv TWO; echo ${#ONE} ${#TWO}",
      gone: "echo $GONE",
      other: "echo none:$ONE$TWO",
    },
  },
  "rtfig.toml": [
    ...["one", "two", "gone"].map(
      (name) => `[secrets.${name.toUpperCase()}]\nfrom = "dev.rt.mapped/${name}"`,
    ),
    '[run.secrets]\nall = ["ONE", "TWO"]\ngone = ["ONE", "GONE"]',
  ].join("\n"),
};
const VALUES = { one: "the first wärde", two: "two lines\nof one value" };
const STORES = { "GNOME Keyring": startKeyring, KWallet: startKWallet, KeePassXC: startKeePassXC };

for (const [name, start] of Object.entries(STORES)) {
  test.skipIf(process.platform !== "linux")(`${name} stores the secrets that scripts get`, async () => {
    await using project = await createProject(FILES);
    await using keyring = await start();
    const env = { ...keyring.env, RT_TRUST: await trustOf(project.path) };
    const run = (args: string[], stdin = "") => runRt({ args, cwd: project.path, env, stdin });
    for (const [account, value] of Object.entries(VALUES))
      expect(await run(["secrets", "set", "dev.rt.mapped", account], value)).toMatchObject({ status: 0 });
    expect(await run(["--silent", "run", "all"])).toEqual({
      stdout: `[ONE]\n[TWO]\n${[...VALUES.one].length} ${VALUES.two.length}\n`,
      stderr: "",
      status: 0,
    });
    expect(await run(["--silent", "run", "other"])).toMatchObject({ stdout: "none:\n", status: 0 });
    expect(await run(["run", "gone"])).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining("rt secrets set dev.rt.mapped gone"),
      status: 1,
    });
  });
}
