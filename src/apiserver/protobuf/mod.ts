/** Bodies in Kubernetes' protobuf encoding, which kubectl and Go programs send for built-in kinds. Answers are JSON. */
export { decodeProtobuf, protobufType } from "./decode_protobuf.ts";
