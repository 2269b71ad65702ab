/** `conformance`: what two API servers answer differently. Its recorder and masks also serve the cases of tests/conformance. */
export {
  type Call,
  CaseRecorder,
  initOf,
  type OpenWatchOptions,
  parsedBody,
  type Send,
  type Step,
  type Transcript,
  warningsOf,
} from "./case_recorder.ts";
export { conformance } from "./conformance.ts";
export { differenceOf } from "./transcript.ts";
