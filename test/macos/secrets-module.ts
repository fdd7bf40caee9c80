export { openProvider } from "../../platform/secrets/secret-provider.ts";
export { createSecrets } from "../../src/secrets/api/secrets.ts";
