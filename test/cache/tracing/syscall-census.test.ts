// A compiled program makes each system call of the table, with numbers from the system's headers. Each path must be in the
// trace, and each call that cannot be traced must be an incomplete reason.
import { expect, test } from "bun:test";
import { CALLS } from "../../../platform/tracing/linux/syscalls.ts";
import { statSync } from "node:fs";
import { chmod, chown, rm } from "node:fs/promises";
import { placeRt } from "../../support/programs/programs.ts";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../../support/users.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

/** The calls of strace's class %file on every architecture, except getcwd. */
const WITH_PATHS =
  "access acct chdir chmod chown chroot creat execve execveat faccessat faccessat2 fanotify_mark fchmodat fchmodat2 fchownat " +
  "fspick futimesat getxattr inotify_add_watch lchown lgetxattr link linkat listxattr llistxattr lremovexattr lsetxattr " +
  "lstat mkdir mkdirat mknod mknodat mount mount_setattr move_mount name_to_handle_at newfstatat open open_tree openat " +
  "openat2 pivot_root quotactl readlink readlinkat removexattr rename renameat renameat2 rmdir setxattr stat statfs statx " +
  "swapoff swapon symlink symlinkat truncate umount2 unlink unlinkat uselib utime utimensat utimes";

test("the syscall table contains every call with a path", () => {
  const names = CALLS.map(({ name }) => name);
  expect(WITH_PATHS.split(" ").filter((name) => !names.includes(name))).toEqual([]);
});

const WITH_TRACED_PATHS = CALLS.filter(
  ({ paths, name }) => paths?.some(({ path }) => path !== undefined) && name !== "execve",
);
const INCOMPLETE = CALLS.filter(({ incompleteReason }) => incompleteReason !== undefined);

/** Generates C that makes each call, with a unique path where the table has one, and zeros in all other arguments. */
function callAll(): string {
  return WITH_TRACED_PATHS.map(({ name, paths, open }) => {
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
  expect({ status: exitCode, stderr: stderr.toString() }).toEqual({ status: 0, stderr: expect.any(String) });
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
    // A 32-bit call. Some processors and kernels do not support it, and some virtual machines kill the caller.
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
  "each call with a path is traced, and each other call of the table makes the script uncacheable",
  async () => {
    const numbers = Object.fromEntries(
      INCOMPLETE.map((call) => [call.name, call[process.arch as "x64" | "arm64"]]),
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
    const expected = WITH_TRACED_PATHS.filter(({ name }) => called.includes(name)).flatMap(
      ({ name, paths }) => paths!.map(({ path }) => `census-${name}-${path}`),
    );
    expect(expected.filter((name) => !stderr.includes(`/${name}\n`))).toEqual([]);
    // Calls with a fallback fail with ENOSYS instead, so the script is cached.
    expect([await project.run("hidden"), await project.run("hidden")]).toEqual(["ran", "hit"]);
    const { exitCode } = Bun.spawnSync([project.join("census"), "a", "b"], { stdout: "ignore" });
    const names = [...Object.keys(numbers), ...(exitCode === 0 ? ["foreign"] : [])];
    const all = await project.rt(["--parallel", "--concurrency=4", "run", ...names]);
    expect(names.filter((name) => !all.stderr.includes(`warning: ${name} was not cached: it `))).toEqual([]);
  },
);

test.skipIf(!CAN_TRACE)(
  "an unprivileged user gets hits, and a process that rt cannot inspect makes the script uncacheable",
  async () => {
    const closed =
      "mkdir -p closed/in/deep; cat census.c > closed/in/file; chmod 555 closed/in/deep closed/in closed";
    await using project = await cachedProject(
      { plain: "cat census.c > made", hidden: "./census 1 2 3", closed },
      { "census.c": PROGRAM },
    );
    compile(project);
    // Other users may not reach the checkout.
    await using copy = await createProject();
    await chmod(copy.path, 0o755);
    await placeRt(copy.join("rt"));
    // rt does not use a cache directory that other users can change.
    if (isRoot)
      for (const path of [project.path, project.cache]) await chown(path, OTHER_USER_ID, OTHER_USER_ID);
    const run = async (script: string) =>
      await runRt({
        program: [...AS_OTHER_USER, copy.join("rt")],
        args: ["run", script],
        cwd: project.path,
        env: { XDG_CACHE_HOME: project.cache },
      });
    expect((await run("plain")).stderr).toBe("$ cat census.c > made\n");
    expect((await run("plain")).stderr).toContain("Cached (saved ");
    // Directories without write permission.
    expect((await run("closed")).stderr).toBe(`$ ${closed}\n`);
    await rm(project.join("closed"), { recursive: true });
    expect((await run("closed")).stderr).toContain("Cached (saved ");
    const modes = ["closed", "closed/in", "closed/in/deep"].map(
      (name) => statSync(project.join(name)).mode & 0o777,
    );
    expect(modes).toEqual([0o555, 0o555, 0o555]);
    expect(await Bun.file(project.join("closed/in/file")).text()).toBe(PROGRAM);
    const hidden = await run("hidden");
    expect(hidden).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("cannot read the memory"),
    });
  },
);
