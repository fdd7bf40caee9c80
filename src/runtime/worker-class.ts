// Hooks the internals of node:worker_threads, for worker-threads.ts, which explains the mechanism.
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
      return prototypeWithHook(prototype, preload);
    },
  });
}

export function hookLoadedClass(preload: () => string): void {
  const { prototype } = process.getBuiltinModule(MODULE).Worker;
  Object.setPrototypeOf(prototype, prototypeWithHook(Object.getPrototypeOf(prototype) as object, preload));
}

function prototypeWithHook(prototype: object, preload: () => string): object {
  return Object.create(prototype, {
    _events: {
      configurable: true,
      get() {
        addInheritedPreload(preload);
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

function addInheritedPreload(preload: () => string): void {
  const remove = () => {
    delete (Object.prototype as { preload?: unknown }).preload;
  };
  Object.defineProperty(Object.prototype, "preload", {
    configurable: true,
    enumerable: false,
    get() {
      remove();
      return [preload()];
    },
    set(value) {
      Object.defineProperty(this, "preload", { value, configurable: true, enumerable: true, writable: true });
    },
  });
  queueMicrotask(remove);
}
