/**
 * Whether the reader of a pipe has closed it, without writing to it: poll(2), as GNU `tail -f | head` does it. A program
 * that prints a line and then waits for hours would otherwise learn it from the next line only.
 *
 * Guarantees: an answer is given at once, and it is "closed" only if the system says so. Where poll(2) cannot be called
 * (Node, another system, no permission for foreign functions), every pipe counts as open, and the next write finds out.
 */
import { fstatSync } from "node:fs";
import process from "node:process";

/** poll(2) with a pollfd, its count and a timeout in milliseconds. */
type Poll = (pollfd: Uint8Array, count: number, timeoutMs: number) => number;

/** From poll.h; equal on Linux and macOS. */
const [pollError, pollHangup] = [0x008, 0x010];

/** What can be loaded is loaded once. */
let loaded: { readonly poll: Poll | undefined } | undefined;

/** Returns true if `fd` is a pipe or a socket that nobody reads any more. */
export function isReaderGone(fd: number): boolean {
  if (!isPipe(fd)) return false;
  const { poll } = loaded ??= { poll: loadPoll() };
  if (poll === undefined) return false;
  const bytes = new Uint8Array(8); // struct pollfd: int fd, short events, short revents
  const pollfd = new DataView(bytes.buffer);
  pollfd.setInt32(0, fd, true);
  if (poll(bytes, 1, 0) <= 0) return false;
  return (pollfd.getInt16(6, true) & (pollError | pollHangup)) !== 0;
}

function isPipe(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

function loadPoll(): Poll | undefined {
  const load = "Bun" in globalThis ? pollOfBun : "Deno" in globalThis ? pollOfDeno : undefined;
  if (load === undefined) return undefined; // Node has no foreign functions.
  for (const library of libraries()) {
    try {
      return load(library);
    } catch {
      // The next library, else none: see the header.
    }
  }
  return undefined;
}

/** The C library under the names of glibc, musl and macOS. */
function libraries(): readonly string[] {
  if (process.platform === "darwin") return ["/usr/lib/libSystem.B.dylib"];
  const arch = process.arch === "arm64" ? "aarch64" : "x86_64";
  return process.platform === "linux" ? ["libc.so.6", `libc.musl-${arch}.so.1`] : [];
}

/** The part of `bun:ffi` that this file uses. Deno cannot load the types of Bun's modules. */
interface BunForeignFunctions {
  dlopen(library: string, symbols: Readonly<Record<"poll", object>>): { readonly symbols: { readonly poll: Poll } };
}

function pollOfBun(library: string): Poll | undefined {
  const module: Partial<BunForeignFunctions> = process.getBuiltinModule("bun:ffi") ?? {};
  return module.dlopen?.(library, { poll: { args: ["ptr", "u64", "i32"], returns: "i32" } }).symbols.poll;
}

function pollOfDeno(library: string): Poll | undefined {
  // Without the permission dlopen() would ask the user.
  if (Deno.permissions.querySync({ name: "ffi" }).state !== "granted") return undefined;
  const definition = { poll: { parameters: ["buffer", "usize", "i32"], result: "i32" } } as const;
  const { poll } = Deno.dlopen(library, definition).symbols;
  return (pollfd, count, timeoutMs) => poll(pollfd as Uint8Array<ArrayBuffer>, BigInt(count), timeoutMs);
}
