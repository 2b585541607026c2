import joi from 'joi';
import { View, type AppSettings, type PageSpec } from '../../kernel/contract/index.js';
import { notFound } from '../../kernel/errors.js';
import type { SystemInfo } from '../../ports/domain/system.js';
import { buildApiIndex, buildApiOperations, type ApiGroup, type ApiOperation } from './api-docs.js';

/** Rendered once, because the description does not change while the process runs. */
class ApiDescriptionCache {
  #index: ApiGroup[] | undefined;
  readonly #operations = new Map<string, ApiOperation[]>();

  constructor(
    private readonly system: Pick<SystemInfo, 'getOpenApi'>,
    private readonly app: Pick<AppSettings, 'base_url'>,
  ) {}

  async getGroups(): Promise<ApiGroup[]> {
    return (this.#index ??= buildApiIndex(await this.system.getOpenApi()));
  }

  async getOperations(group: ApiGroup): Promise<ApiOperation[]> {
    const known = this.#operations.get(group.id);
    if (known) return known;
    const made = buildApiOperations(await this.system.getOpenApi(), group, this.app.base_url);
    this.#operations.set(group.id, made);
    return made;
  }
}

export function buildApiPages(system: Pick<SystemInfo, 'getOpenApi'>, app: AppSettings): PageSpec[] {
  const description = new ApiDescriptionCache(system, app);
  const crumb = { label: 'Docs', href: '/docs' };
  return [
    {
      path: '/docs/api',
      title: 'API',
      access: { session: 'member' },
      handle: async () =>
        new View('api', {
          groups: await description.getGroups(),
          base_url: app.base_url,
          crumbs: [crumb, { label: 'API' }],
        }),
    },
    {
      path: '/docs/api/{group}',
      title: 'API',
      access: { session: 'member' },
      input: { params: joi.object({ group: joi.string().max(64).required() }) },
      handle: async ({ params }) => {
        const groups = await description.getGroups();
        const group = groups.find((g) => g.id === params['group']);
        if (!group) throw notFound(`API group ${params['group']}`);
        return new View('api-group', {
          group: { ...group, operations: await description.getOperations(group) },
          groups,
          title: `API: ${group.title}`,
          crumbs: [crumb, { label: 'API', href: '/docs/api' }, { label: group.title }],
        });
      },
    },
  ];
}
