/**
 * Who and what is in the story: names as long, and errors as alike, as they are in real companies.
 * Pure.
 */

export interface Cast {
  slug: string;
  name: string;
}

export const PROJECTS: readonly Cast[] = [
  { slug: 'shop', name: 'Online shop' },
  { slug: 'warehouse', name: 'Warehouse, stock movements and goods receipt of all branches in Central Europe' },
  { slug: 'billing', name: 'Billing' },
  { slug: 'mobile-courier', name: 'Mobile application for customers and couriers (iOS and Android)' },
  { slug: 'legacy-import', name: 'Nightly import from the old merchandise management system' },
];

const CLASSES = [
  'TypeError',
  'ValidationError',
  'PaymentDeclinedError',
  'java.sql.SQLTransientConnectionException',
  'System.NullReferenceException',
  'requests.exceptions.ConnectionError',
  'OrderNotFoundError',
  'ConcurrencyError',
];
const WHAT = [
  'Cannot read properties of undefined (reading the price)',
  'The voucher is not valid for this cart',
  'The connection was closed while the answer was read',
  'The document was changed by somebody else',
  'Expected a number, got a text',
  'The partner answered nothing within the time that was agreed',
  'No stock is left at the branch',
  'The address could not be geocoded',
];
const WHERE = [
  'basket/total.ts',
  'orders/checkout.ts',
  'stock/movement.cs',
  'invoices/dunning.py',
  'routes/planner.java',
  'import/articles.php',
  'session/store.js',
  'http/partner-api.ts',
];
const WORDS = (
  'amber anchor aspen badger birch cedar cobalt coral crane delta ember falcon fern garnet hazel heron indigo iris jade ' +
  'kelp larch lotus maple marten nectar ocean olive onyx otter pearl pine quartz raven river robin saffron sage'
).split(' ');

const pick = <T>(list: readonly T[], i: number): T => list[i % list.length] as T;

/** Two words for each number below 1,369, another pair for each. */
export const pair = (i: number): string => `${pick(WORDS, Math.floor(i / WORDS.length))}-${pick(WORDS, i)}`;

/** The `i`th error of everyday life. */
export function everyday(i: number): Record<string, unknown> {
  const where = pick(WHERE, i * 5 + Math.floor(i / 8));
  const kind = pick(CLASSES, i * 3 + Math.floor(i / 64));
  const message = `${pick(WHAT, i + Math.floor(i / 8))} (${pair(i)})`;
  return {
    project: pick(PROJECTS, i * 7 + Math.floor(i / 5)).slug,
    error_level: i % 41 === 0 ? 'fatal' : i % 6 === 0 ? 'warning' : 'error',
    exception_class: kind,
    error_message: message,
    file_path: `src/${where}`,
    line_no: 17 + (i % 180),
    stack_trace: stackOf(kind, message, where, 17 + (i % 180)),
    environment: i % 9 === 0 ? 'staging' : 'production',
    app_version: `2.${3 + (i % 2)}.${i % 5}`,
    host: `app-${1 + (i % 6)}.example`,
    tags: pick([['checkout'], ['partner', 'retry'], [], ['night-run']], i),
    context: { order: { number: `A-${i}`, lines: 1 + (i % 4) }, branch: pick(['Graz', 'Linz', 'Brno', 'Győr'], i) },
  };
}

/** One of the flood of last night: one cause, and a group for every key that was asked for. */
export function flooded(i: number): Record<string, unknown> {
  const message = `Command timed out: GET session:${pair(i)}`;
  return {
    project: 'warehouse',
    error_level: 'fatal',
    exception_class: 'RedisTimeoutError',
    error_message: message,
    file_path: 'src/lib/redis.js',
    line_no: 88,
    stack_trace: stackOf('RedisTimeoutError', message, 'lib/redis.js', 88),
    environment: 'production',
    app_version: '2.4.1',
    host: 'wh-queue-2.example',
    tags: ['redis'],
  };
}

const stackOf = (kind: string, message: string, where: string, line: number): string =>
  [
    `${kind}: ${message}`,
    `    at ${where.split('/')[0]}Step (/srv/app/src/${where}:${line}:27)`,
    '    at handle (/srv/app/src/http/handler.ts:63:5)',
    '    at Layer.handle (/srv/app/node_modules/express/lib/router/layer.js:95:5)',
    '    at next (/srv/app/node_modules/express/lib/router/route.js:149:13)',
    '    at serve (/srv/app/src/serve.ts:31:4)',
  ].join('\n');

export interface Machine {
  source: string;
  name: string | null;
  project: string | null;
  parent: string | null;
  /** When it was down, [from, to] in hours before now; to 0: it still is, and silent. */
  down: readonly (readonly [number, number])[];
  /** The check that fails since so many hours. */
  failing?: { check: string; message: string; hours: number };
}

const machine = (
  source: string,
  name: string | null,
  project: string | null,
  parent: string | null,
  down: Machine['down'] = [],
): Machine => ({ source, name, project, parent, down });

/** Seventeen, of which the first is the root of most. */
export const MACHINES: readonly Machine[] = [
  machine('gateway-graz', 'Gateway in Graz', null, null),
  machine('db-main', 'Database, primary', 'shop', 'gateway-graz', [[131.5, 130]]),
  machine('db-replica', 'Database, replica', 'shop', 'db-main', [[131, 128.5]]),
  machine('web-1/agent', 'Web server 1', 'shop', 'gateway-graz', [[40, 39]]),
  machine('web-2/agent', 'Web server 2', 'shop', 'gateway-graz', [
    [14, 13.5],
    [15.5, 15],
  ]),
  machine('web-3/agent', 'Web server 3', 'shop', 'gateway-graz'),
  {
    ...machine('queue@warehouse', 'Message queue of the warehouse', 'warehouse', 'gateway-graz'),
    failing: { check: 'redis', message: 'No answer to PING within 5 s', hours: 9 },
  },
  machine('warehouse-router', 'Router of the warehouse in Linz', 'warehouse', null, [
    [200, 197],
    [3.2, 0],
  ]),
  machine('scanner-gate-1', 'Scanner at gate 1', 'warehouse', 'warehouse-router', [[3.2, 0]]),
  machine('scanner-gate-2', 'Scanner at gate 2', 'warehouse', 'warehouse-router', [[3.2, 0]]),
  machine('label-printer', 'Label printer beside the packing table of the returns department', 'warehouse', null, [
    [75, 51],
  ]),
  machine('billing-worker', 'Invoices and dunning', 'billing', 'db-main'),
  machine('billing-nightly', 'Nightly closing of accounts', 'billing', 'billing-worker'),
  machine('push-service', 'Push messages', 'mobile-courier', 'gateway-graz', [[260, 255]]),
  machine('courier-api', 'Interface of the courier application', 'mobile-courier', 'gateway-graz', [[2.7, 0]]),
  machine('import-runner', 'Import from merchandise management', 'legacy-import', null, [
    [21, 20],
    [93, 91.5],
    [165, 164],
    [237, 230],
  ]),
  machine('backup', null, null, 'gateway-graz', [[310, 290]]),
];

/** What a machine measures: quiet at night, restless by day, each a little different. */
export function metricsOf(i: number, at: number): Record<string, number> {
  const hour = ((at / 3_600_000) % 24) + i;
  const day = 0.5 - 0.5 * Math.cos((2 * Math.PI * hour) / 24);
  const noise = Math.abs(Math.sin(at / 7e5 + i * 13) * Math.cos(at / 31e5 + i));
  const round = (value: number): number => Math.round(value * 100) / 100;
  return {
    cpu: round(8 + 50 * day + 20 * noise),
    memory: round(42 + (i % 5) * 6 + 5 * noise),
    disk: round(40 + (i % 7) * 7 + ((at / 86_400_000) % 14) * 0.4),
    response_ms: round(35 + 120 * day * noise + i * 3),
    ...(i % 3 === 0 && { queue_length: Math.round(90 * day * noise) }),
  };
}
