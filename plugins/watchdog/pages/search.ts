/** Monitors for the search, by source and name. A source in full leads to its monitor. */
import type { SearchProvider } from '../../../ports/domain/search.js';
import { callerOf } from '../model/caller.js';
import type { WatchdogServices } from '../services.js';

const NEW = ['add', 'create'];

const hrefOf = (source: string): string => `/monitors/${encodeURIComponent(source)}`;

export const monitorSearch = ({ status }: Pick<WatchdogServices, 'status'>): SearchProvider => ({
  label: 'Monitors',
  icon: 'monitor',
  order: 20,
  role: 'member',
  find: async ({ text, limit, principal }) => {
    const { docs } = await status.page({ q: text, limit }, callerOf(principal));
    return docs.map(({ source, name, state }) => ({
      title: name ?? source,
      href: hrefOf(source),
      detail: name === null ? null : source,
      state,
    }));
  },
  exact: async ({ text, principal }) => {
    const { docs } = await status.page({ source: [text], limit: 1 }, callerOf(principal));
    return docs[0] === undefined ? null : hrefOf(docs[0].source);
  },
  acts: [
    { verb: 'New', also: NEW, noun: 'monitor', nouns: ['heartbeat'], href: '/monitors/new' },
    {
      verb: 'New',
      also: [...NEW, 'plan', 'schedule'],
      noun: 'maintenance window',
      nouns: ['silence', 'downtime'],
      href: '/maintenance/new',
    },
    {
      verb: 'Silence',
      also: ['mute', 'pause', 'maintenance'],
      on: async ({ text, limit, principal }) => {
        const caller = callerOf(principal);
        const [named, alike] = await Promise.all([
          status.page({ source: [text], limit: 1 }, caller),
          status.page({ q: text, limit }, caller),
        ]);
        const docs = named.docs.length > 0 ? named.docs : alike.docs;
        return docs.map(({ source, state }) => ({ title: source, href: `${hrefOf(source)}#silence-reason`, state }));
      },
    },
  ],
  more: (text) => `/monitors?${new URLSearchParams({ q: text }).toString()}`,
});
