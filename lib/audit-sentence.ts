import { capitalize } from './sentence.js';

const AUDIT_PHRASES: Readonly<Record<string, string>> = {
  'access_files.regenerated': 'Regenerated access files',
  'incident.explained': 'Set root cause of incident',
  'invitation.created': 'Invited member',
  'invitation.resent': 'Renewed invitation',
  'incident.handed_back': 'Unacknowledged incident',
  'license.bulk_created': 'Created licenses',
  'license.expiring': 'License expires soon',
  'license.expired': 'License expired',
  'license.extended': 'Changed license expiry',
  'license.file_issued': 'Issued license file',
  'license.key_sent': 'Sent license key',
  'license.key_shown': 'Revealed license key',
  'license.machine_pending': 'Machine requested approval',
  'license.machine_released': 'Deactivated machine',
  'license.machine_released_by_customer': 'Customer deactivated machine',
  'login.failed': 'Sign-in failed',
  'login.locked': 'Sign-in locked',
  'login.refused': 'Sign-in denied',
  'login.succeeded': 'Signed in',
  'migrations.applied': 'Applied migrations',
  'project.brand_changed': 'Changed branding',
  'project.forge_secret_made': 'Created repository webhook secret',
  'release.rollout': 'Changed rollout',
  'credential.refused': 'Credential denied',
  'csrf.refused': 'Form token denied',
  'scope.refused': 'Access denied',
  'status_page.subscriber_removed': 'Removed subscriber',
  'user.identity_linked': 'Linked provider account',
  'user.passkey_added': 'Added passkey',
  'user.passkey_removed': 'Removed passkey',
  'user.password_changed': 'Changed password',
  'user.profile_changed': 'Changed name or e-mail',
  'user.role_changed': 'Changed role',
  'user.role_kept': 'Kept role of last administrator',
  'user.totp_disabled': 'Disabled 2FA',
  'user.totp_enabled': 'Enabled 2FA',
  'user.totp_reset': 'Reset 2FA',
};

const NOUN_NAMES: Readonly<Record<string, string>> = {
  bug: 'issue',
  channel: 'alert channel',
  intake_key: 'intake key',
  request_rule: 'agent rule',
};

/**
 * Formats `token.revoked` as `Revoked token`, and `license.machine_blocked` as `Blocked machine`.
 */
export function formatAuditAction(action: string): string {
  const phrase = AUDIT_PHRASES[action];
  if (phrase !== undefined) return phrase;
  const [noun = '', ...rest] = action.split('.');
  const words = rest.join(' ').split('_');
  const verb = words.pop() ?? '';
  const object = words.length > 0 ? words.join(' ') : (NOUN_NAMES[noun] ?? noun.replaceAll('_', ' '));
  return verb === '' ? capitalize(object) : `${capitalize(verb)} ${object}`;
}

const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** Formats a recorded value: times without seconds, texts without underscores; null is `none`. */
export function formatAuditValue(field: string, value: string | number | boolean | null): string {
  if (value === null || value === '') return 'none';
  if (field === 'rollout_percent') return `${value} %`;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string' && /^[[{]/.test(value)) return formatJsonValue(value);
  if (typeof value === 'string' && TIME_PATTERN.test(value)) return `${value.slice(0, 10)} ${value.slice(11, 16)} UTC`;
  return String(value);
}

/** `modules: stock, labels; branches: 5` of a recorded JSON value. */
function formatJsonValue(text: string): string {
  try {
    return formatPlainJson(JSON.parse(text)) || 'none';
  } catch {
    return text;
  }
}

function formatPlainJson(value: unknown): string {
  if (Array.isArray(value)) return value.map(formatPlainJson).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}: ${formatPlainJson(inner)}`)
    .join('; ');
}

const FIELD_NAMES: Readonly<Record<string, string>> = {
  cache_ttl_hours: 'offline grace (hours)',
  client_ref: 'reference',
  expires_at: 'expiry',
  licensee: 'customer',
  max_activations: 'machine limit',
  parent_source: 'parent',
  product: 'project',
  require_approval: 'manual approval',
  rollout_percent: 'rollout',
  setup_scopes: 'installer permissions',
};

export const formatAuditField = (field: string): string => FIELD_NAMES[field] ?? field.replaceAll('_', ' ');

/** The parts of an audit entry that a sentence is made of. */
export interface AuditedAction {
  actor: string;
  action: string;
  details: Readonly<Record<string, string | number | boolean | null>>;
  before?: Readonly<Record<string, string | number | boolean | null>>;
  after?: Readonly<Record<string, string | number | boolean | null>>;
}

type SentenceFormatter = (actor: string, name: string, entry: AuditedAction) => string;

/** Sentences that the general form would not give. */
const SENTENCES: Readonly<Record<string, SentenceFormatter>> = {
  'access_files.regenerated': (actor) => `${actor} regenerated the access files of the release store`,
  'bug.linked': (actor, name) => `${actor} linked ${name} to another issue`,
  'bug.unlinked': (actor, name) => `${actor} unlinked ${name} from another issue`,
  'config.applied': (actor) => `${actor} applied a configuration`,
  'credential.refused': (_, name) =>
    `A request to ${hidePathParameters(name)} was denied: its credential was not valid`,
  'csrf.refused': (actor, name) =>
    `A form of ${actor} to ${hidePathParameters(name)} was denied: its token did not match`,
  'incident.explained': (actor, name) => `${actor} set the root cause of incident ${name}`,
  'incident.handed_back': (actor, name) => `${actor} unacknowledged incident ${name}`,
  'invitation.accepted': (_, name, { details }) =>
    `${details['username'] ?? 'someone'} accepted the invitation to ${name}`,
  'invitation.created': (actor, name, { details }) => `${actor} invited ${name} as ${details['role'] ?? 'member'}`,
  'invitation.resent': (actor, name) => `${actor} renewed the invitation of ${name}`,
  'invitation.revoked': (actor, name) => `${actor} revoked the invitation of ${name}`,
  'license.bulk_created': (actor, name) => `${actor} created licenses for ${name}`,
  'license.expired': (_, name) => `License ${name} expired`,
  'license.expiring': (_, name) => `License ${name} expires soon`,
  'license.file_issued': (actor, name) => `${actor} issued a license file of license ${name}`,
  'license.key_sent': (actor, name, { details }) =>
    `${actor} sent the key of license ${name} to ${details['to'] ?? 'the customer'}`,
  'license.key_shown': (actor, name) => `${actor} revealed the key of license ${name}`,
  'license.machine_pending': (_, name) => `A machine requested approval for license ${name}`,
  'license.machine_released_by_customer': (_, name) => `The customer deactivated a machine of license ${name}`,
  'login.failed': (_, name) => `Sign-in as ${name} failed`,
  'login.locked': (_, name) => `Sign-in as ${name} was locked after too many attempts`,
  'login.refused': (_, name) => `Sign-in as ${name} was denied`,
  'login.succeeded': (_, name) => `${name} signed in`,
  'migrations.applied': (actor) => `${actor} applied the pending migrations`,
  'monitor.moved': (actor, name, entry) => `${actor} moved monitor ${name}${formatChange(entry, 'parent_source')}`,
  'release.halted': (actor, name) => `${actor} halted the rollout of ${name}`,
  'release.promoted': (actor, name) => `${actor} promoted ${name}`,
  'release.rolled_back': (actor, name) => `${actor} rolled back to ${name}`,
  'release.rollout': (actor, name, entry) =>
    isSet(entry.before?.['halted_at'])
      ? `${actor} resumed the rollout of ${name} at ${formatField(entry.after, 'rollout_percent')}`
      : `${actor} changed rollout of ${name}${formatChange(entry, 'rollout_percent')}`,
  'sample_data.added': (actor) => `${actor} added the sample data`,
  'sample_data.removed': (actor) => `${actor} removed the sample data`,
  'scope.refused': (actor, name) => `${actor} was denied access to ${hidePathParameters(name)}`,
  'status_page.subscriber_removed': (actor, name) => `${actor} removed a subscriber of status page ${name}`,
  'user.password_changed': (actor, name) => `${actor} changed the password of ${name}`,
  'user.role_changed': (actor, name, entry) => `${actor} changed the role of ${name}${formatChange(entry, 'role')}`,
  'user.totp_disabled': (actor, name) => `${actor} disabled 2FA of ${name}`,
  'user.totp_enabled': (actor, name) => `${actor} enabled 2FA of ${name}`,
  'user.totp_reset': (actor, name) => `${actor} reset 2FA of ${name}`,
};

/** `/releases/…` of the route `/releases/{path*}`. */
const hidePathParameters = (path: string): string => path.replaceAll(/\{[^}]*\}/g, '…');

const MAX_NAMED_FIELDS = 3;

/**
 * Formats an entry of the audit log: `admin changed rollout of till 2.3.0 from 10 % to 13 %`.
 * @param name of the target, as people know it
 */
export function formatAuditSentence(entry: AuditedAction, name: string): string {
  const actor = formatAuditActor(entry.actor);
  const sentence = SENTENCES[entry.action]?.(actor, name, entry) ?? formatGeneralSentence(actor, name, entry);
  return capitalizeSystem(sentence);
}

/** `token ci` of `token ci (svc_live_AbC)`; the service itself is `AOS`. */
export function formatAuditActor(actor: string): string {
  if (actor === 'system') return 'AOS';
  if (actor === 'public') return 'an anonymous visitor';
  const plain = actor.replace(/ \((?:svc_[^)]*|plugin:[^)]*)\)$/, '').replace(/^command line: .*$/, 'the command line');
  const plugin = /^plugin:(.+)$/.exec(plain);
  return plugin === null ? plain : `plugin ${plugin[1] ?? ''}`;
}

/** Sentences begin with a capital, except for names. */
const capitalizeSystem = (sentence: string): string => sentence.replace(/^(the|token|an|plugin)\b/, capitalize);

function formatGeneralSentence(actor: string, name: string, entry: AuditedAction): string {
  const [noun = '', ...rest] = entry.action.split('.');
  const words = rest.join(' ').split('_');
  const verb = words.pop() ?? '';
  const object = NOUN_NAMES[noun] ?? noun.replaceAll('_', ' ');
  const target = name === '' || name === object ? object : `${object} ${name}`;
  if (verb === '') return `${actor}: ${entry.action.replaceAll(/[._]/g, ' ')}, ${name}`;
  if (words.length > 0) return `${actor} ${verb} ${words.join(' ')} of ${target}`;
  const fields = verb === 'changed' || verb === 'updated' ? listChangedFields(entry) : [];
  const [only] = fields;
  if (fields.length === 1 && only !== undefined)
    return `${actor} ${verb} ${formatAuditField(only)} of ${target}${formatChange(entry, only)}`;
  if (fields.length > 1 && fields.length <= MAX_NAMED_FIELDS)
    return `${actor} ${verb} ${joinWords(fields.map(formatAuditField))} of ${target}`;
  return `${actor} ${verb} ${target}`;
}

const isSet = (value: unknown): boolean => value !== null && value !== undefined && value !== '';

const listChangedFields = ({ before = {}, after = {} }: AuditedAction): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => (before[field] ?? null) !== (after[field] ?? null),
  );

const formatField = (fields: AuditedAction['after'], field: string): string =>
  formatAuditValue(field, fields?.[field] ?? null);

function formatChange({ before, after }: AuditedAction, field: string): string {
  if (after?.[field] === undefined) return '';
  const to = ` to ${formatField(after, field)}`;
  return isSet(before?.[field]) ? ` from ${formatField(before, field)}${to}` : to;
}

const joinWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
