import { openProvider } from "../../platform/secret-provider.ts";
import { createSecrets } from "../../src/secrets/secrets.ts";
import { startKeePassXC } from "../support/keepassxc.ts";
import { testConformance } from "./conformance.ts";

if (process.platform === "linux") {
  testConformance("KeePassXC", async () => {
    const keyring = await startKeePassXC();
    keyring.enter();
    return {
      secrets: createSecrets(openProvider),
      [Symbol.asyncDispose]: () => keyring[Symbol.asyncDispose](),
    };
  });
}
