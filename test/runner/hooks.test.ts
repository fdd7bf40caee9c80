// Tests lifecycle hooks, and scripts that call themselves.
import { describe, test } from "bun:test";
import { expectRt, RT } from "../support/rt.ts";
import { testTranscripts } from "../support/transcripts.ts";
import { packageWith as scripts } from "../support/workspace.ts";

testTranscripts("hooks", [
  [
    "run before and after the script",
    {
      files: scripts({ prego: "echo pre", go: "echo go", postgo: "echo post" }),
      args: ["go"],
      stdout: "pre\ngo\npost\n",
      stderr: "$ echo pre\n$ echo go\n$ echo post\n",
    },
  ],
  [
    "stop the run when a pre-hook fails",
    {
      files: scripts({ prego: "exit 3", go: "echo go", postgo: "echo post" }),
      args: ["go"],
      status: 3,
      stderr: '$ exit 3\nerror: script "prego" exited with code 3\n',
    },
  ],
  [
    "do not run after a failing script",
    {
      files: scripts({ go: "exit 5", postgo: "echo post" }),
      args: ["go"],
      status: 5,
      stderr: '$ exit 5\nerror: script "go" exited with code 5\n',
    },
  ],
  [
    "set the exit code when a post-hook fails",
    {
      files: scripts({ go: "true", postgo: "exit 7" }),
      args: ["go"],
      status: 7,
      stderr: "$ true\n$ exit 7\n",
    },
  ],
  [
    "fail without a message with --silent",
    { files: scripts({ prego: "exit 3", go: "echo go" }), args: ["--silent", "go"], status: 3 },
  ],
  [
    "are skipped when they are empty or not text",
    { files: scripts({ prego: "", go: "echo go", postgo: 5 }), args: ["--silent", "go"], stdout: "go\n" },
  ],
  [
    "have no hooks of their own",
    {
      files: scripts({ preprego: "echo no", prego: "echo pre", go: "echo go" }),
      args: ["--silent", "go"],
      stdout: "pre\ngo\n",
    },
  ],
  [
    "run for a script that has the name of a hook",
    {
      files: scripts({ preprego: "echo prepre", prego: "echo pre", go: "echo go" }),
      args: ["--silent", "run", "prego"],
      stdout: "prepre\npre\n",
    },
  ],
  [
    "get their own names as variables",
    {
      files: scripts({
        prego: "echo $npm_lifecycle_event $npm_lifecycle_script",
        go: "echo $npm_lifecycle_event",
        postgo: "echo $npm_lifecycle_event",
      }),
      args: ["--silent", "go"],
      stdout: "prego echo $npm_lifecycle_event $npm_lifecycle_script\ngo\npostgo\n",
    },
  ],
  [
    "end the run with a signal when a pre-hook dies of it",
    {
      files: scripts({ prego: "kill -TERM $$", go: "echo go" }),
      args: ["go"],
      status: "SIGTERM",
      stderr: '$ kill -TERM $$\nerror: script "prego" was terminated by signal SIGTERM\n',
    },
  ],
  [
    "do not run, and print nothing, after an interrupted script",
    {
      files: scripts({ go: "kill -INT $$", postgo: "echo post" }),
      args: ["go"],
      status: "SIGINT",
      stderr: "$ kill -INT $$\n",
    },
  ],
]);

describe.concurrent("a script that calls itself", () => {
  test("stops at the ninth call with an error that names it", async () => {
    await expectRt({
      files: scripts({ again: `echo once; ${RT} --silent run again` }),
      args: ["--silent", "run", "again"],
      status: 1,
      stdout: "once\n".repeat(8),
      stderr: /^error: Script recursion: again -> again\n$/,
    });
  });

  test("stops with an error in a folder with a line break in its name", async () => {
    await expectRt({
      files: { "a\nb/package.json": { scripts: { again: `${RT} --silent run again` } } },
      in: "a\nb",
      args: ["--silent", "run", "again"],
      status: 1,
      stderr: /^error: Script recursion: again -> again\n$/,
    });
  });

  test("stops with an error that names both when it calls itself through another script", async () => {
    await expectRt({
      files: scripts({ one: `${RT} --silent run two`, two: `${RT} --silent run one` }),
      args: ["--silent", "run", "one"],
      status: 1,
      stderr: /Script recursion: (one -> two -> one|two -> one -> two)\n$/,
    });
  });

  test("runs while it stays below the limit", async () => {
    await expectRt({
      files: scripts({ down: `[ "$DEPTH" = xxx ] && echo bottom || DEPTH=x$DEPTH ${RT} --silent run down` }),
      args: ["--silent", "run", "down"],
      stdout: "bottom\n",
    });
  });
});
