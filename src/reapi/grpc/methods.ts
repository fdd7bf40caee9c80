// The gRPC methods that rt calls: path, request type and response type.
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

export interface Codec<Message> {
  encode(message: Message): BinaryWriter;
  decode(bytes: BinaryReader): Message;
}

export interface GrpcMethod<Request, Response> {
  readonly path: string;
  readonly request: Codec<Request>;
  readonly response: Codec<Response>;
}

function method<Request, Response>(
  path: string,
  request: Codec<Request>,
  response: Codec<Response>,
): GrpcMethod<Request, Response> {
  return { path, request, response };
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
