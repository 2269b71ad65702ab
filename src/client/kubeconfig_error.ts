/** KubeconfigError: nothing is known of any cluster, or what is known contradicts itself. The message says what to do. */
export class KubeconfigError extends Error {
  override readonly name: string = "KubeconfigError";
}
