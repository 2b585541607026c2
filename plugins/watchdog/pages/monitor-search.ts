import type { SearchProvider } from '../../../ports/domain/search.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { WatchdogServices } from '../services.js';

const CREATE_KEYWORDS = ['add', 'create'];

const getMonitorHref = (source: string): string => `/monitors/${encodeURIComponent(source)}`;

export const createMonitorSearch = ({ status }: Pick<WatchdogServices, 'status'>): SearchProvider => ({
  label: 'Monitors',
  icon: 'monitor',
  order: 20,
  role: 'member',
  find: async ({ text, limit, principal }) => {
    const { docs } = await status.listPage({ q: text, limit }, toWatchdogCaller(principal));
    return docs.map(({ source, name, state }) => ({
      title: name ?? source,
      href: getMonitorHref(source),
      detail: name === null ? null : source,
      state,
    }));
  },
  findExact: async ({ text, principal }) => {
    const { docs } = await status.listPage({ source: [text], limit: 1 }, toWatchdogCaller(principal));
    return docs[0] === undefined ? null : getMonitorHref(docs[0].source);
  },
  acts: [
    { verb: 'New', also: CREATE_KEYWORDS, noun: 'monitor', nouns: ['heartbeat'], href: '/monitors/new' },
    {
      verb: 'New',
      also: [...CREATE_KEYWORDS, 'plan', 'schedule'],
      noun: 'maintenance window',
      nouns: ['silence', 'downtime'],
      href: '/maintenance/new',
    },
    {
      verb: 'Silence',
      also: ['mute', 'pause', 'maintenance'],
      on: async ({ text, limit, principal }) => {
        const caller = toWatchdogCaller(principal);
        const [named, alike] = await Promise.all([
          status.listPage({ source: [text], limit: 1 }, caller),
          status.listPage({ q: text, limit }, caller),
        ]);
        const docs = named.docs.length > 0 ? named.docs : alike.docs;
        return docs.map(({ source, state }) => ({
          title: source,
          href: `${getMonitorHref(source)}#silence-reason`,
          state,
        }));
      },
    },
  ],
  getListHref: (text) => `/monitors?${new URLSearchParams({ q: text }).toString()}`,
});
