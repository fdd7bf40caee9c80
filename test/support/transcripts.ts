// Tables of transcripts: each row a name, what is started and what must come of it. The rows of a table run side by side.
//
//   testTranscripts("the exit code", [["0 of a file", { files: { "a.ts": "" }, args: ["a.ts"] }]]);
import { describe, test } from "bun:test";
import { expectRt, type Transcript } from "./rt.ts";

export type Row = readonly [name: string, transcript: Transcript];

/** @param first words in front of each row's own */
export function testTranscripts(title: string, rows: readonly Row[], first: readonly string[] = []): void {
  describe.concurrent(title, () => {
    for (const [name, { args = [], ...transcript }] of rows)
      test(name, () => expectRt({ ...transcript, args: [...first, ...args] }), 30_000);
  });
}
