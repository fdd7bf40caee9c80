// The internals of node:worker_threads that worker-threads.ts waits for: see there.
const MODULE = "node:worker_threads";

export function isLoading(): boolean {
  return new Error().stack?.includes(MODULE) ?? false;
}

export function hookClassDefinition(preload: () => string): void {
  const { EventEmitter } = process.getBuiltinModule("node:events");
  const descriptor = Object.getOwnPropertyDescriptor(EventEmitter, "prototype");
  if (!descriptor?.configurable) return;
  const prototype = descriptor.value as object;
  Object.defineProperty(EventEmitter, "prototype", {
    configurable: true,
    get() {
      if (!isLoading()) return prototype;
      Object.defineProperty(EventEmitter, "prototype", descriptor);
      return prototypeWithCue(prototype, preload);
    },
  });
}

export function hookLoadedClass(preload: () => string): void {
  const { prototype } = process.getBuiltinModule(MODULE).Worker;
  Object.setPrototypeOf(prototype, prototypeWithCue(Object.getPrototypeOf(prototype) as object, preload));
}

function prototypeWithCue(prototype: object, preload: () => string): object {
  return Object.create(prototype, {
    _events: {
      configurable: true,
      get() {
        lendPreload(preload);
        return undefined;
      },
      set(value) {
        Object.defineProperty(this, "_events", {
          value,
          configurable: true,
          enumerable: true,
          writable: true,
        });
      },
    },
  }) as object;
}

function lendPreload(preload: () => string): void {
  const takeBack = () => {
    delete (Object.prototype as { preload?: unknown }).preload;
  };
  Object.defineProperty(Object.prototype, "preload", {
    configurable: true,
    enumerable: false,
    get() {
      takeBack();
      return [preload()];
    },
    set(value) {
      Object.defineProperty(this, "preload", { value, configurable: true, enumerable: true, writable: true });
    },
  });
  queueMicrotask(takeBack);
}
