/**
 * One ZooKeeper on 127.0.0.1 in the place of the simulated members: sessions, and nodes that can be created, read, written,
 * deleted and looked for. `deno run -A server.ts [PORT]`.
 *
 * Caveats: no watches, no access lists, no ephemeral nodes: the operator uses none of them. A node that exists can be created
 * again, without an effect: at a real server's NodeExists, reconciles of the operator fail. That happens without any fault,
 * whenever its next write is a conflict (docs/FINDINGS.md), so runs without faults would differ.
 */
import { createServer, type Socket } from "node:net";
import process from "node:process";
import { FrameReader, RecordReader, RecordWriter } from "./records.ts";

/** The requests of the protocol that are answered. */
const requestTypes = { create: 1, delete: 2, exists: 3, getData: 4, setData: 5, ping: 11, close: -11 } as const;

/** The errors of the protocol that are answered. */
const errors = { none: 0, unimplemented: -6, noNode: -101, badVersion: -103 } as const;

interface ZooKeeperNode {
  readonly data: Uint8Array;
  readonly version: number;
}

interface Reply {
  readonly error: number;
  readonly write?: (record: RecordWriter) => void;
}

const nodes = new Map<string, ZooKeeperNode>();
let [transactions, sessions] = [0n, 0n];

function answer(type: number, record: RecordReader): Reply {
  switch (type) {
    case requestTypes.ping:
    case requestTypes.close:
      return { error: errors.none };
    case requestTypes.create: {
      const [path, data] = [record.text(), record.bytes()];
      const parent = path.slice(0, path.lastIndexOf("/"));
      if (parent !== "" && !nodes.has(parent)) return { error: errors.noNode };
      if (!nodes.has(path)) nodes.set(path, { data, version: 0 });
      return { error: errors.none, write: (reply) => reply.text(path) };
    }
    case requestTypes.setData: {
      const [path, data, version] = [record.text(), record.bytes(), record.int()];
      const node = nodes.get(path);
      if (node === undefined) return { error: errors.noNode };
      if (version !== -1 && version !== node.version) return { error: errors.badVersion };
      const written = { data, version: node.version + 1 };
      nodes.set(path, written);
      return { error: errors.none, write: (reply) => writeStat(reply, written) };
    }
    case requestTypes.exists:
    case requestTypes.getData: {
      const node = nodes.get(record.text());
      if (node === undefined) return { error: errors.noNode };
      return {
        error: errors.none,
        write: (reply) => {
          if (type === requestTypes.getData) reply.bytes(node.data);
          writeStat(reply, node);
        },
      };
    }
    case requestTypes.delete: {
      const isDeleted = nodes.delete(record.text());
      return { error: isDeleted ? errors.none : errors.noNode };
    }
    default:
      return { error: errors.unimplemented };
  }
}

/** The fields of a node beside its data; only version and length are of use here. */
function writeStat(reply: RecordWriter, { data, version }: ZooKeeperNode): void {
  for (let field = 0; field < 4; field++) reply.long(0n); // transactions and times of creation and change
  for (const number of [version, 0, 0]) reply.int(number); // versions of data, children and access
  reply.long(0n); // owner
  for (const number of [data.length, 0]) reply.int(number);
  reply.long(0n); // transaction of the children
}

/** The first frame opens a session; each further one is a request. */
async function converse(socket: Socket): Promise<void> {
  const frames = new FrameReader();
  let isOpen = false;
  for await (const chunk of socket) {
    for (const frame of frames.add(chunk)) {
      const record = new RecordReader(frame);
      if (!isOpen) {
        isOpen = true;
        socket.write(sessionReply(record));
        continue;
      }
      const [id, type] = [record.int(), record.int()];
      const { error, write } = answer(type, record);
      const reply = new RecordWriter();
      reply.int(id);
      reply.long(++transactions);
      reply.int(error);
      if (error === errors.none) write?.(reply);
      socket.write(reply.frame());
      if (type === requestTypes.close) socket.end();
    }
  }
}

function sessionReply(record: RecordReader): Uint8Array {
  record.int(); // version of the protocol
  record.long(); // last transaction that the client has seen
  const reply = new RecordWriter();
  reply.int(0);
  reply.int(record.int()); // timeout in milliseconds
  reply.long(++sessions);
  reply.bytes(new Uint8Array(16)); // password of the session
  return reply.frame();
}

const server = createServer((socket) => {
  socket.on("error", () => {}); // a killed operator
  converse(socket).catch(() => socket.destroy());
});
server.listen(Number(process.argv[2] ?? "2181"), "127.0.0.1", () => console.log("listening"));
