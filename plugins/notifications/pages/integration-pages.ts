import { View, type PageSpec } from '../../../kernel/contract/index.js';
import type { Integration, IntegrationProvider } from '../../../ports/domain/alarms/integrations.js';
import type { Channel } from '../channels/channel.js';
import { CHANNEL_KIND_NAMES, CHANNEL_KINDS, type ChannelKind } from '../channels/channel-kinds.js';
import type { ChannelService } from '../channels/channel-service.js';
import { SMTP_SETTINGS } from './channel-editor.js';

const access = { session: 'admin' } as const;
const title = 'Integrations';
const FIRST_KINDS: readonly ChannelKind[] = ['slack', 'teams', 'email', 'ntfy'];

export interface IntegrationPageServices {
  channels: Pick<ChannelService, 'list'>;
  kinds: readonly ChannelKind[];
  providers: () => readonly IntegrationProvider[];
}

function toIntegration(
  kind: ChannelKind,
  all: readonly Channel[],
  kinds: readonly ChannelKind[],
): Integration & { settings: readonly string[] } {
  const own = all.filter((channel) => channel.kind === kind);
  const failing = own.filter(
    ({ disabled_reason, failing_since }) => disabled_reason !== null || failing_since !== null,
  );
  const [only] = own;
  const count = `${own.length} ${own.length === 1 ? 'channel' : 'channels'}`;
  return {
    name: CHANNEL_KINDS[kind].label,
    text: CHANNEL_KINDS[kind].description,
    state: own.length === 0 ? null : failing.length > 0 ? `${count}, ${failing.length} failing` : count,
    isFailing: failing.length > 0,
    settings: kinds.includes(kind) ? [] : SMTP_SETTINGS,
    href:
      own.length === 1 && only
        ? `/notifications/${only.id}`
        : own.length > 1
          ? '/notifications'
          : `/notifications/new?kind=${kind}`,
    action: own.length === 0 ? 'Connect' : 'Manage',
  };
}

export function buildIntegrationPages({ channels, kinds, providers }: IntegrationPageServices): PageSpec[] {
  return [
    {
      path: '/integrations',
      title,
      nav: {
        section: 'administration',
        group: 'alerts',
        label: title,
        icon: 'link',
        order: 5,
        also: ['slack', 'teams', 'github', 'gitlab', 'e-mail', 'ntfy', 'connect'],
      },
      access,
      handle: async () => {
        const all = await channels.list();
        const sorted = providers().toSorted((a, b) => a.order - b.order);
        const others = await Promise.all(sorted.map((provider) => provider.loadIntegrations()));
        const used = CHANNEL_KIND_NAMES.filter((kind) => !FIRST_KINDS.includes(kind));
        return new View('integrations', {
          groups: [
            { heading: 'Alerts', items: FIRST_KINDS.map((kind) => toIntegration(kind, all, kinds)) },
            { heading: 'Code and systems', items: others.flat() },
            { heading: 'More channels', items: used.map((kind) => toIntegration(kind, all, kinds)) },
          ].filter(({ items }) => items.length > 0),
        });
      },
    },
  ];
}
