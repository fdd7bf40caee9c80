import { openProvider } from "../../platform/secret-provider.ts";
import { createSecrets } from "../../src/secrets/secrets.ts";
import { startKeyring } from "../support/keyring.ts";
import { testConformance } from "./conformance.ts";

if (process.platform === "linux") {
  testConformance(
    "GNOME Keyring",
    async () => {
      const keyring = await startKeyring();
      keyring.enter();
      const provider = await openProvider();
      return {
        list: (service) => provider.list!(service),
        secrets: createSecrets(async () => provider),
        [Symbol.asyncDispose]: () => keyring[Symbol.asyncDispose](),
      };
    },
    { maxValue: 1 << 20 },
  );
}
