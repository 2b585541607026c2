/** A webhook may subscribe before the emitting plugin is installed (contract 70). */

import { capitalize } from '../../../lib/sentence.js';
import { AGENT_REQUESTED, AGENT_TOKEN_SCOPES } from '../../../ports/domain/agent-requests.js';

/** No webhook can subscribe to it. */
export const TEST_EVENT = 'webhook.test';

export const ALL_EVENTS = '*';

/**
 * `*` excludes them, because their deliveries contain a token, with these scopes. Also known while
 * the emitting plugin is disabled.
 */
export const EXPLICIT_EVENTS: ReadonlyMap<string, readonly string[]> = new Map([
  [AGENT_REQUESTED.event, AGENT_TOKEN_SCOPES],
]);

export const CONTRACT_EVENTS: Readonly<Record<string, string>> = {
  'bug.created': 'A new bug or error was reported',
  'bug.critical': 'An issue became critical',
  'bug.resolved': 'An issue was resolved or closed',
  'feature.created': 'A feature was requested',
  'monitor.down': 'A monitor went down',
  'monitor.recovered': 'A monitor recovered',
  'monitor.alarm_closed': 'A monitor was deleted while it was down',
  'monitor.warning': 'A monitor reports a warning or is late',
  'monitor.certificate_expiring': 'A certificate expires soon',
  'release.published': 'A release was published',
  'release.halted': 'A rollout was halted',
  'release.rolled_back': 'A channel was rolled back',
  'license.created': 'A license was created',
  'license.changed': 'A license was changed, blocked or renewed',
  'license.expiring': 'A license expires soon',
  'license.expired': 'A license expired',
  'license.machine_pending': 'A machine needs approval',
  'error.rate_exceeded': 'A muted error exceeds its limit',
  'agent.requested': 'An issue was assigned to an agent (includes a token)',
};

/** Events outside of the contract. */
const PLUGIN_EVENTS: Readonly<Record<string, string>> = {
  'bug.unblocked': 'An issue is no longer blocked by another',
  'channel.disabled': 'An alert channel was disabled after failures',
  'webhook.disabled': 'A webhook was disabled after failures',
};

const formatEventName = (name: string): string => `${capitalize(name.replaceAll(/[._]/g, ' '))} (plugin event)`;

export interface SubscribableEvent {
  name: string;
  description: string;
}

/**
 * Excludes `*`.
 * @param registered of all installed plugins
 */
export function listSubscribableEvents(registered: readonly string[]): SubscribableEvent[] {
  const others = registered.filter((name) => !(name in CONTRACT_EVENTS) && name !== TEST_EVENT);
  return [
    ...Object.entries(CONTRACT_EVENTS).map(([name, description]) => ({ name, description })),
    ...[...new Set(others)]
      .toSorted()
      .map((name) => ({ name, description: PLUGIN_EVENTS[name] ?? formatEventName(name) })),
  ];
}

export function parseEventList(given: string | readonly string[]): string[] {
  const all = (typeof given === 'string' ? given.split(',') : given).map((name) => name.trim());
  return [...new Set(all.filter((name) => name !== ''))];
}
