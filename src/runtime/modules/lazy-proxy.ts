// Creates a Proxy for an object that is expensive to create; the object is created at its first use. An `import` of the module
// "rt" needs a value for every member at once.
//
// Non-obvious:
// - The proxy is not `===` to the object and cannot be passed to native code. It is used only for members that are called,
//   constructed or read (see module-exports.ts).
// - Native methods and accessors require the object itself as `this`, so the proxy substitutes it.

/** @param kind the `typeof` of the object that `load` returns */
export function lazyProxy(kind: "function" | "object", load: () => object): unknown {
  let loaded: object | undefined;
  const real = () => (loaded ??= load()) as () => unknown;
  const resolve = (value: unknown) => (value === proxy ? real() : value);
  /** Wrappers by original method, so that two reads return the same function. */
  let methods: Map<unknown, ProxyMethod> | undefined;

  function methodOf(value: ProxyMethod): ProxyMethod {
    let method = (methods ??= new Map<unknown, ProxyMethod>()).get(value);
    if (!method) {
      method = new Proxy(value, { apply: (_, self, args) => Reflect.apply(value, resolve(self), args) });
      methods.set(value, method);
    }
    return method;
  }

  // A bound function is callable and constructible, and has no non-configurable property, which a Proxy would have to report.
  const target = kind === "function" ? function () {}.bind(undefined) : {};
  // Inspection prints a Proxy's target, and reads this symbol from the target without calling the handler.
  Object.defineProperty(target, Symbol.for("nodejs.util.inspect.custom"), {
    value: real,
    configurable: true,
  });
  const proxy: unknown = new Proxy<object>(target, {
    get(_, key, receiver) {
      const value: unknown = Reflect.get(real(), key, resolve(receiver));
      // A constructor is not wrapped: instanceof needs the original.
      const isMethod = typeof value === "function" && !Object.hasOwn(value, "prototype");
      return kind === "object" && isMethod ? methodOf(value as ProxyMethod) : value;
    },
    set: (_, key, value, receiver) => Reflect.set(real(), key, value, resolve(receiver)),
    apply: (_, self, args): unknown => Reflect.apply(real(), self, args),
    construct: (_, args, newTarget) =>
      Reflect.construct(real(), args, resolve(newTarget) as ProxyMethod) as object,
    getOwnPropertyDescriptor(_, key) {
      const descriptor = Reflect.getOwnPropertyDescriptor(real(), key);
      // A Proxy may report a non-configurable property only if its target has it too.
      if (descriptor?.configurable === false) Object.defineProperty(target, key, descriptor);
      return descriptor;
    },
    defineProperty: (_, key, descriptor) => Reflect.defineProperty(real(), key, descriptor),
    deleteProperty: (_, key) => Reflect.deleteProperty(real(), key),
    getPrototypeOf: () => Reflect.getPrototypeOf(real()),
    setPrototypeOf: (_, prototype) => Reflect.setPrototypeOf(real(), prototype),
    has: (_, key) => Reflect.has(real(), key),
    ownKeys: () => Reflect.ownKeys(real()),
  });
  return proxy;
}

type ProxyMethod = (...args: unknown[]) => unknown;
