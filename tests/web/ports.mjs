// Ports for tests that must know theirs before something listens there.
import {createServer} from 'node:net';

// Below those that the system gives to connections and to tests that take any port.
export async function freePort() {
  for (;;) {
    const port = 20000 + Math.floor(12000 * Math.random());
    const server = createServer();
    const free = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
