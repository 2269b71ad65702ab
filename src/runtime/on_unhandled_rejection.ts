/**
 * The last net: errors nobody caught. While a subscription stands the runtime does not end the process by itself, so the
 * subscriber must (behaviours.md 89: never a zombie).
 */
import process from "node:process";

/** Calls `react` for every rejected promise and every thrown error that nobody handled, until disposed. */
export function onUnhandledRejection(react: (error: unknown) => void): Disposable {
  const rejected = (reason: unknown) => react(reason);
  const thrown = (error: unknown) => react(error);
  process.on("unhandledRejection", rejected);
  process.on("uncaughtException", thrown);
  return {
    [Symbol.dispose]: () => {
      process.off("unhandledRejection", rejected);
      process.off("uncaughtException", thrown);
    },
  };
}
