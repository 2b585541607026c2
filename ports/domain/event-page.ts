type Data = Readonly<Record<string, unknown>>;

const buildPath = (path: string, name: unknown): string | null =>
  typeof name === 'string' ? `${path}/${encodeURIComponent(name)}` : null;

const buildItemPath = ({ ref }: Data): string | null => buildPath('/bugs', ref);

function buildReleasesPath({ product, channel, platform }: Data): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ product, channel, platform }))
    if (typeof value === 'string') query.set(name, value);
  return `/releases?${query.toString()}`;
}

const PAGES: ReadonlyMap<string, (data: Data) => string | null> = new Map([
  ['bug', buildItemPath],
  ['feature', buildItemPath],
  ['error', buildItemPath],
  ['agent', buildItemPath],
  ['monitor', ({ source }: Data) => buildPath('/monitors', source)],
  ['release', buildReleasesPath],
  ['license', ({ id }: Data) => buildPath('/licenses', id)],
  ['channel', ({ id }: Data) => buildPath('/notifications', id)],
  ['webhook', ({ id, webhook_id }: Data) => buildPath('/webhooks', id ?? webhook_id)],
]);

/** Returns the path of an event's page; null for events whose data may hold a foreign `url`. */
export function getEventPage(event: string, data: unknown): string | null {
  const page = PAGES.get(event.slice(0, event.indexOf('.')));
  return page === undefined || typeof data !== 'object' || data === null ? null : page(data as Data);
}
