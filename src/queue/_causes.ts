/**
 * The bounded list of causes a key carries: duplicates collapse, and what caused them must not be thrown away.
 *
 * Kept are the first cause, which says what began it, and the latest ones, which say what keeps it going.
 */

/** Whatever collects causes: an entry, or a delayed add. */
export interface CauseHolder<C> {
  causes: C[] | undefined;
  causesDropped: number;
}

/** Adds one cause, dropping the second oldest when there are more than `limit`. */
export function addCause<C>(holder: CauseHolder<C>, cause: C, limit: number): void {
  if (holder.causes === undefined) {
    if (limit > 0) holder.causes = [cause];
    else holder.causesDropped++;
    return;
  }
  holder.causes.push(cause);
  if (holder.causes.length > limit) {
    holder.causes.splice(Math.min(1, limit - 1), 1);
    holder.causesDropped++;
  }
}

/** Adds all that `from` has collected to `to`. */
export function moveCauses<C>(from: CauseHolder<C>, to: CauseHolder<C>, limit: number): void {
  to.causesDropped += from.causesDropped;
  if (from.causes === undefined) return;
  for (const cause of from.causes) addCause(to, cause, limit);
}
