// An object that becomes another one when it is first used: for members of the engine that take long to make, where
// an `import` of the module "rt" needs a value for every one of them at once.
//
// What a stand-in cannot do: be equal to the real one by `===`, or be handed to native code as an argument. The
// members that are chosen for it (see rt.ts) are used by calling, constructing and looking into them.
//
// Surprising: native methods and accessors work on their own object alone, so a stand-in gives them the real one
// for `this`.

/** `kind` is what `typeof` says of what `load` makes. */
export function lazyProxy(kind: "function" | "object", load: () => object): unknown {
  let made: object | undefined;
  const real = () => (made ??= load()) as () => unknown;
  const resolve = (value: unknown) => (value === proxy ? real() : value);
  /** The methods that were handed out, by the real ones, so that reading one twice gives the same. */
  let methods: Map<unknown, ProxyMethod> | undefined;

  function methodOf(value: ProxyMethod): ProxyMethod {
    let method = (methods ??= new Map()).get(value);
    if (!method) {
      method = new Proxy(value, { apply: (_, self, args) => Reflect.apply(value, resolve(self), args) });
      methods.set(value, method);
    }
    return method;
  }

  // A bound function can be called and constructed, and has no fixed property that a Proxy must answer for.
  const target = kind === "function" ? function () {}.bind(undefined) : {};
  // What is printed of a Proxy is its target, and this is looked for there without asking the handler.
  Object.defineProperty(target, Symbol.for("nodejs.util.inspect.custom"), {
    value: real,
    configurable: true,
  });
  const proxy: unknown = new Proxy<object>(target, {
    get(_, key, receiver) {
      const value: unknown = Reflect.get(real(), key, resolve(receiver));
      // A constructor must stay itself, for instanceof.
      const isMethod = typeof value === "function" && !Object.hasOwn(value, "prototype");
      return kind === "object" && isMethod ? methodOf(value as ProxyMethod) : value;
    },
    set: (_, key, value, receiver) => Reflect.set(real(), key, value, resolve(receiver)),
    apply: (_, self, args) => Reflect.apply(real(), self, args),
    construct: (_, args, newTarget) => Reflect.construct(real(), args, resolve(newTarget) as ProxyMethod),
    getOwnPropertyDescriptor(_, key) {
      const descriptor = Reflect.getOwnPropertyDescriptor(real(), key);
      // A Proxy may tell of a fixed property only if its target has it too.
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
