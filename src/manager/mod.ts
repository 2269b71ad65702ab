/** Running controllers: the Manager, the shared caches, and the Events they record. */
export { EventRecorder, type EventRecorderOptions } from "./event_recorder.ts";
export { Manager, type ManagerOptions } from "./manager.ts";
export { SharedCaches, type SharedCachesOptions } from "./shared_caches.ts";
