/**
 * A real service in which every field that takes text holds a script and 8 KB of unbroken letters,
 * as far as the field lets it: no text from outside may run, and none may move a layout.
 */
import { buildPackage } from '../../clients/demo/package-file.js';
import { ADMIN_ACCOUNT, TestService, type ServiceResponse } from '../support/service.js';
import { waitUntil } from '../harness.js';
import { buildMailSettings, MailServer } from '../support/mail-server.js';
import { WebSession } from './web-session.js';

/** A picture of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';

export const SCRIPT = '<script>globalThis.owned=1</script><img src=x onerror="globalThis.owned=1">"\'>';
const LETTERS = 'W'.repeat(8_192);
export const PLANTED = SCRIPT + LETTERS;
/**
 * As people write: emoji of several code points, both directions of writing, a word that no line
 * holds.
 */
export const WRITTEN =
  'طلبات المتجر 🛒 👩‍👩‍👧‍👦 הזמנות Rechtsschutzversicherungsgesellschaften und Donaudampfschifffahrtskapitäne';
/** Characters that nobody sees are shown by their names: each is as wide as a word. */
const WIDE = '\u00ad'.repeat(40);
export const MEMBER = { username: 'mia', password: 'quiet-lantern-harbour' };
export const INSTALLER = { username: 'fitter', password: 'quiet-lantern-harbour' };

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
const UNLIMITED = {
  SVC_LIMITS__INTAKE_PER_MINUTE: '0',
  SVC_LIMITS__API_PER_MINUTE: '0',
  SVC_LIMITS__PUBLIC_PER_MINUTE: '0',
  SVC_LIMITS__AUTH_FAILURES_PER_MINUTE: '0',
};

type Body = Record<string, unknown>;

export class PlantedService {
  /** Where a page with parameters is to be seen: its pattern to an address. */
  readonly addresses: Record<string, string> = {};

  private constructor(
    readonly service: TestService,
    private readonly token: string,
    readonly admin: WebSession,
    private readonly text: string | null,
    private readonly mail: MailServer,
  ) {}

  /**
   * @param env more of the configuration
   * @param text stands in every field in place of the script and its letters
   */
  static async started(env: Record<string, string> = {}, text: string | null = null): Promise<PlantedService> {
    const mail = new MailServer();
    const service = await TestService.createInProcess({
      ...UNLIMITED,
      ...buildMailSettings(await mail.start()),
      ...env,
    });
    try {
      const admin = new WebSession(service.url);
      if ((await admin.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password)) !== 303) throw new Error('no login');
      for (const [{ username, password }, role] of [
        [MEMBER, 'member'],
        [INSTALLER, 'installer'],
      ] as const) {
        await service.runCommand(
          ['user', 'create', '--username', username, '--role', role, '--password-stdin'],
          password,
        );
      }
      const planted = new PlantedService(service, await service.createToken(SCOPES), admin, text, mail);
      await planted.#plant();
      return planted;
    } catch (error) {
      await service.dispose();
      await mail.close();
      throw error;
    }
  }

  get url(): string {
    return this.service.url;
  }

  /** The address of a page; undefined when this service has nothing to show there. */
  addressOf(path: string): string | undefined {
    return path.includes('{') ? this.addresses[path] : path;
  }

  async dispose(): Promise<void> {
    await this.service.dispose();
    await this.mail.close();
  }

  async #plant(): Promise<void> {
    await this.#call('POST', '/api/projects/v1/projects', { slug: 'shop', name: PLANTED, description: PLANTED });
    Object.assign(this.addresses, {
      '/first-steps/{id}/token': '/first-steps/first-error/token',
      '/first-steps/{id}/result': '/first-steps/first-error/result?since=2026-01-01T00:00:00.000Z',
      '/resume/{id}': `/resume/${'0'.repeat(32)}`,
      '/projects/{slug}': '/projects/shop',
      '/projects/{slug}/settings': '/projects/shop/settings',
      '/projects/{slug}/edit': '/projects/shop/edit',
      '/projects/{slug}/brand': '/projects/shop/brand',
      '/license/{project}': '/license/shop',
      '/brand/{slug}/logo': '/brand/shop/logo',
      '/brand/{slug}/brand.css': '/brand/shop/brand.css',
      '/docs/{page}': '/docs/operations',
      '/docs/decisions/{page}': '/docs/decisions/README',
      '/docs/spec/{page}': '/docs/spec/README',
      '/docs/images/{file}': '/docs/images/loop.svg',
      '/docs/api/{group}': /href="(\/docs\/api\/[a-z]+)"/.exec((await this.admin.get('/docs/api')).text)?.[1] ?? '',
    });
    await this.#brand();
    await this.#webhooks();
    await this.#errors();
    await this.#monitors();
    await this.#statusPages();
    await this.#releases();
    await this.#licenses();
    await this.#administration();
  }

  /** What is too long for a field is halved until it fits: the error names the field. */
  async #call(method: string, path: string, body: Body, token: string | null = this.token): Promise<Body> {
    const given = this.#worded(body);
    for (let tries = 0; tries < 60; tries++) {
      const answer: ServiceResponse = await this.service.request(method, path, token, given);
      if (answer.status < 300) return answer.body;
      const fields = Object.keys((answer.body['error'] as { fields?: object } | undefined)?.fields ?? {});
      const names = fields.map((field) => field.split(/[.[]/)[0] as string);
      if (names.length === 0) throw new Error(`${method} ${path} → ${answer.status}: ${JSON.stringify(answer.body)}`);
      for (const name of new Set(names)) given[name] = halved(given[name], name);
    }
    throw new Error(`${method} ${path}: no length of its fields is taken`);
  }

  /** With the text of this service in place of the script. */
  #worded<T extends Body>(body: T): T {
    const { text } = this;
    if (text === null) return { ...body };
    const worded = (value: unknown): unknown => {
      if (typeof value === 'string') return value.replace(/<script>[^]*$/, text);
      if (Array.isArray(value)) return value.map(worded);
      if (value === null || typeof value !== 'object') return value;
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [String(worded(name)), worded(one)]));
    };
    return worded(body) as T;
  }

  async #statusPages(): Promise<void> {
    const path = '/api/watchdog/v1/status-pages';
    const { page } = (await this.#call('POST', path, {
      slug: 'planted',
      title: PLANTED,
      text: PLANTED,
      seller: PLANTED,
      published: true,
      subscriptions: true,
    })) as { page: { id: string; preview_url: string } };
    const reported = { kind: 'incident', title: PLANTED, text: PLANTED };
    const { announcement } = (await this.#call('POST', `${path}/planted/announcements`, reported)) as {
      announcement: { id: string };
    };
    await this.#logo(`${path}/planted/logo`);
    const preview = new URL(page.preview_url).pathname;
    const own = `/status-pages/${page.id}`;
    Object.assign(this.addresses, {
      '/status-pages/{id}': own,
      '/status-pages/{id}/edit': `${own}/edit`,
      '/status-pages/{id}/subscribers': `${own}/subscribers`,
      '/status-pages/{id}/subscribers.csv': `${own}/subscribers.csv`,
      '/status-page/{slug}/subscribe': '/status-page/planted/subscribe',
      '/status-page/{slug}/subscribe/confirm/{token}': await this.#subscribe('new@example.org'),
      '/status-page/{slug}/unsubscribe/{token}': await this.#subscribeTwice('known@example.org'),
      '/status-pages/{id}/announcements/new': `${own}/announcements/new`,
      '/status-pages/{id}/announcements/{announcement}': `${own}/announcements/${announcement.id}`,
      '/status-page/{slug}': '/status-page/planted',
      '/status-page/{slug}/preview/{key}': preview,
      ...Object.fromEntries(
        ['feed.xml', 'feed.atom', 'badge.svg', 'badge.json', 'logo', 'brand.css'].flatMap((name) => [
          [`/status-page/{slug}/${name}`, `/status-page/planted/${name}`],
          [`/status-page/{slug}/preview/{key}/${name}`, `${preview}/${name}`],
        ]),
      ),
    });
  }

  /**
   * @returns the path of the link in the next mail to a subscriber: it confirms, or unsubscribes
   */
  async #subscribe(email: string): Promise<string> {
    const { mail } = this;
    const before = mail.raw.length;
    await new WebSession(this.url).post('/status-page/planted/subscribe', { email });
    await waitUntil(`a mail to ${email}`, () => mail.raw.length > before);
    const { text = '' } = (await mail.parseMails()).at(-1) ?? {};
    const [link = ''] = /http\S+\/(?:confirm|unsubscribe)\/\S+/.exec(text) ?? [];
    return new URL(link).pathname;
  }

  async #subscribeTwice(email: string): Promise<string> {
    await new WebSession(this.url).post(await this.#subscribe(email), {});
    return this.#subscribe(email);
  }

  async #brand(): Promise<void> {
    const path = '/api/projects/v1/projects/shop/brand';
    await this.#call('PATCH', path, { seller: PLANTED, colour: '#ffe066' });
    await this.#logo(`${path}/logo`);
  }

  async #logo(path: string): Promise<void> {
    await fetch(`${this.url}${path}`, {
      method: 'PUT',
      body: new Uint8Array(Buffer.from(PIXEL, 'base64')),
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/octet-stream' },
    });
  }

  async #errors(): Promise<void> {
    const { ref } = await this.#call('POST', '/api/errors/v1/report', {
      project: 'shop',
      error_level: 'fatal',
      exception_class: PLANTED,
      error_message: PLANTED,
      file_path: PLANTED,
      line_no: 7,
      stack_trace: `${PLANTED}\n    at ${PLANTED} (${PLANTED}:1:1)`,
      environment: PLANTED,
      app_version: PLANTED,
      host: PLANTED,
      url: `https://example.com/${LETTERS}`,
      tags: [PLANTED],
      context: { [PLANTED]: PLANTED },
      user: { id: PLANTED },
    });
    const { ref: feature } = await this.#call('POST', '/api/bugtracker/v1/report', {
      type: 'feature',
      project: 'shop',
      title: PLANTED,
      description: PLANTED,
    });
    await this.#call('POST', `/api/bugtracker/v1/bugs/${String(feature)}/comments`, { body: PLANTED });
    await this.#call('POST', `/api/bugtracker/v1/bugs/${String(ref)}/claim`, { agent: 'W'.repeat(100) });
    const item = `/bugs/${String(ref)}`;
    this.addresses['/bugs/{ref}'] = item;
    this.addresses['/bugs/{ref}/next'] = `${item}/next`;
    this.addresses['/bugs/{ref}/trace.txt'] = `${item}/trace.txt`;
    this.addresses['/bugs/{ref}/request'] = `${item}/request`;
    this.addresses['/bugs/{ref}/alike'] = `${item}/alike`;
    this.addresses['/bugs/{ref}/split'] = `${item}/split`;
    const run = await this.admin.post(`${item}/alike`, {}, `${item}/alike`);
    this.addresses['/bugs/bulk/runs/{id}'] = run.location ?? '';
    const { rule } = await this.#call('POST', '/api/errors/v1/ignore-rules', {
      match_type: 'contains',
      pattern: `Z${PLANTED}`,
      reason: PLANTED,
      project: 'shop',
    });
    const { id } = rule as { id: string };
    const grouped = await this.#call('POST', '/api/bugtracker/v1/projects/shop/grouping-rules', {
      name: `W${PLANTED}`.slice(0, 200),
      message: `Z${SCRIPT.replace(/[()=]/g, '.')}`,
      origin: `W${PLANTED}`.slice(0, 500),
      fingerprint: [`W${PLANTED}`.slice(0, 200)],
      title: `W${PLANTED}`.slice(0, 200),
    });
    const grouping = `/grouping-rules/shop/${(grouped['rule'] as { id: string }).id}/edit`;
    this.addresses['/grouping-rules/{project}/{id}/edit'] = grouping;
    this.addresses['/ignore-rules/{id}'] = `/ignore-rules/${id}`;
    this.addresses['/ignore-rules/{id}/edit'] = `/ignore-rules/${id}/edit`;
  }

  async #monitors(): Promise<void> {
    const source = 'W'.repeat(128);
    const { monitor } = await this.#call('POST', '/api/watchdog/v1/monitors', {
      source,
      name: PLANTED,
      description: PLANTED,
      os: PLANTED,
      project: 'shop',
      public: true,
      parent_source: 'V'.repeat(128),
    });
    await this.#call('POST', '/api/watchdog/v1/ping', {
      source,
      status: 'warning',
      message: PLANTED,
      app_version: PLANTED,
      checks: { [PLANTED.slice(0, 60)]: { ok: false, message: PLANTED } },
      metrics: { ['W'.repeat(64)]: 123456.789, note: PLANTED },
    });
    await this.#call('POST', '/api/watchdog/v1/event', { source, type: PLANTED, level: 'warning', message: PLANTED });
    await this.#call('POST', '/api/watchdog/v1/monitors', { source: 'U'.repeat(128), parent_source: source });
    const { id } = monitor as { id: string };
    this.addresses['/monitors/{source}'] = `/monitors/${source}`;
    await this.#incident();
    this.addresses['/probes/{source}'] = `/probes/${source}`;
    this.addresses['/monitors/{source}/edit'] = `/monitors/${source}/edit`;
    this.addresses['/monitors/{source}/uptime.csv'] = `/monitors/${source}/uptime.csv`;
    this.addresses['/status/{id}'] = `/status/${id}`;
  }

  async #webhooks(): Promise<void> {
    const { webhook } = await this.#call('POST', '/api/webhooks/v1/webhooks', {
      name: PLANTED,
      url: `http://127.0.0.1:9/${'W'.repeat(1_900)}`,
      events: '*',
    });
    const { id } = webhook as { id: string };
    await this.#call('POST', '/api/bugtracker/v1/report', {
      type: 'bug',
      project: 'shop',
      title: PLANTED,
      severity: 'critical',
    });
    let delivery: string | undefined;
    await waitUntil('a delivery', async () => {
      const { body } = await this.service.request('GET', `/api/webhooks/v1/webhooks/${id}/deliveries`, this.token);
      const tried = (body['items'] as { id: string; attempt_count: number }[]).find((one) => one.attempt_count > 0);
      delivery = tried?.id;
      return delivery !== undefined;
    });
    this.addresses['/webhooks/{id}'] = `/webhooks/${id}`;
    this.addresses['/webhooks/{id}/edit'] = `/webhooks/${id}/edit`;
    this.addresses['/webhooks/{id}/deliveries/{delivery}'] = `/webhooks/${id}/deliveries/${delivery}`;
  }

  /** A job that failed, with its message. */
  async #incident(): Promise<void> {
    const requested = ['--name', 'fallen', '--scopes', 'watchdog:ping', '--source', 'fallen'];
    const { token } = await this.service.runCommand<{ token: string }>(['token', 'create', ...requested]);
    await fetch(`${this.service.url}/ping/${token}/fail`, { method: 'POST', body: this.text ?? PLANTED });
    const path = '/api/watchdog/v1/incidents';
    const { body } = await this.service.request('GET', path, this.token);
    const [incident] = body['items'] as { id: string }[];
    await this.#call('PATCH', `${path}/${incident?.id}`, { cause: PLANTED });
    await this.#call('POST', `${path}/${incident?.id}/comments`, { text: PLANTED });
    this.addresses['/incidents/{id}'] = `/incidents/${incident?.id}`;
  }

  async #releases(): Promise<void> {
    const response = await fetch(`${this.url}/api/updateservice/v1/publish?product=shop&version=1.2.3&platform=any`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': 'application/gzip',
        'x-release-notes': Buffer.from(this.text ?? PLANTED).toString('base64'),
      },
      body: buildPackage(`${'W'.repeat(90)}/a.sh`, '#!/bin/sh\n'),
    });
    if (!response.ok) throw new Error(`publish → ${response.status}: ${await response.text()}`);
    // At once as long as it may be: halving a commit would halve its hash too.
    const commit = {
      id: 'a'.repeat(40),
      author_name: PLANTED.slice(0, 500),
      message: PLANTED.slice(0, 4_000),
      files: [PLANTED.slice(0, 4_000), 'w'.repeat(200)],
    };
    const reported = { product: 'shop', version: '1.2.3', range: PLANTED.slice(0, 200), commits: [commit] };
    await this.#call('POST', '/api/updateservice/v1/commits', reported);
    const list = await this.admin.get('/releases');
    this.addresses['/releases/{id}'] = /href="(\/releases\/(?!new)[^"?/]+)"/.exec(list.text)?.[1] ?? '';
  }

  async #licenses(): Promise<void> {
    const { key, license } = await this.#call('POST', '/api/license/v1/licenses', {
      product: 'shop',
      licensee: PLANTED,
      email: `${'w'.repeat(60)}@example.com`,
      notes: PLANTED,
      max_activations: 1,
      require_approval: true,
      features: { [PLANTED]: PLANTED },
    });
    for (const n of [1, 2]) {
      await this.service.request('POST', '/api/license/v1/validate', null, {
        license_key: key,
        product: 'shop',
        machine_id: `machine-${n}-${'W'.repeat(60)}`,
        machine_name: cut(this.text ?? PLANTED, 200),
        platform: 'win-x64',
        app_version: '1.2.3',
      });
    }
    const { id } = license as { id: string };
    this.addresses['/licenses/{id}'] = `/licenses/${id}`;
    this.addresses['/licenses/{id}/edit'] = `/licenses/${id}/edit`;
  }

  async #administration(): Promise<void> {
    const { admin } = this;
    await admin.post('/users', { username: 'W'.repeat(64), role: 'member', password: MEMBER.password }, '/users');
    await admin.post('/tokens', { name: cut(this.text ?? PLANTED, 100), scopes: ['watchdog:ping'] }, '/tokens/new');
    await admin.post(
      '/bugs/views',
      { name: cut(this.text ?? PLANTED, 60), audience: 'everybody', query: 'status=open' },
      '/bugs',
    );
    await admin.post('/bugs/views', { name: WIDE, audience: 'everybody', query: 'status=open' }, '/bugs');
    const channel = await admin.post(
      '/notifications',
      {
        name: cut(this.text ?? PLANTED, 100),
        kind: 'slack',
        target: `http://127.0.0.1:9/${'W'.repeat(1_900)}`,
        timezone: 'UTC',
        digest_minutes: '0',
        enabled: 'true',
        events: ['monitor.down'],
      },
      '/notifications/new?kind=slack',
    );
    this.addresses['/notifications/{id}'] = channel.location ?? '';
    this.addresses['/notifications/{id}/edit'] = `${channel.location}/edit`;
    const invited = { email: `${'w'.repeat(64)}@${'w'.repeat(180)}.test`, role: 'member', full_name: 'W'.repeat(100) };
    const sent = await admin.post('/users/invitations', invited, '/users');
    const { text: shown } = await admin.get(sent.location ?? '');
    this.addresses['/invitations/{token}'] = /\/invitations\/\w{43}/.exec(shown)?.[0] ?? '';
    const users = await admin.get('/users');
    this.addresses['/users/{id}'] = /href="(\/users\/[^"/]+)"/.exec(users.text)?.[1] ?? '';
  }
}

/** At most so long, with no half of a character at its end. */
const cut = (text: string, most: number): string => text.slice(0, most).replace(/[\ud800-\udbff]$/, '');

function halved(value: unknown, name: string): unknown {
  if (typeof value === 'string' && value.length > 1) return cut(value, Math.floor(value.length / 2));
  if (Array.isArray(value)) return value.map((one) => halved(one, name));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [halved(key, name), halved(one, name)]));
  }
  throw new Error(`the field ${name} is refused, however short`);
}
