/**
 * Stand-ins: programs on this machine that serve for the ports of simulated Pods, which run no program of their own. The
 * annotation `pintle.dev/serves` of a Pod says which: `8080=127.0.0.1:34567, 9090=45678`. A Node may have it, too: its port
 * 10250 is that of its kubelet.
 *
 * Guarantees: only addresses on loopback are stand-ins, so that no client reaches another machine through the server. Another
 * address, and a port without a stand-in, is a refused connection that says why.
 */
import { objectAt, textAt } from "../kinds/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import type { TcpAddress } from "../../runtime/mod.ts";

/** The annotation: `PORT=ADDRESS:PORT`, separated by commas. */
const standInAnnotation = "pintle.dev/serves";

/** A connection to a port of a simulated Pod that nothing serves. The message is shown to the client. */
export class RefusedConnection extends Error {
  override readonly name = "RefusedConnection";
}

/** The program that stands in for a port of a running Pod. @throws RefusedConnection */
export function standInOfPod(pod: JsonObject, port: number): TcpAddress {
  const phase = textAt(objectAt(pod, "status"), "phase");
  if (phase !== "Running") throw refused(addressOf(pod, port), `the Pod is not running: its phase is "${phase}"`);
  return standInOf("Pod", pod, addressOf(pod, port), port);
}

/** The program that stands in for a port of a simulated Node. @throws RefusedConnection */
export function standInOfNode(node: JsonObject, address: string, port: number): TcpAddress {
  return standInOf("Node", node, joinHostPort(address, port), port);
}

function standInOf(kind: string, object: JsonObject, asked: string, port: number): TcpAddress {
  const text = textAt(objectAt(objectAt(object, "metadata"), "annotations"), standInAnnotation);
  for (const entry of text.split(",")) {
    const [served = "", target = ""] = entry.split("=").map((part) => part.trim());
    if (served !== `${port}`) continue;
    const address = loopbackAddress(target);
    if (address !== undefined) return address;
    const why = `its annotation ${standInAnnotation} names ${JSON.stringify(target)}, which is no port on loopback`;
    throw refused(asked, `the ${kind} is simulated, and ${why}`);
  }
  throw refused(
    asked,
    `the ${kind} is simulated, and its annotation ${standInAnnotation} does not name the port ${port}`,
  );
}

/** `127.0.0.1:80`, `localhost:80`, `[::1]:80` or `80` as an address; undefined for all others. */
export function loopbackAddress(text: string): TcpAddress | undefined {
  const match = /^(?:(.+):)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[2] ?? 0);
  if (port < 1 || port > 65_535) return undefined;
  const hostname = loopbackHost(match?.[1] ?? "localhost");
  return hostname === undefined ? undefined : { hostname, port };
}

/** The address of a host on loopback; undefined for all others. No name but `localhost` is looked up, not even that one. */
export function loopbackHost(host: string): string | undefined {
  if (host === "localhost") return "127.0.0.1";
  if (host === "::1" || host === "[::1]") return "::1";
  const parts = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(host)?.slice(1) ?? [];
  return parts.length === 3 && parts.every((part) => Number(part) <= 255) ? host : undefined;
}

/** The address of a port of a Pod, in words of a refused connection. */
function addressOf(pod: JsonObject, port: number): string {
  const ip = textAt(objectAt(pod, "status"), "podIP");
  return joinHostPort(ip === "" ? "127.0.0.1" : ip, port);
}

/** `10.0.0.1:80`, `[fd00::1]:80`. */
export function joinHostPort(host: string, port: number | string): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function refused(address: string, why: string): RefusedConnection {
  return new RefusedConnection(`dial tcp ${address}: connect: connection refused (${why})`);
}

/** The message of a failed connection to a program, as Go words it. @param address undefined if there was none */
export function dialError(error: unknown, address: TcpAddress | undefined): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "";
  const why = dialReasons[code];
  if (why !== undefined && address !== undefined) {
    return `dial tcp ${joinHostPort(address.hostname, address.port)}: ${why}`;
  }
  return unknownAuthority.has(code)
    ? "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    : error.message;
}

const dialReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  ECONNRESET: "read: connection reset by peer",
  ETIMEDOUT: "i/o timeout",
};

const unknownAuthority: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);
