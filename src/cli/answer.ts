// What a command of rt's own answers, on standard output. It is written to files, too (`rt types > rt.d.ts`): half of it is none.
import { Failure } from "../failure.ts";

/** Throws Failure where it cannot be written. Whoever reads no further has had enough. */
export async function printAnswer(text: string): Promise<void> {
  try {
    await Bun.write(Bun.stdout, `${text}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EPIPE") throw new Failure(`Standard output could not be written (${code})`);
  }
}
