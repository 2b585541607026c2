/** Callers check the scope; a project token manages only channels of its project. */
import {
  denied,
  notFound,
  type Clock,
  type Collection,
  type Ids,
  type Principal,
} from '../../../kernel/contract/index.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import { collectAll } from '../../../lib/paging.js';
import { toIsoString } from '../../../lib/time.js';
import type { StoredNotification } from '../notes/stored-notification.js';
import { maskTarget, type Channel, type ChannelDestination } from './channel.js';
import type { ChannelCache } from './channel-cache.js';
import type { ChannelInput } from './channel-fields.js';
import type { ChannelSettingsBuilder } from './channel-settings.js';
import { getQuietEnd } from './quiet-hours.js';

export interface ChannelView extends Omit<
  Channel,
  'target' | 'secret' | 'headers' | 'lease_by' | 'lease_until' | 'next_at' | 'quiet' | 'disabled_event'
> {
  target: string | null;
  has_secret: boolean;
  header_names: string[];
  quiet_from: string | null;
  quiet_to: string | null;
}

const RESOURCE_NAME = 'channel';

export interface ChannelServiceDeps {
  channels: Collection<Channel>;
  directory: ChannelCache;
  settings: ChannelSettingsBuilder;
  notes: Collection<StoredNotification>;
  clock: Clock;
  ids: Ids;
  audit: AuditLog;
  wake: (channelId: string) => void;
}

const getBoundProject = (principal: Principal): string | null =>
  principal.kind === 'token' ? principal.project : null;

/** A token of `project` may manage it. */
const isWithinProject = ({ projects }: Pick<Channel, 'projects'>, project: string | null): boolean =>
  project === null || (projects.length === 1 && projects[0] === project);

const getCallerName = (principal: Principal): string => {
  if (principal.kind === 'session') return principal.username;
  return principal.kind === 'token' ? principal.name : principal.kind;
};

export class ChannelService {
  constructor(private readonly parts: ChannelServiceDeps) {}

  async list(principal: Principal | null = null): Promise<Channel[]> {
    const found = await collectAll(this.parts.channels, { sort: [['name', 'asc']], limit: 200 });
    return principal === null ? found : found.filter((channel) => isWithinProject(channel, getBoundProject(principal)));
  }

  listPage(
    principal: Principal,
    limit: number,
    after: string | null,
  ): Promise<{ items: Channel[]; next: string | null }> {
    const project = getBoundProject(principal);
    const filter = project === null ? {} : { projects: { has: project } };
    return this.parts.channels.find({ filter, sort: [['name', 'asc']], limit, after }).then(({ items, next }) => ({
      items: items.filter((channel) => isWithinProject(channel, project)),
      next,
    }));
  }

  /** @throws ServiceError not_found */
  async getChannel(principal: Principal, id: string): Promise<Channel> {
    const channel = await this.parts.channels.get(id);
    if (channel === null || !isWithinProject(channel, getBoundProject(principal))) throw notFound(RESOURCE_NAME);
    return channel;
  }

  toView(channel: Channel): ChannelView {
    const { target: _target, secret, headers, lease_by: _by, lease_until: _until, next_at: _next, ...rest } = channel;
    const { quiet, disabled_event: _event, ...shown } = rest;
    const opened = this.decryptDestination(channel);
    return {
      ...shown,
      target: opened.target === '' ? null : maskTarget(channel.kind, opened.target),
      has_secret: secret !== null,
      header_names: headers ? Object.keys(opened.headers) : [],
      quiet_from: quiet?.from ?? null,
      quiet_to: quiet?.to ?? null,
    };
  }

  decryptDestination(channel: Channel): ChannelDestination {
    return this.parts.settings.decryptDestination(channel);
  }

  /**
   * Checks fields without writing.
   * @throws ServiceError validation_failed, insufficient_scope
   */
  check(principal: Principal, input: ChannelInput, before: Channel | null): void {
    this.parts.settings.build(this.#applyScope(principal, input, before === null), before);
  }

  /**
   * Returns a channel that is not stored.
   * @throws ServiceError validation_failed, insufficient_scope
   */
  build(principal: Principal, input: ChannelInput): Channel {
    const { clock, ids, settings } = this.parts;
    const now = clock.iso();
    return {
      id: ids.uuid(),
      ...settings.build(this.#applyScope(principal, input, true), null),
      next_at: null,
      last_sent_at: null,
      last_error: null,
      failing_since: null,
      disabled_reason: null,
      disabled_at: null,
      lease_by: null,
      lease_until: null,
      ...(input.managed && { managed: input.managed }),
      created_at: now,
      created_by: getCallerName(principal),
      updated_at: now,
    };
  }

  /** @throws ServiceError validation_failed, insufficient_scope */
  async create(principal: Principal, input: ChannelInput): Promise<Channel> {
    return this.insert(principal, this.build(principal, input));
  }

  async insert(principal: Principal, channel: Channel): Promise<Channel> {
    const { channels, audit, directory } = this.parts;
    await channels.insert(channel);
    directory.invalidate();
    await audit.record(principal, 'channel.created', channel.name, { id: channel.id, kind: channel.kind });
    return channel;
  }

  /**
   * Enabling sends waiting notifications.
   * @throws ServiceError validation_failed, not_found
   */
  async change(principal: Principal, id: string, input: ChannelInput): Promise<Channel> {
    const { channels, clock, audit, directory, settings } = this.parts;
    const before = await this.getChannel(principal, id);
    const stored = settings.build(this.#applyScope(principal, input, false), before);
    const isEnabled = stored.enabled && !before.enabled;
    const set = {
      ...stored,
      updated_at: clock.iso(),
      ...(stored.enabled && { disabled_reason: null, disabled_at: null }),
      ...(isEnabled && { failing_since: null, last_error: null, next_at: null }),
    };
    const unset = stored.enabled ? ['disabled_event'] : [];
    const changed = await channels.change({ id }, { set: { ...set, quiet: set.quiet as never }, unset });
    if (changed === null) throw notFound(RESOURCE_NAME);
    directory.invalidate();
    await audit.record(principal, 'channel.changed', changed.doc.name, {
      id,
      enabled_before: before.enabled,
      enabled: stored.enabled,
      target: stored.target === before.target ? 'kept' : 'set',
    });
    if (isEnabled) await this.#scheduleWaiting(changed.doc);
    return changed.doc;
  }

  async recordTest(id: string): Promise<void> {
    const { channels, clock, directory } = this.parts;
    await channels.change({ id }, { set: { last_sent_at: clock.iso() } });
    directory.invalidate();
  }

  /** Sends at the end of quiet hours. */
  async #scheduleWaiting(channel: Channel): Promise<void> {
    const { notes, clock, wake } = this.parts;
    const now = clock.now();
    const filter = { channel_id: channel.id, state: 'waiting' };
    const set = { attempts: 0, first_attempt_at: null };
    await notes.changeMany(filter, { set: { ...set, send_at: toIsoString(getQuietEnd(now, channel.quiet)) } });
    if (channel.critical_immediately)
      await notes.changeMany({ ...filter, severity: 'critical' }, { set: { ...set, send_at: toIsoString(now) } });
    wake(channel.id);
  }

  /**
   * Deletes waiting notifications too.
   * @throws ServiceError not_found
   */
  async remove(principal: Principal, id: string): Promise<void> {
    const { channels, directory, notes, audit } = this.parts;
    const { name } = await this.getChannel(principal, id);
    await channels.remove({ id });
    directory.invalidate();
    await notes.remove({ channel_id: id });
    await audit.record(principal, 'channel.deleted', name, { id });
  }

  /** A channel only for it must not become unrestricted. */
  async removeProject(project: string): Promise<void> {
    const { channels, directory, clock } = this.parts;
    for (const channel of await collectAll(channels, { filter: { projects: { has: project } }, limit: 200 })) {
      const projects = channel.projects.filter((slug) => slug !== project);
      const disabled = {
        enabled: false,
        disabled_reason: `Its project ${project} was deleted.`,
        disabled_at: clock.iso(),
      };
      await channels.change({ id: channel.id }, { set: projects.length > 0 ? { projects } : disabled });
    }
    directory.invalidate();
  }

  listDeliveries(
    channelId: string,
    limit: number,
    after: string | null = null,
  ): Promise<{ items: StoredNotification[]; next: string | null }> {
    return this.parts.notes.find({ filter: { channel_id: channelId }, sort: [['at', 'desc']], limit, after });
  }

  countDeliveries(channelId: string): Promise<number> {
    return this.parts.notes.count({ channel_id: channelId });
  }

  countWaiting(channelId: string): Promise<number> {
    return this.parts.notes.count({ channel_id: channelId, state: { in: ['waiting', 'sending'] } });
  }

  /** @throws ServiceError insufficient_scope */
  #applyScope(principal: Principal, input: ChannelInput, isNew: boolean): ChannelInput {
    const project = getBoundProject(principal);
    if (project === null) return input;
    if (input.projects === undefined) return isNew ? { ...input, projects: [project] } : input;
    if (!isWithinProject({ projects: input.projects }, project))
      throw denied(`The token is limited to project ${project}.`);
    return input;
  }
}
