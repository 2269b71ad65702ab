/** HTTP/1.1: a server and a client, with one parser for both. The server speaks HTTP/2, too. */
export { boundedText, type BoundedTextOptions } from "./bounded_text.ts";
export { type Base64Alphabet, fromBase64, toBase64, toHex } from "./bytes_as_text.ts";
export { releaseBytes, requestBytes } from "./bytes.ts";
export { isKeyPair } from "./certificates.ts";
export { CutConnectionError } from "./cut_connection.ts";
export { httpClient } from "./http_client.ts";
export type {
  FetchOptions,
  HeaderLines,
  HttpClient,
  HttpClientOptions,
  HttpRequest,
  UpgradeHeaders,
} from "./http_client_options.ts";
export { knownBodyOf, knownTextOf, rememberBody, rememberText } from "./known_text.ts";
export { ListenError, PortInUseError } from "./listener.ts";
export { protocolSwitchOf, switchProtocols } from "./protocol_switch.ts";
export { type DrainOptions, serve, type Server } from "./serve.ts";
export {
  type CertificatePair,
  type ConnectionInfo,
  defaultServeLimits,
  type ReceivedHead,
  type ServeHandler,
  type ServeLimits,
  type ServeOptions,
  type ServeTls,
} from "./serve_options.ts";
export { connectTcp, type TcpAddress, type TcpConnection } from "./tcp_connection.ts";
export { listenTcp, type TcpListener } from "./tcp_listener.ts";
export type { Timers } from "./timers.ts";
export { type CloseReason, webSocketAccept, WebSocketConnection, type WebSocketOptions } from "./web_socket.ts";
export { frameOf, FrameReader, webSocketError } from "./web_socket_frames.ts";
export type { UpgradeAnswer, Wire } from "./wire.ts";
