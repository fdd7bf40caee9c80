// Opens as many pipes as a long run: the engine compiles frequently called code again, which must not break the calls.
import { expect, test } from "bun:test";
import { closeDescriptor, openPipe, readAvailable } from "../../platform/native/posix/pipe.ts";

const TIMES = 3000;

test.skipIf(process.platform === "win32")(
  "openPipe() returns two new descriptors each time, also after thousands of calls",
  () => {
    for (let time = 0; time < TIMES; time += 1) {
      const [polled, waiting] = [openPipe({ isPolled: true }), openPipe({ isPolled: false })];
      const ends = [polled.reader, polled.writer, waiting.reader, waiting.writer];
      try {
        expect({ time, count: new Set(ends).size }).toEqual({ time, count: 4 });
        expect(readAvailable(polled.reader)).toEqual(new Uint8Array(0));
      } finally {
        for (const end of new Set(ends)) closeDescriptor(end);
      }
    }
  },
);
