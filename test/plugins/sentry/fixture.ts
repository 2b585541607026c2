/** The kernel with bugs, errorstream and sentry, and their routes behind the real HTTP adapter. */
import { fakeAccess } from '../../support/fake-access.js';
import { ServiceError } from '../../../kernel/errors.js';
import bugs from '../../../plugins/bugs/plugin.js';
import errorstream from '../../../plugins/errorstream/plugin.js';
import sentry from '../../../plugins/sentry/plugin.js';
import type { RouteSpec } from '../../../ports/http/index.js';
import type { HapiServerOptions } from '../../../adapters/hapi/options.js';
import { TestServer, type Asked, type Loose } from '../../adapters/hapi/support.js';
import { bootTestKernel, type TestKernel } from '../../harness.js';
import { createFakeProjects } from '../../support/fake-projects.js';

const NUMBERS: Record<string, number> = { shop: 7, other: 8, old: 9 };
const known = (slug: string | undefined): object | null =>
  slug !== undefined && slug in NUMBERS ? { slug, number: NUMBERS[slug], archived: slug === 'old' } : null;

const projects = createFakeProjects({
  requireAccepting: async (slug) => {
    if (slug === 'old') throw new ServiceError('unknown_project', 'The project is archived.');
    return known(slug);
  },
  get: async (slug) => known(slug),
  findByNumber: async (n) => known(Object.keys(NUMBERS).find((slug) => NUMBERS[slug] === n)),
});

/** An intake key's scopes name its project here: the fake authenticator knows no projects. */
const bound = (spec: RouteSpec): RouteSpec => ({
  ...spec,
  handle: (request) => {
    const { principal } = request;
    if (principal.kind !== 'token' || principal.token_kind !== 'intake') return spec.handle(request);
    return spec.handle({
      ...request,
      address: request.address,
      principal: { ...principal, project: principal.scopes[0] ?? null },
    });
  },
});

export const KEY = 'intake:shop';
export const AUTH = { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${KEY}` };
export const ENVELOPE = '/api/7/envelope/';
export const STORE = '/api/7/store/';
let n = 0;
export const newId = (): string => (++n).toString(16).padStart(32, '0');
export const event = (fields: object = {}): Record<string, unknown> => ({
  event_id: newId(),
  exception: { values: [{ type: 'CartError', value: 'no price' }] },
  ...fields,
});

export class Fixture {
  private constructor(
    readonly service: TestKernel,
    readonly server: TestServer,
  ) {}

  /** @param more plugins beside its own */
  static async create(
    options: Partial<HapiServerOptions> = {},
    more: Parameters<typeof bootTestKernel>[0] = [],
  ): Promise<Fixture> {
    const service = await bootTestKernel([fakeAccess, projects, bugs, errorstream, ...more, sentry]);
    const routes = (service.http.mounted?.routes ?? []).map(({ spec }) => bound(spec));
    return new Fixture(service, await TestServer.create({ routes }, options));
  }

  post(path: string, payload: string | Buffer, headers: Record<string, string> = AUTH): Promise<Asked> {
    return this.server.ask('POST', path, { payload, headers });
  }

  async items(): Promise<Loose[]> {
    const answer = await this.server.ask('GET', '/api/bugtracker/v1/bugs?limit=200', {
      bearer: 'master:bugtracker:read',
    });
    return answer.body['items'] as unknown as Loose[];
  }

  stop(): Promise<void> {
    return this.service.stop();
  }
}
