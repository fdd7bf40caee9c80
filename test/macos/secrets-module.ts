export { openProvider } from "../../platform/secret-provider.ts";
export { createSecrets } from "../../src/secrets/secrets.ts";
