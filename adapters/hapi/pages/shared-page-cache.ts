import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { HttpResponse } from '../wire/http-response.js';

/** Per process; the least recently used page is evicted. */
const MAX_CACHED_PAGES = 2_000;
const CACHE_CONTROL = 'public, max-age=0, must-revalidate';

class UncachedAnswer extends Error {
  constructor(readonly answer: HttpResponse) {
    super('not kept');
  }
}

export class SharedPageCache {
  readonly #answers: LRUCache<string, HttpResponse, () => Promise<HttpResponse>>;

  constructor(monotonic: () => number) {
    this.#answers = new LRUCache({
      max: MAX_CACHED_PAGES,
      perf: { now: monotonic },
      ttlResolution: 0,
      fetchMethod: async (_path, _stale, { context }) => {
        const answer = addETag(await context());
        if (answer.status !== 200) throw new UncachedAnswer(answer);
        return answer;
      },
    });
  }

  isFresh(path: string): boolean {
    return this.#answers.has(path);
  }

  /** Such requests are not rate limited. */
  isCached(path: string): boolean {
    return this.#answers.peek(path, { allowStale: true }) !== undefined;
  }

  /** Calls `make` once for all concurrent requests. */
  async getOrRender(path: string, maxAgeMs: number, make: () => Promise<HttpResponse>): Promise<HttpResponse> {
    try {
      return await this.#answers.forceFetch(path, { context: make, ttl: maxAgeMs });
    } catch (thrown) {
      if (thrown instanceof UncachedAnswer) return thrown.answer;
      throw thrown;
    }
  }
}

function addETag(answer: HttpResponse): HttpResponse {
  const { status, headers, body } = answer;
  if (status !== 200 || (typeof body !== 'string' && !Buffer.isBuffer(body))) return answer;
  const tag = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { status, headers: { 'cache-control': CACHE_CONTROL, ...headers, etag: `"${tag}"` }, body };
}
