/**
 * What a token of one project learns of another's (contract 10, accounts): nothing. Every route of
 * every plugin that names an object is asked twice by it, for one that lies in another project and
 * for one that is not there, and both answers are the same. The routes are those that the service
 * describes, so a new one is walked too.
 */
import { expect } from 'chai';
import { waitUntil } from '../harness.js';
import { WebSession } from '../pages/web-session.js';
import { buildMailSettings } from '../support/mail-server.js';
import { TestService } from '../support/service.js';
import { ask, codeOf, type Wire } from './wire.js';

const SCOPES = [
  'bugtracker:report,bugtracker:read,bugtracker:manage,projects:manage,watchdog:ping,watchdog:manage',
  'webhooks:manage,license:manage,updateservice:publish,system:read,notifications:manage',
].join(',');
/** Bodies of the calls that want one. */
const BODIES: Readonly<Record<string, object>> = {
  changeProject: { name: 'x' },
  orderGroupingRules: { ids: [] },
  changeLicense: { notes: 'x' },
  extendLicense: { expires_at: '2099-01-01T00:00:00.000Z' },
  extendLicenseByRef: { expires_at: '2099-01-01T00:00:00.000Z' },
  changeItem: { priority: 1 },
  deleteItem: { reason: 'x' },
  commentItem: { body: 'x' },
  mergeItem: { into: 'shop-1' },
  linkItem: { kind: 'related', ref: 'shop-1' },
  unlinkItem: { kind: 'related', ref: 'shop-1' },
  renewLease: { claim_token: 'x' },
  releaseItem: { claim_token: 'x' },
  changeIgnoreRule: { reason: 'x' },
  changeMonitor: { name: 'x' },
  changeWebhook: { name: 'x' },
  changeChannel: { name: 'x' },
  explainIncident: { cause: 'x' },
  commentIncident: { text: 'x' },
  tellProgress: { note: 'x' },
  announceStatus: { kind: 'incident', title: 'x', text: 'x' },
  updateStatusAnnouncement: { state: 'resolved', text: 'x' },
  setStatusPageLogo: { x: 'x' },
};
/**
 * Paths whose parameter is a credential, a project's number beside one, or a file that is open to
 * everybody; and those of sentry-cli (`/api/0/`), whose organization means nothing here, and whose
 * own tests name another project.
 */
const OTHERWISE = /^\/api\/(0|push|\{number\})\/|^\/(releases|installer|badge)\//;

interface Operation {
  operationId?: string;
  security?: Record<string, string[]>[];
  parameters?: { in: string; name: string }[];
}

/** What a creation answers, as far as the walk reads it. */
interface Made {
  id: string;
  key: string;
  webhook: { id: string };
  rule: { id: string };
  window: { id: string };
  silence: { id: string };
  page: { id: string };
  announcement: { id: string };
  license: { id: string };
  channel: { id: string };
}

describe('conformance: access to objects of another project', function () {
  let service: TestService;
  let master = '';
  let bound = '';
  /** Values of the path parameters, by the noun before them. */
  let foreign: Record<string, string>;
  let missing: Record<string, string>;
  let routes: { method: string; path: string; operation: string }[];
  /** Addresses of all that is read, as far as a parameter of the query names a project. */
  let requested: string[];

  const made = async (method: string, path: string, body: object): Promise<Made> => {
    const answer = await ask(service, method, path, { token: master, body });
    expect(answer.status, `${path} ${answer.text}`).to.be.oneOf([200, 201]);
    return answer.json as unknown as Made;
  };

  before(async () => {
    const limits = { SVC_LIMITS__API_PER_MINUTE: '0', SVC_LIMITS__AUTH_FAILURES_PER_MINUTE: '0' };
    // Nobody takes mail there: subscribers wait for their confirmation.
    service = await TestService.createInProcess({ ...limits, ...buildMailSettings(1) });
    const token = async (...words: string[]): Promise<string> =>
      (
        await service.runCommand<{ token: string }>([
          'token',
          'create',
          '--name',
          'walk',
          ...(words.includes('--scopes') ? [] : ['--scopes', SCOPES]),
          ...words,
        ])
      ).token;
    master = await token();
    for (const slug of ['shop', 'blog']) await made('POST', '/api/projects/v1/projects', { slug });
    bound = await token('--project', 'shop');
    const hook = { name: 'w', url: 'http://127.0.0.1:9/x', project_slug: 'blog', events: '*' };
    const webhook = (await made('POST', '/api/webhooks/v1/webhooks', hook)).webhook.id;
    const report = (project: string): object => ({ project, type: 'bug', title: `of ${project}` });
    await made('POST', '/api/bugtracker/v1/report', report('shop'));
    const item = (await made('POST', '/api/bugtracker/v1/report', report('blog'))).id;
    const listed = async (path: string): Promise<{ id: string }[]> =>
      (await ask(service, 'GET', path, { token: master })).json['items'] as { id: string }[];
    const pattern = { match_type: 'contains', pattern: 'zzz', reason: 'noise', project: 'blog' };
    const rule = (await made('POST', '/api/errors/v1/ignore-rules', pattern)).rule.id;
    const grouping = { exception_class: 'Zzz*', fingerprint: ['zzz'] };
    const grouped = await made('POST', '/api/bugtracker/v1/projects/blog/grouping-rules', grouping);
    await made('POST', '/api/watchdog/v1/monitors', { source: 'blog-web', project: 'blog' });
    const beats = await token('--scopes', 'watchdog:ping', '--source', 'blog-web');
    expect((await fetch(`${service.url}/ping/${beats}/fail`)).status).to.equal(200);
    const incidents = (): Promise<{ id: string }[]> => listed('/api/watchdog/v1/incidents');
    await waitUntil('an incident', async () => (await incidents()).length > 0);
    const incident = (await incidents())[0]?.id ?? '';
    const asking = { project: 'blog', agent: 'x' };
    const agents = (await made('POST', '/api/bugtracker/v1/request-rules', asking)).rule.id;
    const pause = { sources: ['blog-web'], reason: 'x', until: new Date(Date.now() + 3_600_000).toISOString() };
    const maintenance = (await made('POST', '/api/watchdog/v1/maintenance', pause)).window.id;
    const silence = (await made('POST', '/api/watchdog/v1/silences', pause)).silence.id;
    const pages = '/api/watchdog/v1/status-pages';
    const open = { published: true, subscriptions: true };
    const page = (await made('POST', pages, { slug: 'blog', title: 'x', project: 'blog', ...open })).page.id;
    await new WebSession(service.url).post('/status-page/blog/subscribe', { email: 'ada@example.org' });
    const subscriber = (await listed(`${pages}/${page}/subscribers`))[0]?.id ?? '';
    const reported = { kind: 'incident', title: 'x', text: 'x' };
    const announcement = (await made('POST', `${pages}/${page}/announcements`, reported)).announcement.id;
    const sold = await made('POST', '/api/license/v1/licenses', {
      product: 'blog',
      licensee: 'Ada',
      client_ref: 'o-1',
      max_activations: 2,
    });
    const license = sold.license.id;
    await made('POST', '/api/license/v1/validate', { license_key: sold.key, product: 'blog', machine_id: 'm-1' });
    const machine = (await listed(`/api/license/v1/licenses/${license}/activations`))[0]?.id ?? '';
    await made('PATCH', `/api/license/v1/licenses/${license}`, { floating: true });
    await made('POST', '/api/license/v1/validate', { license_key: sold.key, product: 'blog', machine_id: 'm-1' });
    const lease = (await listed(`/api/license/v1/licenses/${license}/leases`))[0]?.id ?? '';
    const deliveries = (): Promise<{ id: string }[]> => listed(`/api/webhooks/v1/webhooks/${webhook}/deliveries`);
    await waitUntil('a delivery', async () => (await deliveries()).length > 0);
    const delivery = (await deliveries())[0]?.id ?? '';
    const room = { name: 'room', kind: 'slack', target: 'http://127.0.0.1:9/x', projects: ['blog'] };
    const channel = (await made('POST', '/api/notifications/v1/channels', room)).channel.id;
    const key = (await made('POST', '/api/projects/v1/projects/blog/intake-keys', {})).id;
    const nobody = '0190aaaa-0000-7000-8000-00000000dead';
    foreign = {
      'projects/{slug}': 'blog',
      'projects/{project}': 'blog',
      'grouping-rules/{id}': grouped.rule.id,
      'intake-keys/{id}': key,
      'channels/{id}': channel,
      'licenses/{id}': license,
      'activations/{aid}': machine,
      'leases/{lid}': lease,
      'by-ref/{product}': 'blog',
      '{product}/{client_ref}': 'o-1',
      'bugs/{id}': item,
      'ignore-rules/{id}': rule,
      'monitors/{source}': 'blog-web',
      'maintenance/{id}': maintenance,
      'silences/{id}': silence,
      'incidents/{id}': incident,
      'request-rules/{id}': agents,
      'status-pages/{page}': page,
      'announcements/{announcement}': announcement,
      'subscribers/{subscriber}': subscriber,
      'webhooks/{id}': webhook,
      'deliveries/{id}': delivery,
    };
    missing = Object.fromEntries(Object.keys(foreign).map((name) => [name, nobody]));
    const { paths } = (await ask(service, 'GET', '/api/openapi.json')).json as unknown as {
      paths: Record<string, Record<string, Operation>>;
    };
    routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId: operation, security = [] }]) => {
        const guarded = security.some((one) => 'token' in one);
        const walked = path.includes('{') && !OTHERWISE.test(path) && guarded && operation !== undefined;
        return walked ? [{ method: method.toUpperCase(), path, operation }] : [];
      }),
    );
    requested = Object.entries(paths).flatMap(([path, { get }]) =>
      (get?.security?.some((one) => 'token' in one) === true ? (get.parameters ?? []) : [])
        .filter((one) => one.in === 'query' && ['project', 'product', 'project_slug'].includes(one.name))
        .map(({ name }) => `${path}?${name}=`),
    );
  });
  after(() => service.dispose());

  const filled = (path: string, values: Record<string, string>): string =>
    path.replaceAll(/([\w{}-]+)\/(\{\w+\})/g, (all, noun: string, parameter: string) => {
      const value = values[`${noun}/${parameter}`];
      expect(value, `the walk knows a value of ${all} in ${path}`).to.be.a('string');
      return `${noun}/${encodeURIComponent(value ?? '')}`;
    });

  /** Status and body, with what was asked for and the request's own id taken out. */
  const seen = (answer: Wire, values: Record<string, string>): string => {
    const { error, ...rest } = answer.json as { error?: Record<string, unknown> };
    const { request_id: _, ...said } = error ?? {};
    const names = Object.values(values).toSorted((a, b) => b.length - a.length);
    return names.reduce(
      (text, name) => text.replaceAll(name, '<name>'),
      `${answer.status} ${JSON.stringify(rest)} ${JSON.stringify(said)}`,
    );
  };

  it('returns 404 on every route', async () => {
    expect(routes.length, 'routes that name an object').to.be.above(45);
    const differing: string[] = [];
    for (const { method, path, operation } of routes) {
      const body = method === 'GET' ? {} : { body: BODIES[operation] ?? {} };
      const [there, nowhere] = await Promise.all([
        ask(service, method, filled(path, foreign), { token: bound, ...body }),
        ask(service, method, filled(path, missing), { token: bound, ...body }),
      ]);
      // A path that names a project says which one is meant: 403 whether it is there or not.
      const status = /\{(slug|product|project)\}/.test(path) ? 403 : 404;
      const same = seen(there, foreign) === seen(nowhere, missing);
      if (!same || there.status !== status)
        differing.push(`${method} ${path}: ${there.status} ${there.text} / ${nowhere.status} ${nowhere.text}`);
    }
    expect(differing).to.deep.equal([]);
  });

  it('leaves the object unchanged', async () => {
    const get = (path: string): Promise<Wire> => ask(service, 'GET', path, { token: master });
    for (const path of [
      '/api/bugtracker/v1/bugs/{id}',
      '/api/watchdog/v1/monitors/{source}',
      '/api/webhooks/v1/webhooks/{id}',
    ])
      expect((await get(filled(path, foreign))).status, path).to.equal(200);
  });

  it('returns 404 when a body references the object', async () => {
    const both = async (
      method: string,
      path: string,
      body: (values: Record<string, string>) => object,
    ): Promise<void> => {
      const [there, nowhere] = await Promise.all([
        ask(service, method, path, { token: bound, body: body(foreign) }),
        ask(service, method, path, { token: bound, body: body(missing) }),
      ]);
      expect(seen(there, foreign), path).to.equal(seen(nowhere, missing));
    };
    await both('POST', '/api/bugtracker/v1/bugs/shop-1/merge', (values) => ({ into: values['bugs/{id}'] }));
    for (const method of ['POST', 'DELETE'])
      await both(method, '/api/bugtracker/v1/bugs/shop-1/links', (values) => ({
        kind: 'related',
        ref: values['bugs/{id}'],
      }));
    await both('PATCH', '/api/bugtracker/v1/bugs/shop-1', (values) => ({
      status: 'duplicate',
      duplicate_of: values['bugs/{id}'],
    }));
    await both('POST', '/api/bugtracker/v1/bugs/bulk', (values) => ({
      ids: [values['bugs/{id}']],
      set: { priority: 1 },
    }));
    await both('POST', '/api/watchdog/v1/event', (values) => ({
      source: values['monitors/{source}'],
      type: 'note',
      message: 'x',
    }));
  });

  it('returns 403 when a parameter or body names another project, even if that project is missing', async () => {
    const rule = { name: 'x', match_type: 'contains', pattern: 'zzz', reason: 'noise' };
    const hook = { name: 'x', url: 'http://127.0.0.1:9/', events: '*' };
    const release = { version: '1', channel: 'stable', platform: 'any', reason: 'x', rollout_percent: 5 };
    const bodies: [path: string, body: (slug: string) => object][] = [
      ['/api/tokens/v1/provision', (project) => ({ name: 'x', project })],
      ['/api/license/v1/licenses', (product) => ({ product, licensee: 'x' })],
      ['/api/bugtracker/v1/report', (project) => ({ project, type: 'bug', title: 'x' })],
      [
        '/api/bugtracker/v1/bugs/bulk',
        (project) => ({ filter: { project }, expected_count: 1, set: { severity: 'low' } }),
      ],
      ['/api/errors/v1/report', (project) => ({ project, file: 'a', error_message: 'x', error_level: 'error' })],
      ['/api/errors/v1/ignore-rules', (project) => ({ ...rule, project })],
      ['/api/errors/v1/ignore-rules/preview', (project) => ({ ...rule, project })],
      ['/api/webhooks/v1/webhooks', (project_slug) => ({ ...hook, project_slug })],
      ['/api/watchdog/v1/monitors', (project) => ({ source: 'new', project })],
      ['/api/updateservice/v1/withdraw', (product) => ({ ...release, product })],
      ['/api/updateservice/v1/rollout', (product) => ({ ...release, product })],
      ['/api/updateservice/v1/promote', (product) => ({ product, version: '1', from: 'beta', to: 'stable' })],
    ];
    expect(requested.length, 'parameters that name a project').to.be.above(6);
    for (const slug of ['blog', 'nowhere']) {
      const calls: [string, string, object?][] = [
        ...requested.map((path): [string, string] => ['GET', path + slug]),
        ...bodies.map(([path, body]): [string, string, object] => ['POST', path, body(slug)]),
        ['GET', `/api/projects/v1/projects/${slug}`],
      ];
      for (const [method, path, body] of calls) {
        const answer = await ask(service, method, path, { token: bound, ...(body && { body }) });
        expect(`${path} ${answer.status} ${String(codeOf(answer))}`).to.equal(`${path} 403 insufficient_scope`);
      }
    }
  });
});
