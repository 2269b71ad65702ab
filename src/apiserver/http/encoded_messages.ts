/**
 * The protobuf messages of objects. The storage keeps the JSON of each state; here the messages of those that clients read in
 * protobuf are kept beside it, so a GET, a list and all watches encode a state once.
 *
 * Guarantees: the memory is bounded. When the messages of a generation are too large together, a new one begins, and a message
 * that nobody reads during a whole generation is released; with its state it is released at once.
 */
import { encodeMessage, envelope } from "../protobuf/mod.ts";
import type { Representation } from "../registry/mod.ts";

/** A message and the kind that its envelope names. */
interface Encoded {
  readonly apiVersion: string;
  readonly kind: string;
  readonly message: Uint8Array;
}

/** Bytes of messages in a generation; there are two of them. */
const maxGenerationBytes = 16 * 1024 * 1024;

/** Messages by their states, in two generations. */
class EncodedMessages {
  #young = new WeakMap<Representation, Encoded>();
  #old = new WeakMap<Representation, Encoded>();
  #youngBytes = 0;

  of(shown: Representation): Encoded {
    const known = this.#young.get(shown);
    if (known !== undefined) return known;
    const encoded = this.#old.get(shown) ?? encode(shown);
    this.#youngBytes += encoded.message.byteLength;
    if (this.#youngBytes > maxGenerationBytes) {
      this.#old = this.#young;
      this.#young = new WeakMap();
      this.#youngBytes = encoded.message.byteLength;
    }
    this.#young.set(shown, encoded);
    return encoded;
  }
}

const messages = new EncodedMessages();

function encode({ object }: Representation): Encoded {
  const apiVersion = String(object["apiVersion"] ?? "");
  const kind = String(object["kind"] ?? "");
  return { apiVersion, kind, message: encodeMessage(apiVersion, kind, object) };
}

/** The message of an object, for a list. @throws StatusError 406 for a kind without a message */
export function encodedMessage(shown: Representation): Uint8Array {
  return messages.of(shown).message;
}

/** A whole object in protobuf. @throws StatusError 406 for a kind without a message */
export function encodedObject(shown: Representation): Uint8Array<ArrayBuffer> {
  const { apiVersion, kind, message } = messages.of(shown);
  return envelope(apiVersion, kind, message);
}
