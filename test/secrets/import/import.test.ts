// `rt secrets import`: from an env file to a real keyring and back, and the state after failures.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, chown, link, readdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { FakeSecretService } from "../../support/keyring/fake-secret-service.ts";
import { type Keyring, startKeyring } from "../../support/keyring/keyring.ts";
import { createProject, type Files, type Project } from "../../support/project.ts";
import { ABSENT, RT, runRt, startRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";
import { trustOf } from "../../support/trusted.ts";

const TOKEN = "npm_93fd51c7aa21";
const PASSWORD = "hunter2+hunter2";
const KEY = "-----BEGIN PRIVATE KEY-----\n# not a comment\nMIIB=\n-----END PRIVATE KEY-----";

/** Every syntax for values that the engine accepts, comments in every place, and lines without an assignment. */
const ENV = [
  "# settings of the shop",
  "PORT=3000",
  "",
  `  export NPM_TOKEN="${TOKEN}"   # of the release user`,
  `DATABASE_URL=postgres://u:${PASSWORD}@db/x # the test database`,
  `SIGNING_KEY='${KEY}'\r`,
  'API_URL=https://$HOST/"x"',
  'JWT_SECRET: `it\'s "quoted"`',
  "CLIENT_SECRET=a\\$b_not_expanded_1",
  "SHORT_TOKEN=abc",
  "NEXT_PUBLIC_API_KEY=everybody-sees-this-1",
  "not an assignment",
  "LAST_TOKEN=no-line-break-at-the-end-1",
].join("\n");
const MOVED = ["NPM_TOKEN", "DATABASE_URL", "SIGNING_KEY", "JWT_SECRET", "CLIENT_SECRET", "LAST_TOKEN"];
const LEFT = [
  "# settings of the shop",
  "PORT=3000",
  "",
  '  # export NPM_TOKEN="..." is in the credential store: rt secrets get shop NPM_TOKEN   # of the release user',
  "# DATABASE_URL=... is in the credential store: rt secrets get shop DATABASE_URL # the test database",
  "# SIGNING_KEY='...' is in the credential store: rt secrets get shop SIGNING_KEY\r",
  'API_URL=https://$HOST/"x"',
  "# JWT_SECRET: `...` is in the credential store: rt secrets get shop JWT_SECRET",
  "# CLIENT_SECRET=... is in the credential store: rt secrets get shop CLIENT_SECRET",
  "SHORT_TOKEN=abc",
  "NEXT_PUBLIC_API_KEY=everybody-sees-this-1",
  "not an assignment",
  "# LAST_TOKEN=... is in the credential store: rt secrets get shop LAST_TOKEN",
].join("\n");
const CONFIG = '# how we run\n[run]\nshell = "rt" # everywhere\n';

describe.skipIf(process.platform !== "linux")("rt secrets import", () => {
  let keyring: Keyring;
  beforeAll(async () => {
    keyring = await startKeyring();
  });
  afterAll(() => keyring?.[Symbol.asyncDispose]());

  let serial = 0;
  /** Creates a project with its own service in the shared keyring. */
  async function createShop(files: Files = {}): Promise<Project & { service: string }> {
    const service = `shop${++serial}`;
    const project = await createProject({ "package.json": { name: service }, ".env": ENV, ...files });
    return Object.assign(project, { service });
  }
  const run = (project: Project, args: string[], env: Record<string, string> = keyring.env) =>
    runRt({ args: ["secrets", "import", ...args], cwd: project.path, env });
  /** Undoes an import without a question, because the project is trusted. */
  const undo = async (project: Project, ...args: string[]) =>
    await run(project, ["--undo", "--yes", ...args], {
      ...keyring.env,
      RT_TRUST: await trustOf(project.path),
    });
  const read = (project: Project, name: string) => Bun.file(project.join(name)).text();
  // secret-tool starts faster than rt, and finds and replaces its entries: see linux/interop.test.ts.
  const stored = (service: string, name: string) =>
    keyring.run(["secret-tool", "lookup", "service", service, "account", name]);
  const store = (service: string, name: string, value: string) =>
    keyring.run(["secret-tool", "store", "--label=x", "service", service, "account", name], value);
  const own = (text: string, { service }: { service: string }) =>
    text.replaceAll("get shop ", `get ${service} `);

  test("moves likely credentials, grants them to the scripts, and restores every byte", async () => {
    await using shop = await createShop({ "rtfig.toml": CONFIG });
    await chmod(shop.join(".env"), 0o640);
    const others = process.getuid!() === 0 ? 12345 : process.getuid!(); // root can give the file to another user
    await chown(shop.join(".env"), others, process.getgid!());
    const result = await run(shop, [".env", "--script", "dev", "--script=web#dev", "--yes"]);
    expect(result).toMatchObject({ stderr: "", status: 0 });
    for (const name of MOVED)
      expect(result.stdout).toMatch(new RegExp(`^move  ${name} +${shop.service}/${name}$`, "m"));
    expect(result.stdout.match(/^move /gm)).toHaveLength(MOVED.length);
    expect(result.stdout).toMatch(/^stay  SHORT_TOKEN +has fewer than 8 characters/m);
    for (const value of [TOKEN, PASSWORD, "MIIB", "quoted", "everybody"])
      expect(result.stdout).not.toContain(value);
    expect(await read(shop, ".env")).toBe(own(LEFT, shop));
    const { mode, uid } = await stat(shop.join(".env"));
    expect([mode & 0o777, uid]).toEqual([0o640, others]);
    expect(await stored(shop.service, "NPM_TOKEN")).toBe(TOKEN);
    expect(await stored(shop.service, "DATABASE_URL")).toBe(`postgres://u:${PASSWORD}@db/x`);
    expect(await stored(shop.service, "SIGNING_KEY")).toBe(KEY);
    expect(await stored(shop.service, "JWT_SECRET")).toBe(`it's "quoted"`);
    expect(await stored(shop.service, "CLIENT_SECRET")).toBe("a$b_not_expanded_1");
    const config = await read(shop, "rtfig.toml");
    expect(config.startsWith(CONFIG)).toBe(true);
    expect(Bun.TOML.parse(config)).toEqual({
      run: { shell: "rt" },
      tasks: { dev: { secrets: MOVED }, "web#dev": { secrets: MOVED } },
      secrets: Object.fromEntries(MOVED.map((name) => [name, { from: `${shop.service}/${name}` }])),
    });
    expect((await readdir(shop.path)).toSorted()).toEqual([".env", "package.json", "rtfig.toml"]);

    const again = await run(shop, [".env", "--yes"]);
    expect(again).toMatchObject({ stderr: "", status: 0 });
    expect(again.stdout).toEndWith("No value to move in .env\n");
    // A line that was added after the import stays.
    await Bun.write(shop.join(".env"), `NEW=1\n${own(LEFT, shop)}`);
    const back = await undo(shop, ".env");
    expect(back).toMatchObject({ stderr: "", status: 0 });
    expect(back.stdout).not.toContain(TOKEN);
    expect(await read(shop, ".env")).toBe(`NEW=1\n${ENV}`);
    expect((await stat(shop.join(".env"))).mode & 0o777).toBe(0o640);
  });

  test("moves values into an age-encrypted file for a team, and back", async () => {
    await using own = await startKeyring();
    await using shop = await createProject({
      "package.json": { name: "shop", scripts: { dev: "echo $NPM_TOKEN ${#DATABASE_URL}" } },
      ".env": ENV,
    });
    const rt = (...args: string[]) => runRt({ args, cwd: shop.path, env: own.env });
    const words = [
      "secrets",
      "import",
      ".env",
      "--to=age:none.age",
      "--to",
      "age:team/s.age",
      "--script=dev",
      "--yes",
    ];
    const noKey = await rt(...words);
    expect([noKey.stderr.split("\n")[0], noKey.status]).toEqual(["error: This machine has no age key", 2]);
    expect([await read(shop, ".env"), await readdir(shop.path)]).toEqual([ENV, [".env", "package.json"]]);
    expect(await rt("secrets", "share", "key")).toMatchObject({ status: 0 });
    await shop.write({ "team/note": "" });
    const moved = await rt(...words);
    expect(moved).toMatchObject({
      stderr: expect.stringMatching(/^warning: Added the project identifier to rtfig\.toml; .*\nhint: .*\n$/),
      status: 0,
    });
    expect(moved.stdout).toMatch(/^move  NPM_TOKEN +age:team\/s\.age, NPM_TOKEN$/m);
    expect(moved.stdout).toContain(`Moved ${MOVED.length} values to team/s.age\n`);
    for (const value of [TOKEN, PASSWORD, "MIIB"]) expect(moved.stdout).not.toContain(value);
    expect(await read(shop, ".env")).toBe(
      LEFT.replaceAll(
        /is in the credential store: rt secrets get shop (\w+)/g,
        "is in an encrypted file: rt secrets get --file=team/s.age $1",
      ),
    );
    expect(Bun.TOML.parse(await read(shop, "rtfig.toml"))).toEqual({
      project: { id: expect.stringMatching(/-[0-9a-f]{16}$/) },
      tasks: { dev: { secrets: MOVED } },
      secrets: Object.fromEntries(MOVED.map((name) => [name, { from: "age:team/s.age" }])),
    });
    expect((await rt("secrets", "get", "--file=team/s.age", "SIGNING_KEY")).stdout).toBe(KEY);
    expect((await rt("secrets", "list", "dev.rt.none")).stdout).toBe("");
    const env = { ...own.env, RT_TRUST: await trustOf(shop.path) };
    const script = await runRt({ args: ["--silent", "run", "dev"], cwd: shop.path, env });
    expect(script.stdout).toBe(`[NPM_TOKEN] ${`postgres://u:${PASSWORD}@db/x`.length}\n`);
    // An existing entry is not replaced.
    await shop.write({ "other.env": "NPM_TOKEN=another-value-1\n" });
    const other = await rt("secrets", "import", "other.env", "--to=age:team/s.age", "--yes");
    expect([other.stderr.split("\n")[0], other.status]).toEqual([
      "error: team/s.age has another value for NPM_TOKEN, so nothing was moved",
      2,
    ]);
    expect(await read(shop, "other.env")).toBe("NPM_TOKEN=another-value-1\n");
    const back = await runRt({
      args: ["secrets", "import", "--undo", "--yes", ".env"],
      cwd: shop.path,
      env,
    });
    expect(back).toMatchObject({ stderr: "", status: 0 });
    expect(back.stdout).toContain("rt secrets delete --file=team/s.age NPM_TOKEN\n");
    expect(await read(shop, ".env")).toBe(ENV);
    const wrong = await rt("secrets", "import", ".env", "--to=secrets.age");
    expect(wrong).toMatchObject({ stderr: expect.stringContaining('such as "age:secrets.age"'), status: 2 });
  });

  test("asks on a terminal, changes nothing after a no, and fails without a terminal", async () => {
    await using shop = await createShop();
    const refused = await run(shop, [".env"]);
    expect(refused.stderr).toBe(
      "error: Cannot ask without a terminal, so nothing was moved\nhint: use --yes to skip the question\n",
    );
    expect(refused.status).toBe(2);
    const command = ["bash", "-c", `cd "$1" && exec "$0" secrets import .env`, RT, shop.path];
    for (const [answer, status] of [
      ["\r", 1],
      ["n\r", 1],
      ["\x04", 1],
    ] as const) {
      await using terminal = startOnTerminal(command, keyring.env);
      await terminal.awaitOutput("Move 6 values to the credential store? [y/N]");
      terminal.type(answer);
      expect(await terminal.awaitExit()).toBe(status);
    }
    expect([await read(shop, ".env"), await readdir(shop.path)]).toEqual([ENV, [".env", "package.json"]]);
    await using terminal = startOnTerminal(command, keyring.env);
    await terminal.awaitOutput("[y/N]");
    terminal.type("y\r");
    expect(await terminal.awaitExit()).toBe(0);
    expect(await read(shop, ".env")).toBe(own(LEFT, shop));
  });

  test("a value with a reference that the engine drops is neither lost nor shown", async () => {
    const env =
      "A_PASSWORD=correct-horse$battery9\nB_PASSWORD=correct-horse\\$battery9\nC_TOKEN=${NO:-default-1}\n";
    await using shop = await createShop({ ".env": env });
    const { stdout, stderr, status } = await run(shop, [".env", "--all", "--yes"]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toContain("stay  A_PASSWORD  references an unset variable, which the engine drops");
    expect(stdout).not.toContain("battery");
    expect(await read(shop, ".env")).toStartWith("A_PASSWORD=correct-horse$battery9\n# B_PASSWORD=... is in");
    expect(await stored(shop.service, "B_PASSWORD")).toBe("correct-horse$battery9");
    expect(await stored(shop.service, "C_TOKEN")).toBe("default-1");
  });

  test("a file with a byte order mark is restored exactly, also in a folder with a comma", async () => {
    const env = `\ufeffA_TOKEN=${TOKEN}\r\nB_TOKEN=${TOKEN}2\r\nC_KEY='${KEY.replaceAll("\n", "\r\n")}'\r\nD_PASSWORD='correct$-$/horse'\r\n`;
    await using shop = await createShop({ "a,b/.env": env });
    expect(await run(shop, ["a,b/.env", "--yes"])).toMatchObject({ stderr: "", status: 0 });
    expect(await read(shop, "a,b/.env")).not.toContain(TOKEN);
    expect(await undo(shop, "a,b/.env")).toMatchObject({ stderr: "", status: 0 });
    expect(await readFile(shop.join("a,b/.env"), "utf8")).toBe(env); // read() drops the mark
    await shop.write({ "c,d.env": env });
    expect(await run(shop, ["c,d.env", "--yes"])).toMatchObject({
      stderr:
        "error: c,d.env has a comma in its name, which the engine reads as two files\nhint: give it another name\n",
      status: 2,
    });
  });

  test("temporary files are removed on termination, and by the next import after SIGKILL", async () => {
    await using session = await startKeyring({ service: "none" });
    await using fake = await FakeSecretService.start(session.address);
    await using shop = await createShop();
    const drafts = async () => (await readdir(shop.path)).filter((name) => name.endsWith(".rt"));
    fake.silent.add("CreateItem");
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const) {
      const called = fake.called("CreateItem");
      const args = ["secrets", "import", ".env", "--yes"];
      const live = startRt({ args, cwd: shop.path, env: session.env });
      await called;
      expect(await drafts(), "of this one alone").toHaveLength(2);
      live.kill(signal);
      await live.exited;
      expect(live.signalCode).toBe(signal);
      expect(await drafts()).toHaveLength(signal === "SIGKILL" ? 2 : 0);
      expect(await read(shop, ".env")).toBe(ENV);
    }
    fake.silent.clear();
    // No process can have these ids.
    for (const pid of [0, 2 ** 31, "9".repeat(20)]) await shop.write({ [`.env.${pid}.rt`]: ENV });
    expect(await run(shop, [".env", "--yes"], session.env)).toMatchObject({ stderr: "", status: 0 });
    expect(await drafts()).toEqual([]);
  });

  test("an import in a package of a workspace creates the rtfig.toml of the root project", async () => {
    await using shop = await createShop({ "packages/web/.env": `A_TOKEN=${TOKEN}\nB_TOKEN=$(cat b)\n` });
    await shop.write({
      "package.json": { name: shop.service, workspaces: ["packages/*"] },
      "packages/web/package.json": { name: "web" },
    });
    const result = await runRt({
      args: ["secrets", "import", ".env", "--script", "web#dev", "--yes"],
      cwd: shop.join("packages/web"),
      env: keyring.env,
    });
    expect(result).toMatchObject({ stderr: "", status: 0 });
    expect(result.stdout).toContain("stay  B_TOKEN  contains a command");
    expect(Bun.TOML.parse(await read(shop, "rtfig.toml"))).toEqual({
      secrets: { A_TOKEN: { from: `${shop.service}/A_TOKEN` } },
      tasks: { "web#dev": { secrets: ["A_TOKEN"] } },
    });
    // A folder of another user is a dependency, whose files rt does not change.
    if (process.getuid!() !== 0) return;
    await rm(shop.join("rtfig.toml"));
    for (const name of [".", "package.json"]) await chown(shop.join(name), 12345, 12345);
    await Bun.write(shop.join("packages/web/.env"), `A_TOKEN=${TOKEN}\n`);
    const refused = await runRt({
      args: ["secrets", "import", ".env", "--yes"],
      cwd: shop.join("packages/web"),
      env: keyring.env,
    });
    expect(refused.stderr).toStartWith(
      "error: This folder is a dependency, whose rtfig.toml rt does not change\n",
    );
  });

  test("an import without a store suggests an encrypted file", async () => {
    await using shop = await createShop();
    const { stderr, status } = await run(shop, [".env", "--yes"], {
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}`,
    });
    expect(status).toBe(2);
    expect(stderr).toStartWith(
      `error: No session bus answers at unix:path=${ABSENT} (ENOENT), so nothing was moved\n`,
    );
    expect(stderr).toContain("; or use --to age:secrets.age to move them to an encrypted file");
    expect(await readdir(shop.path)).not.toContain("rtfig.toml");
  });

  test("warns that git's history keeps the values", async () => {
    await using shop = await createShop({ "rtfig.toml": "" });
    for (const words of [
      ["init", "-q"],
      ["add", ".env"],
    ])
      await runRt({ program: ["git"], args: words, cwd: shop.path });
    expect((await run(shop, [".env", "--yes"])).stderr).toBe(
      "warning: git tracks .env, and its history still contains the moved values\nhint: replace these credentials at the services that issued them\n",
    );
  });

  test("--dry-run needs no store and changes nothing", async () => {
    await using shop = await createShop();
    const { stdout, stderr, status } = await run(shop, [".env", "--dry-run"], {
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}`,
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toContain("move  NPM_TOKEN");
    expect([await read(shop, ".env"), await readdir(shop.path)]).toEqual([ENV, [".env", "package.json"]]);
  });

  test("another value under the same name is never replaced", async () => {
    await using shop = await createShop();
    await store(shop.service, "LAST_TOKEN", "somebody else's");
    const { stderr, status } = await run(shop, [".env", "--yes"]);
    expect(stderr).toStartWith(
      `error: The credential store has another value under "${shop.service}" "LAST_TOKEN", so nothing was moved\nhint: store these under another service: --service <name>`,
    );
    expect(status).toBe(2);
    expect(await stored(shop.service, "LAST_TOKEN")).toBe("somebody else's");
    expect(await stored(shop.service, "NPM_TOKEN")).toBe("");
    expect([await read(shop, ".env"), await readdir(shop.path)]).toEqual([ENV, [".env", "package.json"]]);
    const elsewhere = ["NPM_TOKEN", "--yes", "--service", "a/b c's"];
    expect(await run(shop, [".env", ...elsewhere])).toMatchObject({ stderr: "", status: 0 });
    expect(await stored("a/b c's", "NPM_TOKEN")).toBe(TOKEN);
    expect(Bun.TOML.parse(await read(shop, "rtfig.toml"))).toEqual({
      secrets: { NPM_TOKEN: { from: { service: "a/b c's", name: "NPM_TOKEN" } } },
    });
    // The mapping in rtfig.toml decides the service.
    const back = await undo(shop, ".env");
    expect(back).toMatchObject({ stderr: "", status: 0 });
    expect(back.stdout).toContain(`  rt secrets delete -- 'a/b c'\\''s' NPM_TOKEN\n`);
    expect(await run(shop, [".env", "NPM_TOKEN", "--yes"])).toMatchObject({ stderr: "", status: 0 });
    expect(await read(shop, ".env")).toContain(`rt secrets get 'a/b c'\\''s' NPM_TOKEN   #`);
    // Another variable of that name has no other address.
    await shop.write({ "other.env": "NPM_TOKEN=other-value-1\n" });
    const other = await run(shop, ["other.env", "--yes"]);
    expect(other.stderr).toContain(`or replace the stored value: rt secrets set 'a/b c'\\''s' NPM_TOKEN\n`);
  });

  test("a value with references moves only together with the named variables that it references", async () => {
    const files = {
      ".env": `HOST=db\nDB_PASSWORD=${PASSWORD}\nDB_URL="postgres://u:$DB_PASSWORD@\${HOST}/x"\n`,
    };
    await using shop = await createShop(files);
    const all = await run(shop, [".env", "--yes"]);
    expect(all.stdout).toContain("stay  DB_URL       references DB_PASSWORD, HOST\n");
    expect(all.stdout).toContain("stay  DB_PASSWORD  is referenced by DB_URL; name both");
    expect(await read(shop, ".env")).toBe(files[".env"]);
    const one = await run(shop, [".env", "DB_PASSWORD", "--yes"]);
    expect(one).toMatchObject({ status: 2, stdout: "" });
    expect(await run(shop, [".env", "DB_PASSWORD", "DB_URL", "--yes"])).toMatchObject({
      stderr: "",
      status: 0,
    });
    expect(await stored(shop.service, "DB_URL")).toBe(`postgres://u:${PASSWORD}@db/x`);
  });

  test.each([
    [
      "that is assigned twice",
      "A_TOKEN=first-value-1\nA_TOKEN=other-value-2\n",
      "A_TOKEN is assigned more than once",
    ],
    ["that is empty", "A_TOKEN=\n", "A_TOKEN is empty"],
    ["with more in its line", 'A_TOKEN="value-1" more\n', "A_TOKEN shares its line with other text"],
    ["of a name that no script can get", "A.TOKEN=value-one-1\n", "A.TOKEN is not a variable name"],
    [
      "whose $ precedes no name",
      "A_TOKEN=correct-horse$9battery\n",
      "A_TOKEN references an unset variable, which the engine drops",
    ],
    [
      "whose $ does so in braces",
      "A_TOKEN='correct-horse${nine}'\n",
      "A_TOKEN references an unset variable, which the engine drops",
    ],
    ["that does not exist", "B_TOKEN=value-one-1\n", ".env has no variable of that name"],
  ])("a variable %s is not moved", async (_, env, message) => {
    await using shop = await createShop({ ".env": env });
    const name = /A.TOKEN/.exec(env)?.[0] ?? "A_TOKEN";
    const { stdout, stderr, status } = await run(shop, [".env", name, "--yes"]);
    expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
    expect(stderr).toStartWith(`error: ${message}`);
    expect(stderr).not.toMatch(/horse|battery|nine/);
    expect(await read(shop, ".env")).toBe(env);
  });

  test("a symlink, a hard link, a pipe, binary data and an rtfig.toml that rt cannot edit are rejected", async () => {
    await using shop = await createShop({ "bytes.env": Uint8Array.of(0x41, 0x3d, 0xff, 0x0a) });
    await symlink(shop.join(".env"), shop.join("link"));
    Bun.spawnSync(["mkfifo", shop.join("pipe")]);
    const refuses = async (file: string, message: string) => {
      const { stderr, status } = await run(shop, [file, "--yes"]);
      expect(stderr.split("\n")[0]).toBe(`error: ${message}`);
      expect(status).toBe(2);
      expect(await read(shop, ".env")).toBe(ENV);
    };
    await refuses("link", "link is a link, which rt does not follow");
    await refuses("pipe", "pipe is not a regular file");
    await refuses("bytes.env", "bytes.env could not be read (it is not text in UTF-8)");
    await refuses("absent", "No such file: absent");
    await Bun.write(shop.join("large.env"), `A_TOKEN=${"x".repeat(1024 * 1024)}`);
    await refuses("large.env", "large.env is larger than 1 MiB");
    await Bun.write(shop.join("rtfig.toml"), 'secrets = { OTHER = { from = "a/b" } }\n');
    await refuses(".env", "rt cannot edit rtfig.toml in its present form, so nothing was changed");
    await Bun.write(shop.join("rtfig.toml"), "[run\n");
    await refuses(
      ".env",
      "rtfig.toml:1: Expected ']' to close a table header but found (0x0A), so nothing was changed",
    );
    expect(await stored(shop.service, "NPM_TOKEN")).toBe("");
    await link(shop.join(".env"), shop.join("second"));
    await refuses(".env", ".env has another hard link, which would keep the old content");
    expect((await readdir(shop.path)).filter((name) => name.endsWith(".rt"))).toEqual([]);
  });

  test("an import that was killed, failed or overtaken loses nothing, and the next one completes it", async () => {
    await using session = await startKeyring({ service: "none" });
    await using fake = await FakeSecretService.start(session.address);
    await using shop = await createShop();
    const start = () =>
      startRt({ args: ["secrets", "import", ".env", "--yes"], cwd: shop.path, env: session.env });
    const unchanged = async () => {
      expect(await read(shop, ".env")).toBe(ENV);
      expect(await readdir(shop.path)).not.toContain("rtfig.toml");
    };
    // Kill rt while one value is being stored.
    fake.silent.add("CreateItem");
    const called = fake.called("CreateItem");
    const killed = start();
    await called;
    await unchanged();
    for (const name of await readdir(shop.path))
      if (name.endsWith(".rt")) expect(await read(shop, name)).not.toContain(TOKEN);
    killed.kill("SIGKILL");
    await killed.exited;
    await unchanged();
    fake.silent.clear();
    // The store rejects the third of six values.
    fake.failures.set("CreateItem", ["", "", "org.freedesktop.DBus.Error.Failed"]);
    const failed = await run(shop, [".env", "--yes"], session.env);
    expect(failed.status).toBe(2);
    expect(failed.stderr).toStartWith("error: ");
    expect(fake.items.size).toBe(2);
    await unchanged();
    // Another process writes to the file during the import.
    fake.held.add("CreateItem");
    const held = fake.called("CreateItem");
    const overtaken = start();
    await held;
    await Bun.write(shop.join(".env"), `${ENV}\nMORE=1\n`);
    fake.release();
    expect(await new Response(overtaken.stderr).text()).toBe(
      "error: .env was changed by another process, so rt did not replace it\nhint: try again\n",
    );
    expect(await read(shop, ".env")).toBe(`${ENV}\nMORE=1\n`);
    // rt removes values from the file only if the store returns every value.
    await Bun.write(shop.join(".env"), ENV);
    const [path] = [...fake.items.keys()];
    fake.items.get(path!)!.value = "other";
    expect((await run(shop, [".env", "--yes"], session.env)).stderr).toContain(
      "The credential store has another value under",
    );
    fake.items.get(path!)!.value = TOKEN;
    expect(await run(shop, [".env", "--yes"], session.env)).toMatchObject({ stderr: "", status: 0 });
    expect(fake.items.size).toBe(MOVED.length);
    expect(await read(shop, ".env")).toBe(own(LEFT, shop));
    expect(Object.keys(Bun.TOML.parse(await read(shop, "rtfig.toml"))), "once each").toEqual(["secrets"]);
  });

  test("the env file is unchanged when it was edited during the import or when the store returns other values", async () => {
    await using session = await startKeyring({ service: "none" });
    await using fake = await FakeSecretService.start(session.address);
    await using shop = await createShop({ "rtfig.toml": CONFIG });
    for (const name of ["NPM_TOKEN", "CLIENT_SECRET"])
      fake.addItem(shop.service, name, name === "NPM_TOKEN" ? TOKEN : "a$b_not_expanded_1");
    const [first] = fake.items.keys();
    /** Runs an import, calls `event` while a value is being stored, and returns the error output. */
    const runDuring = async (event: () => unknown) => {
      fake.held.add("CreateItem");
      const called = fake.called("CreateItem");
      const rt = startRt({ args: ["secrets", "import", ".env", "--yes"], cwd: shop.path, env: session.env });
      await called;
      await event();
      fake.release();
      return await new Response(rt.stderr).text();
    };
    expect(await runDuring(() => (fake.items.get(first!)!.value = "other"))).toStartWith(
      `error: The credential store did not return the value stored under "${shop.service}" "NPM_TOKEN", so the file is unchanged\n`,
    );
    expect(await read(shop, ".env")).toBe(ENV);
    expect(await read(shop, "rtfig.toml")).toBe(CONFIG);
    fake.items.clear();
    expect(await runDuring(() => Bun.write(shop.join("rtfig.toml"), `${CONFIG}# more\n`))).toBe(
      "error: rtfig.toml was changed by another process, so rt did not replace it\nhint: try again\n",
    );
    expect(await read(shop, ".env")).toBe(ENV);
    expect((await readdir(shop.path)).toSorted()).toEqual([".env", "package.json", "rtfig.toml"]);
  });

  test("no value is stored when the remaining line would change other variables", async () => {
    // The first quote opens nothing until a second one follows.
    const env = "A='x\nB_TOKEN=a-value-of-its-own\nC=1\n";
    await using shop = await createShop({ ".env": env });
    const service = `${shop.service} two`;
    const { stderr, status } = await run(shop, [".env", "--yes", "--service", service]);
    expect(stderr).toStartWith(
      "error: rt cannot remove these values from .env without changing others, so nothing was changed\n",
    );
    expect(status).toBe(2);
    expect(await stored(service, "B_TOKEN")).toBe("");
    expect([await read(shop, ".env"), await readdir(shop.path)]).toEqual([env, [".env", "package.json"]]);
  });

  test("an invalid or mismatching service, and options that exclude each other, are rejected", async () => {
    const mapped = '[secrets.NPM_TOKEN]\nfrom = "a/b"\n[secrets.CLIENT_SECRET]\nfrom = { command = ["x"] }\n';
    await using shop = await createShop({ "rtfig.toml": mapped });
    const errorOf = async (...args: string[]) => {
      const { stdout, stderr, status } = await run(shop, [".env", ...args]);
      expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
      return stderr.split("\n")[0];
    };
    for (const service of ["a\nb", "a\u001b[0m", "a\u202eb"])
      expect(await errorOf("--yes", "--service", service)).toBe(
        "error: A service with control characters cannot be written into a file",
      );
    expect(await errorOf("--yes", "NPM_TOKEN", "--service", "c")).toBe(
      "error: NPM_TOKEN has another service in [secrets.NPM_TOKEN] of rtfig.toml",
    );
    expect(await errorOf("--yes", "CLIENT_SECRET")).toBe(
      "error: CLIENT_SECRET has another source in [secrets.CLIENT_SECRET] of rtfig.toml",
    );
    for (const [one, ...words] of [
      ["undo", "--service", "x"],
      ["undo", "--script", "x"],
      ["undo", "--all"],
      ["yes", "--dry-run"],
    ])
      expect(await errorOf(`--${one}`, ...words)).toBe(`error: --${one} cannot be used with ${words[0]}`);
    expect(await read(shop, ".env")).toBe(ENV);
  });

  test("a likely credential has at least eight characters", async () => {
    await using shop = await createShop({ ".env": "A_TOKEN=ab1-ef12\nB_TOKEN=ab1-ef1\n" });
    const { stdout } = await run(shop, [".env", "--dry-run"]);
    expect(stdout).toStartWith(
      `move  A_TOKEN  ${shop.service}/A_TOKEN\nstay  B_TOKEN  has fewer than 8 characters`,
    );
  });

  test("a full disk causes one error line and changes nothing", async () => {
    await using shop = await createShop();
    const command = `cd "$1" && ulimit -f 0 && exec "$0" secrets import .env --yes`;
    const { stderr, status } = await runRt({
      program: ["bash", "-c", command, RT, shop.path],
      env: keyring.env,
    });
    expect(stderr).toBe("error: Cannot write rtfig.toml (EFBIG); the file is unchanged\n");
    expect(status).toBe(2);
    expect([await read(shop, ".env"), await readdir(shop.path)]).toEqual([ENV, [".env", "package.json"]]);
    expect(await stored(shop.service, "NPM_TOKEN")).toBe("");
  });

  test("--undo quotes values so that the engine reads them back, and fails when a value is not stored", async () => {
    const line = (name: string) => `# ${name}=... is in the credential store: rt secrets get ${name} x\n`;
    const from = (a: string, b: string) => `[secrets.A]\nfrom = "${a}/x"\n[secrets.B]\nfrom = "${b}/x"\n`;
    await using shop = await createShop({
      ".env": `${line("A")}KEEP="1"\n${line("B")}`,
      "rtfig.toml": from("A", "B"),
    });
    const values = { A: "two words # and ' more $HOME", B: 'a\n"b"\n`c`' };
    await store("A", "x", values.A);
    const absent = await undo(shop, ".env");
    expect(absent.stderr).toBe('error: No credential "x" under "B", so nothing was changed\n');
    const before = await read(shop, ".env");
    {
      const command = ["bash", "-c", `cd "$1" && exec "$0" secrets import --undo .env`, RT, shop.path];
      await using terminal = startOnTerminal(command, keyring.env);
      await terminal.awaitOutput("Write these values into .env, where every program can read them? [y/N]");
      terminal.type("n\r");
      expect(await terminal.awaitExit()).toBe(1);
    }
    expect(await read(shop, ".env")).toBe(before);
    await store("B", "x", values.B);
    expect(await undo(shop, ".env")).toMatchObject({ stderr: "", status: 0 });
    const { stdout } = await runRt({
      args: ["--env-file=.env", "-p", "JSON.stringify([process.env.A, process.env.KEEP, process.env.B])"],
      cwd: shop.path,
    });
    expect(JSON.parse(stdout)).toEqual([values.A, "1", values.B]);
    // A quote in the removed line would close that of D.
    const odd = "D='x\n# A=... is in the credential store: rt secrets get 'E F' x\n";
    await store("E F", "x", "value");
    await shop.write({ ".env": odd, "rtfig.toml": from("E F", "B") });
    expect((await undo(shop, ".env")).stderr).toStartWith(
      "error: .env cannot represent A so that the engine reads it back, so nothing was changed\n",
    );
    expect(await read(shop, ".env")).toBe(odd);
  });

  test("--undo restores carriage returns as they were written, and names values that no syntax can represent", async () => {
    const env = [
      "A_TOKEN=plain-value-1234",
      String.raw`PEM_KEY="line-one-aaaa\r\nline-two-bbbb\rthree"`,
      "LAST_TOKEN=plain-value-5678\n",
    ].join("\n");
    await using shop = await createShop({ ".env": env });
    expect(await run(shop, [".env", "--yes"])).toMatchObject({ stderr: "", status: 0 });
    expect(await stored(shop.service, "PEM_KEY")).toBe("line-one-aaaa\r\nline-two-bbbb\rthree");
    const moved = await read(shop, ".env");
    expect(await undo(shop, ".env")).toMatchObject({ stderr: "", status: 0 });
    expect(await read(shop, ".env")).toBe(env);
    // A carriage return, and an escape that the engine would read as one.
    await store(shop.service, "PEM_KEY", "one-of-it\rtwo\\rthree");
    await shop.write({ ".env": moved });
    const refused = await undo(shop, ".env");
    expect([refused.stderr, refused.status]).toEqual([
      "error: .env cannot represent PEM_KEY so that the engine reads it back, so nothing was changed\n" +
        "hint: restore the others by name: rt secrets import --undo .env A_TOKEN LAST_TOKEN\n",
      2,
    ]);
    expect(await read(shop, ".env")).toBe(moved);
    expect(await undo(shop, ".env", "A_TOKEN", "LAST_TOKEN")).toMatchObject({ stderr: "", status: 0 });
    expect(await read(shop, ".env")).toContain("A_TOKEN=plain-value-1234\n# PEM_KEY=");
  });

  test("--undo rejects a name that was not moved before it changes anything", async () => {
    await using shop = await createShop({ ".env": `A_TOKEN=${TOKEN}\n` });
    await run(shop, [".env", "--yes"]);
    const moved = await read(shop, ".env");
    for (const [names, them] of [
      [["NOPE"], "that"],
      [["A_TOKEN", "NOPE"], "one of those names"],
    ] as const) {
      const { stdout, stderr, status } = await undo(shop, ".env", ...names);
      expect([stdout, stderr, status]).toEqual([
        "",
        `error: .env has no line of rt secrets import for ${them}\n`,
        2,
      ]);
    }
    expect(await read(shop, ".env")).toBe(moved);
  });

  test("--undo uses an address that the user has allowed, or asks", async () => {
    const stolen = "# STOLEN=... is in the credential store: rt secrets get github token\n";
    await store("github", "token", TOKEN);
    const mapping = (address: string, name = "STOLEN") => `[secrets.${name}]\nfrom = "${address}"\n`;
    await using shop = await createShop({ ".env": stolen });
    const refusal =
      "error: .env is not allowed to get STOLEN from github/token, so nothing was changed\n" +
      "hint: run it on a terminal without --yes, or allow the sources in rtfig.toml with rt trust\n";
    for (const rtfig of ["", mapping("github/other"), mapping("github/token", "OTHER")]) {
      await shop.write({ "rtfig.toml": rtfig });
      const env = { ...keyring.env, ...(rtfig && { RT_TRUST: await trustOf(shop.path) }) };
      expect([rtfig, await run(shop, ["--undo", "--yes", ".env"], env)]).toEqual([
        rtfig,
        { stdout: "back  STOLEN  github/token (not trusted yet)\n", stderr: refusal, status: 2 },
      ]);
    }
    await shop.write({ "rtfig.toml": mapping("github/token") });
    for (const words of [
      ["--undo", "--yes", ".env"],
      ["--undo", ".env"],
    ])
      expect((await run(shop, words)).stderr).toBe(refusal);
    expect(await read(shop, ".env")).toBe(stolen);
    // On a terminal the prompt shows the address.
    const command = ["bash", "-c", `cd "$1" && exec "$0" secrets import --undo .env`, RT, shop.path];
    await using terminal = startOnTerminal(command, keyring.env);
    await terminal.awaitOutput("back  STOLEN  github/token (not trusted yet)");
    await terminal.awaitOutput("Write this value into .env, where every program can read it? [y/N]");
    terminal.type("y\r");
    expect(await terminal.awaitExit()).toBe(0);
    expect(await read(shop, ".env")).toBe(`STOLEN=${TOKEN}\n`);
    await shop.write({ ".env": stolen });
    expect(await undo(shop, ".env")).toMatchObject({ stderr: "", status: 0 });
    expect(await read(shop, ".env")).toBe(`STOLEN=${TOKEN}\n`);
    // The same applies to an encrypted file, which may belong to another project.
    await shop.write({
      ".env": "# A_TOKEN=... is in an encrypted file: rt secrets get --file=../other/secrets.age A_TOKEN\n",
      "rtfig.toml": mapping("age:secrets.age", "A_TOKEN"),
    });
    expect((await undo(shop, ".env")).stderr).toStartWith(
      "error: .env is not allowed to get A_TOKEN from age:../other/secrets.age, A_TOKEN, so",
    );
  });
});
