/** Channels and their rules: administration. Callers check who asks. */
import { invalid, notFound, type Clock, type Collection, type Ids, type Principal } from '../../../kernel/contract.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { Cipher } from '../../../ports/cipher.js';
import type { EgressPolicy, Outbound } from '../../../ports/outbound.js';
import { all } from '../../../lib/paging.js';
import type { StoredNote } from '../notes/stored-note.js';
import type { KnownRules } from '../rules/known-rules.js';
import type { NotificationRule, NotificationRuleFields } from '../rules/rule.js';
import { shownTarget, type Channel, type ChannelFields, type ChannelKind } from './channel.js';

/** A channel as a page shows it; the target's secret part is left out. */
export interface ChannelView extends Omit<Channel, 'target' | 'secret' | 'lease_by' | 'lease_until'> {
  target: string;
  has_secret: boolean;
}

const PURPOSE = 'notifications.channel';
const NOUN = 'channel';

export interface ChannelParts {
  channels: Collection<Channel>;
  rules: Collection<NotificationRule>;
  known: KnownRules;
  notes: Collection<StoredNote>;
  clock: Clock;
  ids: Ids;
  cipher: Cipher;
  outbound: Outbound;
  audit: AuditLog;
  policy: EgressPolicy;
  /** Kinds that the configuration allows. */
  kinds: readonly ChannelKind[];
}

export class Channels {
  constructor(private readonly parts: ChannelParts) {}

  list(): Promise<Channel[]> {
    const { channels } = this.parts;
    return all(channels, { sort: [['name', 'asc']], limit: 200 });
  }

  /** @throws ServiceError not_found */
  async need(id: string): Promise<Channel> {
    const channel = await this.parts.channels.get(id);
    if (channel === null) throw notFound(NOUN);
    return channel;
  }

  view(channel: Channel): ChannelView {
    const { target: _sealed, secret, lease_by: _by, lease_until: _until, ...rest } = channel;
    return { ...rest, target: shownTarget(channel.kind, this.open(channel).target), has_secret: secret !== null };
  }

  open(channel: Channel): { target: string; secret: string | null } {
    const { cipher } = this.parts;
    return {
      target: cipher.open(channel.target, PURPOSE),
      secret: channel.secret === null ? null : cipher.open(channel.secret, PURPOSE),
    };
  }

  /** @throws ServiceError validation_failed */
  async create(principal: Principal, fields: ChannelFields, createdBy: string): Promise<Channel> {
    const { channels, clock, ids, audit } = this.parts;
    const now = clock.iso();
    const channel: Channel = {
      id: ids.uuid(),
      ...this.#stored(fields, null),
      next_at: null,
      last_sent_at: null,
      last_error: null,
      failure_count: 0,
      disabled_reason: null,
      lease_by: null,
      lease_until: null,
      created_at: now,
      created_by: createdBy,
      updated_at: now,
    };
    await channels.insert(channel);
    await audit.record(principal, 'channel.created', channel.name, { id: channel.id, kind: channel.kind });
    return channel;
  }

  /** An empty target keeps the old one, which no page can show. @throws ServiceError validation_failed, not_found */
  async change(principal: Principal, id: string, fields: ChannelFields): Promise<Channel> {
    const { channels, clock, audit } = this.parts;
    const before = await this.need(id);
    const stored = this.#stored(fields, before);
    const set = {
      ...stored,
      updated_at: clock.iso(),
      ...(stored.enabled && { failure_count: 0, disabled_reason: null }),
    };
    const changed = await channels.change({ id }, { set: { ...set, quiet: set.quiet as never } });
    if (changed === null) throw notFound(NOUN);
    await audit.record(principal, 'channel.changed', fields.name, {
      id,
      enabled_before: before.enabled,
      enabled: stored.enabled,
      target: stored.target === before.target ? 'kept' : 'set',
    });
    return changed.doc;
  }

  /** With its rules and what waits. @throws ServiceError not_found */
  async remove(principal: Principal, id: string): Promise<void> {
    const { channels, rules, known, notes, audit } = this.parts;
    const { name } = await this.need(id);
    await channels.remove({ id });
    await rules.remove({ channel_id: id });
    known.changed();
    await notes.remove({ channel_id: id });
    await audit.record(principal, 'channel.deleted', name, { id });
  }

  rules(channelId: string): Promise<NotificationRule[]> {
    const { rules } = this.parts;
    return all(rules, { filter: { channel_id: channelId }, limit: 200 });
  }

  /** @throws ServiceError not_found */
  async addRule(principal: Principal, channelId: string, fields: NotificationRuleFields): Promise<void> {
    const { rules, known, ids, clock, audit } = this.parts;
    const { name } = await this.need(channelId);
    await rules.insert({ id: ids.uuid(), channel_id: channelId, ...fields, created_at: clock.iso() });
    known.changed();
    await audit.record(principal, 'channel.rule_added', name, {
      project: fields.project,
      topics: fields.topics.join(', '),
      least_severity: fields.least_severity,
    });
  }

  /** @throws ServiceError not_found */
  async removeRule(principal: Principal, channelId: string, ruleId: string): Promise<void> {
    const { rules, known, audit } = this.parts;
    const { name } = await this.need(channelId);
    if ((await rules.remove({ id: ruleId, channel_id: channelId })) === 0) throw notFound('rule');
    known.changed();
    await audit.record(principal, 'channel.rule_removed', name, { rule: ruleId });
  }

  /** The newest notes of a channel. */
  async recent(channelId: string): Promise<StoredNote[]> {
    const { notes } = this.parts;
    return (await notes.find({ filter: { channel_id: channelId }, sort: [['at', 'desc']], limit: 50 })).items;
  }

  #stored(fields: ChannelFields, before: Channel | null): Pick<Channel, StoredField> {
    const { cipher, outbound, policy, kinds } = this.parts;
    const { name, kind, target, secret, quiet_from, quiet_to, timezone, urgent_at_once, digest_minutes, enabled } =
      fields;
    if (!kinds.includes(kind)) throw invalid({ kind: 'E-mail is not configured: set notifications.smtp_host.' });
    if (before !== null && before.kind !== kind)
      throw invalid({ kind: 'The kind of a channel stays; make another channel.' });
    if ((quiet_from === null) !== (quiet_to === null))
      throw invalid({ quiet_to: 'Say when the quiet begins and when it ends.' });
    const refused = kind === 'email' ? null : outbound.judge(target, policy);
    if (refused !== null) throw invalid({ target: refused });
    const kept = before !== null && this.open(before).target === target;
    return {
      name,
      kind,
      enabled,
      target: kept ? before.target : cipher.seal(target, PURPOSE),
      secret: secret === null ? (before?.secret ?? null) : cipher.seal(secret, PURPOSE),
      quiet: quiet_from === null || quiet_to === null ? null : { from: quiet_from, to: quiet_to, timezone },
      urgent_at_once,
      digest_minutes,
    };
  }
}

type StoredField = 'name' | 'kind' | 'enabled' | 'target' | 'secret' | 'quiet' | 'urgent_at_once' | 'digest_minutes';
