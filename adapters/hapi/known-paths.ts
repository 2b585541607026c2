import type { HttpMethod } from '../../ports/http.js';

export interface KnownPath {
  path: string;
  /** Upper case; GET includes HEAD. */
  methods: ReadonlySet<HttpMethod>;
  bare: boolean;
  cors: boolean;
}

const METHODS: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export class KnownPaths {
  readonly #paths = new Map<string, KnownPath & { methods: Set<HttpMethod> }>();
  #wide: Map<number, { known: KnownPath; parts: string[] }[]> | null = null;

  add(path: string, methods: readonly HttpMethod[], { bare = false, cors = false } = {}): void {
    const shape = path.replace(/\{[^*?}]*([*?]?\d*)\}/g, '{$1}');
    const known = this.#paths.get(shape) ?? { path, methods: new Set<HttpMethod>(), bare: false, cors: false };
    for (const method of methods) known.methods.add(method);
    this.#wide = null;
    this.#paths.set(shape, { ...known, bare: known.bare || bare, cors: known.cors || cors });
  }

  all(): readonly KnownPath[] {
    return [...this.#paths.values()];
  }

  /**
   * Lists methods that the router would wrongly take from a wider path, because it matches the
   * method first: `/rules/{id}` would answer `GET /rules/preview`.
   */
  borrowed({ path, methods }: KnownPath): HttpMethod[] {
    const parts = path.split('/');
    this.#wide ??= this.#widePaths();
    const alike = this.#wide.get(parts.length) ?? [];
    const wider = alike.filter(({ known, parts: wide }) => known.path !== path && covers(wide, parts));
    return METHODS.filter((method) => !methods.has(method) && wider.some(({ known }) => known.methods.has(method)));
  }

  #widePaths(): Map<number, { known: KnownPath; parts: string[] }[]> {
    const wide = new Map<number, { known: KnownPath; parts: string[] }[]>();
    for (const known of this.#paths.values()) {
      const parts = known.path.split('/');
      if (!parts.some(isParameter)) continue;
      wide.set(parts.length, [...(wide.get(parts.length) ?? []), { known, parts }]);
    }
    return wide;
  }
}

export function allowOf({ methods, cors }: Pick<KnownPath, 'methods' | 'cors'>): string {
  const allowed = METHODS.filter((method) => methods.has(method)).flatMap((method) =>
    method === 'GET' ? ['GET', 'HEAD'] : [method],
  );
  return [...allowed, ...(cors ? ['OPTIONS'] : [])].join(', ');
}

const isParameter = (part: string): boolean => /^\{[^*?}]+\}$/.test(part);

function covers(wide: readonly string[], parts: readonly string[]): boolean {
  return wide.every((part, i) => part === parts[i] || isParameter(part));
}
