// The API over a store that records calls: call forms, misuse, errors and zeroization. Real stores run conformance.ts.
import { describe, expect, test } from "bun:test";
import {
  type FailureKind,
  ProviderFailure,
  type SecretProvider,
} from "../../platform/secrets/contract/secret-provider.ts";
import type { Secrets } from "rt";
import { createSecrets } from "../../src/secrets/api/secrets.ts";

type Method = keyof SecretProvider;

interface Recorder {
  secrets: Secrets;
  calls: unknown[][];
  /** The buffers that were passed in or out, in their current state. */
  buffers: Uint8Array[];
}

function record(answer: () => Uint8Array | null = () => null): Recorder {
  const calls: unknown[][] = [];
  const buffers: Uint8Array[] = [];
  const keep = (bytes: Uint8Array | null) => {
    if (bytes) buffers.push(bytes);
    return bytes;
  };
  const provider: SecretProvider = {
    async get(service, name, options) {
      calls.push(["get", service, name, options]);
      return keep(answer());
    },
    async set(service, name, value, options) {
      calls.push(["set", service, name, new TextDecoder().decode(value), options]);
      keep(value);
    },
    async delete(service, name, options) {
      calls.push(["delete", service, name, options]);
      return true;
    },
  };
  return { secrets: createSecrets(async () => provider), calls, buffers };
}

async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  return promise.then(
    () => Promise.reject(new Error("resolved")),
    (error) => error,
  );
}

const PAIR = { service: "svc", name: "me" };

describe("call forms", () => {
  const { secrets, calls } = record();
  const any = secrets as unknown as Record<Method, (...args: unknown[]) => Promise<unknown>>;

  test.each([
    ["get", [PAIR], ["get", "svc", "me", undefined]],
    ["get", ["svc", "me"], ["get", "svc", "me", undefined]],
    ["set", [{ ...PAIR, value: "v" }], ["set", "svc", "me", "v", undefined]],
    ["set", [PAIR, "v"], ["set", "svc", "me", "v", undefined]],
    ["set", [{ ...PAIR, value: "no" }, "v"], ["set", "svc", "me", "v", undefined]],
    ["set", ["svc", "me", "v"], ["set", "svc", "me", "v", undefined]],
    ["set", ["svc", "me", ""], ["set", "svc", "me", "", undefined]],
    ["delete", [PAIR], ["delete", "svc", "me", undefined]],
    ["delete", [{ ...PAIR, value: 7 }], ["delete", "svc", "me", undefined]],
    ["delete", ["svc", "me"], ["delete", "svc", "me", undefined]],
    ["get", [{ ...PAIR, timeout: 5 }], ["get", "svc", "me", { signal: undefined, timeout: 5 }]],
  ] as [Method, unknown[], unknown[]][])("%s(%j)", async (method, args, call) => {
    await any[method](...args);
    expect(calls.pop()).toEqual(call);
  });

  test("methods work without their object", async () => {
    const { get } = secrets;
    expect(await get(PAIR)).toBe(null);
  });
});

describe("misuse", () => {
  const { secrets, calls } = record();
  const any = secrets as unknown as Record<Method, (...args: unknown[]) => Promise<unknown>>;
  const long = "x".repeat(256);

  test.each([
    ["get", [], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["get", [null], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["get", [1, 2], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["get", ["svc"], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["get", [{}], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["get", [{ service: "svc", name: 1 }], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["get", [{ service: Object("svc"), name: "me" }], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["get", ["", "me"], TypeError, "ERR_INVALID_ARG_VALUE"],
    ["get", ["svc", ""], TypeError, "ERR_INVALID_ARG_VALUE"],
    ["get", ["s\0vc", "me"], TypeError, "ERR_INVALID_ARG_VALUE"],
    ["get", ["svc", "\ud800"], TypeError, "ERR_INVALID_ARG_VALUE"],
    ["get", [long, "me"], RangeError, "ERR_OUT_OF_RANGE"],
    ["get", ["svc", long], RangeError, "ERR_OUT_OF_RANGE"],
    ["set", [PAIR], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["set", [PAIR, null], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["set", [{ ...PAIR, value: 1 }], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["set", ["svc", "me"], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["set", ["svc", "me", new Uint8Array(1)], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["set", ["svc", "me", "a\udc00"], TypeError, "ERR_INVALID_ARG_VALUE"],
    ["delete", [], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["delete", ["svc"], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["get", [{ ...PAIR, timeout: "1" }], TypeError, "ERR_INVALID_ARG_TYPE"],
    ["get", [{ ...PAIR, timeout: 0 }], RangeError, "ERR_OUT_OF_RANGE"],
    ["get", [{ ...PAIR, timeout: NaN }], RangeError, "ERR_OUT_OF_RANGE"],
    ["get", [{ ...PAIR, signal: {} }], TypeError, "ERR_INVALID_ARG_TYPE"],
  ] as [Method, unknown[], typeof TypeError, string][])(
    "%s(%j) rejects",
    async (method, args, type, code) => {
      const promise = any[method](...args);
      expect(promise).toBeInstanceOf(Promise);
      const error = await failureOf(promise);
      expect(error).toBeInstanceOf(type);
      expect(error.code).toBe(code);
      expect(calls).toEqual([]);
    },
  );

  test("a name of 255 characters outside the basic plane is accepted", async () => {
    await secrets.get("svc", "🔑".repeat(255));
    calls.pop();
    const error = await failureOf(secrets.get("svc", "🔑".repeat(256)));
    expect(error.code).toBe("ERR_OUT_OF_RANGE");
  });

  test("no error contains the value in any encoding", async () => {
    const value = "pass-7f3a\u00e9 phrase";
    for (const args of [
      [PAIR, `${value}\ud800`],
      ["", "me", value],
      [long, "me", value],
      [PAIR, [value]],
      [PAIR, { value }],
      [{ ...PAIR, value: [value] }],
      [{ ...PAIR, timeout: "soon", value }],
      [{ ...PAIR, persist: "never", value }],
    ]) {
      const error = await failureOf(any.set(...args));
      expect(formsIn(Bun.inspect(error) + error.message + error.stack, value)).toEqual([]);
    }
    for (const form of FORMS) expect(formsIn(`x${form(value)}y`, value)).not.toEqual([]);
  });
});

/** Encodings of a text that show a value, also of half of the value. */
const FORMS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => encodeURIComponent(text),
  (text) => Buffer.from(text).toString("hex"),
  (text) => Buffer.from(text).toString("base64").replace(/=+$/, ""),
  (text) => Buffer.from(text).toString("base64url"),
  (text) => [...Buffer.from(text)].join(","),
];

function formsIn(text: string, value: string): string[] {
  const half = value.slice(0, 9); // whole groups of three bytes, as in base64
  return [value, half]
    .flatMap((part) => FORMS.map((form) => form(part)))
    .filter((form) => text.includes(form));
}

describe("failures", () => {
  const KINDS: FailureKind[] = [
    "UNAVAILABLE",
    "LOCKED",
    "CANCELED",
    "TIMEOUT",
    "TOO_LARGE",
    "DENIED",
    "PLATFORM",
  ];

  test.each(KINDS)("%s becomes a SecretsError with its code and the native cause", async (kind) => {
    const secrets = createSecrets(async () => {
      throw new ProviderFailure(kind, "It did not work; try something else", -25308);
    });
    const error = await failureOf(secrets.get(PAIR));
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "SecretsError",
      code: `ERR_SECRETS_${kind}`,
      message: "It did not work; try something else",
      cause: -25308,
    });
  });

  test("a store that could not be opened is opened again by the next operation", async () => {
    let attempts = 0;
    const { secrets } = record();
    const flaky = createSecrets(async () => {
      if (++attempts === 1) throw new ProviderFailure("UNAVAILABLE", "Not yet");
      return { ...secrets, get: async () => null } as unknown as SecretProvider;
    });
    expect(await flaky.get(PAIR).catch((error) => error.code)).toBe("ERR_SECRETS_UNAVAILABLE");
    expect(await flaky.get(PAIR)).toBe(null);
  });

  test("a value that is not UTF-8 is an error and not a changed value", async () => {
    const { secrets } = record(() => Uint8Array.of(0x61, 0xff));
    expect(await secrets.get(PAIR).catch((error) => error.code)).toBe("ERR_SECRETS_PLATFORM");
  });

  test("an aborted signal rejects with its reason before any call to the store", async () => {
    const { secrets, calls } = record();
    const reason = new Error("enough");
    expect(await failureOf(secrets.get({ ...PAIR, signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(calls).toEqual([]);
  });
});

describe("zeroization", () => {
  test("the bytes of a value are zero after set and get", async () => {
    const { secrets, buffers } = record(() => new TextEncoder().encode("stored"));
    await secrets.set(PAIR, "given");
    expect(await secrets.get(PAIR)).toBe("stored");
    expect(buffers.map((bytes) => bytes.length)).toEqual([5, 6]);
    for (const bytes of buffers) expect(bytes.every((byte) => byte === 0)).toBe(true);
  });
});
