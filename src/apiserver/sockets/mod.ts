/** WebSockets of the server: watches, and the streams of simulated Pods. */
export { bytesOverWebSocket, isClientGone, watchOverWebSocket } from "./body_over_web_socket.ts";
export { acceptWebSocket, isWebSocketRequest, requestedProtocols, type WebSocketTask } from "./web_socket_handshake.ts";
