/** The wire format of HTTP/2: frames, compressed fields, and errors. */
export { ConnectionError, type ErrorCode, errorCodes, StreamError } from "./errors.ts";
export {
  clientPreface,
  dataFrames,
  dataOf,
  defaultWindowBytes,
  type Frame,
  frameBytes,
  frameFlags,
  frameIn,
  frameTypes,
  goawayFrame,
  hasFlag,
  headerBlockOf,
  headersFrames,
  maxMaxFrameBytes,
  maxWindowBytes,
  minMaxFrameBytes,
  numberIn,
  resetFrame,
  settingIds,
  settingsFrame,
  settingsIn,
  windowUpdateFrame,
} from "./frames.ts";
export { encodedFields, type Field, fieldBytes, HpackDecoder } from "./hpack.ts";
