// Connects to a server for remote execution.
import { RemoteClient } from "../reapi/client.ts";
import { BlobUploader } from "../reapi/blob-uploader.ts";
import type { RetryBudget } from "../reapi/grpc/retry.ts";
import type { RemoteSettings } from "../config/settings/remote.ts";
import { resetEnvironment } from "../../platform/processes/dotenv-reset.ts";
import { VERSION } from "../version.ts";
import type { ExecutionServices } from "./action-execution.ts";
import type { PersistedState } from "./persisted-state.ts";

/** @throws RemoteError */
export async function connect(
  remote: RemoteSettings,
  { blobPresence }: PersistedState,
  signal: AbortSignal,
  budget: RetryBudget,
): Promise<ExecutionServices> {
  // The engine would warn about variables from a project's .env, and src/reapi/grpc/connection.ts does not use
  // them.
  resetEnvironment();
  const client = new RemoteClient({ ...remote, toolVersion: VERSION }, signal, budget);
  try {
    const store = await client.connect();
    return { client, store, uploads: new BlobUploader(store, blobPresence) };
  } catch (error) {
    client[Symbol.dispose]();
    throw error;
  }
}
