import { expect, test } from "bun:test";
import { openProvider } from "../../../platform/secrets/secret-provider.ts";
import { createSecrets } from "../../../src/secrets/api/secrets.ts";
import { startKWallet } from "../../support/keyring/kwallet.ts";
import { testKeyring } from "../conformance.ts";

testKeyring("KWallet", startKWallet);

if (process.platform === "linux") {
  // In one of 150 sessions KWallet has another key than we, drops what is stored and says nothing.
  test("150 sessions of KWallet: what was stored is there", async () => {
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
