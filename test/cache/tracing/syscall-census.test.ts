// Every system call of the table, called once by a program that takes the numbers from the system's headers: each path comes
// to rt's notice, and each call that cannot be followed is a doubt.
import { expect, test } from "bun:test";
import { CALLS } from "../../../platform/tracing/linux/syscalls.ts";
import { statSync } from "node:fs";
import { chown, rm } from "node:fs/promises";
import { RT, runRt } from "../../support/rt.ts";
import { AS_OTHER, isRoot, NOBODY } from "../../support/users.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

/** Those that strace counts as calls with a file's name (%file), of every architecture, but for getcwd. */
const WITH_PATHS =
  "access acct chdir chmod chown chroot creat execve execveat faccessat faccessat2 fanotify_mark fchmodat fchmodat2 fchownat " +
  "fspick futimesat getxattr inotify_add_watch lchown lgetxattr link linkat listxattr llistxattr lremovexattr lsetxattr " +
  "lstat mkdir mkdirat mknod mknodat mount mount_setattr move_mount name_to_handle_at newfstatat open open_tree openat " +
  "openat2 pivot_root quotactl readlink readlinkat removexattr rename renameat renameat2 rmdir setxattr stat statfs statx " +
  "swapoff swapon symlink symlinkat truncate umount2 unlink unlinkat uselib utime utimensat utimes";

test("the table has every call with a path", () => {
  const names = CALLS.map(({ name }) => name);
  expect(WITH_PATHS.split(" ").filter((name) => !names.includes(name))).toEqual([]);
});

const FOLLOWED = CALLS.filter(
  ({ paths, name }) => paths?.some(({ path }) => path !== undefined) && name !== "execve",
);
const DOUBTS = CALLS.filter(({ incompleteReason }) => incompleteReason !== undefined);

/** C that calls each with a path of its own where the table has one, and with nothing elsewhere. */
function callAll(): string {
  return FOLLOWED.map(({ name, paths, open }) => {
    const words = ["0", "0", "0", "0", "0"];
    for (const { directory, path } of paths!) {
      if (directory !== undefined) words[directory] = "AT_FDCWD";
      words[path!] = `"census-${name}-${path}"`;
    }
    if (open?.how !== undefined) [words[open.how], words[open.how + 1]] = ["how", "sizeof how"];
    return `#ifdef SYS_${name}\n  puts("${name}"); syscall(SYS_${name}, ${words.join(", ")});\n#endif`;
  }).join("\n");
}

function compile(project: CachedProject): void {
  const { exitCode, stderr } = Bun.spawnSync(["cc", "-o", project.join("census"), project.join("census.c")]);
  expect({ status: exitCode, said: stderr.toString() }).toEqual({ status: 0, said: expect.any(String) });
}

const PROGRAM = `#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
  unsigned long how[3] = {0, 0, 0};
  if (count == 2) return syscall(atol(words[1]), -1L, -1L, -1L, -1L, -1L) > 0;
  setbuf(stdout, NULL);
  if (count == 5) return syscall(SYS_fanotify_init, 0L, 0L) != -1 || errno != ENOSYS;
  if (count == 4) return prctl(PR_SET_DUMPABLE, 0L) + (open("census.c", O_RDONLY) < 0);
  if (count == 3) {
    // A call of 32 bits, which not every processor and kernel has: that of some virtual machines ends who asks.
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20));
    return result < 0;
#endif
    return 1;
  }
${callAll()}
  return 0;
}
`;

test.skipIf(!CAN_TRACE)(
  "every call with a path is seen, and every other one of the table is a doubt",
  async () => {
    const numbers = Object.fromEntries(
      DOUBTS.map((call) => [call.name, call[process.arch as "x64" | "arm64"]]),
    );
    const scripts = Object.fromEntries(
      Object.entries(numbers).map(([name, number]) => [name, `./census ${number}; true`]),
    );
    await using project = await cachedProject(
      { ...scripts, all: "./census", foreign: "./census a b", hidden: "./census a b c d" },
      { "census.c": PROGRAM },
    );
    compile(project);
    const { stdout, stderr } = await project.rt(["run", "all"], { RT_DEBUG: "trace" });
    const called = stdout.trim().split("\n");
    expect(called.length).toBeGreaterThan(30);
    const expected = FOLLOWED.filter(({ name }) => called.includes(name)).flatMap(({ name, paths }) =>
      paths!.map(({ path }) => `census-${name}-${path}`),
    );
    expect(expected.filter((name) => !stderr.includes(`/${name}\n`))).toEqual([]);
    // What programs have another way for is not there for them, and no doubt.
    expect([await project.run("hidden"), await project.run("hidden")]).toEqual(["ran", "hit"]);
    const { exitCode } = Bun.spawnSync([project.join("census"), "a", "b"], { stdout: "ignore" });
    const names = [...Object.keys(numbers), ...(exitCode === 0 ? ["foreign"] : [])];
    const all = await project.rt(["--parallel", "--concurrency=4", "run", ...names]);
    expect(names.filter((name) => !all.stderr.includes(`warning: ${name} was not cached: it `))).toEqual([]);
  },
);

test.skipIf(!CAN_TRACE)(
  "a user without any rights has hits, and what may not be looked at is a doubt",
  async () => {
    const closed =
      "mkdir -p closed/in/deep; cat census.c > closed/in/file; chmod 555 closed/in/deep closed/in closed";
    await using project = await cachedProject(
      { plain: "cat census.c > made", hidden: "./census 1 2 3", closed },
      { "census.c": PROGRAM },
    );
    compile(project);
    // Its own directories: rt does not use a cache that other users can change.
    if (isRoot) for (const path of [project.path, project.cache]) await chown(path, NOBODY, NOBODY);
    const run = async (script: string) =>
      await runRt({
        program: [...AS_OTHER, RT],
        args: ["run", script],
        cwd: project.path,
        env: { XDG_CACHE_HOME: project.cache },
      });
    expect((await run("plain")).stderr).toBe("$ cat census.c > made\n");
    expect((await run("plain")).stderr).toContain("Done before: ");
    // Folders that forbid what is put into them.
    expect((await run("closed")).stderr).toBe(`$ ${closed}\n`);
    await rm(project.join("closed"), { recursive: true });
    expect((await run("closed")).stderr).toContain("Done before: ");
    const modes = ["closed", "closed/in", "closed/in/deep"].map(
      (name) => statSync(project.join(name)).mode & 0o777,
    );
    expect(modes).toEqual([0o555, 0o555, 0o555]);
    expect(await Bun.file(project.join("closed/in/file")).text()).toBe(PROGRAM);
    const hidden = await run("hidden");
    expect(hidden).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("does not let itself be looked at"),
    });
  },
);
