// Checks CSRF tokens under a changed clock: setSystemTime moves Date.now(), which `generate` and `verify` use.
import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { CLOCK_SKEW, CSRF } from "../../src/csrf/csrf.ts";
import { forgeToken } from "./forge.ts";

const secret = "a secret";
const NOON = Date.UTC(2030, 5, 15, 12);
const DAY = 86_400_000;
const FAR = Number.MAX_SAFE_INTEGER;

const setClock = (time: number) => setSystemTime(new Date(time));
afterEach(() => {
  setSystemTime();
});

/** Returns whether a token issued at noon verifies `age` milliseconds later. */
function isValidAfter(age: number, expiresIn?: number, maxAge?: number): boolean {
  setClock(NOON);
  const token = CSRF.generate(secret, { expiresIn });
  setClock(NOON + age);
  return CSRF.verify(token, { secret, maxAge });
}

describe("limits", () => {
  test.each([
    // age, expiresIn, maxAge, valid
    [0, undefined, undefined, true],
    [DAY, undefined, undefined, true],
    [DAY + 1, undefined, undefined, false],
    [1000, 1000, undefined, true],
    [1001, 1000, undefined, false],
    [1000, undefined, 1000, true],
    [1001, undefined, 1000, false],
    [1001, FAR, 1000, false],
    [1001, 1000, FAR, false],
    [0, 1, 1, true],
    [2, 1, 1, false],
    [DAY + 1, 2 * DAY, undefined, false],
    [DAY + 1, 2 * DAY, 2 * DAY, true],
    [DAY + 1, undefined, 2 * DAY, false],
    // 0 means "no limit of this kind", never "no limit at all".
    [DAY, 0, undefined, true],
    [DAY + 1, 0, undefined, false],
    [DAY + 1, undefined, 0, false],
    [DAY + 1, 0, 0, true],
    [200 * 365 * DAY, 0, 0, true],
    [200 * 365 * DAY, FAR, FAR, true],
    [200 * 365 * DAY, FAR, undefined, false],
    [DAY + 1, -0, -0, true],
  ])("age %p, expiresIn %p, maxAge %p: %p", (age, expiresIn, maxAge, valid) => {
    expect(isValidAfter(age, expiresIn, maxAge)).toBe(valid);
  });
});

describe("a clock moved backward", () => {
  test.each([
    [-1, true],
    [-CLOCK_SKEW, true],
    [-CLOCK_SKEW - 1, false],
    [-DAY, false],
    [-40 * 365 * DAY, false],
  ])("by %p ms: %p, whatever the limits", (age, valid) => {
    for (const limit of [undefined, 0, 1, DAY, FAR]) {
      expect([limit, isValidAfter(age, limit, limit)]).toEqual([limit, valid]);
    }
  });

  test("a token is valid again after the clock was moved back and corrected", () => {
    setClock(NOON);
    const token = CSRF.generate(secret);
    setClock(NOON - DAY);
    expect(CSRF.verify(token, { secret })).toBe(false);
    setClock(NOON + 1);
    expect(CSRF.verify(token, { secret })).toBe(true);
  });
});

test("a token issued while the clock was ahead is invalid after the correction", () => {
  setClock(NOON + 365 * DAY);
  const token = CSRF.generate(secret);
  setClock(NOON);
  expect(CSRF.verify(token, { secret })).toBe(false);
});

test("extreme times in a token neither overflow nor throw", () => {
  setClock(NOON);
  const extremes = [
    0n,
    1n,
    2n ** 31n,
    2n ** 32n - 1n,
    2n ** 32n,
    2n ** 53n,
    2n ** 63n - 1n,
    2n ** 63n,
    2n ** 64n - 1n,
  ];
  for (const issuedAt of extremes) {
    for (const expiresIn of extremes) {
      const token = forgeToken({ issuedAt, expiresIn }).toString("base64url");
      expect(CSRF.verify(token, { secret })).toBe(false);
      // Only tokens from the past verify, and only when no limit ends before noon.
      const valid = issuedAt < BigInt(NOON) && (expiresIn === 0n || issuedAt + expiresIn >= BigInt(NOON));
      expect([issuedAt, expiresIn, CSRF.verify(token, { secret, maxAge: 0 })]).toEqual([
        issuedAt,
        expiresIn,
        valid,
      ]);
    }
  }
});

test("no token is valid when Date.now() returns NaN", () => {
  const token = CSRF.generate(secret, { expiresIn: 0 });
  const { now } = Date;
  try {
    Date.now = () => NaN;
    for (const maxAge of [undefined, 0, FAR]) expect(CSRF.verify(token, { secret, maxAge })).toBe(false);
  } finally {
    Date.now = now;
  }
});
