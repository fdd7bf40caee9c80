// Tests what a script inherits from rt: descriptors, limits, the process group, and the process itself.
import { describe, expect, test } from "bun:test";
import { createProject } from "../../support/project.ts";
import { RT, runRt, startRt } from "../../support/rt.ts";

const scripts = (entries: Record<string, string>) => ({
  "package.json": { name: "project", version: "1.2.3", scripts: entries },
});

describe.concurrent("a script inherits", () => {
  const throughBash = async (line: string, entries: Record<string, string>) => {
    await using project = await createProject({ ...scripts(entries), "three.txt": "three\n" });
    return await runRt({
      program: ["bash", "-c", line.replaceAll("rt ", `${RT} --silent `)],
      cwd: project.path,
    });
  };

  test.each([
    ["3<file", "rt go 3< three.txt", { go: "cat <&3" }, "three\n"],
    ["9<file", "rt go 9< three.txt", { go: "cat <&9" }, "three\n"],
    ["a descriptor to write to", "rt go 3> out.txt; cat out.txt", { go: "echo written >&3" }, "written\n"],
    ["<(...)", "rt go <(echo substituted)", { go: "cat" }, "substituted\n"],
    ["two <(...)", "rt go <(echo one) <(echo two)", { go: "cat" }, "one\ntwo\n"],
    [">(...)", "echo x | rt go >(cat) | cat", { go: "tee" }, "x\nx\n"],
    ["3<file with hooks", "rt go 3< three.txt", { prego: "true", go: "cat <&3" }, "three\n"],
    ["9<file with hooks that read it", "rt go 9< three.txt", { prego: "cat <&9", go: "true" }, "three\n"],
    ["a closed standard input", "rt go <&-", { go: "echo runs" }, "runs\n"],
    ["a pipe on both sides", "echo x | rt go | tr x y", { go: "cat" }, "y\n"],
  ])("%s", async (_, line, entries, expected) => {
    const { stdout, stderr } = await throughBash(line, entries);
    expect({ stdout, stderr }).toEqual({ stdout: expected, stderr: "" });
  });

  test.skipIf(process.platform !== "linux")(
    "no child process that it did not start, also after a hook",
    async () => {
      const children = 'read -r children < /proc/$$/task/$$/children; echo "<$children>"';
      expect(await throughBash("rt go", { prego: "sleep 0.01", go: children })).toMatchObject({
        stdout: "<>\n",
        status: 0,
      });
    },
  );

  test("3<file when it has a post-hook", async () => {
    expect(await throughBash("rt go 3< three.txt", { go: "cat <&3", postgo: "echo post" })).toEqual({
      stdout: "three\npost\n",
      stderr: "",
      status: 0,
    });
  });

  test("descriptors, also as a file, a program and an engine process", async () => {
    await using project = await createProject({
      "read.ts": "console.log(require('fs').readFileSync(3, 'utf8'))",
      "three.txt": "three",
    });
    for (const args of ["read.ts", "run read.ts", "--smol read.ts", "run cat /dev/fd/3"]) {
      const { stdout, stderr } = await runRt({
        program: ["bash", "-c", `${RT} ${args} 3< three.txt`],
        cwd: project.path,
      });
      expect({ args, stdout: stdout.trim(), stderr }).toEqual({ args, stdout: "three", stderr: "" });
    }
  });

  test("no internal descriptor of rt", async () => {
    await using project = await createProject(
      {
        ...scripts({
          go: "fds",
          hooked: "fds",
          prehooked: "true",
          shell: "fds && true",
          post: "fds",
          postpost: "true",
        }),
        "node_modules/.bin/fds": "#!/bin/sh\nfor fd in /proc/$$/fd/*; do readlink $fd; done\n",
        "fds.ts": "",
      },
      ["node_modules/.bin/fds"],
    );
    const plain = await runRt({ program: ["node_modules/.bin/fds"], cwd: project.path });
    const kinds = (text: string) =>
      text
        .split("\n")
        .map((line) => line.replace(/\d+/g, "N"))
        .toSorted()
        .join();
    for (const script of ["go", "shell", "hooked", "post"]) {
      const { stdout } = await runRt({ args: ["--silent", script], cwd: project.path });
      expect({ script, kinds: kinds(stdout) }).toEqual({ script, kinds: kinds(plain.stdout) });
    }
  });

  test("umask, limits and the process group", async () => {
    const { stdout } = await throughBash("umask 027; ulimit -n 123; rt go; echo $$ | tr -d '0-9'", {
      go: "umask; ulimit -n; [ $(ps -o pgid= $$) = $(ps -o pgid= $PPID) ] && echo same group",
    });
    expect(stdout).toStartWith("0027\n123\nsame group\n");
  });

  test("a broken pipe that ends it: yes | head", async () => {
    for (const entries of [
      { go: "yes" },
      { go: "yes | cat" },
      { prego: "true", go: "yes" },
      { go: "yes", postgo: "true" },
    ]) {
      const { stdout, status } = await throughBash(
        "set -o pipefail; rt go | head -1; echo ${PIPESTATUS[0]}",
        entries as unknown as Record<string, string>,
      );
      expect({ stdout, status }).toEqual({ stdout: "y\n141\n", status: 0 });
    }
  });

  test("the process id of rt, because rt becomes the script", async () => {
    await using project = await createProject(
      scripts({ go: "echo $$; exec sleep 0", pid: "printenv PPID_OF; echo $PPID" }),
    );
    const child = startRt({ args: ["--silent", "go"], cwd: project.path });
    expect((await new Response(child.stdout).text()).trim()).toBe(`${child.pid}`);
    await child.exited;
  });
});
