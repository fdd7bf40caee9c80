// How an upgrade connects: certificates are verified whatever the environment says, since what is fetched takes rt's own
// place. NODE_TLS_REJECT_UNAUTHORIZED=0, which somebody has set for a server of their own, does not count here.
//
// Proxies (HTTPS_PROXY, NO_PROXY) and additional authorities (NODE_EXTRA_CA_CERTS, SSL_CERT_FILE) are those of the
// environment that rt was started with. The engine reads the authorities from libc, and proxies from process.env at each
// fetch: src/cli/builtin-commands.ts has taken out of that what `.env` files said.

export const CONNECTION = { tls: { rejectUnauthorized: true } } satisfies BunFetchRequestInit;
