// Selects the credential store of this operating system. The build omits the other modules.
import { type Diagnosis, type SecretProvider, ProviderFailure } from "./contract/secret-provider.ts";

/**
 * Opens the store; it may connect only at the first operation. The `if` statements stay literal: the bundler removes the other
 * systems' modules only in exactly this form.
 */
export async function openProvider(): Promise<SecretProvider> {
  if (process.platform === "linux") {
    const { openSecretService } = await import("./linux/secret-service.ts");
    return openSecretService();
  }
  if (process.platform === "darwin") {
    const { openKeychain } = await import("./macos/keychain.ts");
    return openKeychain();
  }
  if (process.platform === "win32") {
    const { openCredentialManager } = await import("./windows/credential-store.ts");
    return openCredentialManager();
  }
  throw new ProviderFailure("UNAVAILABLE", `rt supports no credential store on ${process.platform}`);
}

/** Diagnoses the store without a dialog, an unlock or a write. */
export async function diagnoseStore(): Promise<Diagnosis> {
  if (process.platform === "linux") {
    const { diagnoseSecretService } = await import("./linux/diagnosis.ts");
    return diagnoseSecretService();
  }
  if (process.platform === "darwin") {
    const { diagnoseKeychain } = await import("./macos/diagnosis.ts");
    return diagnoseKeychain();
  }
  if (process.platform === "win32") {
    const { diagnoseCredentialManager } = await import("./windows/diagnosis.ts");
    return diagnoseCredentialManager();
  }
  const found = `rt supports no credential store on ${process.platform}`;
  return { checks: [{ name: "credential store", status: "problem", found }] };
}
