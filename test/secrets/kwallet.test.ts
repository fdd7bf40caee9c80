import { openProvider } from "../../platform/secret-provider.ts";
import { createSecrets } from "../../src/secrets/secrets.ts";
import { startKWallet } from "../support/kwallet.ts";
import { testConformance } from "./conformance.ts";

if (process.platform === "linux") {
  testConformance("KWallet", async () => {
    const keyring = await startKWallet();
    keyring.enter();
    const provider = await openProvider();
    return {
      list: (service) => provider.list!(service),
      secrets: createSecrets(async () => provider),
      [Symbol.asyncDispose]: () => keyring[Symbol.asyncDispose](),
    };
  });
}
