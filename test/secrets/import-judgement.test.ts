// Which values `rt secrets import` moves, and its messages for values that are short, composed, or contain dollar signs.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { createProject, type Project } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { trustAll } from "../support/trusted.ts";

const WEBHOOK = [
  "https://hooks.slack.com/services",
  "T0A1B2C3D",
  "B0A1B2C3D",
  "aB3dE5fG7hI9jK1lM3nO5pQ7",
].join("/");

describe.skipIf(process.platform !== "linux")("rt secrets import", () => {
  let keyring: Keyring;
  let project: Project;
  beforeAll(async () => {
    keyring = await startKeyring();
  });
  afterAll(async () => {
    await project?.[Symbol.asyncDispose]();
    await keyring?.[Symbol.asyncDispose]();
  });

  async function open(env: string): Promise<void> {
    await project?.[Symbol.asyncDispose]();
    project = await createProject({
      "package.json": { name: "shop", scripts: { dev: "printenv APP_PIN API_TOKEN" } },
      ".env": env,
    });
  }
  const rt = async (...args: string[]) =>
    await runRt({ args, cwd: project.path, env: { ...keyring.env, ...(await trustAll(project.path)) } });
  const lines = (text: string) => text.split("\n").map((line) => line.replaceAll(/ {2,}/g, " "));

  test("a value too short to be redacted stays with --all, so that the script can start", async () => {
    await open("APP_PIN=abc\nAPI_TOKEN=a-long-enough-value\n");
    const { stdout, status } = await rt("secrets", "import", ".env", "--all", "--script", "dev", "--yes");
    expect(status).toBe(0);
    expect(lines(stdout)).toContain("stay APP_PIN has fewer than 8 characters, too few to redact");
    expect(await readFile(project.join(".env"), "utf8")).toStartWith("APP_PIN=abc\n");
    const run = await rt("--silent", "--env-file=.env", "run", "dev");
    expect([run.stdout, run.stderr, run.status]).toEqual(["abc\n[API_TOKEN]\n", "", 0]);
  });

  test("a value too short to be redacted moves when it is named, and rtfig.toml then sets redact = false", async () => {
    await open("APP_PIN=abc\nAPI_TOKEN=a-long-enough-value\n");
    const { stdout } = await rt(
      ...["secrets", "import", ".env", "APP_PIN", "API_TOKEN", "--script", "dev", "--yes"],
    );
    expect(stdout).toContain("(redact = false: too short to redact)\n");
    expect(await readFile(project.join("rtfig.toml"), "utf8")).toContain(
      '[secrets.APP_PIN]\nfrom = "shop/APP_PIN"\nredact = false\n',
    );
    const run = await rt("--silent", "run", "dev");
    expect([run.stdout, run.stderr, run.status]).toEqual(["abc\n[API_TOKEN]\n", "", 0]);
  });

  test("rt secrets import moves every credential that rt secrets check finds", async () => {
    await open(`SLACK_WEBHOOK=${WEBHOOK}\n`);
    expect((await rt("secrets", "check", ".env")).status).toBe(1);
    const { stdout } = await rt("secrets", "import", ".env", "--dry-run");
    expect(lines(stdout)).toContain("move SLACK_WEBHOOK shop/SLACK_WEBHOOK");
  });

  test("a value whose dollar signs the engine drops is not reported as empty", async () => {
    await open("PASS_HASH=$2b$10$abcdefghijklmnopqrstuv\nNONE=\n");
    const { stdout } = await rt("secrets", "import", ".env", "--dry-run");
    expect(lines(stdout)).toContain(
      "stay PASS_HASH references an unset variable, which the engine drops; write \\$ for a literal $",
    );
    expect(lines(stdout)).toContain("stay NONE is empty");
  });

  test("--undo warns about a value that is restored without its references", async () => {
    await open("DB_PASSWORD=pass-word-of-db\nDB_URL=postgres://me:${DB_PASSWORD}@db/shop\n");
    expect((await rt("secrets", "import", ".env", "DB_PASSWORD", "DB_URL", "--yes")).status).toBe(0);
    expect(await readFile(project.join(".env"), "utf8")).toContain(
      "rt secrets get shop DB_URL (put together from DB_PASSWORD)\n",
    );
    const { stderr, status } = await rt("secrets", "import", "--undo", ".env", "--yes");
    expect(status).toBe(0);
    expect(stderr).toContain(
      "warning: DB_URL is restored without its references to DB_PASSWORD\n" +
        "hint: write ${DB_PASSWORD} again in its value\n",
    );
    expect(await readFile(project.join(".env"), "utf8")).toBe(
      "DB_PASSWORD=pass-word-of-db\nDB_URL=postgres://me:pass-word-of-db@db/shop\n",
    );
  });
});
