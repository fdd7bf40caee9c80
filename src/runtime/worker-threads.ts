// Brings `rt` into the workers of node:worker_threads without loading that module.
//
// Its Worker class passes its options on to an internal constructor that cannot be replaced, and its exports
// are fixed when it is imported; loading it early to patch it would cost every program three milliseconds.
// So the hook waits at two properties that the module reads while it loads, each for one read only:
//
//   MessagePort.prototype.close   tells that the module is being evaluated
//   EventEmitter.prototype        tells that its Worker class is being defined; it gets a prototype of its own,
//                                 with a getter that EventEmitter reads when a Worker is constructed
//
// In a thread of node:worker_threads the module is there before our code; its class then gets such a prototype late.
//
// From there to the internal constructor everything is synchronous, so for that moment, and for one read, the
// option `preload` is inherited by every object. Anything that reads these properties in another situation
// gets the ordinary value. test/runtime/rt.test.ts fails should the engine change its ways.
import type { DeferredModules } from "./modules/deferred-modules.ts";

/** The module puts a property of this name on MessagePort.prototype when it is loaded. */
const TRACE = Symbol.for("nodejs.util.inspect.custom");

export function hookWorkerThreads(late: DeferredModules, preload: () => string): void {
  const port = MessagePort.prototype;
  if (TRACE in port) return late.hookLoadedClass(preload);
  const close = Object.getOwnPropertyDescriptor(port, "close");
  if (!close) return;
  Object.defineProperty(port, "close", {
    configurable: true,
    enumerable: close.enumerable,
    get() {
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
