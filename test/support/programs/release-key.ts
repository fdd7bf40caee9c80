// A key for test releases, and an rt that trusts it. That rt is built with another src/cli/upgrade/release-keys.ts, because a
// released rt accepts no key from outside.
import type { BunPlugin } from "bun";
import { compile } from "../../../build/compile.ts";
import { hostTarget } from "../../../build/targets.ts";
import { compileOnce } from "./compiled.ts";

export const TEST_KEY = {
  publicKey: "RWQ6G2y0jC0YNAimIdq+Yrp7zPJPCMFcN3HTbL8Q3HL95hgo4xlJvOJd",
  secretKey:
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAOhtstIwtGDQB4FA3d7iPWt0hRDiBWJHFfRVfZbUoRJBtcvdjql8zKgimIdq+Yrp7zPJPCMFcN3HTbL8Q3HL95hgo4xlJvOJdAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
} as const;

/** The key after that, which is also in the table. */
export const NEXT_KEY = {
  publicKey: "RWQVCH+XwwGQEU9skGx6Q6XmGQoX6RID5jA2qFncmMWar7SbzTBJsLv7",
  secretKey:
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFQh/l8MBkBGdJ1vogy4BgZVbs83QnJuKffEOAJAjnoqn6U99cdXEAU9skGx6Q6XmGQoX6RID5jA2qFncmMWar7SbzTBJsLv7AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
} as const;

const testKeys: BunPlugin = {
  name: "rt-test-keys",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]cli[\\/]upgrade[\\/]release-keys\.ts$/ }, () => ({
      contents: `export const RELEASE_KEYS = ${JSON.stringify([TEST_KEY.publicKey, NEXT_KEY.publicKey])};`,
      loader: "ts",
    }));
  },
};

/** Compiles an rt that differs from `dist/rt` only in its keys. */
export function compileTrusting(): Promise<string> {
  return compileOnce("that-trusts-the-test-key", (path) => compile(hostTarget(), path, [testKeys]));
}
