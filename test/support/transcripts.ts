// Tables of transcripts: each row has a name, a command and its expected output. The rows of a table run concurrently.
//
//   testTranscripts("the exit code", [["0 of a file", { files: { "a.ts": "" }, args: ["a.ts"] }]]);
import { describe, test } from "bun:test";
import { expectRt, type Transcript } from "./rt.ts";

export type Row = readonly [name: string, transcript: Transcript];

export function testTranscripts(title: string, rows: readonly Row[]): void {
  describe.concurrent(title, () => {
    for (const [name, transcript] of rows) test(name, () => expectRt(transcript));
  });
}

/** Runs the rows with --silent, so that rt does not print the commands of scripts. */
export function testSilently(title: string, rows: readonly Row[]): void {
  testTranscripts(
    title,
    rows.map(([name, { args = [], ...more }]): Row => [name, { ...more, args: ["--silent", ...args] }]),
  );
}
