// Implements --use-openssl-ca: replaces the default certificate authorities with those of OpenSSL's locations.
import { LIST_SEPARATOR } from "../../../platform/processes/libc-environment.ts";

const { getBuiltinModule } = process;

type CaEnvironment = Readonly<Record<string, string | undefined>>;

/** SSL_CERT_FILE and SSL_CERT_DIR together replace the system's certificates; one of them alone adds to these. */
export function trustOnly({ SSL_CERT_FILE, SSL_CERT_DIR, NODE_EXTRA_CA_CERTS }: CaEnvironment): void {
  const { getCACertificates, setDefaultCACertificates } = getBuiltinModule("node:tls");
  const isReplaced = SSL_CERT_FILE && SSL_CERT_DIR;
  const ca = [
    ...(isReplaced ? [] : getCACertificates("system")),
    ...[SSL_CERT_FILE, NODE_EXTRA_CA_CERTS].flatMap((file) => (file ? certificatesIn(file) : [])),
    ...(SSL_CERT_DIR ? certificatesBelow(SSL_CERT_DIR) : []),
  ];
  setDefaultCACertificates(ca);
  const { fetch, WebSocket: Socket } = globalThis;
  const trusting = <Options extends { tls?: object }>(options: Options | undefined) => ({
    ...options,
    tls: { ca, ...options?.tls },
  });
  globalThis.fetch = Object.assign(
    (input: Parameters<typeof fetch>[0], init?: BunFetchRequestInit) => fetch(input, trusting(init)),
    { preconnect: fetch.preconnect },
  );
  Bun.fetch = globalThis.fetch;
  globalThis.WebSocket = new Proxy(Socket, {
    construct(target, [url, options, ...others]: [string, unknown], newTarget) {
      const isList = typeof options === "string" || Array.isArray(options);
      const own = isList ? { protocols: [options].flat() } : (options as object | undefined);
      return Reflect.construct(target, [url, trusting(own), ...others], newTarget) as WebSocket;
    },
  });
}

const CERTIFICATE =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]+-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

function certificatesIn(file: string): string[] {
  try {
    return getBuiltinModule("node:fs").readFileSync(file, "utf8").match(CERTIFICATE) ?? [];
  } catch {
    return [];
  }
}

function certificatesBelow(directories: string): string[] {
  return directories.split(LIST_SEPARATOR).flatMap((directory) => {
    try {
      const names = getBuiltinModule("node:fs").readdirSync(directory);
      return names.flatMap((name) => certificatesIn(`${directory}/${name}`));
    } catch {
      return [];
    }
  });
}
