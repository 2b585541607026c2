import type { HttpMethod } from '../../ports/http/index.js';

export interface RegisteredPath {
  path: string;
  methods: ReadonlySet<HttpMethod>;
  bare: boolean;
  cors: boolean;
}

const HTTP_METHODS: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export class PathRegistry {
  readonly #paths = new Map<string, RegisteredPath & { methods: Set<HttpMethod> }>();
  #wide: Map<number, { known: RegisteredPath; parts: string[] }[]> | null = null;

  add(path: string, methods: readonly HttpMethod[], { bare = false, cors = false } = {}): void {
    const shape = path.replace(/\{[^*?}]*([*?]?\d*)\}/g, '{$1}');
    const known = this.#paths.get(shape) ?? { path, methods: new Set<HttpMethod>(), bare: false, cors: false };
    for (const method of methods) known.methods.add(method);
    this.#wide = null;
    this.#paths.set(shape, { ...known, bare: known.bare || bare, cors: known.cors || cors });
  }

  list(): readonly RegisteredPath[] {
    return [...this.#paths.values()];
  }

  /**
   * Lists methods that the router would wrongly take from a wider path, because it matches the
   * method first: `/rules/{id}` would answer `GET /rules/preview`.
   */
  listBorrowedMethods({ path, methods }: RegisteredPath): HttpMethod[] {
    const parts = path.split('/');
    this.#wide ??= this.#getWildcardPaths();
    const alike = this.#wide.get(parts.length) ?? [];
    const wider = alike.filter(({ known, parts: wide }) => known.path !== path && isCovering(wide, parts));
    return HTTP_METHODS.filter(
      (method) => !methods.has(method) && wider.some(({ known }) => known.methods.has(method)),
    );
  }

  #getWildcardPaths(): Map<number, { known: RegisteredPath; parts: string[] }[]> {
    const wide = new Map<number, { known: RegisteredPath; parts: string[] }[]>();
    for (const known of this.#paths.values()) {
      const parts = known.path.split('/');
      if (!parts.some(isParameter)) continue;
      wide.set(parts.length, [...(wide.get(parts.length) ?? []), { known, parts }]);
    }
    return wide;
  }
}

export function formatAllow({ methods, cors }: Pick<RegisteredPath, 'methods' | 'cors'>): string {
  const allowed = HTTP_METHODS.filter((method) => methods.has(method)).flatMap((method) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
  return [...allowed, ...(cors ? ['OPTIONS'] : [])].join(', ');
}

const isParameter = (part: string): boolean => /^\{[^*?}]+\}$/.test(part);

function isCovering(wide: readonly string[], parts: readonly string[]): boolean {
  return wide.every((part, i) => part === parts[i] || isParameter(part));
}
