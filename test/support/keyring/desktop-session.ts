// Runs `rt.secrets` in the test's own process, in a separate desktop session with a real or a fake secret service.
//
//   await using entered = await enterKeyring();
//   await using entered = await enterFake();
//   entered.fake.silent.add("SearchItems");
//   expect(await failureOf(entered.secrets.get("a", "b"))).toMatchObject({ code: "ERR_SECRETS_TIMEOUT" });
import { openProvider } from "../../../platform/secrets/secret-provider.ts";
import type { Secrets } from "rt";
import { createSecrets } from "../../../src/secrets/api/secrets.ts";
import { FakeSecretService } from "./fake-secret-service.ts";
import { type Keyring, type KeyringOptions, startKeyring } from "./keyring.ts";
import { setVariables } from "../own-environment.ts";

export interface Entered extends AsyncDisposable {
  keyring: Keyring;
  secrets: Secrets;
}

export async function enterKeyring(options?: KeyringOptions): Promise<Entered> {
  const keyring = await startKeyring(options);
  keyring.enter();
  return {
    keyring,
    secrets: createSecrets(openProvider),
    [Symbol.asyncDispose]: () => keyring[Symbol.asyncDispose](),
  };
}

export async function enterFake(options?: KeyringOptions): Promise<Entered & { fake: FakeSecretService }> {
  const entered = await enterKeyring({ service: "none", ...options });
  const fake = await FakeSecretService.start(entered.keyring.address);
  const dispose = async () => {
    await fake[Symbol.asyncDispose]();
    await entered[Symbol.asyncDispose]();
  };
  return { ...entered, fake, [Symbol.asyncDispose]: dispose };
}

/** Sets the environment for the duration of a test. */
export function setEnvironment(values: Record<string, string | undefined>): Disposable {
  const before = setVariables(values);
  return { [Symbol.dispose]: () => void setVariables(before) };
}

export async function failureOf(
  promise: Promise<unknown>,
): Promise<{ code?: string; message: string; cause?: unknown; name: string }> {
  const error = await promise.then(
    (value) => Promise.reject(new Error(`resolved with ${typeof value}`)),
    (error: Error) => error,
  );
  return error;
}
