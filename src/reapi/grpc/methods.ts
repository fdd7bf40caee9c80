// The calls that rt makes: how each is named, what is sent with it, and what comes.
import type { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { ReadRequest, ReadResponse, WriteRequest, WriteResponse } from "../messages/bytestream.ts";
import { CancelOperationRequest, CancelOperationResponse, Operation } from "../messages/operations.ts";
import {
  ActionResult,
  BatchReadBlobsRequest,
  BatchReadBlobsResponse,
  BatchUpdateBlobsRequest,
  BatchUpdateBlobsResponse,
  ExecuteRequest,
  FindMissingBlobsRequest,
  FindMissingBlobsResponse,
  GetActionResultRequest,
  GetCapabilitiesRequest,
  ServerCapabilities,
  UpdateActionResultRequest,
  WaitExecutionRequest,
} from "../messages/remote_execution.ts";

/** A message, to and from bytes. */
export interface Codec<Message> {
  encode(message: Message): BinaryWriter;
  decode(bytes: BinaryReader): Message;
}

export interface GrpcMethod<Request, Answer> {
  readonly path: string;
  readonly request: Codec<Request>;
  readonly answer: Codec<Answer>;
}

function method<Request, Answer>(
  path: string,
  request: Codec<Request>,
  answer: Codec<Answer>,
): GrpcMethod<Request, Answer> {
  return { path, request, answer };
}

const REAPI = "/build.bazel.remote.execution.v2";
const CACHE = `${REAPI}.ActionCache`;
const STORAGE = `${REAPI}.ContentAddressableStorage`;

export const getCapabilities = method(
  `${REAPI}.Capabilities/GetCapabilities`,
  GetCapabilitiesRequest,
  ServerCapabilities,
);
export const getActionResult = method(`${CACHE}/GetActionResult`, GetActionResultRequest, ActionResult);
export const updateActionResult = method(
  `${CACHE}/UpdateActionResult`,
  UpdateActionResultRequest,
  ActionResult,
);
export const findMissingBlobs = method(
  `${STORAGE}/FindMissingBlobs`,
  FindMissingBlobsRequest,
  FindMissingBlobsResponse,
);
export const batchUpdateBlobs = method(
  `${STORAGE}/BatchUpdateBlobs`,
  BatchUpdateBlobsRequest,
  BatchUpdateBlobsResponse,
);
export const batchReadBlobs = method(
  `${STORAGE}/BatchReadBlobs`,
  BatchReadBlobsRequest,
  BatchReadBlobsResponse,
);
export const execute = method(`${REAPI}.Execution/Execute`, ExecuteRequest, Operation);
export const waitExecution = method(`${REAPI}.Execution/WaitExecution`, WaitExecutionRequest, Operation);
export const cancelOperation = method(
  "/google.longrunning.Operations/CancelOperation",
  CancelOperationRequest,
  CancelOperationResponse,
);
export const readBytes = method("/google.bytestream.ByteStream/Read", ReadRequest, ReadResponse);
export const writeBytes = method("/google.bytestream.ByteStream/Write", WriteRequest, WriteResponse);
