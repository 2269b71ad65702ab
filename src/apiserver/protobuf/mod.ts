/** Bodies in the protobuf encoding of Kubernetes, which kubectl and Go programs send for built-in kinds. Responses are JSON. */
export { decodeProtobuf, protobufType } from "./decode_protobuf.ts";
