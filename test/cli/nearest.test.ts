// Finding the known name that is nearest to a mistyped one.
import { expect, test } from "bun:test";
import { suggestNames } from "../../src/did-you-mean.ts";

test.each<[string, string, string[], string[]]>([
  ["the closest comes first", "compile", ["complier", "compiler"], ["compiler", "complier"]],
  ["names as close come by the alphabet", "tes", ["tet", "tea", "test"], ["tea", "test", "tet"]],
  ["a name with nothing in common is not suggested", "a", ["b", "ab"], []],
  ["a scope need not be typed", "ui", ["@acme/ui"], ["@acme/ui"]],
])("%s: %s of %j", (_, typed, known, expected) => {
  expect(suggestNames(typed, known)).toEqual(expected);
});
