// Diagnoses the Credential Manager: its service, its response, and the persistence of this session. Stores nothing and reads no value.
import { type DiagnosisCheck, type Diagnosis, splitRemedy } from "../contract/secret-provider.ts";
import { ForeignThreads } from "../foreign-threads.ts";
import { ERROR_FROM, LIBRARIES, openVault, readMaximumPersistence, Win32Error } from "./advapi.ts";
import { PERSISTENCE } from "./credential.ts";
import { DISABLED, toProviderFailure } from "./failures.ts";
import { isVaultDisabled } from "../../processes/windows/registry.ts";

const STORE = "Windows Credential Manager";
/** A target that rt never writes. */
const NOBODY = "rt:";

export async function diagnoseCredentialManager(): Promise<Diagnosis> {
  const service = checkService();
  const checks = service ? [service] : [];
  if (service?.status === "problem") return { checks };
  const threads = new ForeignThreads(LIBRARIES, { errorFrom: ERROR_FROM });
  return await threads.use(async (call) => {
    try {
      await openVault(call).read(NOBODY);
      checks.push({ name: "credential store", status: "ok", found: `${STORE} answers` });
      const persistence = describePersistence(await readMaximumPersistence(call));
      if (persistence) checks.push(persistence);
      return { store: STORE, checks };
    } catch (error) {
      if (!(error instanceof Win32Error)) throw error;
      const { message } = toProviderFailure(error.code, () => false);
      return { checks: [...checks, problem("credential store", message)] };
    }
  });
}

/** Returns undefined if the registry has no answer. */
function checkService(): DiagnosisCheck | undefined {
  const isDisabled = isVaultDisabled();
  if (isDisabled === undefined) return undefined;
  if (isDisabled) return problem("service", DISABLED);
  return { name: "service", status: "ok", found: "The Credential Manager service may start" };
}

function describePersistence(most: number | undefined): DiagnosisCheck | undefined {
  const name = "persistence";
  if (most === undefined) return undefined;
  if (most >= PERSISTENCE.enterprise) return { name, status: "ok", found: "Credentials are kept" };
  if (most === PERSISTENCE.local) {
    const found = "Credentials are kept, but stay on this computer where the account roams";
    return { name, status: "warning", found };
  }
  return problem(
    name,
    "This session may not keep credentials after its end; sign in with a password, or ask the administrator about the policy on the storage of passwords",
  );
}

function problem(name: string, message: string): DiagnosisCheck {
  const [found, remedy] = splitRemedy(message);
  return { name, status: "problem", found, ...(remedy === undefined ? {} : { remedy }) };
}
