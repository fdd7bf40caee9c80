import type { CredentialName } from "../../platform/secrets/contract/secret-provider.ts";
import { testConformance } from "../secrets/conformance.ts";
import { canRunWindows, isWine, openWindows } from "../support/programs/windows.ts";
import { openStore } from "./store.ts";

if (canRunWindows)
  testConformance(
    "Windows Credential Manager",
    async () => {
      const windows = await openWindows();
      const store = openStore(windows);
      return {
        secrets: store.secrets,
        async list(service) {
          const { stdout } = await windows.run({
            args: ["secrets", "list", "--json", ...(service === undefined ? [] : [service])],
          });
          return JSON.parse(stdout) as CredentialName[];
        },
        async [Symbol.asyncDispose]() {
          await store[Symbol.asyncDispose]();
          await windows[Symbol.asyncDispose]();
        },
      };
    },
    // Wine keeps an entry in its registry, whose names have at most 255 characters.
    { maxValue: 256 * 2560, ...(isWine ? { maxName: 100 } : {}) },
  );
