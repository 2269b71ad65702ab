/**
 * Http2Connection: one connection of the server in `serve.ts` whose client has agreed to HTTP/2 (RFC 9113), from its first
 * byte to its last. It reads the frames and gives them to the streams, one for each request.
 *
 * Guarantees: the limits of HTTP/1.1 hold for each request, and for all connections together no more requests are in flight
 * than connections may be open; floods of cheap frames, of unfinished heads and of reset requests end the connection; a
 * frame that breaks the protocol gets a GOAWAY with its code; run() never rejects.
 */
import type { Socket } from "node:net";
import { ByteSource } from "./byte_source.ts";
import { clientPreface, ConnectionError, dataOf, defaultWindowBytes, errorCodes, type Frame } from "./h2/mod.ts";
import { frameBytes, frameFlags, frameIn, frameTypes, goawayFrame, hasFlag, headerBlockOf } from "./h2/mod.ts";
import { HpackDecoder, maxMaxFrameBytes, maxWindowBytes, minMaxFrameBytes, numberIn, resetFrame } from "./h2/mod.ts";
import { settingIds, settingsFrame, settingsIn, StreamError, windowUpdateFrame } from "./h2/mod.ts";
import { RequestError } from "./http_head.ts";
import { FrameBudget, frameCosts } from "./http2_budget.ts";
import { areTrailers, FieldList, requestHeadOf } from "./http2_request.ts";
import { Http2Stream, streamWindowBytes } from "./http2_stream.ts";
import { Http2Writer } from "./http2_writer.ts";
import type { AcceptedConnection, ConnectionHost, HttpConnection } from "./server_connection.ts";
import { endSocket } from "./socket_end.ts";

/** A header block whose end has not arrived. */
interface OpenBlock {
  readonly streamId: number;
  readonly isLast: boolean;
  readonly fragments: Uint8Array[];
  sizeBytes: number;
}

/** Bytes of bodies that a client may send ahead on all its streams. */
const connectionWindowBytes = 1024 * 1024;

/** The connection of one client. */
export class Http2Connection implements HttpConnection {
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  readonly #accepted: AcceptedConnection;
  readonly #source: ByteSource;
  readonly #writer: Http2Writer;
  readonly #budget: FrameBudget;
  readonly #decoder = new HpackDecoder();
  /** The requests in flight; those that were reset too, until their handlers have ended. */
  readonly #streams = new Map<number, Http2Stream>();
  #lastStreamId = 0;
  /** The streams that wait for the client. */
  #waitingStreams = 0;
  #block: OpenBlock | undefined;
  /** True if the time limit of a body may have to start. */
  #hasNewBody = false;
  #hasSettings = false;
  #streamWindowBytes = defaultWindowBytes;
  #receiveWindowBytes = connectionWindowBytes;
  /** The time limit of an unfinished frame or head. */
  #frameLimit: Disposable | undefined;
  #idleLimit: Disposable | undefined;
  #tellsDraining = true;
  /** True when no new request is served. */
  #isRetired = false;
  #isDestroyed = false;
  #hasEnded = false;

  constructor(socket: Socket, accepted: AcceptedConnection, host: ConnectionHost) {
    const { timers, limits: { writeTimeoutMs } } = host;
    this.#socket = socket;
    this.#accepted = accepted;
    this.#host = host;
    this.#source = new ByteSource(socket, { onHalfClose: () => {}, onClose: () => this.#resetAll() });
    this.#writer = new Http2Writer(socket, { timers, writeTimeoutMs, onStuck: () => this.destroy() });
    this.#budget = new FrameBudget(timers);
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    // What can be sent at once: the client then knows which of its requests have not begun.
    this.#writer.write(goawayFrame(this.#lastStreamId, errorCodes.noError));
    this.#writer.flush();
    this.#source.fail(closing());
    this.#resetAll();
    this.#socket.destroy();
  }

  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    if (this.#streams.size === 0) return this.#source.fail(closing());
    this.#writer.write(goawayFrame(this.#lastStreamId, errorCodes.noError));
  }

  async run(): Promise<void> {
    try {
      this.#greet();
      if (!await this.#readPreface()) return;
      do this.#takeFrames(); while (await this.#more());
    } catch (error) {
      this.#onFailure(error);
    } finally {
      this.#hasEnded = true;
      this.#resetAll();
      this.#writer.close();
      for (const limit of [this.#budget, this.#frameLimit, this.#idleLimit]) limit?.[Symbol.dispose]();
      this.#accepted.slot.isWaiting = true;
      await endSocket(this.#socket, this.#source, this.#host);
    }
  }

  #greet(): void {
    const { maxConcurrentStreams, maxHeaderBytes } = this.#host.limits;
    this.#writer.write(settingsFrame([
      [settingIds.maxConcurrentStreams, maxConcurrentStreams],
      [settingIds.initialWindowSize, streamWindowBytes],
      [settingIds.maxHeaderListSize, maxHeaderBytes],
    ]));
    this.#writer.write(windowUpdateFrame(0, connectionWindowBytes - defaultWindowBytes));
    this.#setIdle();
  }

  async #readPreface(): Promise<boolean> {
    while (this.#source.bytes.length < clientPreface.length) {
      const { bytes } = this.#source;
      if (!bytes.every((byte, index) => byte === clientPreface[index])) throw protocolError("this is no HTTP/2");
      if (!await this.#more()) return false;
    }
    if (!clientPreface.every((byte, index) => byte === this.#source.bytes[index])) {
      throw protocolError("this is no HTTP/2");
    }
    this.#source.consume(clientPreface.length);
    return true;
  }

  #onFailure(error: unknown): void {
    if (this.#isDestroyed) return;
    const code = error instanceof ConnectionError ? error.code : errorCodes.internalError;
    if (!(error instanceof ConnectionError) && !this.#source.hasEnded) this.#host.onError(error);
    this.#writer.write(goawayFrame(this.#lastStreamId, code));
  }

  /** Handles the frames that have arrived completely. */
  #takeFrames(): void {
    for (let frame = frameIn(this.#source.bytes); frame !== undefined; frame = frameIn(this.#source.bytes)) {
      this.#take(frame);
      this.#source.consume(frame.sizeBytes);
      if (this.#block !== undefined) continue;
      this.#frameLimit?.[Symbol.dispose]();
      this.#frameLimit = undefined;
    }
  }

  /** Waits for more bytes. */
  async #more(): Promise<boolean> {
    const { timers, limits } = this.#host;
    if (this.#hasNewBody) {
      for (const stream of this.#streams.values()) stream.limitBody();
      this.#hasNewBody = false;
    }
    if (this.#source.bytes.length > 0 || this.#block !== undefined) {
      this.#frameLimit ??= timers.timer(
        limits.headerTimeoutMs,
        () => this.#source.fail(closing("a frame took too long")),
      );
    }
    return await this.#source.more();
  }

  #take(frame: Frame): void {
    const { type, streamId } = frame;
    try {
      if (!this.#hasSettings && type !== frameTypes.settings) throw protocolError("the first frame is not SETTINGS");
      if (this.#block !== undefined && type !== frameTypes.continuation) throw protocolError("a head is unfinished");
      this.#dispatch(frame);
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      this.#budget.spend(frameCosts.lostRequest);
      const stream = this.#streams.get(streamId);
      if (stream?.isOpen === true) stream.reset(error.code);
      else this.#writer.write(resetFrame(streamId, error.code));
    }
  }

  #dispatch(frame: Frame): void {
    switch (frame.type) {
      case frameTypes.data:
        return this.#onData(frame);
      case frameTypes.headers:
        return this.#onHeaders(frame);
      case frameTypes.continuation:
        return this.#onContinuation(frame);
      case frameTypes.settings:
        return this.#onSettings(frame);
      case frameTypes.windowUpdate:
        return this.#onWindowUpdate(frame);
      case frameTypes.rstStream:
        return this.#onReset(frame);
      case frameTypes.ping:
        return this.#onPing(frame);
      case frameTypes.priority:
        if (frame.streamId === 0) throw protocolError("PRIORITY is not for a stream");
        // It may be for a stream that is not open, which must not be reset.
        if (frame.payload.length !== 5) throw wrongSize("PRIORITY");
        return this.#budget.spend(frameCosts.idle);
      case frameTypes.pushPromise:
        throw protocolError("a client pushes");
      default:
        // Also GOAWAY: the client closes the connection when it has its responses.
        return this.#budget.spend(frameCosts.idle);
    }
  }

  #onData(frame: Frame): void {
    const { streamId, payload: { length: flowBytes } } = frame;
    if (streamId === 0 || streamId > this.#lastStreamId) throw protocolError("DATA is not for an open stream");
    this.#receiveWindowBytes -= flowBytes;
    if (this.#receiveWindowBytes < 0) {
      throw new ConnectionError(errorCodes.flowControlError, "the window of the connection is exceeded");
    }
    if (this.#receiveWindowBytes < connectionWindowBytes / 2) {
      this.#writer.write(windowUpdateFrame(0, connectionWindowBytes - this.#receiveWindowBytes));
      this.#receiveWindowBytes = connectionWindowBytes;
    }
    const content = dataOf(frame), isLast = hasFlag(frame, frameFlags.endStream);
    const stream = this.#streams.get(streamId);
    const isOpen = stream?.isOpen === true;
    if (!isOpen || (content.length < minContentBytes && !isLast)) this.#budget.spend(frameCosts.idle);
    // A client that has not seen the end of its stream yet may still send.
    if (isOpen) stream.receive(content, { flowBytes, isLast });
  }

  #onHeaders(frame: Frame): void {
    const { streamId } = frame;
    if (streamId % 2 === 0) throw protocolError("HEADERS is not for a stream of a client");
    const fragment = headerBlockOf(frame);
    const isLast = hasFlag(frame, frameFlags.endStream);
    if (hasFlag(frame, frameFlags.endHeaders)) return this.#onHead(streamId, fragment, isLast);
    this.#block = { streamId, isLast, fragments: [fragment.slice()], sizeBytes: fragment.length };
  }

  #onContinuation(frame: Frame): void {
    const block = this.#block;
    if (block === undefined || block.streamId !== frame.streamId) throw protocolError("CONTINUATION continues nothing");
    this.#budget.spend(frameCosts.idle);
    block.sizeBytes += frame.payload.length;
    if (block.sizeBytes > maxBlockBytes(this.#host.limits.maxHeaderBytes)) {
      throw new ConnectionError(errorCodes.enhanceYourCalm, "a head is too large");
    }
    block.fragments.push(frame.payload.slice());
    if (!hasFlag(frame, frameFlags.endHeaders)) return;
    this.#block = undefined;
    const whole = new Uint8Array(block.sizeBytes);
    let at = 0;
    for (const fragment of block.fragments) {
      whole.set(fragment, at);
      at += fragment.length;
    }
    this.#onHead(block.streamId, whole, block.isLast);
  }

  /** A complete header block. It is decoded in any case, because the next ones depend on it. */
  #onHead(streamId: number, block: Uint8Array, isLast: boolean): void {
    const list = new FieldList(this.#host.limits);
    this.#decoder.decode(block, (field) => list.add(field));
    if (streamId > this.#lastStreamId) {
      this.#lastStreamId = streamId;
      return this.#open(streamId, list, isLast);
    }
    const stream = this.#streams.get(streamId);
    if (!isLast && stream?.isOpen !== true) {
      throw new ConnectionError(errorCodes.streamClosed, "HEADERS is for a closed stream");
    }
    this.#budget.spend(frameCosts.idle);
    if (stream?.isOpen !== true) return;
    if (!isLast || !areTrailers(list)) throw new StreamError(errorCodes.protocolError, "the trailers are malformed");
    stream.receive(new Uint8Array(0), { flowBytes: 0, isLast });
  }

  #open(streamId: number, list: FieldList, isLast: boolean): void {
    const { limits, slots } = this.#host;
    this.#budget.spend(0);
    // The client repeats its request on another connection.
    if (this.#isRetired) return this.#budget.spend(frameCosts.lostRequest);
    const slot = slots.claim(this.#accepted.info.remoteAddress, () => this.#streams.get(streamId)?.evict());
    if (!this.#hasRoom(limits.maxConcurrentStreams) || !slot.take(1)) {
      slot[Symbol.dispose]();
      throw new StreamError(errorCodes.refusedStream, "there are too many streams");
    }
    try {
      const head = requestHeadOf(list, !isLast, limits);
      this.#hasNewBody ||= !isLast;
      this.#newStream(streamId, slot).start(head);
    } catch (error) {
      if (!(error instanceof RequestError)) {
        slot[Symbol.dispose]();
        throw error;
      }
      this.#budget.spend(frameCosts.lostRequest);
      (this.#streams.get(streamId) ?? this.#newStream(streamId, slot)).refuse(error, { isReceived: isLast });
    }
  }

  /** True if one more stream may open. Handlers of reset streams count too, up to the same number (CVE-2023-39325). */
  #hasRoom(maxStreams: number): boolean {
    const { size } = this.#streams;
    if (size < maxStreams) return true;
    if (size >= 2 * maxStreams) return false;
    let open = 0;
    for (const stream of this.#streams.values()) if (stream.isOpen) open++;
    return open < maxStreams;
  }

  #newStream(id: number, slot: AcceptedConnection["slot"]): Http2Stream {
    const stream = new Http2Stream({
      id,
      host: this.#host,
      info: this.#accepted.info,
      writer: this.#writer,
      slot,
      sendWindowBytes: this.#streamWindowBytes,
      onWaiting: (isWaiting) => {
        this.#waitingStreams += isWaiting ? 1 : -1;
        this.#setIdle();
      },
      onSent: (bytes) => this.#budget.onSent(bytes),
      onEvicted: () => this.#hasEnded || this.#budget.charge(frameCosts.lostRequest),
      onEnd: (isAnswered) => this.#onStreamEnd(id, isAnswered),
    });
    this.#streams.set(id, stream);
    this.#setIdle();
    return stream;
  }

  #onStreamEnd(id: number, isAnswered: boolean): void {
    this.#streams.delete(id);
    if (isAnswered) this.#budget.onAnswer();
    if (this.#isRetired && this.#streams.size === 0) this.#source.fail(closing());
    else if (this.#host.isDraining && this.#tellsDraining) {
      // The client opens another connection for its next requests. Those on their way are still served.
      this.#tellsDraining = false;
      this.#writer.write(goawayFrame(maxWindowBytes, errorCodes.noError));
    }
    this.#setIdle();
  }

  #onSettings(frame: Frame): void {
    const { streamId, payload } = frame;
    if (streamId !== 0) throw protocolError("SETTINGS is for a stream");
    const settings = settingsIn(frame);
    // Each may change the windows of all streams.
    this.#budget.spend(frameCosts.idle * (1 + settings.length));
    if (hasFlag(frame, frameFlags.ack)) {
      if (payload.length > 0) throw wrongSize("SETTINGS");
      return;
    }
    for (const [id, value] of settings) this.#set(id, value);
    this.#hasSettings = true;
    this.#writer.write(frameBytes({ type: frameTypes.settings, flags: frameFlags.ack }));
  }

  #set(id: number, value: number): void {
    if (id === settingIds.headerTableSize) this.#writer.tellsTableSize = true;
    if (id === settingIds.enablePush && value > 1) throw protocolError("a setting is neither 0 nor 1");
    if (id === settingIds.maxFrameSize) {
      if (value < minMaxFrameBytes || value > maxMaxFrameBytes) throw protocolError("a size of frames is not allowed");
      this.#writer.maxFrameBytes = Math.min(value, maxSentFrameBytes);
    }
    if (id !== settingIds.initialWindowSize) return;
    if (value > maxWindowBytes) throw windowTooLarge();
    for (const stream of this.#streams.values()) {
      if (!stream.grant(value - this.#streamWindowBytes)) throw windowTooLarge();
    }
    this.#streamWindowBytes = value;
  }

  #onWindowUpdate(frame: Frame): void {
    const { streamId } = frame;
    const bytes = numberIn(frame) & maxWindowBytes;
    this.#budget.spend(frameCosts.idle);
    if (streamId === 0) {
      if (bytes === 0) throw protocolError("a window grows by nothing");
      if (!this.#writer.grant(bytes)) throw windowTooLarge();
      return;
    }
    if (streamId > this.#lastStreamId) throw protocolError("WINDOW_UPDATE is not for an open stream");
    if (bytes === 0) throw new StreamError(errorCodes.protocolError, "a window grows by nothing");
    if (this.#streams.get(streamId)?.grant(bytes) === false) {
      throw new StreamError(errorCodes.flowControlError, "the window is too large");
    }
  }

  #onReset(frame: Frame): void {
    const { streamId } = frame;
    numberIn(frame);
    if (streamId === 0 || streamId > this.#lastStreamId) throw protocolError("RST_STREAM is not for an open stream");
    const stream = this.#streams.get(streamId);
    this.#budget.spend(stream?.isOpen === true ? frameCosts.lostRequest : frameCosts.idle);
    stream?.reset(undefined);
  }

  #onPing(frame: Frame): void {
    const { streamId, payload } = frame;
    if (streamId !== 0) throw protocolError("PING is for a stream");
    if (payload.length !== 8) throw wrongSize("PING");
    this.#budget.spend(frameCosts.idle);
    if (hasFlag(frame, frameFlags.ack)) return;
    this.#writer.write(frameBytes({ type: frameTypes.ping, flags: frameFlags.ack, payload }));
  }

  #resetAll(): void {
    for (const stream of [...this.#streams.values()]) stream.reset(undefined);
  }

  /** Says whether the server waits for the client, and limits how long it does without a request. */
  #setIdle(): void {
    if (this.#hasEnded) return;
    const { timers, limits: { idleTimeoutMs } } = this.#host;
    const { size } = this.#streams;
    this.#accepted.slot.isWaiting = size === this.#waitingStreams;
    if (size > 0) {
      this.#idleLimit?.[Symbol.dispose]();
      this.#idleLimit = undefined;
    } else if (idleTimeoutMs > 0) {
      this.#idleLimit ??= timers.timer(idleTimeoutMs, () => this.#source.fail(closing()));
    }
  }
}

/** Larger frames have no use. */
const maxSentFrameBytes = 64 * 1024;
/** DATA with less content than this costs points. */
const minContentBytes = 128;

/** A field may be longer in its block than decoded, but not twice. */
function maxBlockBytes(maxHeaderBytes: number): number {
  return 2 * maxHeaderBytes;
}

/** The end of a connection in order. */
function closing(state = "the server closes it"): ConnectionError {
  return new ConnectionError(errorCodes.noError, state);
}

function protocolError(state: string): ConnectionError {
  return new ConnectionError(errorCodes.protocolError, state);
}

function wrongSize(name: string): ConnectionError {
  return new ConnectionError(errorCodes.frameSizeError, `${name} has a wrong length`);
}

function windowTooLarge(): ConnectionError {
  return new ConnectionError(errorCodes.flowControlError, "a window is too large");
}
