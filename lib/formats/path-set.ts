import { toNameKey } from './path-policy.js';

export type PathKind = 'file' | 'directory';

interface Node {
  id: number;
  name: string;
  kind: PathKind;
  listed: boolean;
}

/**
 * The paths of a package as a tree, without conflicts on any file system (contract 40, refused
 * packages).
 */
export class PathSet {
  /** Keyed by parent id and name key. */
  readonly #nodes = new Map<string, Node>();

  get size(): number {
    return this.#nodes.size;
  }

  /** @returns why it cannot be added, or null */
  add(path: string, kind: PathKind): string | null {
    const names = path.split('/');
    let parent = 0;
    for (const [i, name] of names.entries()) {
      const last = i === names.length - 1;
      const wanted = last ? kind : 'directory';
      const key = `${parent}/${toNameKey(name)}`;
      const known = this.#nodes.get(key);
      if (known === undefined) {
        parent = this.#nodes.size + 1;
        this.#nodes.set(key, { id: parent, name, kind: wanted, listed: last });
        continue;
      }
      const why = findConflict(known, name, wanted, last);
      if (why !== null) return why;
      known.listed ||= last;
      parent = known.id;
    }
    return null;
  }
}

function findConflict(known: Node, name: string, wanted: PathKind, last: boolean): string | null {
  if (known.kind !== wanted) return 'is both a file and a directory';
  if (known.name !== name) return `differs from another path only by letter case or composition (${known.name})`;
  return last && (wanted === 'file' || known.listed) ? 'is in the package twice' : null;
}
