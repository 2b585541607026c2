/** By name, never by URL, which members see only partly (contract 10, roles). */
import type { SearchProvider } from '../../../ports/domain/search.js';
import type { WebhookService } from '../administration/webhook-service.js';

/** Only the newest are searched. */
const MAX_SEARCHED_WEBHOOKS = 200;

export const createWebhookSearch = (registry: Pick<WebhookService, 'listPage'>): SearchProvider => ({
  label: 'Webhooks',
  icon: 'webhook',
  order: 60,
  role: 'member',
  acts: [
    { verb: 'New', also: ['add', 'create'], noun: 'webhook', nouns: ['hook'], href: '/webhooks/new', role: 'admin' },
  ],
  find: async ({ words, limit, principal }) => {
    const { items } = await registry.listPage(principal, { limit: MAX_SEARCHED_WEBHOOKS });
    const found = items.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
    return found.slice(0, limit).map(({ id, name, enabled }) => ({
      title: name,
      href: `/webhooks/${id}`,
      state: enabled ? null : 'disabled',
    }));
  },
});
