// Orphans of a container's first process: when their parent has ended they become children of rt, where rt is that process,
// and each that ends stays in the process table, and counts against its limit, until rt asks how it ended.
//
// Contract: what rt itself has started, and the engine waits for, is left alone.
//
// Surprising: a zombie is taken on the second look, a moment later. One that the engine waits for is gone by then, and of
// many that end at once there is one look. Where the kernel tells the engine of its children by this signal alone, its
// handler comes after ours and stays in our place: then orphans wait for rt's end.
import { FFIType } from "./ffi.ts";
import { openLibc } from "./libc.ts";
import { isGuarded } from "./guardian.ts";
import { listZombies } from "./process-table.ts";

const SECOND_LOOK = 100; // ms
const WNOHANG = 1;

let isListening = false;

/** To be called before the first child is started; elsewhere than in a first process it does nothing. */
export function reapOrphans(): void {
  if (process.pid !== 1 || isListening) return;
  isListening = true;
  let timer: Timer | undefined;
  process.on("SIGCHLD", () => {
    if (timer) return;
    const seen = listOrphans();
    timer = setTimeout(() => {
      timer = undefined;
      const { i32 } = FFIType;
      const { functions } = openLibc({ waitpid: { args: [i32, FFIType.ptr, i32], returns: i32 } });
      for (const pid of listOrphans()) if (seen.includes(pid)) functions.waitpid(pid, null, WNOHANG);
      if (listOrphans().length > 0) process.emit("SIGCHLD", "SIGCHLD");
    }, SECOND_LOOK);
    timer.unref();
  });
}

function listOrphans(): number[] {
  return listZombies(process.pid).filter((pid) => !isGuarded(pid));
}
