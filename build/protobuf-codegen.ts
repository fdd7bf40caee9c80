// Makes src/reapi/messages of src/reapi/proto, with protoc (Debian: protobuf-compiler) and ts-proto:
//
//   node build/setup.mjs build/protobuf-codegen.ts && npm run fmt
//
// What is made is in the repository, since few who build have protoc. It is plain code, a function a message, and needs
// nothing but the reader and the writer of @bufbuild/protobuf: descriptors, which that library would read while it runs,
// take longer than a whole run may. The tests' server has messages of another program, from the proto files as published
// (test/support/servers/reapi-messages, by protoc-gen-es 2.17.0 with target=ts,import_extension=ts).
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const PROTO = join(ROOT, "src/reapi/proto");
const MADE = join(ROOT, "src/reapi/messages");

/** Of 64 bits are sizes, which a server may make as large as it likes; what is left out are conveniences. */
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
  await rm(MADE, { recursive: true, force: true });
  await rename(directory, MADE);
} finally {
  await rm(directory, { recursive: true, force: true });
}
