// Installs `rt` in the workers of node:worker_threads without loading that module, which would cost every program 3 ms.
//
// Non-obvious:
// - The module's exports are fixed at import, and its Worker class passes its options to an internal constructor.
// - So the hook is an accessor on two properties that the module reads while it loads, each for one
//   read. `MessagePort.prototype.close` shows that the module is being evaluated,
//   `EventEmitter.prototype` that Worker is being defined. Worker then inherits from a prototype with a
//   getter that EventEmitter reads for each new Worker.
// - That getter and the internal constructor run synchronously. In between, for one read, Object.prototype has `preload`.
// - Inside a worker of node:worker_threads the module is already loaded; its class gets the prototype afterwards.
import type { DeferredModules } from "./modules/deferred-modules.ts";

/** The module adds this property to MessagePort.prototype when it loads. test/runtime/rt.test.ts fails if the engine changes. */
const LOADED_MARK = Symbol.for("nodejs.util.inspect.custom");

export function hookWorkerThreads(late: DeferredModules, preload: () => string): void {
  const port = MessagePort.prototype;
  if (LOADED_MARK in port) return late.hookLoadedClass(preload);
  const close = Object.getOwnPropertyDescriptor(port, "close");
  if (!close) return;
  Object.defineProperty(port, "close", {
    configurable: true,
    enumerable: close.enumerable,
    get(): unknown {
      if (late.isLoading()) {
        Object.defineProperty(port, "close", close);
        late.hookClassDefinition(preload);
      }
      return close.value;
    },
    set(value) {
      Object.defineProperty(this, "close", { value, configurable: true, enumerable: true, writable: true });
    },
  });
}
