// Generates src/reapi/messages from src/reapi/proto, with protoc (Debian: protobuf-compiler) and ts-proto:
//
//   node build/setup.mjs build/codegen/protobuf-codegen.ts && npm run fmt
//
// The result is committed, because few builders have protoc. It needs only the reader and writer of @bufbuild/protobuf: parsing
// descriptors at run time would take longer than a whole run. The tests' server uses messages of another generator
// (test/support/servers/reapi-messages, by protoc-gen-es 2.17.0 with target=ts,import_extension=ts).
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const PROTO = join(ROOT, "src/reapi/proto");
const GENERATED = join(ROOT, "src/reapi/messages");

/** Sizes have 64 bits. Convenience functions are omitted. */
const OPTIONS = [
  "forceLong=bigint",
  "useDate=false",
  "importSuffix=.ts",
  "esModuleInterop=true",
  "outputJsonMethods=false",
  "outputPartialMethods=false",
  "outputServices=false",
  "comments=false",
];

const directory = await mkdtemp(join(ROOT, "src/reapi/.messages-"));
try {
  const sources = (await readdir(PROTO)).filter((name) => name.endsWith(".proto"));
  const { exitCode } = Bun.spawnSync(
    [
      "protoc",
      `--plugin=${join(ROOT, "node_modules/.bin/protoc-gen-ts_proto")}`,
      `--ts_proto_out=${directory}`,
      `--ts_proto_opt=${OPTIONS.join(",")}`,
      `--proto_path=${PROTO}`,
      ...sources,
    ],
    { stdout: "inherit", stderr: "inherit" },
  );
  if (exitCode !== 0) throw new Error("protoc has failed");
  await rm(GENERATED, { recursive: true, force: true });
  await rename(directory, GENERATED);
} finally {
  await rm(directory, { recursive: true, force: true });
}
