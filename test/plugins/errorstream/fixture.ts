/**
 * The kernel with bugs and errorstream on a store, and their routes behind the real HTTP adapter.
 */
import { fakeAccess } from '../../support/fake-access.js';
import bugs from '../../../plugins/bugs/plugin.js';
import errorstream from '../../../plugins/errorstream/plugin.js';
import type { RouteSpec } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import type { HapiServerOptions } from '../../../adapters/hapi/options.js';
import { TestServer, type Asked, type Loose } from '../../adapters/hapi/support.js';
import { bootTestKernel, type TestKernel, type HarnessOptions } from '../../harness.js';
import { createFakeProjects } from '../../support/fake-projects.js';

export const TOKEN = 'master:bugtracker:report';
export const PATH = '/api/errors/v1/report';

const projects = createFakeProjects({
  requireAccepting: async (slug) => {
    if (slug === 'nowhere') throw new ServiceError('unknown_project', 'Project not found.');
    return { slug };
  },
});

/**
 * The principal's project is what the header `x-test-project` says: the fake authenticator knows no
 * projects.
 */
const bound = (spec: RouteSpec): RouteSpec => ({
  ...spec,
  handle: (request) => {
    const project = request.headers['x-test-project'];
    if (project === undefined || request.principal.kind !== 'token') return spec.handle(request);
    return spec.handle({ ...request, principal: { ...request.principal, project } });
  },
});

export class Fixture {
  private constructor(
    readonly service: TestKernel,
    readonly server: TestServer,
  ) {}

  /** @param more plugins beside its own */
  static async create(
    options: HarnessOptions = {},
    server: Partial<HapiServerOptions> = {},
    more: Parameters<typeof bootTestKernel>[0] = [],
  ): Promise<Fixture> {
    const service = await bootTestKernel([fakeAccess, projects, bugs, ...more, errorstream], options);
    const routes = (service.http.mounted?.routes ?? []).map(({ spec }) => bound(spec));
    return new Fixture(service, await TestServer.create({ routes }, server));
  }

  post(json: unknown, options: { bearer?: string; headers?: Record<string, string> } = {}): Promise<Asked> {
    return this.server.ask('POST', PATH, { bearer: TOKEN, json, ...options });
  }

  /** The item as `GET /bugs/{id}` shows it, with its occurrences. */
  async detail(id: string): Promise<{ item: Loose; occurrences: Loose[] }> {
    const answer = await this.server.ask('GET', `/api/bugtracker/v1/bugs/${id}`, {
      bearer: 'master:bugtracker:read',
    });
    const { item, occurrences } = answer.body as { item: Loose; occurrences: unknown };
    return { item, occurrences: occurrences as Loose[] };
  }

  items(): Promise<number> {
    return this.service.store.collection('bugs_items').count();
  }

  stop(): Promise<void> {
    return this.service.stop();
  }
}

export const error = (fields: object = {}): object => ({
  project: 'alpha',
  error_level: 'error',
  error_message: 'cart is empty',
  exception_class: 'shop.CartError',
  file: 'src/cart.ts',
  ...fields,
});
