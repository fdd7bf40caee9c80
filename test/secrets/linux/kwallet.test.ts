import { expect, test } from "bun:test";
import { openProvider } from "../../../platform/secrets/secret-provider.ts";
import { createSecrets } from "../../../src/secrets/api/secrets.ts";
import { startKWallet } from "../../support/keyring/kwallet.ts";
import { testKeyring } from "../conformance.ts";

testKeyring("KWallet", startKWallet);

if (process.platform === "linux") {
  // In one of 150 sessions KWallet derives another key than rt, and silently drops the stored value.
  test("150 sessions with KWallet return the stored value", async () => {
    await using keyring = await startKWallet();
    keyring.enter();
    const account = { service: "dev.rt.sessions", name: "me" };
    const reader = createSecrets(openProvider);
    for (let session = 0; session < 150; session++) {
      await createSecrets(openProvider).set(account, `value ${session}`);
      expect(await reader.get(account)).toBe(`value ${session}`);
    }
  });
}
