// The `rt` object: everything the engine's own namespace has, with `secrets` and `CSRF` ours.
//
// Contract (specification, "Endpoints"): reachable as `rt` and as named exports of the module "rt".
//
// Surprising: making the object loads nothing. `secrets` and `CSRF` are chunks that are read when they are
// touched, and a few members of the engine take up to twelve milliseconds to make, so the module (whose
// exports must exist when it is imported) has stand-ins for those that make the real one at first use.
import type { CSRF } from "../csrf/csrf.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { Parts } from "./parts.ts";

export interface Rt extends Omit<typeof Bun, "secrets" | "CSRF"> {
  readonly secrets: Secrets;
  readonly CSRF: typeof CSRF;
}

export function createRt({ loadSecrets, loadCSRF }: Parts): Rt {
  return Object.create(Bun, {
    secrets: lazy("secrets", loadSecrets),
    CSRF: lazy("CSRF", loadCSRF),
  }) as Rt;
}

/** A property that becomes an ordinary one when it is first read or written. */
function lazy(name: string, load: () => unknown): PropertyDescriptor {
  function settle(this: object, value: unknown) {
    Object.defineProperty(this, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return {
    enumerable: true,
    configurable: true,
    get(this: object) {
      const value = load();
      settle.call(this, value);
      return value;
    },
    set: settle,
  };
}

/** Members whose making costs more than the rest together, in descending order. */
const COSTLY = ["sql", "SQL", "postgres", "$", "RedisClient", "redis"];

/** What `import ... from "rt"` can name. */
export function moduleExports(rt: Rt): Record<string, unknown> {
  const source = rt as unknown as Record<string, unknown>;
  const exports: Record<string, unknown> = { default: rt };
  for (const name of Object.keys(Bun)) {
    exports[name] = COSTLY.includes(name) ? standIn(() => source[name] as object) : source[name];
  }
  return exports;
}

/** Behaves as the object that `load` makes, in every operation a program can see but `===` with it. */
function standIn(load: () => object): unknown {
  let real: object | undefined;
  const handler = new Proxy(
    {},
    {
      get: (_, trap: keyof typeof Reflect) => {
        return (_target: object, ...operands: unknown[]) => {
          real ??= load();
          const result = (Reflect[trap] as (...all: unknown[]) => unknown)(real, ...operands);
          return result;
        };
      },
    },
  );
  // A bound function can be called and constructed, and has no property that a Proxy must answer for.
  const callable = function () {}.bind(undefined);
  return new Proxy(callable, handler);
}
