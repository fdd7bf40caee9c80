// `import { x } from "rt"` is `Bun.x`: the same value, or a proxy that behaves alike (src/runtime/modules/lazy-proxy.ts). The
// table below lists what programs do with the members that have proxies.
import { expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { expectRt, runRt } from "../support/rt.ts";

const PROGRAM = `
import * as all from "rt";

const imported = all as unknown as Record<string, any>;
const engine = Bun as unknown as Record<string, any>;
const FOREIGN = ["secrets", "CSRF"];

/** Checks for every value; USES has the checks for one value. */
const LOOKS: Record<string, (value: any, real: any) => unknown> = {
  typeof: (value) => typeof value,
  tag: (value) => Object.prototype.toString.call(value),
  prototype: (value, real) => Object.getPrototypeOf(value) === Object.getPrototypeOf(real) && value.prototype === real.prototype,
  constructor: (value, real) => value.constructor === real.constructor,
  names: (value) => Reflect.ownKeys(value).map(String),
  spread: (value) => Object.keys({ ...value }),
  descriptors: (value) => Object.entries(Object.getOwnPropertyDescriptors(value)).map(([key, each]) => [key, Object.keys(each), each.configurable, each.writable]),
  forIn: (value) => { const keys = []; for (const key in value) keys.push(key); return keys; },
  called: (value) => typeof value === "object" ? attempt(() => value()) === attempt(() => ({})()) : true,
  named: (value) => [value.name, value.length],
  printed: (value) => Bun.inspect(value),
  json: (value) => JSON.stringify(value),
  stable: (value) => Object.keys(value).every((key) => Object.is(value[key], value[key])),
};

const USES: Record<string, Record<string, (value: any) => unknown>> = {
  $: {
    tag: async (value) => [await value\`echo \${"a b"}\`.text(), await value.nothrow()\`exit 3\`.then((result: any) => result.exitCode)],
    error: (value) => value\`exit 4\`.quiet().then(() => "", (error: any) => [error instanceof value.ShellError, error.exitCode]),
    shell: async (value) => await new value.Shell()\`echo new\`.text(),
    escape: (value) => [value.escape("a'b"), value.braces("{a,b}")],
  },
  SQL: {
    construct: async (value) => {
      await using database = new value("sqlite://:memory:");
      return [database instanceof value, database instanceof Bun.SQL, await database\`select \${1} as one\`];
    },
    call: (value) => typeof value("sqlite://:memory:"),
    error: async (value) => {
      await using database = new value("sqlite://:memory:");
      return await database\`select from\`.then(() => "", (error: any) => [error instanceof value.SQLError, error instanceof value.PostgresError]);
    },
    reserved: (value) => attempt(() => { class Mine extends value {} return new Mine("sqlite://:memory:"); }),
  },
  sql: {
    tag: (value) => value\`select \${2} as two\`,
    methods: async (value) => [await value.unsafe("select 3 as three"), typeof value.begin, value.options.adapter],
    fragment: (value) => value\`select * from (select 1 as a, 2 as b) where \${value\`a = 1\`}\`,
  },
  postgres: { tag: (value) => value\`select 4 as four\` },
  RedisClient: {
    construct: (value) => [new value("redis://localhost:1") instanceof value, new value("redis://localhost:1") instanceof Bun.RedisClient, new value("redis://localhost:1").connected],
    extend: (value) => { class Mine extends value {} return [new Mine() instanceof value, Mine.prototype instanceof Bun.RedisClient, new Mine().bufferedAmount]; },
    call: (value) => attempt(() => value("redis://localhost:1")),
  },
  redis: {
    instance: (value) => [value instanceof Bun.RedisClient, value instanceof imported.RedisClient],
    accessors: (value) => [value.connected, value.bufferedAmount, value.onclose],
    write: (value) => { value.onclose = null; return value.onclose; },
    method: (value) => [value.get("key"), value.send("PING", [])].map((each) => each instanceof Promise && !each.catch(() => {}).then),
    detached: (value) => attempt(() => { const { get } = value; get("key").catch(() => {}); }),
    name: (value) => [value.get.name, value.get.length],
  },
  WebView: { call: (value) => attempt(() => value()), name: (value) => value.name },
  Image: {
    construct: async (value) => {
      const image = new value(Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"));
      return [image instanceof value, image instanceof Bun.Image, await image.metadata()];
    },
    call: (value) => attempt(() => value()),
    statics: (value) => typeof value.backend,
  },
  S3Client: {
    construct: (value) => [new value({ bucket: "b" }) instanceof value, new value({ bucket: "b" }) instanceof Bun.S3Client, new value({ bucket: "b" }).file("x").name],
    presign: (value) => value.presign("key", OPTIONS).split("?")[0],
    extend: (value) => { class Mine extends value { own() { return 1; } } return [new Mine({ bucket: "b" }) instanceof value]; },
  },
  s3: {
    instance: (value) => value instanceof Bun.S3Client,
    file: (value) => [value.file("key", OPTIONS).name, value.file("key", OPTIONS) instanceof Blob],
    presign: (value) => value.presign("key", OPTIONS).split("?")[0],
    refused: (value) => attempt(() => value.presign("key")),
  },
};
const OPTIONS = { bucket: "b", accessKeyId: "a", secretAccessKey: "s", endpoint: "https://localhost:1" };

function attempt(perform: () => unknown): unknown {
  try {
    const value = perform();
    return value instanceof Promise ? value.then(String, String) : String(value);
  } catch (error) {
    return String(error).replace(/ProxyObject|Object|S3Client|RedisClient/g, "?");
  }
}

const different: string[] = [];
const standIns: string[] = [];
for (const name of Object.keys(Bun)) {
  if (!(name in all)) different.push(name + " is missing");
  if (FOREIGN.includes(name) || Object.is(imported[name], engine[name])) continue;
  standIns.push(name);
  for (const [use, perform] of Object.entries({ ...LOOKS, ...USES[name] })) {
    const results = [];
    for (const value of [imported[name], engine[name]]) {
      const result = await (async () => perform(value, engine[name]))().catch((error: unknown) => "throws " + String(error));
      results.push(JSON.stringify(result));
    }
    if (results[0] !== results[1]) different.push(name + " " + use + ": " + results.join(" | "));
  }
}
const unused = Object.keys(USES).filter((name) => !standIns.includes(name));
const untested = standIns.filter((name) => !USES[name]);
console.log(JSON.stringify({ different, unused, untested }));
process.exit(0);
`;

test.concurrent.each([
  ["in the program's own process", []],
  ["as the engine", ["--smol"]],
] as [string, string[]][])(
  "every member of the module behaves like the engine's, %s",
  async (_way, options) => {
    await using project = await createProject({ "main.ts": PROGRAM });
    const env = { DATABASE_URL: "sqlite://:memory:", REDIS_URL: "redis://localhost:1" };
    const { stdout, stderr } = await runRt({ args: [...options, "main.ts"], cwd: project.path, env });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({ different: [], unused: [], untested: [] });
  },
);

test.concurrent("importing the module creates none of the costly members", async () => {
  const program = `
    import { heapStats } from "bun:jsc";
    import "rt";
    const SLOW = ["RedisClient", "S3Client", "WebView", "Image"];
    const made = () => SLOW.filter((type) => heapStats().objectTypeCounts[type]).join();
    const before = made();
    for (const type of SLOW) (Bun as any)[type];
    console.log([before, made()].join("|"));`;
  const stdout = "|RedisClient,S3Client,WebView,Image\n";
  await expectRt({ files: { "main.ts": program }, args: ["main.ts"], stdout });
});
