/** Every mounted path with its methods: for 405, `Allow` and pre-flights. */
import type { HttpMethod } from '../../ports/http.js';

export interface KnownPath {
  path: string;
  /** The mounted methods, upper case; GET includes HEAD. */
  methods: ReadonlySet<HttpMethod>;
  /** The routes of this path answer without the envelope. */
  bare: boolean;
  cors: boolean;
}

const METHODS: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export class KnownPaths {
  readonly #paths = new Map<string, KnownPath & { methods: Set<HttpMethod> }>();

  /** Adds a path. Two paths that differ only in the names of their parameters are the same. */
  add(path: string, methods: readonly HttpMethod[], { bare = false, cors = false } = {}): void {
    const shape = path.replace(/\{[^*?}]*([*?]?\d*)\}/g, '{$1}');
    const known = this.#paths.get(shape) ?? { path, methods: new Set<HttpMethod>(), bare: false, cors: false };
    for (const method of methods) known.methods.add(method);
    this.#paths.set(shape, { ...known, bare: known.bare || bare, cors: known.cors || cors });
  }

  all(): readonly KnownPath[] {
    return [...this.#paths.values()];
  }

  /**
   * Methods that a path does not have but the router would give it, because the router looks for a method before it
   * looks for the nearest path: `/rules/{id}` would answer `GET /rules/preview`.
   */
  borrowed({ path, methods }: KnownPath): HttpMethod[] {
    const wider = this.all().filter((other) => other.path !== path && covers(other.path, path));
    return METHODS.filter((method) => !methods.has(method) && wider.some((other) => other.methods.has(method)));
  }
}

/** `Allow` of a path: `GET, HEAD, POST`. */
export function allowOf({ methods, cors }: Pick<KnownPath, 'methods' | 'cors'>): string {
  const allowed = METHODS.filter((method) => methods.has(method)).flatMap((method) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
  return [...allowed, ...(cors ? ['OPTIONS'] : [])].join(', ');
}

/** Whether `wide` matches every address that `path` matches. */
function covers(wide: string, path: string): boolean {
  const theirs = wide.split('/');
  const ours = path.split('/');
  if (theirs.length !== ours.length) return false;
  return theirs.every((part, i) => part === ours[i] || /^\{[^*?}]+\}$/.test(part));
}
