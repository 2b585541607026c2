import { invalid } from '../../../kernel/contract/index.js';
import type { Cipher } from '../../../ports/cipher.js';
import type { EgressPolicy, Outbound } from '../../../ports/outbound.js';
import { ALL_EVENTS, type Channel, type ChannelDestination } from './channel.js';
import type { ChannelInput } from './channel-fields.js';
import { CHANNEL_KINDS, type ChannelKind, type KindField } from './channel-kinds.js';

const ENCRYPTION_PURPOSE = 'notifications.channel';
const ADDRESSES_PATTERN = /^[^\s@,]+@[^\s@,]+(\s*,\s*[^\s@,]+@[^\s@,]+)*$/;

export type StoredChannelSettings = Pick<
  Channel,
  | 'name'
  | 'kind'
  | 'enabled'
  | 'target'
  | 'secret'
  | 'server'
  | 'headers'
  | 'template'
  | 'events'
  | 'min_severity'
  | 'monitors'
  | 'tags'
  | 'projects'
  | 'repeat_minutes'
  | 'flap_minutes'
  | 'quiet'
  | 'timezone'
  | 'critical_immediately'
  | 'digest_minutes'
>;

const DEFAULTS = {
  enabled: true,
  target: '',
  secret: null,
  server: null,
  headers: null,
  template: null,
  events: [ALL_EVENTS],
  min_severity: 'low',
  monitors: [],
  tags: [],
  projects: [],
  repeat_minutes: 0,
  flap_minutes: 0,
  quiet: null,
  timezone: null,
  critical_immediately: true,
  digest_minutes: 0,
} satisfies Omit<StoredChannelSettings, 'name' | 'kind'>;

const UNCHANGED_FIELDS = [
  'name',
  'enabled',
  'events',
  'min_severity',
  'monitors',
  'tags',
  'projects',
  'repeat_minutes',
  'flap_minutes',
  'timezone',
  'critical_immediately',
  'digest_minutes',
] as const;

export interface SettingsDeps {
  cipher: Cipher;
  outbound: Outbound;
  policy: EgressPolicy;
  kinds: readonly ChannelKind[];
  timezone: string;
}

export class ChannelSettingsBuilder {
  constructor(private readonly parts: SettingsDeps) {}

  decryptDestination({ kind, target, secret, server, headers, template }: Channel): ChannelDestination {
    const { cipher } = this.parts;
    const preset = CHANNEL_KINDS[kind].server?.presence;
    return {
      target: target === '' ? '' : cipher.open(target, ENCRYPTION_PURPOSE),
      secret: secret === null ? null : cipher.open(secret, ENCRYPTION_PURPOSE),
      server: server ?? (typeof preset === 'object' ? preset.default : ''),
      headers: headers ? (JSON.parse(cipher.open(headers, ENCRYPTION_PURPOSE)) as Record<string, string>) : {},
      template: template ?? null,
    };
  }

  /**
   * @param before null when new
   * @throws ServiceError validation_failed
   */
  build(input: ChannelInput, before: Channel | null): StoredChannelSettings {
    const kind = before?.kind ?? input.kind;
    if (kind === undefined) throw invalid({ kind: 'is required' });
    if (!this.parts.kinds.includes(kind))
      throw invalid({ kind: 'e-mail is not configured: set notifications.smtp_host' });
    if (before !== null && input.kind !== undefined && input.kind !== kind)
      throw invalid({ kind: 'cannot be changed; create another channel' });
    const base: StoredChannelSettings = {
      ...DEFAULTS,
      name: '',
      kind,
      ...(before === null ? {} : pickSettings(before)),
    };
    const plain = Object.fromEntries(
      UNCHANGED_FIELDS.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]),
    );
    const settings = {
      ...base,
      ...plain,
      ...this.#resolveAddress(kind, input, before),
      quiet: this.#resolveQuiet(input, before),
    };
    if (settings.events.length === 0) throw invalid({ events: 'must contain at least one event, or be *' });
    return settings;
  }

  #resolveQuiet({ quiet_from, quiet_to, timezone }: ChannelInput, before: Channel | null): Channel['quiet'] {
    const from = quiet_from === undefined ? (before?.quiet?.from ?? null) : quiet_from;
    const to = quiet_to === undefined ? (before?.quiet?.to ?? null) : quiet_to;
    if (from === null && to === null) return null;
    if (from === null) throw invalid({ quiet_from: 'is missing: quiet hours require a start and an end' });
    if (to === null) throw invalid({ quiet_to: 'is missing: quiet hours require a start and an end' });
    const zone = timezone === undefined ? before?.timezone : timezone;
    return { from, to, timezone: zone ?? this.parts.timezone };
  }

  #resolveAddress(
    kind: ChannelKind,
    input: ChannelInput,
    before: Channel | null,
  ): Pick<StoredChannelSettings, 'target' | 'secret' | 'server' | 'headers' | 'template'> {
    const { cipher } = this.parts;
    const spec = CHANNEL_KINDS[kind];
    const stored = before === null ? null : this.decryptDestination(before);
    const target = this.#resolveValue('target', spec.target, input.target, stored?.target ?? null);
    if (target !== null && spec.target !== undefined) this.#validateTarget(kind, target);
    const secret = this.#resolveValue('secret', spec.secret, input.secret, stored?.secret ?? null);
    const server = this.#resolveValue('server', spec.server, input.server, before?.server ?? null);
    if (server !== null) this.#validateUrl('server', server);
    const custom: KindField | undefined =
      spec.custom === true ? { label: '', help: '', presence: 'optional' } : undefined;
    const given = input.headers === undefined || input.headers === null ? input.headers : JSON.stringify(input.headers);
    const storedHeaders = before?.headers ? JSON.stringify(stored?.headers) : null;
    const headers = this.#resolveValue('headers', custom, given, storedHeaders);
    const template = this.#resolveValue('template', custom, input.template, before?.template ?? null);
    const seal = (text: string | null): string | null => (text === null ? null : cipher.seal(text, ENCRYPTION_PURPOSE));
    return { target: seal(target) ?? '', secret: seal(secret), server, headers: seal(headers), template };
  }

  #resolveValue(
    name: keyof ChannelInput,
    spec: KindField | undefined,
    given: string | null | undefined,
    stored: string | null,
  ): string | null {
    const value = given === undefined ? stored : given;
    if (spec === undefined) {
      if (given !== undefined && given !== null && given !== '') throw invalid({ [name]: 'is not used by this kind' });
      return null;
    }
    if (value !== null && value !== '') return value;
    if (spec.presence === 'required') throw invalid({ [name]: `is required: ${spec.label}` });
    return null;
  }

  #validateTarget(kind: ChannelKind, target: string): void {
    const { format, pattern, mistake } = CHANNEL_KINDS[kind].target ?? { format: 'text' };
    if (format === 'url') this.#validateUrl('target', target);
    else if (format === 'emails' && !ADDRESSES_PATTERN.test(target))
      throw invalid({ target: 'must be e-mail addresses, separated by commas' });
    else if (pattern !== undefined && !pattern.test(target)) throw invalid({ target: mistake ?? 'is not valid' });
  }

  #validateUrl(name: string, url: string): void {
    const { outbound, policy } = this.parts;
    const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (!isWeb) throw invalid({ [name]: 'must be an http or https address' });
    const refusal = outbound.checkUrl(url, policy);
    if (refusal !== null) throw invalid({ [name]: refusal });
  }
}

const pickSettings = (channel: Channel): StoredChannelSettings => {
  const names = [...Object.keys(DEFAULTS), 'name', 'kind'] as (keyof StoredChannelSettings)[];
  return Object.fromEntries(names.map((name) => [name, channel[name]])) as unknown as StoredChannelSettings;
};
