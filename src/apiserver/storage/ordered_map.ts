/**
 * OrderedMap: an immutable sorted map. A write returns a new map that shares all nodes except the path to the written item
 * (a B+ tree with copied paths). So each old state of a collection is a consistent snapshot that costs nothing to take. The
 * watch cache of kube-apiserver stores its snapshots in the same way.
 *
 * Guarantees: get, put, remove and rank take logarithmic time. A scan visits items in the order of their keys (UTF-16 code
 * units, which for the keys of Kubernetes is the byte order of etcd).
 */

/** An item of the map. */
interface Keyed {
  readonly key: string;
}

interface Leaf<Item> {
  readonly kind: "leaf";
  readonly size: number;
  readonly items: readonly Item[];
}

interface Branch<Item> {
  readonly kind: "branch";
  /** Number of items below. */
  readonly size: number;
  readonly children: readonly Node<Item>[];
  /** The smallest key in each child. */
  readonly firstKeys: readonly string[];
}

type Node<Item> = Leaf<Item> | Branch<Item>;

/** Entries of a node: enough for a flat tree, and few enough to copy a node in less than a microsecond. */
const maxEntries = 32;
/** A smaller node is merged with its neighbour when both fit into one. */
const minEntries = 8;

/** An immutable sorted map from `item.key` to item. */
export class OrderedMap<Item extends Keyed> {
  readonly #root: Node<Item>;

  private constructor(root: Node<Item>) {
    this.#root = root;
  }

  /** An empty map. */
  static empty<Item extends Keyed>(): OrderedMap<Item> {
    return new OrderedMap<Item>(leaf<Item>([]));
  }

  /** A map of many items, faster than putting each of them. @param items in the order of their keys, each key once */
  static of<Item extends Keyed>(items: readonly Item[]): OrderedMap<Item> {
    let nodes: readonly Node<Item>[] = chunks(items).map((chunk) => leaf(chunk));
    while (nodes.length > 1) nodes = chunks(nodes).map((chunk) => branch(chunk));
    return new OrderedMap<Item>(nodes[0] ?? leaf<Item>([]));
  }

  get size(): number {
    return this.#root.size;
  }

  get(key: string): Item | undefined {
    let node = this.#root;
    while (node.kind === "branch") {
      const child = node.children[childIndex(node, key)];
      if (child === undefined) return undefined;
      node = child;
    }
    const item = node.items[lowerBound(node.items, key)];
    return item !== undefined && item.key === key ? item : undefined;
  }

  /** This map with the item, which replaces one with the same key. */
  put(item: Item): OrderedMap<Item> {
    const nodes = inserted(this.#root, item);
    const [only] = nodes;
    return new OrderedMap(nodes.length === 1 && only !== undefined ? only : branch(nodes));
  }

  /** This map without the item with this key. */
  remove(key: string): OrderedMap<Item> {
    let root = removed(this.#root, key);
    while (root !== undefined && root.kind === "branch" && root.children.length === 1) root = root.children[0];
    return new OrderedMap<Item>(root ?? leaf<Item>([]));
  }

  /** The number of items with a smaller key. */
  rank(key: string): number {
    let node = this.#root;
    let smaller = 0;
    while (node.kind === "branch") {
      const index = childIndex(node, key);
      for (let before = 0; before < index; before++) smaller += node.children[before]?.size ?? 0;
      const child = node.children[index];
      if (child === undefined) return smaller;
      node = child;
    }
    return smaller + lowerBound(node.items, key);
  }

  /** Visits the items from `from` on, in order, until `visit` returns false. */
  scan(from: string, visit: (item: Item) => boolean): void {
    scanned(this.#root, from, visit);
  }
}

/** Full nodes: an appended item begins the next one. */
function chunks<Entry>(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const count = Math.ceil(entries.length / maxEntries);
  return Array.from({ length: count }, (_, index) => entries.slice(index * maxEntries, (index + 1) * maxEntries));
}

function leaf<Item>(items: readonly Item[]): Leaf<Item> {
  return { kind: "leaf", size: items.length, items };
}

function branch<Item extends Keyed>(children: readonly Node<Item>[]): Branch<Item> {
  let size = 0;
  const firstKeys: string[] = [];
  for (const child of children) {
    size += child.size;
    firstKeys.push(firstKey(child));
  }
  return { kind: "branch", size, children, firstKeys };
}

/** The branch with another node in place of a child. Most writes end here, so the size is adjusted and not recounted. */
function withChild<Item extends Keyed>(node: Branch<Item>, index: number, child: Node<Item>): Branch<Item> {
  const first = firstKey(child);
  const firstKeys = node.firstKeys[index] === first ? node.firstKeys : node.firstKeys.with(index, first);
  const size = node.size + child.size - (node.children[index]?.size ?? 0);
  return { kind: "branch", size, children: node.children.with(index, child), firstKeys };
}

function firstKey<Item extends Keyed>(node: Node<Item>): string {
  return (node.kind === "leaf" ? node.items[0]?.key : node.firstKeys[0]) ?? "";
}

/** The first index whose key is not smaller. */
function lowerBound(items: readonly Keyed[], key: string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && item.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the child that may contain the key. */
function childIndex<Item>(node: Branch<Item>, key: string): number {
  let low = 1;
  let high = node.firstKeys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const first = node.firstKeys[middle];
    if (first !== undefined && first <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function inserted<Item extends Keyed>(node: Node<Item>, item: Item): readonly Node<Item>[] {
  if (node.kind === "leaf") return insertedIntoLeaf(node, item);
  const index = childIndex(node, item.key);
  const child = node.children[index];
  if (child === undefined) return [leaf([item])];
  const nodes = inserted(child, item);
  const [only] = nodes;
  if (nodes.length === 1 && only !== undefined) return [withChild(node, index, only)];
  const children = node.children.toSpliced(index, 1, ...nodes);
  if (children.length <= maxEntries) return [branch(children)];
  const cut = splitAt(children.length, index);
  return [branch(children.slice(0, cut)), branch(children.slice(cut))];
}

function insertedIntoLeaf<Item extends Keyed>(node: Leaf<Item>, item: Item): readonly Leaf<Item>[] {
  const index = lowerBound(node.items, item.key);
  const isPresent = node.items[index]?.key === item.key;
  const items = isPresent ? node.items.with(index, item) : node.items.toSpliced(index, 0, item);
  if (items.length <= maxEntries) return [leaf(items)];
  const cut = splitAt(items.length, index);
  return [leaf(items.slice(0, cut)), leaf(items.slice(cut))];
}

/** Splits in the middle, or at the end for an appended item: ascending names then fill their nodes. */
function splitAt(length: number, index: number): number {
  return index >= length - 2 ? length - 1 : length >>> 1;
}

function removed<Item extends Keyed>(node: Node<Item>, key: string): Node<Item> | undefined {
  if (node.kind === "leaf") {
    const index = lowerBound(node.items, key);
    if (node.items[index]?.key !== key) return node;
    return node.items.length === 1 ? undefined : leaf(node.items.toSpliced(index, 1));
  }
  const index = childIndex(node, key);
  const child = node.children[index];
  const changed = child === undefined ? undefined : removed(child, key);
  if (changed === child) return node;
  if (changed === undefined) return node.children.length === 1 ? undefined : branch(node.children.toSpliced(index, 1));
  const next = withChild(node, index, changed);
  return isNarrow(changed) ? branch(merged(next.children, index)) : next;
}

function isNarrow<Item>(node: Node<Item>): boolean {
  return (node.kind === "leaf" ? node.items.length : node.children.length) < minEntries;
}

/** Merges the child at `index` with the one before it, or with the one after it if it is the first. */
function merged<Item extends Keyed>(children: readonly Node<Item>[], index: number): readonly Node<Item>[] {
  const left = index === 0 ? 0 : index - 1;
  const [first, second] = [children[left], children[left + 1]];
  if (first?.kind === "leaf" && second?.kind === "leaf" && first.size + second.size <= maxEntries) {
    return children.toSpliced(left, 2, leaf([...first.items, ...second.items]));
  }
  if (first?.kind === "branch" && second?.kind === "branch") {
    const both = [...first.children, ...second.children];
    if (both.length <= maxEntries) return children.toSpliced(left, 2, branch(both));
  }
  return children;
}

function scanned<Item extends Keyed>(node: Node<Item>, from: string, visit: (item: Item) => boolean): boolean {
  if (node.kind === "leaf") {
    for (let index = from === "" ? 0 : lowerBound(node.items, from); index < node.items.length; index++) {
      const item = node.items[index];
      if (item !== undefined && !visit(item)) return false;
    }
    return true;
  }
  const start = from === "" ? 0 : childIndex(node, from);
  for (let index = start; index < node.children.length; index++) {
    const child = node.children[index];
    if (child !== undefined && !scanned(child, index === start ? from : "", visit)) return false;
  }
  return true;
}
