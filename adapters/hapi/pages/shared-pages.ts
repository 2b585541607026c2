import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { HttpResponse } from '../wire/http-response.js';

/** Per process; the least recently used page is evicted. */
const MOST_PAGES = 2_000;
const CACHING = 'public, max-age=0, must-revalidate';

class Unkept extends Error {
  constructor(readonly answer: HttpResponse) {
    super('not kept');
  }
}

export class SharedPages {
  readonly #answers: LRUCache<string, HttpResponse, () => Promise<HttpResponse>>;

  constructor(monotonic: () => number) {
    this.#answers = new LRUCache({
      max: MOST_PAGES,
      perf: { now: monotonic },
      ttlResolution: 0,
      fetchMethod: async (_path, _stale, { context }) => {
        const answer = withTag(await context());
        if (answer.status !== 200) throw new Unkept(answer);
        return answer;
      },
    });
  }

  isFresh(path: string): boolean {
    return this.#answers.has(path);
  }

  /** Whether the path was cached at its last request: such requests are not rate limited. */
  isKnown(path: string): boolean {
    return this.#answers.peek(path, { allowStale: true }) !== undefined;
  }

  /** Returns the cached response, or calls `make` once for all concurrent requests. */
  async take(path: string, maxAgeMs: number, make: () => Promise<HttpResponse>): Promise<HttpResponse> {
    try {
      return await this.#answers.forceFetch(path, { context: make, ttl: maxAgeMs });
    } catch (thrown) {
      if (thrown instanceof Unkept) return thrown.answer;
      throw thrown;
    }
  }
}

function withTag(answer: HttpResponse): HttpResponse {
  const { status, headers, body } = answer;
  if (status !== 200 || (typeof body !== 'string' && !Buffer.isBuffer(body))) return answer;
  const tag = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { status, headers: { 'cache-control': CACHING, ...headers, etag: `"${tag}"` }, body };
}
