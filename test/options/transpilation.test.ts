// Options for transpilation.
import { describe, expect } from "bun:test";
import { outputOf, prove, runIn } from "./prove.ts";

describe("transpilation", () => {
  prove("tsconfig-override", "reads another tsconfig.json", async () => {
    const files = {
      "a.ts": 'import x from "@/x"; console.log(x)',
      "src/x.ts": 'export default "by paths"',
      "other.json": { compilerOptions: { paths: { "@/*": ["./src/*"] } } },
    };
    expect((await runIn(files, ["a.ts"])).status).toBe(1);
    expect(await outputOf(files, ["--tsconfig-override=other.json", "a.ts"])).toBe("by paths");
  });

  prove("define", "substitutes names by JSON, repeatedly", async () => {
    const files = { "a.ts": "console.log(VERSION, process.env.MODE, LIST.length)" };
    const options = ["--define", 'VERSION:"1.2"', "-d", "process.env.MODE:'test'", "--define=LIST:[1,2]"];
    expect(await outputOf(files, [...options, "a.ts"])).toBe("1.2 test 2");
  });

  prove("drop", "removes calls", async () => {
    const files = { "a.ts": 'process.stdout.write("one "); console.log("two"); absent();' };
    expect((await runIn(files, ["a.ts"])).status).toBe(1);
    expect(await outputOf(files, ["--drop=absent", "a.ts"])).toBe("one two");
    expect(await outputOf(files, ["--drop=absent", "--drop", "console", "a.ts"])).toBe("one");
  });

  prove("feature", "switches a feature flag on", async () => {
    const files = {
      "a.ts":
        'import { feature } from "bun:bundle"; if (feature("ONE")) console.log("one"); if (feature("TWO")) console.log("two")',
    };
    expect(await outputOf(files, ["a.ts"])).toBe("");
    expect(await outputOf(files, ["--feature=ONE", "--feature", "TWO", "a.ts"])).toBe("one\ntwo");
  });

  prove("loader", "chooses a loader for an extension", async () => {
    const files = {
      "a.ts": 'import x from "./x.foo"; import y from "./y.bar"; console.log(x, y.z)',
      "x.foo": "plain",
      "y.bar": "z = 1",
    };
    expect(await outputOf(files, ["--loader=.foo:text", "-l", ".bar:toml", "a.ts"])).toBe("plain 1");
    const image = { "a.ts": 'import x from "./x.svg"; console.log(x)', "x.svg": "<svg/>" };
    expect(await outputOf(image, ["a.ts"])).toEndWith("x.svg");
    expect(await outputOf(image, ["--loader=.svg:text", "a.ts"])).toBe("<svg/>");
  });

  prove("no-macros", "rejects macros", async () => {
    const files = {
      "a.ts": 'import { m } from "./m.ts" with { type: "macro" }; console.log(m())',
      "m.ts": 'export function m() { return "expanded" }',
    };
    expect(await outputOf(files, ["a.ts"])).toBe("expanded");
    const { status, stderr } = await runIn(files, ["--no-macros", "a.ts"]);
    expect([status, stderr.includes("Macros are disabled")]).toEqual([1, true]);
  });

  prove("ignore-dce-annotations", "keeps calls that are marked as pure", async () => {
    const files = { "a.ts": 'function f() { console.log("called") }\n/* @__PURE__ */ f();' };
    expect(await outputOf(files, ["a.ts"])).toBe("");
    expect(await outputOf(files, ["--ignore-dce-annotations", "a.ts"])).toBe("called");
  });
});

const factory = (name: string) =>
  `export const jsx = (type) => "${name} " + String(type), jsxs = jsx, jsxDEV = jsx, Fragment = "fragment";`;
const elements = {
  "a.jsx":
    'const React = { createElement: (t) => "React " + t, Fragment: "its fragment" }; const h = (t) => "h " + t; const F = "F"; console.log(<b/>, <></>);',
  "node_modules/react/package.json": { name: "react" },
  "node_modules/react/jsx-runtime.js": factory("react"),
  "node_modules/react/jsx-dev-runtime.js": factory("react"),
  "node_modules/other/package.json": { name: "other" },
  "node_modules/other/jsx-runtime.js": factory("other"),
  "node_modules/other/jsx-dev-runtime.js": factory("other"),
};

describe("JSX", () => {
  prove("jsx-runtime", "is automatic or classic", async () => {
    expect(await outputOf(elements, ["--jsx-runtime=automatic", "a.jsx"])).toBe("react b react fragment");
    expect(await outputOf(elements, ["--jsx-runtime=classic", "a.jsx"])).toBe("React b React its fragment");
  });
  prove("jsx-factory", "sets the function of the classic runtime", async () => {
    const options = ["--jsx-runtime=classic", "--jsx-factory=h"];
    expect(await outputOf(elements, [...options, "a.jsx"])).toStartWith("h b");
  });
  prove("jsx-fragment", "sets the fragment of the classic runtime", async () => {
    const options = ["--jsx-runtime=classic", "--jsx-factory=h", "--jsx-fragment=F"];
    expect(await outputOf(elements, [...options, "a.jsx"])).toBe("h b h F");
  });
  prove("jsx-import-source", "sets the module of the automatic runtime", async () => {
    expect(await outputOf(elements, ["--jsx-import-source=other", "a.jsx"])).toBe("other b other fragment");
  });
  prove("jsx-side-effects", "keeps unused elements", async () => {
    const files = {
      ...elements,
      "a.jsx": "<b/>;",
      "node_modules/react/jsx-runtime.js": "export const jsx = (type) => console.log('made', type);",
      "node_modules/react/jsx-dev-runtime.js": "export const jsxDEV = (type) => console.log('made', type);",
    };
    expect(await outputOf(files, ["--jsx-runtime=automatic", "a.jsx"])).toBe("");
    expect(await outputOf(files, ["--jsx-runtime=automatic", "--jsx-side-effects", "a.jsx"])).toBe("made b");
  });
});
