// A certificate authority and a server certificate for a test, created by openssl.
import { createProject } from "../project.ts";

export interface Certificates extends AsyncDisposable {
  /** The authority's certificate as a file, and a directory in which OpenSSL can look it up. */
  readonly authority: string;
  readonly directory: string;
  readonly key: string;
  readonly cert: string;
}

export async function createCertificates(): Promise<Certificates> {
  const project = await createProject({
    "ext.cnf": "subjectAltName=DNS:localhost,IP:127.0.0.1",
    "ca/.keep": "",
  });
  const openssl = async (line: string) => {
    const child = Bun.spawn(["openssl", ...line.split(" ")], {
      cwd: project.path,
      stdout: "ignore",
      stderr: "pipe",
    });
    if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
  };
  const key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  await openssl(`req -x509 ${key} -keyout ca.key -out ca/ca.pem -subj /CN=rt-test-authority -days 2`);
  await openssl(`req ${key} -keyout server.key -out server.csr -subj /CN=localhost`);
  await openssl(
    "x509 -req -in server.csr -CA ca/ca.pem -CAkey ca.key -CAcreateserial -out server.pem -extfile ext.cnf -days 2",
  );
  await openssl("rehash ca");
  return {
    authority: project.join("ca/ca.pem"),
    directory: project.join("ca"),
    key: await Bun.file(project.join("server.key")).text(),
    cert: await Bun.file(project.join("server.pem")).text(),
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}
