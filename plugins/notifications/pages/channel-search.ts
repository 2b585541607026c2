/** By name, never by address, for administrators. */
import type { SearchProvider } from '../../../ports/domain/search.js';
import type { ChannelService } from '../channels/channel-service.js';

export const createChannelSearch = (channels: Pick<ChannelService, 'list'>): SearchProvider => ({
  label: 'Channels',
  icon: 'send',
  order: 65,
  role: 'admin',
  acts: [
    {
      verb: 'New',
      also: ['add', 'create'],
      noun: 'channel',
      nouns: ['notification', 'mail', 'email', 'chat', 'slack'],
      href: '/notifications/new',
    },
  ],
  find: async ({ words, limit }) => {
    const found = (await channels.list()).filter(({ name }) =>
      words.every((word) => name.toLowerCase().includes(word)),
    );
    return found.slice(0, limit).map(({ id, name, kind }) => ({
      title: name,
      href: `/notifications/${id}`,
      detail: kind,
    }));
  },
});
