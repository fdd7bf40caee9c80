// A git repository over HTTP for one user, by git's own http-backend.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputOfProgram } from "../output.ts";

export interface GitServer extends AsyncDisposable {
  /** The URL of the repository, without a user. */
  readonly url: string;
  readonly host: string;
  /** The accepted user and password from now on. */
  user: string;
  password: string;
  /** The users and passwords of all requests. */
  readonly tried: string[];
}

export async function startGitServer(user: string, password: string): Promise<GitServer> {
  const root = await mkdtemp(join(tmpdir(), "rt-git-"));
  const repository = join(root, "project.git");
  await outputOfProgram(["git", "init", "--bare", "-b", "main", repository]);
  await outputOfProgram(["git", "-C", repository, "config", "http.receivepack", "true"]);
  const execPath = (await outputOfProgram(["git", "--exec-path"])).trim();
  const tried: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const given = /^Basic (.*)$/.exec(request.headers.get("authorization") ?? "")?.[1];
      if (given === undefined) return refuse();
      const pair = Buffer.from(given, "base64").toString();
      tried.push(pair);
      if (pair !== `${result.user}:${result.password}`) return refuse();
      return await answer(request, join(execPath, "git-http-backend"), root);
    },
  });
  const host = `127.0.0.1:${server.port}`;
  const result: GitServer = {
    url: `http://${host}/project.git`,
    host,
    user,
    password,
    tried,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await rm(root, { recursive: true, force: true });
    },
  };
  return result;
}

function refuse(): Response {
  return new Response("", { status: 401, headers: { "WWW-Authenticate": 'Basic realm="test"' } });
}

async function answer(request: Request, backend: string, root: string): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const body = new Uint8Array(await request.arrayBuffer());
  const child = Bun.spawn([backend], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers.get("content-type") ?? "",
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: request.headers.get("content-encoding") ?? "",
      REMOTE_USER: "test",
    },
    stdin: body,
    stdout: "pipe",
    stderr: "ignore",
  });
  const output = Buffer.from(await new Response(child.stdout).arrayBuffer());
  const end = output.indexOf("\r\n\r\n");
  const headers = new Headers();
  let status = 200;
  for (const line of output.subarray(0, end).toString().split("\r\n")) {
    const [name, value] = line.split(/: (.*)/s);
    if (name === "Status") status = Number.parseInt(value!, 10);
    else headers.append(name!, value!);
  }
  return new Response(output.subarray(end + 4), { status, headers });
}
