/** SpdyClient: the client's side of SPDY/3.1, as much as tests of the server's side need. Its headers are not compressed. */
import { WireChannel } from "../wire_channel.ts";
import type { ByteChannel } from "../spdy_connection.ts";
import { controlFrame, dataFrame, FrameCutter, frameType, wordAt, wordsOf } from "../spdy_frames.ts";
import type { Wire } from "../../../runtime/mod.ts";

/** What a client has got on one stream. */
export interface ReceivedStream {
  text: string;
  isOpen: boolean;
  hasEnded: boolean;
  isReset: boolean;
}

/** A client. */
export class SpdyClient {
  readonly #channel: ByteChannel;
  readonly #cutter = new FrameCutter();
  readonly #streams = new Map<number, ReceivedStream>();
  /** The numbers of pings that came back. */
  readonly pings: number[] = [];
  #nextId = 1;
  #isFirst = true;

  constructor(channel: ByteChannel) {
    this.#channel = channel;
  }

  static over(wire: Wire): SpdyClient {
    return new SpdyClient(new WireChannel(wire));
  }

  /** Receives until the server ends the connection. */
  async run(): Promise<void> {
    for (let bytes = await this.#channel.receive(); bytes !== undefined; bytes = await this.#channel.receive()) {
      for (const { type, flags, streamId, payload } of this.#cutter.push(bytes)) {
        if (type === frameType.ping) this.pings.push(wordAt(payload, 0));
        const stream = this.stream(type === undefined ? streamId : wordAt(payload, 0));
        if (type === undefined) stream.text += new TextDecoder().decode(payload);
        if (type === frameType.synReply) stream.isOpen = true;
        if (type === frameType.rstStream) stream.isReset = true;
        if (type === undefined && (flags & 1) !== 0) stream.hasEnded = true;
      }
    }
  }

  stream(id: number): ReceivedStream {
    const known = this.#streams.get(id) ?? { text: "", isOpen: false, hasEnded: false, isReset: false };
    this.#streams.set(id, known);
    return known;
  }

  /** Opens a stream. @returns its id */
  async open(headers: Readonly<Record<string, string>>): Promise<number> {
    const id = this.#nextId;
    await this.openCompressed(headerBlock(headers, this.#isFirst));
    this.#isFirst = false;
    return id;
  }

  /** Opens a stream whose headers are compressed already. @returns its id */
  async openCompressed(block: Uint8Array): Promise<number> {
    const id = this.#nextId;
    this.#nextId += 2;
    const payload = new Uint8Array([...wordsOf(id, 0), 0, 0, ...block]);
    await this.#channel.send(controlFrame(frameType.synStream, payload));
    return id;
  }

  async write(id: number, text: string, isLast = false): Promise<void> {
    await this.#channel.send(dataFrame(id, new TextEncoder().encode(text), isLast));
  }

  /** Sends bytes as they are. */
  async send(bytes: Uint8Array): Promise<void> {
    await this.#channel.send(bytes);
  }
}

function headerBlock(headers: Readonly<Record<string, string>>, isFirst: boolean): Uint8Array {
  const encoder = new TextEncoder();
  const part = (text: string) => [...wordsOf(encoder.encode(text).length), ...encoder.encode(text)];
  const entries = Object.entries(headers);
  const plain = [...wordsOf(entries.length), ...entries.flatMap(([name, value]) => [...part(name), ...part(value)])];
  const size = plain.length;
  const stored = [0, size & 255, size >> 8, ~size & 255, (~size >> 8) & 255, ...plain];
  return new Uint8Array([...(isFirst ? [0x78, 0x01] : []), ...stored, 0, 0, 0, 255, 255]);
}
