// Signatures are compared in constant time: only crypto.timingSafeEqual, called with all bytes, decides.
import { afterEach, expect, spyOn, test } from "bun:test";
import { CSRF } from "../../src/csrf/csrf.ts";
import { type CSRFAlgorithm, MAC_BYTES } from "../../src/csrf/token.ts";
import { forgeToken } from "./forge.ts";

const compare = spyOn(crypto, "timingSafeEqual");
afterEach(() => void compare.mockReset());

test.each(Object.keys(MAC_BYTES) as CSRFAlgorithm[])(
  "verify() returns the result of timingSafeEqual with %s",
  (algorithm) => {
    const token = CSRF.generate("a secret", { algorithm });
    const bytes = forgeToken({ secret: "another", algorithm });
    bytes[32]! ^= 1; // the first byte of the signature
    const forged = bytes.toString("base64url");
    for (const secret of ["a secret", ["a secret"], ["other", "a secret"], ["a secret", "other"]]) {
      for (const answer of [true, false]) {
        compare.mockClear();
        compare.mockImplementation(() => answer);
        for (const each of [token, forged]) expect(CSRF.verify(each, { secret, algorithm })).toBe(answer);
        expect(compare).toHaveBeenCalledTimes(2 * [secret].flat().length);
        for (const [actual, expected] of compare.mock.calls)
          expect([actual.byteLength, expected.byteLength]).toEqual([
            MAC_BYTES[algorithm],
            MAC_BYTES[algorithm],
          ]);
      }
    }
  },
);
