/** What views share: they draw again when the model changes, and with each second. */
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { Model } from "../data/model.ts";

/** Draws again when the model has changed. @returns its version */
export function useModel(model: Model): number {
  const [version, setVersion] = useState(model.version);
  useEffect(() => {
    const update = () => setVersion(model.version);
    update();
    return model.subscribe(update);
  }, [model]);
  return version;
}

const startedAt = performance.now();

/** The time of the source: of a process it goes on, of a recording it is the last entry. */
export function useNow(model: Model): number {
  const { kind, now } = model.source;
  const [elapsed, setElapsed] = useState(performance.now() - startedAt);
  useEffect(() => {
    if (kind !== "process") return;
    const timer = setInterval(() => setElapsed(performance.now() - startedAt), 1_000);
    return () => clearInterval(timer);
  }, [kind]);
  return kind === "process" ? now + elapsed : now;
}

/** Calls `onKey` for keys that no field takes. */
export function useKeys(onKey: (event: KeyboardEvent) => void): void {
  // With the view itself: a key that comes before the browser has drawn is not lost.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { target } = event;
      const isField = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
      if (isField || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      onKey(event);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  });
}
