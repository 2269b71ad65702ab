/** Signals of the operating system, as a subscription that ends. */
import process from "node:process";

/** The signals a server reacts to. */
export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGUSR1" | "SIGUSR2" | "SIGQUIT";

/** Calls `react` on each of `signals` until disposed; while it stands, the signal does not end the process by itself. */
export function onSignal(signals: readonly SignalName[], react: (signal: SignalName) => void): Disposable {
  const listeners = signals.map((signal) => ({ signal, listener: () => react(signal) }));
  for (const { signal, listener } of listeners) process.on(signal, listener);
  return {
    [Symbol.dispose]: () => {
      for (const { signal, listener } of listeners) process.off(signal, listener);
    },
  };
}
