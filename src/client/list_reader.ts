/**
 * ListReader: a list from the bytes of its response, without the whole text in memory. It looks for the commas between the
 * elements of the `items` of the list, and parses the elements in batches while further bytes arrive. What stands around
 * them (kind, metadata) is parsed as one small text at the end.
 *
 * Guarantees: the result is that of `parseJson` of the whole text, with the same SyntaxError for malformed text; chunks
 * may end anywhere. Text that is not parsed yet, and what it becomes, is bounded by {@link ListLimits} (security 21).
 *
 * Assumptions: kube-apiserver writes the key `items` without escapes. An escaped key is read too, and its elements count
 * as the text around the items.
 */
import { InvalidResponseError, parseExactJson } from "../api/mod.ts";
import { isObject, maxDepth, tooDeep, withoutManagedFields } from "./decoder.ts";

/** What one page of a list may cost. */
export interface ListLimits {
  /** The most bytes of one item, and of the text around the items: the limit of a single object. @default 16 MiB */
  readonly maxItemBytes: number;
  /** The most items of a page. */
  readonly maxItems: number;
  /** The most JSON values in all items, apart from those that {@link bytesPerValue} allows. */
  readonly maxValues: number;
  /** Bytes of items for which one more value is allowed: `{}` needs 20 times the memory of its text, a long text does not. */
  readonly bytesPerValue: number;
  /** Bytes of items that are parsed at once. */
  readonly batchBytes: number;
}

/**
 * A server may ignore the limit of a page, and sends everything. 200,000 items are more than the 150,000 Pods of the
 * largest cluster that Kubernetes supports. Objects of a cluster have 12 bytes and more for each value.
 */
const defaultLimits: ListLimits = {
  maxItemBytes: 16 * 1024 * 1024,
  maxItems: 200_000,
  maxValues: 3_000_000,
  bytesPerValue: 10,
  batchBytes: 256 * 1024,
};

/** Options of a {@link ListReader}. */
export interface ListReaderOptions extends Partial<ListLimits> {
  /** Infinitive for messages: `list Pod`. */
  readonly action: string;
  /** Leaves out `metadata.managedFields` of the items, as {@link withoutManagedFields} does. */
  readonly dropManagedFields: boolean;
}

const quote = 34, comma = 44, colon = 58, backslash = 92, openBracket = 91, space = 32;
/** The bytes of the key of the items. */
const itemsKey = new TextEncoder().encode("items");

/** The element that stands for the items in the text around them. It is random, so no text can contain it. */
let mark: string | undefined;

/** Where a key may be on its way to the array of items. */
type KeyState = "none" | "in key" | "behind key" | "behind colon";

/** Reads one list. */
export class ListReader {
  readonly #action: string;
  readonly #dropsManagedFields: boolean;
  readonly #limits: ListLimits;

  /** Depth of brackets: the list is at 1, its items are at 2. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isInItems = false;
  #key: KeyState = "none";
  /** The characters of {@link itemsKey} that the string has so far; -1 for another string. */
  #matched = -1;

  /** The text around the items. */
  readonly #around = new TextPieces(false);
  readonly #batch = new TextPieces(true);
  /** The items of the last array with the key `items`: as in JSON.parse, the last one counts. */
  #items: unknown[] = [];
  #arrays = 0;
  /** True if a comma was cut off before the batch. */
  #isAfterComma = false;
  #itemBytes = 0;
  #allBytes = 0;
  #itemCount = 0;
  #valueCount = 0;

  constructor(options: ListReaderOptions) {
    this.#action = options.action;
    this.#dropsManagedFields = options.dropManagedFields;
    this.#limits = { ...defaultLimits, ...options };
  }

  /** Takes the next bytes. @throws InvalidResponseError above a limit, SyntaxError when they are no JSON. */
  push(chunk: Uint8Array): void {
    let index = 0;
    while (index < chunk.length) {
      index = this.#isInItems ? this.#readItems(chunk, index) : this.#readAround(chunk, index);
    }
  }

  /** The value of the whole text. @throws SyntaxError when it is malformed */
  end(): unknown {
    if (this.#isInItems) throw new SyntaxError("the list ends inside of its items");
    const value = parseExactJson(this.#around.take());
    if (isObject(value) && Array.isArray(value.items) && value.items.length === 1 && value.items[0] === this.#mark()) {
      value.items = this.#items;
    }
    return value;
  }

  /** Reads until the items begin. Every byte is looked at on its own, because there are few of them. */
  #readAround(chunk: Uint8Array, start: number): number {
    let index = start;
    while (index < chunk.length && !this.#isInItems) this.#readByte(chunk[index++] ?? 0);
    this.#around.add(chunk.subarray(start, index));
    if (this.#around.sizeBytes > this.#limits.maxItemBytes) {
      throw this.#tooLarge(`has more than ${this.#limits.maxItemBytes} bytes beside its items`);
    }
    if (this.#isInItems) this.#begin();
    return index;
  }

  #readByte(code: number): void {
    if (this.#isInString) return this.#readStringByte(code);
    if (code === quote) {
      this.#isInString = true;
      if (this.#depth !== 1) return;
      this.#key = "in key";
      this.#matched = 0;
    } else if (isOpening(code)) {
      this.#isInItems = this.#depth === 1 && this.#key === "behind colon" && code === openBracket;
      this.#key = "none";
      if (++this.#depth > maxDepth) throw tooDeep();
    } else if (isClosing(code)) {
      this.#depth--;
      this.#key = "none";
    } else if (code === colon) {
      this.#key = this.#key === "behind key" ? "behind colon" : "none";
    } else if (code > space) this.#key = "none";
  }

  #readStringByte(code: number): void {
    if (!this.#isEscaped && code === quote) {
      this.#isInString = false;
      if (this.#key === "in key") this.#key = this.#matched === itemsKey.length ? "behind key" : "none";
    } else {
      this.#matched = this.#matched >= 0 && code === itemsKey[this.#matched] ? this.#matched + 1 : -1;
      this.#isEscaped = !this.#isEscaped && code === backslash;
    }
  }

  /** Begins the items, and puts the mark in their place. */
  #begin(): void {
    this.#items = [];
    this.#arrays++;
    this.#around.add(new TextEncoder().encode(JSON.stringify(this.#mark())));
    this.#isAfterComma = false;
    this.#itemBytes = 0;
  }

  #mark(): string {
    mark ??= crypto.randomUUID();
    return `${mark}/${this.#arrays}`;
  }

  /**
   * Reads items until their array ends: the hot loop of every list. It reads each byte once; the depth that it tracks
   * takes the place of the check of the whole text.
   */
  #readItems(chunk: Uint8Array, start: number): number {
    const { length } = chunk;
    const { batchBytes } = this.#limits;
    let index = start, batchStart = start, itemStart = start, depth = this.#depth, values = 0;
    if (this.#isInString) index = this.#endString(chunk, index);
    for (; index < length; index++) {
      const code = chunk[index] ?? 0;
      if (code === quote) {
        let end = index + 1;
        for (let inner = chunk[end]; end < length && inner !== quote; inner = chunk[end]) {
          end += inner === backslash ? 2 : 1;
        }
        index = end;
        if (end < length) continue;
        this.#isInString = true;
        this.#isEscaped = end > length;
        index = length - 1;
      } else if (code === comma) {
        values++;
        if (depth !== 2) continue;
        this.#countItem(index - itemStart);
        itemStart = index + 1;
        if (this.#batch.sizeBytes + index - batchStart < batchBytes) continue;
        this.#batch.add(chunk.subarray(batchStart, index));
        this.#parseBatch(true);
        batchStart = index + 1;
      } else if (isOpening(code)) {
        values++;
        if (++depth > maxDepth) throw tooDeep();
      } else if (isClosing(code) && --depth === 1) {
        this.#isInItems = false;
        break;
      }
    }
    this.#depth = depth;
    this.#batch.add(chunk.subarray(batchStart, index));
    this.#itemBytes += index - itemStart;
    this.#allBytes += index - start;
    this.#check(values);
    if (!this.#isInItems) this.#parseBatch(false);
    // The closing bracket belongs to the text around the items, where a wrong one is noticed.
    if (!this.#isInItems) this.#around.add(chunk.subarray(index, ++index));
    return index;
  }

  /** Reads to the end of a string of an earlier chunk, and returns the index behind it; the length if there is none. */
  #endString(chunk: Uint8Array, start: number): number {
    const { length } = chunk;
    let end = this.#isEscaped ? start + 1 : start;
    while (end < length && chunk[end] !== quote) end += chunk[end] === backslash ? 2 : 1;
    this.#isInString = end >= length;
    this.#isEscaped = end > length;
    return Math.min(end + 1, length);
  }

  #countItem(sizeBytes: number): void {
    this.#itemBytes += sizeBytes;
    this.#check(0);
    this.#itemBytes = 0;
    if (++this.#itemCount >= this.#limits.maxItems) {
      throw this.#tooLarge(`has more than ${this.#limits.maxItems} items`);
    }
  }

  #check(values: number): void {
    const { maxItemBytes, maxValues, bytesPerValue } = this.#limits;
    if (this.#itemBytes > maxItemBytes) throw this.#tooLarge(`has an item with more than ${maxItemBytes} bytes`);
    this.#valueCount += values;
    if (this.#valueCount > maxValues + this.#allBytes / bytesPerValue) {
      throw this.#tooLarge(`has more than ${maxValues} values, and more than one for ${bytesPerValue} bytes`);
    }
  }

  /** Parses a batch in the form of a list, so that its managedFields are found. */
  #parseBatch(isBeforeComma: boolean): void {
    const text = this.#batch.take('{"items":[', "]}");
    const list = parseExactJson(this.#dropsManagedFields ? withoutManagedFields(text, "list") : text);
    const items = isObject(list) && Array.isArray(list.items) ? list.items : [];
    if (items.length === 0 && (isBeforeComma || this.#isAfterComma)) throw new SyntaxError("an item is missing");
    for (const item of items) this.#items.push(item);
    this.#isAfterComma = isBeforeComma;
  }

  #tooLarge(state: string): InvalidResponseError {
    return new InvalidResponseError(`Cannot ${this.#action}: the response ${state}`);
  }
}

/** True for { and [: they differ in bit 5 alone. */
function isOpening(code: number): boolean {
  return (code | 32) === 123;
}

/** True for } and ]. */
function isClosing(code: number): boolean {
  return (code | 32) === 125;
}

/** Text from pieces of UTF-8, which may end inside a character. */
class TextPieces {
  sizeBytes = 0;
  readonly #decoder: TextDecoder;
  #pieces: string[] = [];

  /** @param keepsBom False at the start of a text, where a byte order mark is no part of it. */
  constructor(keepsBom: boolean) {
    this.#decoder = new TextDecoder("utf-8", { ignoreBOM: keepsBom });
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.sizeBytes += bytes.length;
    this.#pieces.push(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The text so far, between two others; afterwards there is none. */
  take(before = "", after = ""): string {
    const text = [before, ...this.#pieces, this.#decoder.decode(), after].join("");
    this.#pieces = [];
    this.sizeBytes = 0;
    return text;
  }
}
