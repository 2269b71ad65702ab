/** nextTurn(): waits until the event loop has looked at its sockets and timers once. */
import { setImmediate } from "node:timers";

/**
 * Resolves in the event loop's next turn. Promises alone never let it turn: work that is nothing but promises keeps
 * everybody who waits at a socket waiting.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
