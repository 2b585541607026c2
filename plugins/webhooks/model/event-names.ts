/**
 * Events of contract 70 as data, so that a webhook may subscribe before the emitting plugin is
 * installed.
 */

import { AGENT_REQUESTED, AGENT_TOKEN_SCOPES } from '../../../ports/domain/agent-requests.js';

/** Only sent by the test button; no webhook can subscribe to it. */
export const TEST_EVENT = 'webhook.test';

export const ALL_EVENTS = '*';

/**
 * Events that `*` excludes, because their deliveries contain a token, with the scopes of that
 * token. Also known while the emitting plugin is disabled.
 */
export const EXPLICIT_EVENTS: ReadonlyMap<string, readonly string[]> = new Map([
  [AGENT_REQUESTED.event, AGENT_TOKEN_SCOPES],
]);

export const CONTRACT_EVENTS: Readonly<Record<string, string>> = {
  'bug.created': 'A bug or an error group was recorded for the first time.',
  'bug.critical': 'An item became critical, at its creation or later.',
  'bug.resolved': 'An item was resolved or closed.',
  'feature.created': 'A feature request was recorded.',
  'monitor.down': 'A monitor fell, and its parent is up.',
  'monitor.recovered': 'The alarm of a monitor ended; `resolution` says how, if not by a heartbeat.',
  'monitor.alarm_closed': 'The alarm of a monitor ended without a recovery: the monitor was deleted.',
  'monitor.warning': 'A monitor that was up reports a warning or a failed check, or is late.',
  'monitor.certificate_expiring': 'The certificate of a monitored address ends soon.',
  'release.published': 'A release can be downloaded.',
  'release.halted': 'A release was stopped during its rollout.',
  'release.rolled_back': 'A channel was rolled back to an earlier release.',
  'license.created': 'A license was issued.',
  'license.changed': 'A license was changed, blocked or renewed.',
  'license.expiring': 'A license expires soon.',
  'license.expired': 'A license has expired.',
  'license.machine_pending': 'A machine waits for the approval of its license.',
  'error.rate_exceeded': 'A muted error happened more often than its rule allows.',
  'agent.requested': 'An item asks for its agent; the delivery brings a token for it.',
};

export interface SubscribableEvent {
  name: string;
  description: string;
}

/**
 * Lists the events that a webhook may subscribe to by name, in addition to `*`.
 * @param registered the events of all installed plugins
 */
export function listSubscribableEvents(registered: readonly string[]): SubscribableEvent[] {
  const others = registered.filter((name) => !(name in CONTRACT_EVENTS) && name !== TEST_EVENT);
  return [
    ...Object.entries(CONTRACT_EVENTS).map(([name, description]) => ({ name, description })),
    ...[...new Set(others)].toSorted().map((name) => ({ name, description: 'An event of a plugin.' })),
  ];
}

export function parseEventList(given: string | readonly string[]): string[] {
  const all = (typeof given === 'string' ? given.split(',') : given).map((name) => name.trim());
  return [...new Set(all.filter((name) => name !== ''))];
}
