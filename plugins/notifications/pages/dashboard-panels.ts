import { View, type Clock, type PanelSpec } from '../../../kernel/contract/index.js';
import { HOUR_MS, toIsoString } from '../../../lib/time.js';
import type { Channel } from '../channels/channel.js';
import type { ChannelService } from '../channels/channel-service.js';

export function buildNotificationPanels(
  channels: Pick<ChannelService, 'list'>,
  clock: Pick<Clock, 'now'>,
): PanelSpec[] {
  return [
    {
      id: 'notifications.disabled',
      kind: 'attention',
      order: 35,
      load: async ({ role }) => {
        if (role !== 'admin') return null;
        const anHourAgo = toIsoString(clock.now() - HOUR_MS);
        const isFailing = ({ enabled, failing_since }: Channel): boolean =>
          enabled && failing_since !== null && failing_since <= anHourAgo;
        const all = await channels.list();
        const items = all
          .filter((one) => (!one.enabled && one.disabled_reason !== null) || isFailing(one))
          .map(({ id, name, disabled_reason, last_error }) => ({
            id,
            name,
            reason: disabled_reason ?? `No message was delivered for over an hour. ${last_error ?? ''}`,
          }));
        return items.length === 0 ? null : new View('panel-disabled', { items, count: items.length });
      },
    },
  ];
}
