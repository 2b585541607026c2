import type { IntegrationProvider } from '../../../ports/domain/alarms/integrations.js';
import type { WebhookDeps } from '../deps.js';

export const createWebhookIntegration = ({ webhooks }: Pick<WebhookDeps, 'webhooks'>): IntegrationProvider => ({
  order: 20,
  loadIntegrations: async () => {
    const [all, broken] = await Promise.all([webhooks.count({}), webhooks.count({ disabled_at: { gt: '' } })]);
    const count = `${all} ${all === 1 ? 'webhook' : 'webhooks'}`;
    return [
      {
        name: 'Webhooks',
        text: 'Signed events for your own systems',
        state: all === 0 ? null : broken > 0 ? `${count}, ${broken} disabled` : count,
        isFailing: broken > 0,
        href: all === 0 ? '/webhooks/new' : '/webhooks',
        action: all === 0 ? 'Connect' : 'Manage',
      },
    ];
  },
});
