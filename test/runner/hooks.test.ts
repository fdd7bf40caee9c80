// What runs around a script, and a script that runs itself.
import { describe, test } from "bun:test";
import { expectRt, RT } from "../support/rt.ts";
import { testTranscripts } from "../support/transcripts.ts";
import { packageWith as scripts } from "../support/workspace.ts";

testTranscripts("hooks", [
  [
    "run before and after",
    {
      files: scripts({ prego: "echo pre", go: "echo go", postgo: "echo post" }),
      args: ["go"],
      stdout: "pre\ngo\npost\n",
      stderr: "$ echo pre\n$ echo go\n$ echo post\n",
    },
  ],
  [
    "a failing pre-hook stops everything",
    {
      files: scripts({ prego: "exit 3", go: "echo go", postgo: "echo post" }),
      args: ["go"],
      status: 3,
      stderr: '$ exit 3\nerror: script "prego" exited with code 3\n',
    },
  ],
  [
    "a failing script skips its post-hook",
    {
      files: scripts({ go: "exit 5", postgo: "echo post" }),
      args: ["go"],
      status: 5,
      stderr: '$ exit 5\nerror: script "go" exited with code 5\n',
    },
  ],
  [
    "a failing post-hook decides the exit code",
    {
      files: scripts({ go: "true", postgo: "exit 7" }),
      args: ["go"],
      status: 7,
      stderr: "$ true\n$ exit 7\n",
    },
  ],
  [
    "with --silent a failure is silent too",
    { files: scripts({ prego: "exit 3", go: "echo go" }), args: ["--silent", "go"], status: 3 },
  ],
  [
    "empty ones and ones that are no text are passed over",
    { files: scripts({ prego: "", go: "echo go", postgo: 5 }), args: ["--silent", "go"], stdout: "go\n" },
  ],
  [
    "of hooks are not looked for",
    {
      files: scripts({ preprego: "echo no", prego: "echo pre", go: "echo go" }),
      args: ["--silent", "go"],
      stdout: "pre\ngo\n",
    },
  ],
  [
    "run for a script that is called like a hook",
    {
      files: scripts({ preprego: "echo prepre", prego: "echo pre", go: "echo go" }),
      args: ["--silent", "run", "prego"],
      stdout: "prepre\npre\n",
    },
  ],
  [
    "each see their own name",
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
    "a pre-hook that is killed ends the run the same way",
    {
      files: scripts({ prego: "kill -TERM $$", go: "echo go" }),
      args: ["go"],
      status: "SIGTERM",
      stderr: '$ kill -TERM $$\nerror: script "prego" was terminated by signal SIGTERM\n',
    },
  ],
  [
    "a script that is interrupted says nothing",
    {
      files: scripts({ go: "kill -INT $$", postgo: "echo post" }),
      args: ["go"],
      status: "SIGINT",
      stderr: "$ kill -INT $$\n",
    },
  ],
]);

describe.concurrent("a script that calls itself", () => {
  test("without end is stopped with its name, the ninth time", async () => {
    await expectRt({
      files: scripts({ again: `echo once; ${RT} --silent run again` }),
      args: ["--silent", "run", "again"],
      status: 1,
      stdout: "once\n".repeat(8),
      stderr: /^error: Script recursion: again -> again\n$/,
    });
  });

  test("in a folder with a line break in its name as well", async () => {
    await expectRt({
      files: { "a\nb/package.json": { scripts: { again: `${RT} --silent run again` } } },
      in: "a\nb",
      args: ["--silent", "run", "again"],
      status: 1,
      stderr: /^error: Script recursion: again -> again\n$/,
    });
  });

  test("through another script is stopped with both names", async () => {
    await expectRt({
      files: scripts({ one: `${RT} --silent run two`, two: `${RT} --silent run one` }),
      args: ["--silent", "run", "one"],
      status: 1,
      stderr: /Script recursion: (one -> two -> one|two -> one -> two)\n$/,
    });
  });

  test("a few times is let", async () => {
    await expectRt({
      files: scripts({ down: `[ "$DEPTH" = xxx ] && echo bottom || DEPTH=x$DEPTH ${RT} --silent run down` }),
      args: ["--silent", "run", "down"],
      stdout: "bottom\n",
    });
  });
});
