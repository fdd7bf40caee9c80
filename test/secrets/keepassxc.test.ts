import { openProvider } from "../../platform/secret-provider.ts";
import { createSecrets } from "../../src/secrets/secrets.ts";
import { startKeePassXC } from "../support/keepassxc.ts";
import { testConformance } from "./conformance.ts";

if (process.platform === "linux") {
  testConformance("KeePassXC", async () => {
    const keyring = await startKeePassXC();
    keyring.enter();
    const provider = await openProvider();
    return {
      list: (service) => provider.list!(service),
      secrets: createSecrets(async () => provider),
      [Symbol.asyncDispose]: () => keyring[Symbol.asyncDispose](),
    };
  });
}
