/** Cleanups: what a start has opened, to be closed in the reverse order. Node 22 has no AsyncDisposableStack. */

/** Collects what is open. */
export class Cleanups implements AsyncDisposable {
  #open: (() => void | Promise<void>)[] = [];

  /** Adds something open, and returns it. */
  use<T extends Disposable | AsyncDisposable>(value: T): T {
    this.defer(() =>
      Symbol.asyncDispose in value ? Promise.resolve(value[Symbol.asyncDispose]()) : value[Symbol.dispose]()
    );
    return value;
  }

  /** Adds a function that closes something. */
  defer(close: () => void | Promise<void>): void {
    this.#open.push(close);
  }

  /** Moves all of it into a new value, so that this one no longer closes it. */
  move(): Cleanups {
    const moved = new Cleanups();
    moved.#open = this.#open;
    this.#open = [];
    return moved;
  }

  /** Closes everything. @throws the first error, after all have been closed */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = [];
    for (let close = this.#open.pop(); close !== undefined; close = this.#open.pop()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
