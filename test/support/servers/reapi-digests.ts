// Digests of the fake server: computed by node:crypto and encoded by another library than rt's.
import { create, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { createHash } from "node:crypto";
import { type Digest as DigestMessage, DigestSchema } from "./reapi-messages/remote_execution_pb.ts";

export interface Digest {
  readonly hash: string;
  readonly size: number;
}

export function digestOf(bytes: Uint8Array): Digest {
  return { hash: createHash("sha256").update(bytes).digest("hex"), size: bytes.length };
}

export function toMessage({ hash, size }: Digest): DigestMessage {
  return create(DigestSchema, { hash, sizeBytes: BigInt(size) });
}

export function encode<Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>) {
  const bytes = toBinary(schema, message);
  return { digest: digestOf(bytes), bytes };
}
