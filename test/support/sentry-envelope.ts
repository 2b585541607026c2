/**
 * Envelopes as Sentry's SDKs send them, with one event shaped like those of the Node SDK (stack
 * with source lines, breadcrumbs, contexts, request). Frames are repeated until the size is
 * reached. Every event needs a unique id, because a repeat counts nothing.
 */
import { randomBytes } from 'node:crypto';

const CODE_LINE = 'const order = await this.orders.load(reference, { customer, region });';

function buildFrame(group: number, depth: number): object {
  return {
    filename: `/srv/app/src/orders/module${group}.ts`,
    function: depth === 0 ? `load${group}` : `step${depth}`,
    module: `orders:module${group}`,
    lineno: 10 + group + depth,
    colno: 13,
    in_app: true,
    pre_context: ['  async load(reference) {', '    const { customer, region } = this.session;'],
    context_line: `    ${CODE_LINE}`,
    post_context: ['    return this.priced(order);', '  }'],
  };
}

/**
 * Builds an event of group `group` with about `bytes` of JSON, at least about 2 KB.
 * @param id 32 hex digits
 */
export function buildSentryEvent(group: number, id: string, bytes: number): Record<string, unknown> {
  const frames = [buildFrame(group, 0)];
  const event = {
    event_id: id,
    timestamp: Date.now() / 1000,
    platform: 'node',
    level: 'error',
    environment: 'production',
    release: 'shop@1.4.2',
    server_name: 'web-1',
    transaction: 'GET /orders/:reference',
    exception: {
      values: [
        {
          type: `Failure${group}`,
          value: `Order 'A-${1000 + group}' of customer 4711${group} could not be loaded`,
          stacktrace: { frames },
          mechanism: { type: 'auto.node.onuncaughtexception', handled: false },
        },
      ],
    },
    breadcrumbs: ['query', 'http', 'console'].map((category) => ({
      timestamp: Date.now() / 1000,
      type: 'default',
      category,
      level: 'info',
      message: `${category} of order A-${1000 + group}`,
    })),
    tags: { shop: 'eu', tenant: `t${group % 7}` },
    user: { id: `4711${group}`, username: 'jane' },
    request: {
      method: 'GET',
      url: `https://shop.example.org/orders/A-${1000 + group}`,
      headers: { accept: 'text/html', 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', host: 'shop.example.org' },
    },
    contexts: {
      runtime: { name: 'node', version: 'v20.19.0' },
      os: { name: 'Linux', kernel_version: '6.1.0' },
      trace: { trace_id: id, span_id: id.slice(0, 16) },
    },
    extra: { region: 'eu-1', attempt: 1 },
    sdk: { name: 'sentry.javascript.node', version: '11.11.0', packages: [{ name: 'npm:@sentry/node' }] },
  };
  const room = bytes - JSON.stringify(event).length;
  const more = Math.max(0, Math.floor(room / (JSON.stringify(buildFrame(group, 10)).length + 1)));
  frames.unshift(...Array.from({ length: more }, (_, i) => buildFrame(group, more - i)));
  return event;
}

/**
 * Builds the envelope of one event.
 * @param dsn added to the header, as SDKs do with `tunnel`; usually omitted
 */
export function buildSentryEnvelope(event: Record<string, unknown>, dsn?: string): string {
  const payload = JSON.stringify(event);
  const head = {
    event_id: event['event_id'],
    sent_at: new Date().toISOString(),
    ...(dsn === undefined ? {} : { dsn }),
  };
  return `${JSON.stringify(head)}\n${JSON.stringify({ type: 'event', length: Buffer.byteLength(payload) })}\n${payload}\n`;
}

/**
 * Returns a source of new events of `groups` groups in turn. Ids are replaced in prepared texts, so
 * that a benchmark does not measure the load generator.
 */
export function createEnvelopeSource(groups: number, bytes: number): () => string {
  const id = 'e'.repeat(32);
  const prepared = Array.from({ length: groups }, (_, g) =>
    buildSentryEnvelope(buildSentryEvent(g, id, bytes)).split(id),
  );
  const run = randomBytes(10).toString('hex');
  let n = 0;
  return () => {
    const parts = prepared[n % groups] ?? [];
    return parts.join(run + (n++).toString(16).padStart(12, '0'));
  };
}
