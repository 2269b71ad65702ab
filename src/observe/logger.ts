/**
 * Logger: the seam over @logtape/logtape that every layer logs through.
 *
 * Structured: a message is a constant sentence, what varies goes into fields. Until the command line configures a
 * sink (`logging.ts`) nothing is written, so a library user's program stays quiet unless it wants otherwise.
 */
import { getLogger, type Logger as LogtapeLogger } from "@logtape/logtape";

/** What varies in a log record. Values must be safe to show: no Secret data, no tokens. */
export type Fields = Readonly<Record<string, unknown>>;

/** Writes log records. */
export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A logger whose records carry `fields` too. */
  with(fields: Fields): Logger;
}

/** The root of all our categories, and the one a program configures. */
export const rootCategory = "pintle";

/** The logger of one part of the runtime, e.g. `logger("reflector")`. */
export function logger(...category: readonly string[]): Logger {
  return wrap(getLogger([rootCategory, ...category]));
}

function wrap(inner: LogtapeLogger): Logger {
  return {
    debug: (message, fields) => inner.debug(message, fields),
    info: (message, fields) => inner.info(message, fields),
    warn: (message, fields) => inner.warn(message, fields),
    error: (message, fields) => inner.error(message, fields),
    with: (fields) => wrap(inner.with(fields)),
  };
}
