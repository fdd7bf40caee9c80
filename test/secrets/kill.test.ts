// `rt` is killed while it stores and deletes. At every moment the store has the old value, the new one or none. No value is
// partial or double, and no connection stays on the bus.
//
// RT_TEST_KILLS=200 npm test -- secrets/kill (default: 10 for each store)
import { describe, expect, test } from "bun:test";
import { openProvider } from "../../platform/secrets/secret-provider.ts";
import { createSecrets } from "../../src/secrets/api/secrets.ts";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { startKWallet } from "../support/keyring/kwallet.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { createRandom } from "../support/random.ts";
import { startRt } from "../support/rt.ts";

const KILLS = Number(process.env.RT_TEST_KILLS ?? 10);
const SERVICE = "dev.rt.kill";
const NAMES = ["a", "b", "c"];
const FILL = "0123456789abcdef".repeat(256);

/** Prints each step before it starts. Three names run concurrently, so that a kill always interrupts one. */
const PROGRAM = `
  import { secrets } from "rt";
  const fill = "0123456789abcdef".repeat(256);
  for (const name of ${JSON.stringify(NAMES)}) void (async () => {
    for (let i = 0; ; i++) {
      console.log(i);
      if (i % 4 === 3) await secrets.delete(${JSON.stringify(SERVICE)}, name);
      else await secrets.set(${JSON.stringify(SERVICE)}, name, i + fill + i);
    }
  })();`;

const STORES: Record<string, () => Promise<Keyring>> = {
  "GNOME Keyring": startKeyring,
  KWallet: startKWallet,
};

describe.skipIf(process.platform !== "linux")(`killed ${KILLS} times`, () => {
  test.each(Object.entries(STORES))(
    "rt leaves %s consistent",
    async (_store, start) => {
      await using keyring = await start();
      await using project = await createProject({ "main.ts": PROGRAM });
      keyring.enter();
      const provider = await openProvider();
      const secrets = createSecrets(async () => provider);
      await secrets.get(SERVICE, "a"); // opens the connection
      const connections = await keyring.countOnBus("ActiveConnections");
      const random = createRandom(1);
      const found = { values: 0, absences: 0 };
      for (let kill = 0; kill < KILLS; kill++) {
        const child = startRt({ args: [project.join("main.ts")], env: keyring.env });
        let steps = random.below(40) + 1;
        for await (const chunk of child.stdout) {
          steps -= chunk.length;
          if (steps <= 0) break;
        }
        child.kill("SIGKILL");
        await child.exited;
        for (const name of NAMES) {
          const value = await secrets.get(SERVICE, name);
          if (value !== null) {
            const [, before, after] = /^(\d+)0123456789abcdef.*f(\d+)$/s.exec(value) ?? [];
            expect([before, value.length]).toEqual([after, FILL.length + 2 * before!.length]);
          }
          found[value === null ? "absences" : "values"]++;
        }
      }
      expect(found.values).toBeGreaterThan(0);
      const paths = await keyring.call(
        "/org/freedesktop/secrets",
        "org.freedesktop.Secret.Service",
        "SearchItems",
        "a{ss}",
        [{ service: SERVICE }],
      );
      const items = (paths as string[][]).flat();
      expect(items.length).toBeLessThanOrEqual(NAMES.length);
      await waitUntil(async () => (await keyring.countOnBus("ActiveConnections")) <= connections);
      for (const name of NAMES) {
        await secrets.delete(SERVICE, name);
        expect(await secrets.delete(SERVICE, name)).toBe(false);
      }
      if (KILLS > 10) console.log(`${_store}: ${JSON.stringify(found)}`);
    },
    300_000,
  );
});
