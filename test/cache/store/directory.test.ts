// rt restores outputs from the cache directory into projects, so no other user may be able to write to it.
import { expect, test } from "bun:test";
import { chown, chmod, mkdir, readdir, symlink } from "node:fs/promises";
import { createProject, type Project } from "../../support/project.ts";
import { isRoot, OTHER_USER_ID } from "../../support/users.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

interface CacheLocation {
  readonly what: string;
  /** Relative to the test's folder. */
  readonly cache: string;
  prepare(folder: Project): Promise<unknown>;
  /** The path in the message, relative to the folder. */
  readonly named: string;
  readonly needsRoot?: boolean;
}

const REFUSED: readonly CacheLocation[] = [
  {
    what: "is writable by all users",
    cache: "c",
    prepare: (folder) => chmod(folder.join("c"), 0o777),
    named: "c",
  },
  {
    what: "is writable by all users and sticky",
    cache: "c",
    prepare: (folder) => chmod(folder.join("c"), 0o1777),
    named: "c",
  },
  {
    what: "is in a folder that is writable by all users",
    cache: "c/d",
    prepare: (folder) => chmod(folder.join("c"), 0o777),
    named: "c",
  },
  {
    what: "belongs to another user",
    cache: "c",
    prepare: (folder) => chown(folder.join("c"), OTHER_USER_ID, OTHER_USER_ID),
    named: "c",
    needsRoot: true,
  },
  {
    what: "is in a folder of another user",
    cache: "c/d",
    prepare: (folder) => chown(folder.join("c"), OTHER_USER_ID, OTHER_USER_ID),
    named: "c",
    needsRoot: true,
  },
  {
    what: "contains a folder rt of another user",
    cache: "c",
    prepare: async (folder) => {
      await mkdir(folder.join("c/rt"));
      await chown(folder.join("c/rt"), OTHER_USER_ID, OTHER_USER_ID);
    },
    named: "c/rt",
    needsRoot: true,
  },
  {
    what: "is writable by a group of other users",
    cache: "c",
    prepare: async (folder) => {
      await chown(folder.join("c"), process.getuid!(), OTHER_USER_ID);
      await chmod(folder.join("c"), 0o770);
    },
    named: "c",
    needsRoot: true,
  },
];

for (const { what, cache, prepare, named, needsRoot } of REFUSED)
  test.skipIf(!CAN_TRACE || (needsRoot === true && !isRoot))(
    `no script is cached, and no file removed, when XDG_CACHE_HOME ${what}`,
    async () => {
      await using folder = await createProject({ "c/d/own": "" });
      await prepare(folder);
      await using project = await cachedProject({ t: "echo text > made" });
      const env = { XDG_CACHE_HOME: folder.join(cache) };
      const reason = `${folder.join(named)} is writable by other users`;
      const advice = "give the folder back to this user, or set XDG_CACHE_HOME";
      const { stderr, status } = await project.rt(["run", "t"], env);
      expect({ stderr, status }).toEqual({
        stderr: expect.stringContaining(`Scripts are not cached: ${reason}; ${advice}\n`),
        status: 0,
      });
      const { stdout } = await project.rt(["doctor"], env);
      expect(stdout).toContain(reason);
      await mkdir(folder.join(cache, "rt", "scripts-1"), { recursive: true });
      for (const words of [["status"], ["prune"], ["clear"]])
        expect(await project.rt(["cache", ...words], env)).toEqual({
          stdout: "",
          stderr: expect.stringMatching(
            /^error: The cache cannot be used: .* is writable by other users\nhint: /,
          ),
          status: 1,
        });
      expect(await readdir(folder.join(cache, "rt"))).toEqual(["scripts-1"]);
    },
  );

const ACCEPTED: readonly Omit<CacheLocation, "named">[] = [
  { what: "does not exist, and neither does its parent", cache: "new/cache", prepare: async () => {} },
  {
    what: "is a link to a folder of this user",
    cache: "link",
    prepare: (folder) => symlink("c/d", folder.join("link")),
  },
  {
    what: "is writable by the user's own group",
    cache: "c",
    prepare: (folder) => chmod(folder.join("c"), 0o770),
  },
  {
    what: "is in a sticky folder that is writable by all users",
    cache: "c/d",
    prepare: (folder) => chmod(folder.join("c"), 0o1777),
  },
];

for (const { what, cache, prepare } of ACCEPTED)
  test.skipIf(!CAN_TRACE)(`scripts are cached when XDG_CACHE_HOME ${what}`, async () => {
    await using folder = await createProject({ "c/d/own": "" });
    await prepare(folder);
    await using project = await cachedProject({ t: "echo text > made" });
    const env = { XDG_CACHE_HOME: folder.join(cache) };
    expect([await project.run("t", env), await project.run("t", env)]).toEqual(["ran", "hit"]);
  });
