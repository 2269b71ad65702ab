/**
 * BodyDecoder: the seam for bodies that are neither JSON nor YAML. Go programs send protobuf for built-in kinds.
 */
import type { Draft } from "../model/mod.ts";

/** Reads the bodies of one more media type. */
export interface BodyDecoder {
  /** `application/vnd.kubernetes.protobuf`. */
  readonly contentType: string;
  /** Makes a body the JSON that says the same. @throws Refusal 400 when it is no such body */
  decode(bytes: Uint8Array): Draft;
}
