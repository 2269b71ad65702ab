/** PageSource: what the page shows: a process that runs, or the recording of one. The answer of `/debug/source`. */
import type { KnownController } from "../../explain/mod.ts";

/** The source of a page. */
export interface PageSource {
  /** A `process` also answers `/debug/queues`, `/debug/keys` and `/debug/caches`. */
  readonly kind: "process" | "recording";
  /** The name of the program. */
  readonly name: string;
  readonly version?: string;
  /** The time of the source, milliseconds since the epoch: of a recording that of its last entry. */
  readonly now: number;
  readonly controllers: readonly KnownController[];
  /** True if `/debug/objects?at=` and `/debug/object?at=` answer for the moment of any entry. */
  readonly hasStates: boolean;
  /** True if `/debug/plan` answers. @default false */
  readonly canPlan?: boolean;
  /** The first entry that the page reads. */
  readonly firstId: number;
  readonly lastId: number;
  /** Entries that were dropped before the first one. */
  readonly dropped: number;
  /** The file of a recording. */
  readonly file?: string;
  /** The first files of the recording are gone. */
  readonly isFirstMissing?: boolean;
  /** The recording ends in the middle of an entry, as after a crash. */
  readonly isTruncated?: boolean;
}
