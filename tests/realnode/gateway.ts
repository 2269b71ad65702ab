/**
 * The one way between a node and the machine, and the node's image registry: gateway.ts DIR, run inside of the node.
 *
 * - DIR/api.sock leads to the API server: a socket in the file system is seen on both sides, a network is not;
 * - on the loopback address it is a read-only registry of the OCI layout in DIR/images, so that containerd can pull, with
 *   pull policy Always, too.
 *
 * It imports no package: it starts first, and everything waits for it.
 */
import { rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { apiSocket, registryPort } from "./layout.ts";
import { serveRegistry } from "./registry.ts";

const [dir = "."] = process.argv.slice(2);
const apiPort = 6443;

const socket = apiSocket(dir);
rmSync(socket, { force: true });
createServer((outside) => {
  const inside = connect(apiPort, "127.0.0.1");
  outside.pipe(inside).pipe(outside);
  for (const end of [outside, inside]) {
    end.on("error", () => {
      outside.destroy();
      inside.destroy();
    });
  }
}).listen(socket);
serveRegistry(join(dir, "images"), "127.0.0.1", registryPort);
