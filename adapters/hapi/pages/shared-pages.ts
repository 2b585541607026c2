/**
 * Pages that are the same for everybody, as bytes that are ready: made at most once in half of their age, and given to
 * everyone else before hapi's life cycle, with their ETag and compressed. A thousand readers in a second cost a
 * thousand writes to sockets and nothing of the store. Nothing but answers of 200 is kept; every other one goes the way
 * of all pages, and is counted.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { namesTag } from '../streams/file-request.js';
import type { Observe } from '../transport/request-metrics.js';
import { COMPRESSED_FROM } from '../transport/send.js';
import type { HttpResponse } from '../wire/http-response.js';

const compress = promisify(gzip);
/** Pages of one process; the least looked at makes room. */
const MOST = 2_000;
const CACHING = 'public, max-age=0, must-revalidate';

interface Made {
  /** When its making began, in monotonic ms. */
  at: number;
  /** Somebody makes it anew. */
  renewed: boolean;
  headers: HttpResponse['headers'];
  plain: Buffer;
  zipped: Buffer | null;
}

interface Added {
  plugin: string;
  /** As the plugin wrote it. */
  route: string;
  maxAgeMs: number;
  observe: Observe;
}

/** A text as an expression that matches only this text. */
const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]|{}]/g, String.raw`\$&`);

export class SharedPages {
  readonly #pages: (Added & { shape: RegExp })[] = [];
  readonly #made = new BoundedMap<Made>({ most: MOST });
  readonly #flight = new SingleFlight<HttpResponse>();

  /** @param monotonic milliseconds that never go back */
  constructor(private readonly monotonic: () => number) {}

  add(page: Added): void {
    const words = page.route.split(/\{\w+\}/);
    this.#pages.push({ ...page, shape: new RegExp(`^${words.map(literal).join('([^/]+)')}$`) });
  }

  /** Whether this plugin has a shared page of this path. */
  has(plugin: string, path: string): boolean {
    return this.#pages.some((page) => page.plugin === plugin && page.shape.test(path));
  }

  /** Whether it was there when it was asked for last: then nobody is counted for it. */
  isKnown(path: string): boolean {
    return this.#made.get(path) !== undefined;
  }

  /** The answer from the bytes that are ready. Null: they have to be made, or the request is for something else. */
  ready({ method, url = '', headers }: IncomingMessage): { route: string; answer: HttpResponse } | null {
    if (method !== 'GET' || this.#made.size === 0) return null;
    if (headers.range !== undefined || headers.expect !== undefined || headers.upgrade !== undefined) return null;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const made = this.#made.get(path);
    const page = made && this.#pages.find(({ shape }) => shape.test(path));
    if (made === undefined || page === undefined) return null;
    const age = this.monotonic() - made.at;
    if (age < 0 || age >= page.maxAgeMs) return null;
    if (age >= page.maxAgeMs / 2 && !made.renewed) {
      made.renewed = true;
      return null;
    }
    const answer = answerOf(made, headers);
    page.observe(method, answer.status, 0);
    return { route: page.route, answer };
  }

  /** What `make` answers, made once for all who wait for it; 200 is kept. Rejects only where `make` does. */
  take(path: string, make: () => Promise<HttpResponse>): Promise<HttpResponse> {
    return this.#flight.share(path, async () => {
      const at = this.monotonic();
      const answer = await make();
      const { status, headers, body } = answer;
      if (status !== 200 || (typeof body !== 'string' && !Buffer.isBuffer(body))) {
        this.#made.delete(path);
        return answer;
      }
      const plain = Buffer.from(body);
      const zipped = plain.length < COMPRESSED_FROM || !isText(headers) ? null : await compress(plain);
      const tag = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
      const own = { 'cache-control': CACHING, ...headers, etag: `"${tag}"` };
      this.#made.set(path, { at, renewed: false, headers: own, plain, zipped });
      return { status, headers: own, body: plain };
    });
  }
}

const isText = (headers: HttpResponse['headers']): boolean =>
  /^(?:text\/|image\/svg|application\/(?:rss|atom))/.test(String(headers['content-type']));

/** RFC 9110, 12.5.3, as far as clients go: `gzip` is named, and not with a weight of 0. */
const takesGzip = (accepted: string): boolean =>
  accepted.split(',').some((one) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?:1|0\.\d*[1-9])\d*\s*)?$/i.test(one));

function answerOf({ headers, plain, zipped }: Made, asked: IncomingHttpHeaders): HttpResponse {
  const tag = String(headers['etag']);
  const known = asked['if-none-match'];
  const own: HttpResponse['headers'] = zipped === null ? headers : { ...headers, vary: 'accept-encoding' };
  if (known !== undefined && namesTag(known, tag, true)) return { status: 304, headers: own, body: null };
  if (zipped === null || !takesGzip(asked['accept-encoding'] ?? '')) return { status: 200, headers: own, body: plain };
  return { status: 200, headers: { ...own, 'content-encoding': 'gzip' }, body: zipped };
}
