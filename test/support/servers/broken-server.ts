// A server whose connection breaks in the middle of an archive. Its checksum files are complete.

export interface BrokenServer extends Disposable {
  readonly url: string;
}

/** @param length the announced length of the archive in bytes */
export function startBrokenServer(checksums: string, length: number): BrokenServer {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, request) {
        const isSums = request.toString().includes("SHA256SUMS");
        const promised = isSums ? checksums.length : length;
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${promised}\r\nConnection: close\r\n\r\n`);
        socket.write(isSums ? checksums : "x".repeat(1000));
        socket.end();
      },
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => server.stop(true) };
}
