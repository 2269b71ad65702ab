/** The fence: a Transport that sends writes only while this process leads. */
export { FencedError, fencedTransport, isFenced, type LeadershipSource, type WriteAuthority } from "./fence.ts";
