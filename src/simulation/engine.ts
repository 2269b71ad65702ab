/**
 * What the engine for programs of any kind (foreign/) shares with the in-memory simulation: the fault layer, and the parts of
 * the oracles that do not depend on a virtual clock.
 */
export { type LearnedNames, learnNames, nameOf, shownName } from "./_canonical_names.ts";
export { FaultIndex, type OnPoint, type PointKind } from "./_fault_index.ts";
export {
  collectionOf,
  connectionError,
  isCounted,
  isFullList,
  isRenewal,
  keyOfInfo,
  requestText,
  resourceOf,
} from "./_messages.ts";
export { NetworkProxy } from "./_network_proxy.ts";
export type { ProxiedProcess, StaleView } from "./_proxied_process.ts";
export { RunRecorder } from "./_run_recorder.ts";
export { violationNotes } from "./recorded_schedule.ts";
export { type Change, changesSince, notedChanges, type SummaryChange } from "./_server_changes.ts";
export { conflictingPatch, userFieldManager } from "./_simulated_server.ts";
export { smallestSubset } from "./_smallest_subset.ts";
export { type StoredView, storedViews, transientCollections } from "./_stored_views.ts";
export { UserActions, type UsersServer } from "./_user_actions.ts";
