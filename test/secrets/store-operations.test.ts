// Timeouts and abort signals of store operations.
import { expect, spyOn, test } from "bun:test";
import { orGiveUp } from "../../platform/secrets/credential-operations.ts";

test("a finished operation leaves no listener on its caller's signal", async () => {
  const { signal } = new AbortController();
  using add = spyOn(signal, "addEventListener");
  using remove = spyOn(signal, "removeEventListener");
  expect(await orGiveUp(Promise.resolve("done"), { signal }, "$")).toBe("done");
  await expect(orGiveUp(Promise.reject(new Error("failed")), { signal }, "$")).rejects.toThrow("failed");
  expect(add.mock.calls).toHaveLength(2);
  expect(remove.mock.calls).toEqual(add.mock.calls);
});
