// The tables of options and commands satisfy the assumptions of their readers.
import { describe, expect, test } from "bun:test";
import { COMMANDS } from "../../src/options/commands.ts";
import { renderHelp } from "../../src/cli/help/help.ts";
import { OPTIONS } from "../../src/options/options.ts";

/** Every row of the specification's tables. */
const SPECIFIED = `
  silent if-present eval,e print,p help,h
  elide-lines filter,F workspaces parallel sequential no-exit-on-error
  rt,b shell smol expose-gc no-deprecation throw-deprecation title zero-fill-buffers no-addons unhandled-rejections console-depth
  watch hot no-clear-screen inspect inspect-wait inspect-brk
  preload,r require import no-install install prefer-offline prefer-latest conditions main-fields preserve-symlinks
  preserve-symlinks-main extension-order
  tsconfig-override define,d drop loader,l no-macros jsx-factory jsx-fragment jsx-import-source jsx-runtime jsx-side-effects
  ignore-dce-annotations
  port fetch-preconnect max-http-header-size dns-result-order use-system-ca use-openssl-ca use-bundled-ca redis-preconnect
  sql-preconnect user-agent env-file cwd config,c`;

const DEFAULTS: Record<string, string> = {
  "elide-lines": "10",
  "console-depth": "2",
  install: "auto",
  "extension-order": ".tsx,.ts,.jsx,.js,.json",
  "tsconfig-override": "$cwd/tsconfig.json",
  "jsx-import-source": "react",
  "jsx-runtime": "automatic",
  "max-http-header-size": "16384",
  "dns-result-order": "verbatim",
  config: "$cwd/rtfig.toml",
};

const duplicates = (items: readonly string[]) => items.filter((item, index) => items.indexOf(item) !== index);

describe("the table of options", () => {
  test("contains every option of the specification, with its short form", () => {
    const known = OPTIONS.map(({ name, short }) => (short === undefined ? name : `${name},${short}`));
    expect(
      SPECIFIED.trim()
        .split(/\s+/)
        .filter((each) => !known.includes(each)),
    ).toEqual([]);
  });

  test("contains -i, the specification's only short form without a long one", () => {
    expect(OPTIONS.find(({ short }) => short === "i")).toMatchObject({ forward: "-i" });
  });

  test("contains the specification's defaults", () => {
    for (const [name, value] of Object.entries(DEFAULTS))
      expect({ name, default: OPTIONS.find((option) => option.name === name)?.default }).toEqual({
        name,
        default: value,
      });
  });

  test("uses each name and short form once", () => {
    expect(duplicates(OPTIONS.map(({ name }) => name))).toEqual([]);
    expect(duplicates(OPTIONS.flatMap(({ short }) => short ?? []))).toEqual([]);
  });

  test("uses lower-case names and short forms of one letter", () => {
    expect(OPTIONS.filter(({ name }) => !/^[a-z][a-z0-9.-]+$/.test(name))).toEqual([]);
    expect(OPTIONS.filter(({ short }) => short !== undefined && !/^[a-zA-Z]$/.test(short))).toEqual([]);
  });

  test("lists the options of a group together", () => {
    const groups = OPTIONS.map(({ group }) => group).filter((group, index, all) => group !== all[index - 1]);
    expect(duplicates(groups)).toEqual([]);
  });

  test("explains every option in one sentence without a period", () => {
    expect(
      OPTIONS.filter(
        ({ help }) =>
          help.length < 8 || help.length > 110 || !/^[A-Z]|^[a-z]+,|^js, /.test(help) || help.endsWith("."),
      ).map(({ name }) => name),
    ).toEqual([]);
  });

  test("gives every value a hint, several choices, and a default among the choices", () => {
    for (const { name, value, default: fallback } of OPTIONS) {
      if (!value) expect({ name, fallback }).toEqual({ name, fallback: undefined });
      else {
        expect({ name, hint: value.hint.length > 0 }).toEqual({ name, hint: true });
        if (value.choices)
          expect({
            name,
            some: value.choices.length > (value.kind === "optional" ? 0 : 1), // an optional value may be omitted
            known: fallback === undefined || value.choices.includes(fallback),
          }).toEqual({ name, some: true, known: true });
        if (value.kind === "number" && fallback !== undefined) expect(fallback).toMatch(/^\d+$/);
      }
    }
  });

  test("gives aliases the same value as their option", () => {
    for (const { name, aliasOf, value, by } of OPTIONS.filter((option) => option.aliasOf !== undefined)) {
      const row = OPTIONS.find((option) => option.name === aliasOf);
      expect({ name, kind: row?.value?.kind, by: row?.by, alias: row?.aliasOf }).toEqual({
        name,
        kind: value?.kind,
        by,
        alias: undefined,
      });
    }
  });

  test("appears completely in `rt help run`", async () => {
    const help = await renderHelp("run");
    const words = help.split(/[\s,|]+/);
    expect(
      OPTIONS.filter(
        ({ name }) =>
          !words.some(
            (word) => word === `--${name}` || word.startsWith(`--${name}=`) || word.startsWith(`--${name}[=`),
          ),
      ).map(({ name }) => name),
    ).toEqual([]);
    expect(
      OPTIONS.filter(({ short }) => short !== undefined && !words.some((word) => word === `-${short}`)).map(
        ({ name }) => name,
      ),
    ).toEqual([]);
    expect(OPTIONS.filter(({ help: text }) => !help.includes(text)).map(({ name }) => name)).toEqual([]);
    expect(
      OPTIONS.filter(
        ({ default: fallback }) => fallback !== undefined && !help.includes(`(default: ${fallback})`),
      ).map(({ name }) => name),
    ).toEqual([]);
  });
});

describe("the table of commands", () => {
  test("omits names that every object has", () => {
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"])
      expect(name in COMMANDS).toBe(false);
  });

  test("explains each command", async () => {
    const overview = await renderHelp();
    for (const [name, { help, aliasOf }] of Object.entries(COMMANDS)) {
      expect({ name, good: help.length > 8 && /^[A-Z]/.test(help) && !help.endsWith(".") }).toEqual({
        name,
        good: true,
      });
      expect(overview).toContain(name);
      expect(overview).toContain(COMMANDS[aliasOf ?? name]!.help);
      if (name !== "run") expect(await renderHelp(name)).toContain(help);
    }
  });
});
