/**
 * Two weeks in the life of five applications, told to a real service through its own interfaces:
 * 2,000 groups of errors with their history, 17 monitors with metrics and outages, four webhooks,
 * releases, licenses, people. For pictures, and for anyone who wants to look at full pages.
 */
import { buildPackage } from '../../clients/demo/package-file.js';
import { WebhookReceiver } from '../../clients/demo/listener.js';
import { ADMIN_ACCOUNT, runCliJson, SHARED_KEY, type TestService } from '../support/service.js';
import { everyday, flooded, MACHINES, metricsOf, PROJECTS } from './cast.js';
import { ShiftedService } from './folder-service.js';

const HOUR = 3_600_000;
const DAYS = 14;
const STEP_MINUTES = 30;
const STEP = STEP_MINUTES * 60_000;
const EVERYDAY = 1_500;
const FLOOD = 488;
/** Hours before now at which the flood began. */
const FLOOD_HOURS = 8;

const SCOPES = [
  'bugtracker:report',
  'bugtracker:manage',
  'watchdog:ping',
  'watchdog:manage',
  'webhooks:manage',
  'license:manage',
  'updateservice:publish',
  'projects:manage',
].join(',');

export const PEOPLE = [
  ['maria.wallner', 'member'],
  ['jakob.lindqvist-oberhauser', 'member'],
  ['shop-floor-installer', 'installer'],
] as const;

/** Fills a new folder. It ends with the service stopped. @param say told how far it is */
export async function tell(dataDir: string, say: (text: string) => void): Promise<void> {
  const shifted = await ShiftedService.started(dataDir);
  const hook = new WebhookReceiver();
  try {
    await shifted.ago(DAYS * 24 * HOUR);
    const story = await Story.begin(shifted.service, await hook.open());
    for (let ago = DAYS * 24 * HOUR; ago >= STEP; ago -= STEP) {
      await shifted.ago(ago);
      await story.step(ago);
      if (ago % (24 * HOUR) === 0) say(`${ago / (24 * HOUR)} days before now`);
    }
    await shifted.ago(60_000);
    await story.end();
    await shifted.ago(0);
    await story.step(0);
  } finally {
    hook.close();
    await shifted.end();
  }
}

class Story {
  #told = 0;
  #flooded = 0;
  readonly #refs: string[] = [];

  private constructor(
    private readonly service: TestService,
    private readonly token: string,
  ) {}

  static async begin(service: TestService, hook: string): Promise<Story> {
    const story = new Story(service, await service.createToken(SCOPES));
    await Promise.all([
      ...PROJECTS.map(({ slug, name }) => story.#call('POST', '/api/projects/v1/projects', { slug, name })),
      ...PEOPLE.map(([username, role]) => {
        const args = ['user', 'create', '--username', username, '--role', role, '--password-stdin'];
        return runCliJson(service.env, args, `${ADMIN_ACCOUNT.password}\n`);
      }),
    ]);
    for (const [i, { source, name, project, parent }] of MACHINES.entries()) {
      await story.#call('POST', '/api/watchdog/v1/monitors', {
        source,
        name,
        project,
        parent_source: parent,
        interval_seconds: STEP / 1000,
        public: i < 4,
      });
    }
    await story.#webhooks(hook);
    return story;
  }

  async #call(
    method: string,
    path: string,
    body?: object,
    fine: readonly number[] = [200, 201],
  ): Promise<Record<string, unknown>> {
    const answer = await this.service.request(method, path, this.token, body);
    if (!fine.includes(answer.status))
      throw new Error(`${method} ${path} → ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async #webhooks(url: string): Promise<void> {
    const made: [string, string, string][] = [
      ['Alarms to the chat of the operations team', `${url}chat`, 'monitor.down,monitor.recovered,bug.critical'],
      ['Ticket system', `${url}tickets`, 'bug.created,bug.resolved'],
      ['Old pager (moved to another data centre in spring)', 'http://127.0.0.1:9/pager', 'monitor.down,bug.created'],
      ['Release announcements', `${url}releases`, 'release.published'],
    ];
    for (const [name, to, events] of made) {
      await this.#call('POST', '/api/webhooks/v1/webhooks', { name, url: to, events });
    }
  }

  /** Half an hour. @param ago milliseconds before now */
  async step(ago: number): Promise<void> {
    const hours = ago / HOUR;
    const at = Date.now() - ago;
    const beats = (root: boolean): Promise<void>[] =>
      MACHINES.flatMap(({ parent }, i) => ((parent === null) === root ? [this.#beat(i, hours, at)] : []));
    // A parent that is down holds back the alarms below it.
    await Promise.all(beats(true));
    await Promise.all([...beats(false), ...this.#due(hours).map((body) => this.#report(body))]);
    await this.service.request('POST', '/api/watchdog/v1/evaluate', SHARED_KEY);
    if (ago > 0 && Number.isInteger(hours / 24)) await this.#day(hours / 24);
  }

  async #beat(i: number, hours: number, at: number): Promise<void> {
    const machine = MACHINES[i]!;
    const down = machine.down.find(([from, to]) => hours <= from && hours >= to);
    // What is down still says so once.
    if (down !== undefined && down[1] === 0 && hours <= down[0] - STEP_MINUTES / 60) return;
    const { failing } = machine;
    const bad = failing !== undefined && hours < failing.hours;
    await this.#call('POST', '/api/watchdog/v1/ping', {
      source: machine.source,
      status: down === undefined ? 'ok' : 'error',
      ...(down && { message: 'The host does not answer' }),
      interval: STEP / 1000,
      metrics: { ...metricsOf(i, at), ...(bad && { response_ms: 5_000 }) },
      checks: {
        disk: { ok: true, message: 'enough' },
        ...(failing && {
          [failing.check]: bad ? { ok: false, message: failing.message } : { ok: true, message: '2 ms' },
        }),
      },
      app_version: hours > 90 ? '2.3.4' : '2.4.1',
      os: 'linux',
    });
  }

  /** The errors of this half hour: new ones, more of old ones, and the flood of the night. */
  #due(hours: number): Record<string, unknown>[] {
    const until = Math.round(EVERYDAY * (1 - hours / (DAYS * 24)));
    const fresh = Array.from({ length: Math.max(0, until - this.#told) }, () => everyday(this.#told++));
    const again = Array.from({ length: this.#told === 0 ? 0 : 8 }, (_, n) =>
      everyday((this.#told * 31 + n * n * 17) % this.#told),
    );
    const part = Math.min(1, Math.max(0, (FLOOD_HOURS - hours) / 5));
    const wave = Array.from({ length: Math.round(FLOOD * part) - this.#flooded }, () => flooded(this.#flooded++));
    const waves = hours < FLOOD_HOURS && hours > 1 ? [flooded(0), flooded(1), flooded(2)] : [];
    return [...fresh, ...again, ...wave, ...waves];
  }

  async #report(body: Record<string, unknown>): Promise<void> {
    const { ref, created } = await this.#call('POST', '/api/errors/v1/report', body);
    if (created === true && body['exception_class'] !== 'RedisTimeoutError') this.#refs.push(String(ref));
  }

  /** What people, agents and CI do once a day. @param left days before now */
  async #day(left: number): Promise<void> {
    const day = DAYS - left;
    const fixed = this.#refs.slice(Math.max(0, (day - 1) * 100 - 60), Math.max(0, day * 100 - 110));
    for (const [i, ref] of fixed.entries()) {
      const status = i % 7 === 0 ? 'wont_fix' : i % 3 === 0 ? 'resolved' : 'closed';
      const body = { status, comment: 'Seen to.', ...(status === 'resolved' && { resolved_in_build: '2.5.0' }) };
      await this.#call('PATCH', `/api/bugtracker/v1/bugs/${ref}`, body, [200, 409, 422]);
    }
    if (day === 3) await this.#rules();
    if (day % 4 === 2) await this.#release(`2.${3 + Math.floor(day / 8)}.${day % 8}`, day);
    if (day === 5) await this.#licenses();
  }

  async #rules(): Promise<void> {
    const rule = (match_type: string, pattern: string, reason: string, more: object = {}): Promise<unknown> =>
      this.#call('POST', '/api/errors/v1/ignore-rules', { match_type, pattern, reason, ...more });
    await rule('contains', 'voucher is not valid', 'People mistype vouchers. It is not an error of ours.', {
      project: 'shop',
    });
    await rule('exception_class', 'requests.exceptions.ConnectionError', 'The partner restarts every night.', {
      project: 'legacy-import',
      alarm_threshold: 500,
    });
    await rule('regex', '^The address could not be geocoded \\(ra', 'Test addresses of the couriers.');
  }

  async #release(version: string, day: number): Promise<void> {
    for (const [product, platform] of [
      ['shop', 'any'],
      ['warehouse', 'linux-x64'],
      ['warehouse', 'win-x64'],
    ] as const) {
      const answer = await fetch(
        `${this.service.url}/api/updateservice/v1/publish?product=${product}&version=${version}&platform=${platform}`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${this.token}`,
            'content-type': 'application/gzip',
            'x-release-notes': Buffer.from(
              `Mends of day ${day}.\n\n- Carts with a deleted voucher\n- Stock of closed branches`,
            ).toString('base64'),
          },
          body: buildPackage('app/start.sh', `#!/bin/sh\necho ${product} ${version}\n`),
        },
      );
      if (!answer.ok) throw new Error(`publish ${product} ${version} → ${answer.status}: ${await answer.text()}`);
    }
    for (let i = 0; i < 12; i++) {
      const requested = `product=warehouse&version=${i % 3 === 0 ? '2.3.2' : version}&platform=linux-x64&instance_id=branch-${i}`;
      await fetch(`${this.service.url}/api/updateservice/v1/check?${requested}`);
    }
  }

  async #licenses(): Promise<void> {
    const customers = [
      'Brückner & Söhne Baustoffhandel GmbH & Co. KG',
      'Kettleworth Engineering',
      'Städtische Verkehrsbetriebe',
      'Nordhavn Fisk A/S',
      'Café Zentral',
      'Internationale Speditions- und Lagerhausgesellschaft der Donauanrainer',
    ];
    for (const [i, licensee] of customers.entries()) {
      const { key } = await this.#call('POST', '/api/license/v1/licenses', {
        product: i % 2 === 0 ? 'warehouse' : 'billing',
        licensee,
        email: `it-${i}@example.com`,
        max_activations: 5,
        require_approval: i % 3 === 0,
        features: { modules: ['stock', 'labels'], branches: i + 1 },
        expires_at: i === 1 ? null : new Date(Date.now() + (i * 40 - 20) * 24 * HOUR).toISOString(),
      });
      for (let n = 0; n <= i % 4; n++) {
        await this.service.request('POST', '/api/license/v1/validate', null, {
          license_key: key,
          product: i % 2 === 0 ? 'warehouse' : 'billing',
          machine_id: `machine-${i}-${n}`,
          machine_name: `Desk ${n} at ${licensee}`,
          platform: 'win-x64',
          app_version: '2.4.1',
        });
      }
    }
  }

  /** A minute before now: who works on what, comments, what is muted with its past. */
  async end(): Promise<void> {
    const bugs = '/api/bugtracker/v1/bugs';
    for (const agent of ['fixer-7', 'night-shift', 'fixer-9']) {
      const { item, lease } = await this.#call('POST', `${bugs}?action=next`, { agent, lease_seconds: 7200 });
      const { ref } = item as { ref: string };
      const { claim_token } = lease as { claim_token: string };
      await this.#call('POST', `${bugs}/${ref}/comments`, {
        body: 'Reproduced: the client never reconnects after the failover. A mend is on the way.',
        claim_token,
      });
    }
    await this.#call('POST', '/api/bugtracker/v1/report', {
      type: 'feature',
      project: 'shop',
      title: 'Show the delivery window before the cart is paid',
      description: 'Customers ask for it every day.',
    });
    const { items } = await this.#call('GET', '/api/errors/v1/ignore-rules');
    for (const { id, enabled } of items as { id: string; enabled: boolean }[]) {
      if (enabled) await this.#call('POST', `/api/errors/v1/ignore-rules/${id}/apply`, {});
    }
  }
}
