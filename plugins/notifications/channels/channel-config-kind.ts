/** Notification channels in a configuration document (contract 97, apply). */
import { listProjectReferences, type ConfigKind } from '../../../ports/domain/config/kinds.js';
import type { Channel } from './channel.js';
import { createBody, type ChannelInput } from './channel-fields.js';
import { CHANNEL_KINDS, type ChannelKind } from './channel-kinds.js';
import type { ChannelService } from './channel-service.js';

const isTargetSecret = (kind: unknown): boolean =>
  kind === 'pushover' || CHANNEL_KINDS[kind as ChannelKind]?.target?.format === 'url';

export const createChannelKind = (channels: ChannelService): ConfigKind => {
  const stored = new WeakMap<object, Channel>();
  return {
    kind: 'channels',
    order: 50,
    schema: createBody,
    nameFields: ['name'],
    getName: ({ name }) => String(name),
    listSecrets: ({ kind }) => ['secret', 'headers', ...(isTargetSecret(kind) ? ['target'] : [])],
    listReferences: (fields) => listProjectReferences(fields, 'projects'),
    list: async (principal) =>
      (await channels.list(principal)).map((channel) => {
        const { target, secret, headers } = channels.decryptDestination(channel);
        const { quiet_from, quiet_to } = channels.toView(channel);
        const fields = {
          ...channel,
          target: target === '' ? null : target,
          secret,
          headers: channel.headers === null ? null : headers,
          quiet_from,
          quiet_to,
        };
        stored.set(fields, channel);
        return { id: channel.id, name: channel.name, managed: channel.managed === true, fields };
      }),
    normalize: async (principal, fields, before) => {
      channels.check(principal, fields, (before && stored.get(before.fields)) ?? null);
      return { ...fields, name: String(fields['name']).trim() };
    },
    create: async (principal, fields) => {
      await channels.create(principal, { ...(fields as ChannelInput), managed: true });
      return [];
    },
    update: async (principal, { id }, changed) => void (await channels.change(principal, id, changed)),
    delete: (principal, { id }) => channels.remove(principal, id),
  };
};
