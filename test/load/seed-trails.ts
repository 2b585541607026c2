/** Fills the embedded store of a stopped service with what grows beside the items: audit entries, events, one webhook and its deliveries. */
import { join } from 'node:path';
import { Connection } from '../../adapters/sqlite/connection/connection.js';
import { put } from './put.js';
import { SystemClock } from '../../adapters/node/clock.js';
import { RandomIds } from '../../adapters/node/ids.js';
import { newDelivery, type Delivery } from '../../plugins/webhooks/model/delivery.js';
import { storedEvent } from '../../plugins/webhooks/model/event.js';
import type { Webhook } from '../../plugins/webhooks/model/webhook.js';
import type { AuditEntry } from '../../ports/domain/audit.js';

const ACTIONS = ['token.created', 'webhook.changed', 'monitor.changed', 'login.succeeded', 'bug.bulk'];
const ACTORS = ['admin', 'anna', 'bert', 'token ci (abcd)'];
const EVENTS = ['bug.created', 'bug.resolved', 'watchdog.down', 'watchdog.recovered'];
const STEP_MS = 10_000;

const webhook = (id: string, at: string): Webhook => ({
  id,
  name: 'seeded',
  url: 'http://127.0.0.1:9/',
  project_slug: null,
  events: ['*'],
  // Switched off: nothing is sent while pages are measured.
  enabled: false,
  secret: null,
  previous: null,
  failures: 0,
  disabled_reason: null,
  disabled_at: null,
  resuming: false,
  created_by: 'user:seed',
  created_at: at,
  updated_at: at,
});

export function seedTrails(dataDir: string, projects: readonly string[], count: number, now = Date.now()): void {
  const ids = new RandomIds(new SystemClock());
  const connection = new Connection({ path: join(dataDir, 'aos.db'), durability: 'normal' });
  const insert = (table: string, doc: AuditEntry | Delivery | Webhook | ReturnType<typeof storedEvent>): void => {
    put(connection, table, doc);
  };
  try {
    const hook = webhook(ids.uuid(), new Date(now).toISOString());
    connection.transaction(() => {
      insert('webhooks_webhooks', hook);
      for (let i = 0; i < count; i++) {
        const at = new Date(now - (count - i) * STEP_MS).toISOString();
        const [actor = '', action = ''] = [ACTORS[i % ACTORS.length], ACTIONS[i % ACTIONS.length]];
        insert('access_audit', { id: ids.uuid(), at, actor, action, target: `thing-${i % 1000}`, details: { n: i } });
        const project_slug = projects[i % projects.length] ?? null;
        const data = { id: `item-${i}`, title: `Failure${i}: order could not be loaded`, severity: 'high' };
        const event = storedEvent(
          { id: `evt_${ids.uuid()}`, event: EVENTS[i % EVENTS.length] ?? '', timestamp: at, project_slug, data },
          at,
          'seed',
          [],
        );
        insert('webhooks_events', event);
        const { next_at: _due, ...ended } = newDelivery(hook.id, event, at, null);
        const attempt = { attempt: 1, at, status_code: 204, duration_ms: 12, error: null, excerpt: null };
        const state = i % 50 === 0 ? 'exhausted' : 'success';
        insert('webhooks_deliveries', { ...ended, state, made: 1, attempts: [attempt], attempted_at: at });
      }
    });
  } finally {
    connection.close();
  }
}
