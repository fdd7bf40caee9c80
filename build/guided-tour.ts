// `npm start`: builds rt and demonstrates it on real input, each step with the command of a user.
//
// `npm start -- <args>` builds rt and runs it with these arguments.
//
// The credential is stored in this session's real store. Without one (a server, a container), a private bus with a keyring is
// started, if its programs are installed.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile, DIST } from "./compile.ts";
import { openPrivateSession, type PrivateSession } from "./private-keyring.ts";
import { hostTarget } from "./targets.ts";

const FILES = {
  "package.json": JSON.stringify({
    name: "tour",
    scripts: { prebuild: "echo preparing", build: "echo building", postbuild: "echo done" },
  }),
  "hello.tsx": `const names: string[] = ["TypeScript", "JSX"];
const list = <ul>{names.map((name) => <li>{name}</li>)}</ul>;
console.log("hello from", names.join(" and "), "- an element of type", list.type);
`,
  "node_modules/react/package.json": JSON.stringify({ name: "react", type: "module" }),
  "node_modules/react/jsx-dev-runtime.js":
    "export const Fragment = 'fragment';\nexport const jsxDEV = (type, props) => ({ type, props });\n",
  "node_modules/react/jsx-runtime.js":
    "export const Fragment = 'fragment';\nexport const jsx = (type, props) => ({ type, props });\nexport const jsxs = jsx;\n",
  "secret.ts": `import { secrets } from "rt";

const account = { service: "com.example.rt-tour", name: "me" };
await secrets.set(account, "s3cret");
console.log("stored, and read back:", (await secrets.get(account)) === "s3cret");
console.log("deleted:", await secrets.delete(account), "- now it is", await secrets.get(account));
`,
  "csrf.ts": `import { CSRF } from "rt";

const token = CSRF.generate("signing secret", { sessionId: "visitor" });
console.log("a token of", token.length, "characters");
console.log("for its visitor:", CSRF.verify(token, { secret: "signing secret", sessionId: "visitor" }));
console.log("for another one:", CSRF.verify(token, { secret: "signing secret", sessionId: "somebody else" }));
`,
};

const target = hostTarget();
const rt = join(DIST, target.file);

async function run(
  command: string[],
  options: { cwd?: string; env?: Record<string, string>; stdin?: string } = {},
): Promise<number> {
  const { cwd, env, stdin } = options;
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...env },
    stdin: stdin === undefined ? "inherit" : new Blob([stdin]),
    stdout: "inherit",
    stderr: "inherit",
  });
  return await child.exited;
}

/** Returns how to start a program with a credential store; undefined if none is available. */
async function withStore(directory: string): Promise<PrivateSession | undefined> {
  if (target.os !== "linux" || process.env.DBUS_SESSION_BUS_ADDRESS) return { prefix: [], env: {} };
  return await openPrivateSession(directory);
}

async function tour(): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "rt-tour-"));
  const failures: string[] = [];
  const step = async (
    title: string,
    shown: string,
    command: string[],
    options: Parameters<typeof run>[1] = {},
  ) => {
    console.log(`\n${title}\n  $ ${shown}`);
    if ((await run(command, { cwd: directory, ...options })) !== 0) failures.push(shown);
  };
  try {
    for (const [name, content] of Object.entries(FILES)) await Bun.write(join(directory, name), content);
    await step("A TypeScript file with JSX", "rt hello.tsx", [rt, "hello.tsx"]);
    await step("The scripts of package.json", "rt run", [rt, "run"]);
    await step("A script, with its hooks", "rt run build", [rt, "run", "build"]);
    const code = "const answer: number = 6 * 7;\nconsole.log('piped code says', answer);\n";
    await step("Code from a pipe", "cat code.ts | rt run -", [rt, "run", "-"], { stdin: code });
    const store = await withStore(directory);
    if (store) {
      const { prefix, env } = store;
      await step("A credential in the system's store", "rt secret.ts", [...prefix, rt, "secret.ts"], { env });
    } else {
      console.log("\nNo credential store here: install gnome-keyring and dbus to see that part of the tour");
    }
    await step("A CSRF token", "rt csrf.ts", [rt, "csrf.ts"]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  if (failures.length > 0) console.error(`\nerror: these steps failed: ${failures.join(", ")}`);
  else console.log(`\nrt is at ${rt}`);
  return failures.length === 0 ? 0 : 1;
}

const args = process.argv.slice(2);
await compile(target, rt);
process.exitCode = args.length > 0 ? await run([rt, ...args]) : await tour();
