// Another process changes a state while a script runs, and changes it back. The script has observed both states, so its run
// is not cached.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdir, rename, rm, symlink, unlink } from "node:fs/promises";
import { waitUntil } from "../../support/processes.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

type Act = (project: CachedProject) => Promise<unknown>;

interface Flip {
  /** A shell command that observes the state. It runs once in each state. */
  readonly access: string;
  readonly change: Act;
  readonly back: Act;
  readonly path: string;
}

const FLIPS: Readonly<Record<string, Flip>> = {
  "an absent file": {
    access: "test -e f",
    change: async (project) => await project.write({ f: "" }),
    back: async (project) => await unlink(project.join("f")),
    path: "f",
  },
  "an absent file that it opens": {
    access: "cat f",
    change: async (project) => await project.write({ f: "" }),
    back: async (project) => await unlink(project.join("f")),
    path: "f",
  },
  "a listed folder": {
    access: "ls d",
    change: async (project) => await project.write({ "d/new": "" }),
    back: async (project) => await unlink(project.join("d/new")),
    path: "d",
  },
  "the type of a listed name": {
    access: "ls -F d",
    change: async (project) => {
      await rename(project.join("d/f"), project.join("moved"));
      await mkdir(project.join("d/f"));
    },
    back: async (project) => {
      await rm(project.join("d/f"), { recursive: true });
      await rename(project.join("moved"), project.join("d/f"));
    },
    path: "d/f",
  },
  "a symlink in the path": {
    access: "cat link/f",
    change: async (project) => {
      await unlink(project.join("link"));
      await symlink("e", project.join("link"));
    },
    back: async (project) => {
      await unlink(project.join("link"));
      await symlink("d", project.join("link"));
    },
    path: "d/f",
  },
  "a symlink that it reads": {
    access: "readlink link",
    change: async (project) => {
      await unlink(project.join("link"));
      await symlink("e", project.join("link"));
    },
    back: async (project) => {
      await unlink(project.join("link"));
      await symlink("d", project.join("link"));
    },
    path: "link",
  },
  "a renamed folder in the path": {
    access: "cat d/f",
    change: async (project) => await rename(project.join("d"), project.join("moved")),
    back: async (project) => await rename(project.join("moved"), project.join("d")),
    path: "d/f",
  },
  "the mode of a folder": {
    access: "stat -c %a d",
    change: async (project) => await chmod(project.join("d"), 0o700),
    back: async (project) => await chmod(project.join("d"), 0o755),
    path: "d",
  },
};

const NODE: Readonly<Record<string, string>> = {
  "an absent file": 'fs.existsSync("f")',
  "an absent file that it opens": 'try { fs.readFileSync("f") } catch {}',
  "a listed folder": 'fs.readdirSync("d")',
  "a symlink in the path": 'fs.readFileSync("link/f")',
  "a symlink that it reads": 'fs.readlinkSync("link")',
  "a renamed folder in the path": 'try { fs.readFileSync("d/f") } catch {}',
  "the mode of a folder": 'fs.statSync("d")',
};

const wait = (name: string) => `echo > go${name}; until [ -e ready${name} ]; do sleep 0.05; done`;
const nodeWait = (name: string) =>
  `fs.writeFileSync("go${name}", ""); while (!fs.existsSync("ready${name}")) Atomics.wait(cell, 0, 0, 20);`;

/** Returns the outcome of the run. */
async function flip(
  script: string,
  { change, back }: Pick<Flip, "change" | "back">,
  more = {},
): Promise<string> {
  await using project = await cachedProject(
    { t: script, ...more },
    { "d/f": "one\n", "e/f": "two\n" },
    't = { ignore = ["go*", "ready*", "moved"] }',
  );
  await chmod(project.join("d"), 0o755);
  await symlink("d", project.join("link"));
  const running = project.run("t");
  await waitUntil(() => existsSync(project.join("go1")));
  await change(project);
  await project.write({ ready1: "" });
  await waitUntil(() => existsSync(project.join("go2")));
  await back(project);
  await project.write({ ready2: "" });
  return await running;
}

test.skipIf(!CAN_TRACE).each(Object.entries(FLIPS))(
  "a run is not cached when another process changes %s and changes it back between two accesses",
  async (_, { access, path, ...acts }) => {
    const script = `${access}; ${wait("1")}; ${access}; ${wait("2")}; true`;
    const first = await flip(script, acts);
    expect(first).toBe(
      `t was not cached: another process changed $PROJECT/${path} during the run; run it again`,
    );
  },
);

test.skipIf(!CAN_TRACE).each(Object.entries(NODE))(
  "a run of Node.js is not cached when another process changes %s and changes it back between two accesses",
  async (what, access) => {
    const code = `const cell = new Int32Array(new SharedArrayBuffer(4)); ${access}; ${nodeWait("1")} ${access}; ${nodeWait("2")}`;
    const first = await flip(`node -e '${code}'`, FLIPS[what]!);
    expect(first).toMatch(
      /^t was not cached: another process changed \$PROJECT\/\S+ during the run; run it again$/,
    );
  },
);

test.skipIf(!CAN_TRACE)(
  "a run is not cached when another process makes a change between two steps of the script",
  async () => {
    const { change, back } = FLIPS["an absent file"]!;
    const first = await flip(
      `test -e f; ${wait("2")}; true`,
      { change, back },
      { pret: `test -e f; ${wait("1")}` },
    );
    expect(first).toMatch(/another process changed \S+f during the run/);
  },
);

test.skipIf(!CAN_TRACE)("a run is cached when the script makes all changes itself", async () => {
  const access = "test -e f; cat f; ls d; cat link/f; readlink link; stat -c %a d; cat d/f";
  const change = "touch f d/new; ln -sfn e link; chmod 700 d";
  const back = "rm f d/new; ln -sfn d link; chmod 755 d";
  await using project = await cachedProject(
    {
      t: `bash -c '(${access}; ${change}; ${access}; ${back}; ${access}; mv d g; ${access}; mv g d; ${access}) 2>&1; true'`,
    },
    { "d/f": "one\n", "e/f": "two\n" },
  );
  await chmod(project.join("d"), 0o755);
  await symlink("d", project.join("link"));
  const first = await project.run("t");
  expect(first).not.toContain("another process changed");
});
