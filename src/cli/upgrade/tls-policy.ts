// TLS settings of an upgrade. Certificates are always verified, because the download replaces rt: the environment variable
// NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
//
// Non-obvious:
// - Proxies (HTTPS_PROXY, NO_PROXY) and extra CAs (NODE_EXTRA_CA_CERTS, SSL_CERT_FILE) come from rt's original environment.
// - The engine reads CAs from libc's environment, and proxies from process.env at each fetch.
//   src/cli/builtin-commands.ts has removed the values of `.env` files from process.env.

export const CONNECTION = { tls: { rejectUnauthorized: true } } satisfies BunFetchRequestInit;
