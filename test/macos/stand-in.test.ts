// The fakes of Apple's frameworks detect misuse: each program here makes one mistake.
import { beforeAll, describe, expect, test } from "bun:test";
import { buildStandIn, startKeychain } from "../support/keyring/keychain.ts";
import { type Result, resultOf } from "../support/output.ts";

const OPEN = `
  import { dlopen, ptr, read } from "bun:ffi";
  const { symbols: cf } = dlopen(process.argv[1], {
    CFRelease: { args: ["u64"], returns: "void" },
    CFStringCreateWithCharacters: { args: ["u64", "ptr", "i64"], returns: "u64" },
    CFStringGetLength: { args: ["u64"], returns: "i64" },
    CFDataCreateMutable: { args: ["u64", "i64"], returns: "u64" },
    CFDictionaryCreate: { args: ["u64", "ptr", "ptr", "i64", "ptr", "ptr"], returns: "u64" },
    CFArrayGetCount: { args: ["u64"], returns: "i64" },
    SecItemDelete: { args: ["u64"], returns: "i32" },
    SecItemUpdate: { args: ["u64", "u64"], returns: "i32" },
    objc_autoreleasePoolPush: { args: [], returns: "u64" },
    objc_autoreleasePoolPop: { args: ["u64"], returns: "void" },
    kSecClass: { args: [], returns: "void" },
    kSecClassGenericPassword: { args: [], returns: "void" },
    kSecAttrService: { args: [], returns: "void" },
    kSecValueData: { args: [], returns: "void" },
    kCFTypeDictionaryKeyCallBacks: { args: [], returns: "void" },
    kCFTypeDictionaryValueCallBacks: { args: [], returns: "void" },
    stand_in_live_objects: { args: [], returns: "u64" },
  });
  const string = (text) => cf.CFStringCreateWithCharacters(0n, ptr(Uint16Array.from(text, (c) => c.charCodeAt(0))), text.length);
  const constant = (name) => read.u64(cf[name].ptr, 0);
  const dictionary = (...pairs) => cf.CFDictionaryCreate(0n, ptr(BigUint64Array.from(pairs, ([k]) => k)), ptr(BigUint64Array.from(pairs, ([, v]) => v)), pairs.length,
    cf.kCFTypeDictionaryKeyCallBacks.ptr, cf.kCFTypeDictionaryValueCallBacks.ptr);
  const long = string("longer than seven");
  const query = dictionary([constant("kSecClass"), constant("kSecClassGenericPassword")], [constant("kSecAttrService"), long]);
`;

describe.skipIf(process.platform === "darwin")("the keychain's stand-in", () => {
  let library: string;
  beforeAll(async () => {
    library = await buildStandIn();
  });

  async function run(code: string): Promise<Result> {
    await using keychain = await startKeychain();
    const child = Bun.spawn([process.execPath, "-e", OPEN + code, library], {
      env: { ...process.env, ...keychain.env },
      stdout: "pipe",
      stderr: "pipe",
    });
    return await resultOf(child);
  }

  test("the fake framework accepts correct calls and counts the objects that were not released", async () => {
    const { stdout, status } = await run(`
      const pool = cf.objc_autoreleasePoolPush();
      console.log(cf.SecItemDelete(query));
      cf.objc_autoreleasePoolPop(pool);
      const short = string("short");
      console.log(short >> 63n, cf.CFStringGetLength(short));
      cf.CFRelease(short);
      cf.CFRelease(query);
      console.log(cf.stand_in_live_objects());
      cf.CFRelease(long);
      console.log(cf.stand_in_live_objects());`);
    expect({ stdout, status }).toEqual({ stdout: "-25300\n1n 5n\n1n\n0n\n", status: 0 });
  });

  const MISTAKES: Record<string, [code: string, message: string]> = {
    "a double release": [
      "cf.CFRelease(query); cf.CFRelease(query);",
      "CFRelease was given an object that has been released",
    ],
    "a use after the last release": [
      "cf.CFRelease(query); cf.CFRelease(long); cf.CFStringGetLength(long);",
      "CFStringGetLength was given an object that has been released",
    ],
    "a wrong type": ["cf.CFArrayGetCount(long);", "CFArrayGetCount was given an object of type 7, not 19"],
    "a number that is no object": ["cf.CFStringGetLength(4096n);", "which is no object"],
    "a release of a constant": ['cf.CFRelease(constant("kSecClass"));', "which the caller does not own"],
    "a call without a pool": ["cf.SecItemDelete(query);", "SecItemDelete was called without a pool"],
    "a value in the query": [
      `const data = cf.CFDataCreateMutable(0n, 0);
       const wrong = dictionary([constant("kSecClass"), constant("kSecClassGenericPassword")], [constant("kSecValueData"), data]);
       cf.objc_autoreleasePoolPush(); cf.SecItemUpdate(wrong, dictionary([constant("kSecValueData"), data]));`,
      "SecItemUpdate was given the value in the query",
    ],
    "a dictionary that keeps no references": [
      "cf.CFDictionaryCreate(0n, ptr(new BigUint64Array(1)), ptr(new BigUint64Array(1)), 0, 0, 0);",
      "other callbacks than those for objects",
    ],
  };
  for (const [mistake, [code, message]] of Object.entries(MISTAKES)) {
    test(`the fake framework ends a program for ${mistake}`, async () => {
      const { stderr, status } = await run(code);
      expect(stderr).toContain(`keychain stand-in: `);
      expect(stderr).toContain(message);
      expect(status).not.toBe(0);
    });
  }
});
