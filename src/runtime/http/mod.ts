/** HTTP/1.1: a server and a client, with one parser for both. */
export { releaseBytes } from "./bytes.ts";
export { isKeyPair } from "./certificates.ts";
export { httpClient } from "./http_client.ts";
export type { FetchOptions, HttpClient, HttpClientOptions } from "./http_client_options.ts";
export { PortInUseError } from "./listener.ts";
export { type DrainOptions, serve, type Server } from "./serve.ts";
export {
  type CertificatePair,
  type ConnectionInfo,
  defaultServeLimits,
  type ServeHandler,
  type ServeLimits,
  type ServeOptions,
  type ServeTls,
} from "./serve_options.ts";
export type { Timers } from "./timers.ts";
