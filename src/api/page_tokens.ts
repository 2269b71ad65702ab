/**
 * PageTokens: the continue tokens of one paged list. Whoever reads a list page by page asks it for the next token, so a
 * server that repeats a token, or that never ends a list, cannot keep a reader busy for ever.
 */
import type { ListPage } from "./list_watch.ts";
import { InvalidResponseError } from "./response_shape.ts";

/** At 500 objects a page, more objects than etcd holds. */
const maxPages = 10_000;
/** UTF-16 code units; kube-apiserver's tokens have a version and the key of an object, about 1,000. */
const maxTokenLength = 4_096;

/** The tokens of one list. */
export class PageTokens {
  readonly #used = new Set<string>();

  /**
   * Takes a page and returns the token of the next one; undefined if it is the last.
   *
   * @throws InvalidResponseError when the server makes no progress: a token that was used, that is too long, or one too many
   */
  after(page: ListPage<unknown>): string | undefined {
    const { continue: token } = page;
    if (token === undefined || token === "") return undefined;
    if (this.#used.has(token)) throw new InvalidResponseError("Cannot read list: the server repeats a continue token");
    if (token.length > maxTokenLength) {
      throw new InvalidResponseError(`Cannot read list: a continue token is longer than ${maxTokenLength} characters`);
    }
    if (this.#used.size >= maxPages) {
      throw new InvalidResponseError(`Cannot read list: it has more than ${maxPages} pages`);
    }
    this.#used.add(token);
    return token;
  }
}
