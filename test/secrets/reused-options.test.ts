// A program may change or reuse an options object as soon as a call has returned its promise.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";

const CALL_FORMS = [
  { name: "in process", options: [] },
  { name: "as the engine", options: ["--smol"] },
] as const;

describe.skipIf(process.platform !== "linux")("rt.secrets", () => {
  let keyring: Keyring;
  beforeAll(async () => {
    keyring = await startKeyring();
  });
  afterAll(() => keyring?.[Symbol.asyncDispose]());

  for (const { name, options } of CALL_FORMS) {
    const run = async (program: string) => {
      await using project = await createProject({ "main.ts": `const secrets = rt.secrets; ${program}` });
      return await runRt({ args: [...options, "main.ts"], cwd: project.path, env: keyring.env });
    };

    test(`${name}, set() stores each value when one options object is reused without awaiting`, async () => {
      const result = await run(`
        const reused: any = { service: "reused ${name}" };
        const calls = [];
        for (const each of ["one", "two", "three"]) {
          reused.name = each;
          reused.value = each;
          calls.push(secrets.set(reused));
        }
        for (const each of ["four", "five"]) {
          reused.name = each;
          calls.push(secrets.set(reused, each));
        }
        await Promise.all(calls);
        const names = ["one", "two", "three", "four", "five"];
        console.log(await Promise.all(names.map((each) => secrets.get(reused.service, each))));`);
      expect(result).toEqual({
        stdout: '[ "one", "two", "three", "four", "five" ]\n',
        stderr: "",
        status: 0,
      });
    });

    test(`${name}, get() and delete() address the credential that the call named when options change after it`, async () => {
      const result = await run(`
        await secrets.set("changed ${name}", "me", "value");
        const options: any = { service: "changed ${name}", name: "me", timeout: 60_000 };
        const value = secrets.get(options);
        options.name = undefined;
        options.timeout = "soon";
        const missing = secrets.get({ ...options, name: "other", timeout: undefined });
        console.log(await value, await missing);
        options.name = "me";
        options.timeout = undefined;
        const deleted = secrets.delete(options);
        options.service = "other";
        console.log(await deleted, await secrets.get("changed ${name}", "me"));`);
      expect(result).toEqual({ stdout: "value null\ntrue null\n", stderr: "", status: 0 });
    });

    test(`${name}, each option is read once, before the call returns, and a getter that throws rejects it`, async () => {
      const result = await run(`
        const fields = ["service", "name", "signal", "timeout", "persist", "value"];
        for (const method of ["get", "set", "delete"] as const) {
          const reads: string[] = [];
          const options = {};
          for (const field of fields)
            Object.defineProperty(options, field, {
              get() { reads.push(field); return ["service", "name", "value"].includes(field) ? field : undefined; },
            });
          const call = (secrets[method] as any)(options);
          const during = reads.join();
          await call;
          console.log(method, during === fields.join(), reads.length === fields.length);
        }
        const faulty = { service: "a", get name(): string { throw new Error("mine"); } };
        let thrown = "nothing";
        const call = (() => { try { return secrets.get(faulty); } catch { thrown = "synchronously"; } })();
        console.log(thrown, await call!.catch(({ message }) => message));`);
      expect(result).toEqual({
        stdout: "get true true\nset true true\ndelete true true\nnothing mine\n",
        stderr: "",
        status: 0,
      });
    });
  }
});
