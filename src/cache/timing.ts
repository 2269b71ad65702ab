/**
 * ReflectorTiming: every duration a reflector goes by, with its reason. Production runs on the defaults; black-box
 * tests and tiny clusters shorten them through flags.
 */

/** Durations in milliseconds. */
export interface ReflectorTiming {
  /** First wait after a failure. @default 800, as client-go reflector.go: about 1 request a second at first */
  readonly backoffInitialMs: number;
  /** Longest wait before jitter, which up to doubles it. @default 30_000, as client-go: 0.22 requests a second */
  readonly backoffMaxMs: number;
  /** Healthy time after which waits start over. @default 120_000, as client-go */
  readonly backoffResetMs: number;
  /** A watch is asked to end after a random time in [this, 2 x this). @default 300_000, as client-go */
  readonly watchTimeoutMs: number;
  /** How much longer than agreed a server may leave a watch open. @default 5_000, as kube-rs */
  readonly watchGraceMs: number;
  /**
   * Silence after which a watch counts as dead, once its server has sent bookmarks.
   *
   * @default 150_000: a server sends one a minute (cacher.go), so two were missed
   */
  readonly silenceMs: number;
  /** A watch that ends sooner and brought nothing counts as a failure. @default 1_000, as client-go */
  readonly shortWatchMs: number;
  /** When a watch counts as open if its ListWatch does not say so by a first, maybe empty, batch. @default 5_000 */
  readonly openAfterMs: number;
  /** How long a WatchList may take to send its closing bookmark. @default 60_000: a million objects take half */
  readonly initialEventsMs: number;
  /** How long a page of a list may take. @default 90_000: a server gives itself 60 s (--request-timeout) */
  readonly listTimeoutMs: number;
  /** How long a watch that gets internal errors (500) is retried before a relist. @default 30_000 */
  readonly internalErrorRetryMs: number;
  /** Longest Retry-After that is honoured. @default 300_000, so that no server can switch a cache off */
  readonly retryAfterMaxMs: number;
}

/** What production runs on. */
export const defaultTiming: ReflectorTiming = {
  backoffInitialMs: 800,
  backoffMaxMs: 30_000,
  backoffResetMs: 120_000,
  watchTimeoutMs: 300_000,
  watchGraceMs: 5_000,
  silenceMs: 150_000,
  shortWatchMs: 1_000,
  openAfterMs: 5_000,
  initialEventsMs: 60_000,
  listTimeoutMs: 90_000,
  internalErrorRetryMs: 30_000,
  retryAfterMaxMs: 300_000,
};
