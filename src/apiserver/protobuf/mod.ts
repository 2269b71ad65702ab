/** The protobuf encoding of Kubernetes, which kubectl and Go programs use for built-in kinds: bodies, responses and watches. */
export { decodeProtobuf, protobufType } from "./decode_protobuf.ts";
export { encodeMessage } from "./encode_protobuf.ts";
export { encodeList, encodeProtobuf, envelope, watchFrame } from "./envelope.ts";
