/** WebSockets of the server, and what streams of simulated Pods share: watches over them, bytes that wait for a reader. */
export { bytesOverWebSocket, isClientGone, watchOverWebSocket } from "./body_over_web_socket.ts";
export { UnreadBytes } from "./unread_bytes.ts";
export { acceptWebSocket, isWebSocketRequest, requestedProtocols, type WebSocketTask } from "./web_socket_handshake.ts";
