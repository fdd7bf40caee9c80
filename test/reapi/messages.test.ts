// Digests, trees and actions have exactly the encoding of the Remote Execution API.
import { describe, expect, test } from "bun:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { encodeAction } from "../../src/reapi/action.ts";
import { compress, decompress, maxCompressedSize } from "../../src/reapi/grpc/compression.ts";
import { digestOf, EMPTY, fromMessage } from "../../src/reapi/digest.ts";
import { encodeDirectory } from "../../src/reapi/directory.ts";
import { buildInputRoot, type Input } from "../../src/reapi/input-root.ts";
import {
  ActionResultSchema,
  type Command,
  CommandSchema,
  DirectorySchema,
  DigestSchema,
  TreeSchema,
} from "../support/servers/reapi-messages/remote_execution_pb.ts";
import { ActionResult, Digest as DigestMessage } from "../../src/reapi/messages/remote_execution.ts";
import { readOutputs, treesOf } from "../../src/reapi/outputs.ts";
import { createRandom } from "../support/random.ts";
import { toMessage } from "../support/servers/reapi-digests.ts";

const content = (text: string) => digestOf(new TextEncoder().encode(text));
const file = (path: string, text = path, isExecutable = false): Input => ({
  kind: "file",
  path,
  digest: content(text),
  isExecutable,
});

describe("digests", () => {
  test("digestOf() returns the lower-case hash and the size", () => {
    expect(EMPTY).toEqual({
      hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      size: 0,
    });
    expect(content("abc")).toEqual({
      hash: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      size: 3,
    });
  });

  test("fromMessage() rejects invalid digests", () => {
    const { hash } = EMPTY;
    const read = (fields: object) =>
      fromMessage(DigestMessage.decode(toBinary(DigestSchema, create(DigestSchema, fields))));
    expect(read({ hash, sizeBytes: 5n })).toEqual({ hash, size: 5 });
    expect(fromMessage(undefined)).toBeUndefined();
    for (const bad of [
      { hash: hash.toUpperCase(), sizeBytes: 5n },
      { hash: hash.slice(1), sizeBytes: 5n },
      { hash: `../${hash}`, sizeBytes: 5n },
      { hash, sizeBytes: -1n },
      { hash, sizeBytes: 2n ** 60n },
    ])
      expect(read(bad)).toBeUndefined();
  });
});

describe("buildInputRoot()", () => {
  test("the encoding of a directory equals the wire format", () => {
    const { digest, messages } = buildInputRoot([
      file("run", "abc", true),
      { kind: "link", path: "l", target: "run" },
      { kind: "directory", path: "d" },
    ]);
    const field = (number: number, bytes: Uint8Array) =>
      Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
    const text = (number: number, value: string) => field(number, Buffer.from(value));
    const digestField = ({ hash, size }: { hash: string; size: number }) =>
      field(2, Buffer.concat([text(1, hash), ...(size > 0 ? [Buffer.from([2 << 3, size])] : [])]));
    const bytes = Buffer.concat([
      field(1, Buffer.concat([text(1, "run"), digestField(content("abc")), Buffer.from([4 << 3, 1])])),
      field(2, Buffer.concat([text(1, "d"), digestField(EMPTY)])),
      field(3, Buffer.concat([text(1, "l"), text(2, "run")])),
    ]);
    expect(digest).toEqual(digestOf(bytes));
    expect(messages.map((each) => each.digest.hash).toSorted()).toEqual(
      [digestOf(bytes).hash, EMPTY.hash].toSorted(),
    );
  });

  test("the encoding of random directories equals that of the protobuf library", () => {
    const random = createRandom(7);
    const digest = () => ({
      hash: digestOf(Buffer.from(String(random.below(2 ** 32)))).hash,
      size: [0, 1, 127, 128, 300, 2 ** 31, 2 ** 32 + 5, 2 ** 53 - 1][random.below(8)]!,
    });
    const name = () => `${"\u00e9\u{1f600}x".repeat(random.below(90))}${random.below(2 ** 32)}`;
    const list = <Item>(item: () => Item) => Array.from({ length: random.below(20) }, item);
    for (let round = 0; round < 50; round++) {
      const parts = {
        files: list(() => [name(), { digest: digest(), isExecutable: random.below(2) === 1 }] as const),
        directories: list(() => [name(), digest()] as const),
        links: list(() => [name(), random.below(4) === 0 ? "" : name()] as const),
      };
      const message = create(DirectorySchema, {
        files: parts.files.map(([name, file]) => ({ name, ...file, digest: toMessage(file.digest) })),
        directories: parts.directories.map(([name, each]) => ({ name, digest: toMessage(each) })),
        symlinks: parts.links.map(([name, target]) => ({ name, target })),
      });
      expect(Buffer.from(encodeDirectory(parts))).toEqual(Buffer.from(toBinary(DirectorySchema, message)));
    }
  });

  test("no inputs give the empty message", () => {
    expect(buildInputRoot([]).digest).toEqual(EMPTY);
  });

  test("names are sorted by their bytes, so the order of the inputs does not matter", () => {
    // U+FF5E is after U+1F600 in UTF-16 and before it in UTF-8.
    const names = ["b", "a", "a-b", "a/x", "Z", "\uff5e", "\u{1f600}", "\u00e9", "c/d/e", "c/d.e"].map(
      (name) => (name === "a" ? "a0" : name),
    );
    const random = createRandom(5);
    const roots = Array.from({ length: 20 }, () => {
      const order = names.toSorted(() => random.below(3) - 1);
      return buildInputRoot(order.map((name) => file(name)));
    });
    expect(new Set(roots.map(({ digest }) => digest.hash)).size).toBe(1);
    const [{ digest, messages }] = roots as [(typeof roots)[0]];
    const root = fromBinary(
      DirectorySchema,
      messages.find((each) => each.digest.hash === digest.hash)!.bytes,
    );
    expect(root.files.map(({ name }) => name)).toEqual([
      "Z",
      "a-b",
      "a0",
      "b",
      "\u00e9",
      "\uff5e",
      "\u{1f600}",
    ]);
    expect(root.directories.map(({ name }) => name)).toEqual(["a", "c"]);
  });

  test.each(["../x", "a//b", "/a", "a/./b", "", "a/..", "a\0b"])("the path %j is rejected", (path) => {
    expect(() => buildInputRoot([file(path)])).toThrow(RangeError);
  });

  test.each([[["a", "a"]], [["a", "a/b"]], [["a/b", "a"]]])(
    "inputs that exclude each other are rejected: %j",
    (paths) => {
      expect(() => buildInputRoot(paths.map((path) => file(path)))).toThrow(RangeError);
    },
  );
});

test("an action declares its outputs for old and new servers, and sorts outputs, variables and properties", () => {
  const { messages, digest } = encodeAction({
    argv: ["sh"],
    environment: { B: "2", A: "1" },
    directory: "packages/app",
    outputs: ["z.txt", "dist", "dist/", ".cache", "bin/tool/", "a/b.c"],
    platform: { OSFamily: "linux", Arch: "x64" },
    inputRoot: EMPTY,
  });
  const command: Command = fromBinary(CommandSchema, messages[0]!.bytes);
  expect(command.outputPaths).toEqual([".cache", "a/b.c", "bin/tool", "dist", "z.txt"]);
  expect(command.outputDirectories).toEqual([".cache", "bin/tool", "dist"]);
  expect(command.outputFiles).toEqual(["a/b.c", "z.txt"]);
  expect(command.environmentVariables.map(({ name }) => name)).toEqual(["A", "B"]);
  expect(command.platform?.properties.map(({ name }) => name)).toEqual(["Arch", "OSFamily"]);
  expect(digest).toEqual(digestOf(messages[1]!.bytes));
});

/** Decodes the bytes of a server's result with rt's decoder. */
const resultOf = (fields: object) =>
  ActionResult.decode(toBinary(ActionResultSchema, create(ActionResultSchema, fields)));

describe("readOutputs()", () => {
  type Init = Parameters<typeof create<typeof DirectorySchema>>[1];
  const leaf = { name: "f", digest: toMessage(content("x")) };
  const read = (root: Init, children: Init[] = []) => {
    const directories = children.map((each) => create(DirectorySchema, each as never));
    const tree = toBinary(
      TreeSchema,
      create(TreeSchema, { root: create(DirectorySchema, root as never), children: directories }),
    );
    const treeDigest = toMessage(digestOf(tree));
    const result = resultOf({ outputDirectories: [{ path: "dist", treeDigest }] });
    const [digest] = treesOf(result);
    return readOutputs(result, ["dist/", "a.txt"], new Map([[digest!.hash, tree]])).map(
      (each) => `${each.kind} ${each.path}`,
    );
  };
  const nodeOf = (name: string, directory: Init) => ({
    name,
    digest: toMessage(digestOf(toBinary(DirectorySchema, create(DirectorySchema, directory as never)))),
  });
  const link = (target: string) => ({ symlinks: [{ name: "l", target }] });

  test("files, directories and links inside the output are listed", () => {
    const deep = { files: [leaf], symlinks: [{ name: "l", target: "../g" }] };
    expect(read({ files: [{ ...leaf, name: "g" }], directories: [nodeOf("d", deep)] }, [deep])).toEqual([
      "directory dist",
      "file dist/g",
      "directory dist/d",
      "file dist/d/f",
      "link dist/d/l",
    ]);
    expect(read(link("./d/x"))).toEqual(["directory dist", "link dist/l"]);
  });

  const refused: [string, Init, Init[]?][] = [
    ["the name ..", { files: [{ ...leaf, name: ".." }] }],
    ["a name with a slash", { files: [{ ...leaf, name: "../../x" }] }],
    ["a name with a NUL", { files: [{ ...leaf, name: "a\0" }] }],
    ["an empty name", { files: [{ ...leaf, name: "" }] }],
    ["a dot", { directories: [nodeOf(".", {})] }, [{}]],
    ["a name twice", { files: [leaf, leaf] }],
    ["a link and a directory of one name", { directories: [nodeOf("l", {})], ...link("d") }, [{}]],
    ["a file without a digest", { files: [{ name: "f" }] }],
    ["a missing directory", { directories: [nodeOf("d", { files: [leaf] })] }],
    ["an absolute link", link("/etc/passwd")],
    ["an empty link", link("")],
    ["a link to the outside", link("../x")],
    ["a link to the outside through another link", link("a/../../x")],
    ["a link to the parent of a possible link", link("a/..")],
    [
      "a link to the parent in a directory with such a link",
      { directories: [nodeOf("d", link("a/../x"))] },
      [link("a/../x")],
    ],
    [
      "a .git directory",
      { directories: [nodeOf(".git", { files: [{ ...leaf, name: "config" }] })] },
      [{ files: [{ ...leaf, name: "config" }] }],
    ],
    ["a .git file", { files: [{ ...leaf, name: ".git" }] }],
    ["a link named .git", { symlinks: [{ name: ".git", target: "x" }] }],
    ...[".GIT", "git~1", "GIT~2", ".git.", ".git ", ".git::$INDEX_ALLOCATION", ".g\u200cit", "x\\.git"].map(
      (name): [string, Init] => [`the name ${JSON.stringify(name)}`, { files: [{ ...leaf, name }] }],
    ),
    [
      "a link from a directory to the outside",
      { directories: [nodeOf("d", link("../../x"))] },
      [link("../../x")],
    ],
  ];
  for (const [name, root, children] of refused)
    test(`an output with ${name} is rejected`, () => {
      expect(() => read(root, children)).toThrow(/^invalid output: /);
    });

  test("names that only resemble .git are accepted", () => {
    const names = [".gitignore", ".github", "a.git", "git~", "git"];
    expect(read({ files: names.map((name) => ({ ...leaf, name })) })).toHaveLength(1 + names.length);
  });

  /** Nests directories; each level contains the next one `width` times. */
  const nest = (levels: number, width: number, last: Init) => {
    const children: Init[] = [last];
    for (let level = 0; level < levels; level++) {
      const below = children[0];
      children.unshift({ directories: Array.from({ length: width }, (_, at) => nodeOf(`d${at}`, below)) });
    }
    return [children[0]!, children.slice(1)] as const;
  };

  test.each<[string, number, number]>([
    ["with more paths than a list may have", 150, 2],
    ["with many more paths than it lists", 17, 2],
    ["with two levels of thousands", 2, 2000],
    ["with too many levels", 201, 1],
  ])("a tree %s is rejected before it is listed", (_, levels, width) => {
    const [root, children] = nest(levels, width, { files: [leaf] });
    const before = process.memoryUsage().rss;
    expect(() => read(root, children)).toThrow("dist is too deep or has too many entries");
    expect(process.memoryUsage().rss - before).toBeLessThan(64 << 20);
  });

  test("a directory is listed once for each directory that contains it", () => {
    const [root, children] = nest(5, 3, { files: [leaf] });
    expect(read(root, children)).toHaveLength(1 + 3 + 9 + 27 + 81 + 243 * 2);
  });

  test("a file in a .git directory is rejected even if it was declared", () => {
    const result = resultOf({ outputFiles: [{ ...leaf, path: "a/.git/config" }] });
    expect(() => readOutputs(result, ["a/.git/config"], new Map())).toThrow("is in a .git folder");
  });

  test.each<[string, object]>([
    ["an undeclared path", { outputFiles: [{ ...leaf, path: "b.txt" }] }],
    ["a path to the outside", { outputFiles: [{ ...leaf, path: "../a.txt" }] }],
    ["an absolute path", { outputFiles: [{ ...leaf, path: "/a.txt" }] }],
    [
      "an output twice",
      {
        outputFiles: [
          { ...leaf, path: "a.txt" },
          { ...leaf, path: "a.txt" },
        ],
      },
    ],
    ["a link", { outputSymlinks: [{ path: "a.txt", target: "x" }] }],
    [
      "a link in the field for old servers",
      { outputFileSymlinks: [{ path: "a.txt", target: "/etc/passwd" }] },
    ],
  ])("a result with %s is rejected", (_, result) => {
    expect(() => readOutputs(resultOf(result), ["a.txt"], new Map())).toThrow(/^invalid output: /);
  });
});

test("decompression rejects content of another size than its digest, and incompressible content is not compressed", async () => {
  const text = Buffer.alloc(1 << 20, "a");
  const packed = (await compress(text))!;
  expect(packed.length).toBeLessThan(maxCompressedSize(text.length));
  const digest = digestOf(text);
  expect(Buffer.compare(await decompress(packed, digest), text)).toBe(0);
  for (const [bytes, size] of [
    [packed, text.length - 1],
    [Buffer.concat([packed, packed]), text.length],
    [Buffer.from("no frame"), 8],
  ] as const)
    await expect(decompress(bytes, { ...digest, size })).rejects.toMatchObject({ isDamaged: true });
  expect(await compress(text.subarray(0, 100))).toBeUndefined();
  expect(await compress(crypto.getRandomValues(new Uint8Array(1000)))).toBeUndefined();
});
