// rt's own terminal on Linux and macOS: modes and keys.
//
// Invariants:
// - `close` and "shell" restore the modes that the terminal had when it was opened.
// - Ctrl-\ sends no signal while keys are read, because its default action would leave the modes changed.
import { closeDescriptor } from "../../native/posix/pipe.ts";
import type { Console, ConsoleOperations } from "../contract/console.ts";
import { Keyboard } from "./keyboard.ts";
import { isInBackground, modesOf, openOwn, setModes, toKeyModes, toRawModes } from "./terminal-modes.ts";

const openConsole: ConsoleOperations["openConsole"] = ({ onKeys, onEnd }): Console | undefined => {
  const own = openOwn([0, 1]);
  if (own < 0) return undefined;
  const original = modesOf(own);
  if (!original || isInBackground(own)) {
    closeDescriptor(own);
    return undefined;
  }
  const keyboard = new Keyboard({ open: () => openOwn([0, 1]), onKeys, onEnd });
  let isOpen = true;
  return {
    setMode(mode) {
      if (!isOpen) return;
      const modes = { keys: toKeyModes, raw: toRawModes, shell: () => original }[mode](original);
      setModes(own, modes);
      if (mode === "shell") keyboard.stop();
      else keyboard.start();
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      keyboard.stop();
      setModes(own, original);
      closeDescriptor(own);
    },
  };
};

export const operations: ConsoleOperations = { openConsole };
