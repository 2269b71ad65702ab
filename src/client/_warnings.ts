/**
 * Warning headers of the API server (RFC 7234, code 299): deprecated versions, fields that are ignored. Each text is
 * logged once per client, and no more than a bounded number of them are remembered.
 */
import type { Logger } from "../observe/mod.ts";
import { printable } from "./_printable.ts";

const rememberedTexts = 256;

/** Logs each warning once. */
export class Warnings {
  readonly #seen = new Set<string>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Looks at the headers of an answer. */
  take(headers: Headers): void {
    const header = headers.get("warning");
    if (header === null) return;
    for (const text of warningTexts(header)) {
      if (this.#seen.has(text) || this.#seen.size >= rememberedTexts) continue;
      this.#seen.add(text);
      this.#logger.warn("the API server warns", { warning: text });
    }
  }
}

/** The texts of `299 - "..."`, of which one header may hold several; other codes are about caches. */
export function warningTexts(header: string): readonly string[] {
  const found = header.matchAll(/(?:^|,)\s*299 [^\s"]+ "((?:[^"\\]|\\.)*)"/g);
  return [...found].map((match) => printable((match[1] ?? "").replaceAll(/\\(.)/g, "$1"))).filter((text) =>
    text !== ""
  );
}
