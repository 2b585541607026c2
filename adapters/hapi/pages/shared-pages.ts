/**
 * Answers of pages that are the same for everybody: rendered at most once in their age, and sent to everyone with an
 * ETag. Only answers of 200 are kept; every other one is made anew, and its caller is counted.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { HttpResponse } from '../wire/http-response.js';

/** Answers of one process; the least recently used one makes room. */
const MOST_PAGES = 2_000;
const CACHING = 'public, max-age=0, must-revalidate';

/** An answer that is not kept, on its way through the cache. */
class Unkept extends Error {
  constructor(readonly answer: HttpResponse) {
    super('not kept');
  }
}

export class SharedPages {
  readonly #answers: LRUCache<string, HttpResponse, () => Promise<HttpResponse>>;

  /** @param monotonic milliseconds that never go back */
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

  /** Whether there is an answer that is not too old. */
  isFresh(path: string): boolean {
    return this.#answers.has(path);
  }

  /** Whether it was there when it was asked for last: then nobody is counted for it. */
  isKnown(path: string): boolean {
    return this.#answers.peek(path, { allowStale: true }) !== undefined;
  }

  /** What `make` answers, made once for all who wait for it. Rejects only where `make` does. */
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
