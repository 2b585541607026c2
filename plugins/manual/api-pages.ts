import joi from 'joi';
import { View, type AppSettings, type PageSpec } from '../../kernel/contract.js';
import { notFound } from '../../kernel/errors.js';
import type { SystemInfo } from '../../ports/domain/system.js';
import { apiIndex, apiOperations, type Group, type Operation } from './api-docs.js';

/** Rendered once, because the description does not change while the process runs. */
class Description {
  #index: Group[] | undefined;
  readonly #operations = new Map<string, Operation[]>();

  constructor(
    private readonly system: Pick<SystemInfo, 'openapi'>,
    private readonly app: Pick<AppSettings, 'base_url'>,
  ) {}

  async groups(): Promise<Group[]> {
    return (this.#index ??= apiIndex(await this.system.openapi()));
  }

  async operations(group: Group): Promise<Operation[]> {
    const known = this.#operations.get(group.id);
    if (known) return known;
    const made = apiOperations(await this.system.openapi(), group, this.app.base_url);
    this.#operations.set(group.id, made);
    return made;
  }
}

export function apiPages(system: Pick<SystemInfo, 'openapi'>, app: AppSettings): PageSpec[] {
  const description = new Description(system, app);
  const crumb = { label: 'Docs', href: '/docs' };
  return [
    {
      path: '/docs/api',
      title: 'API',
      access: { session: 'member' },
      handle: async () =>
        new View('api', {
          groups: await description.groups(),
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
        const groups = await description.groups();
        const group = groups.find((g) => g.id === params['group']);
        if (!group) throw notFound(`part ${params['group']} of the interface`);
        return new View('api-group', {
          group: { ...group, operations: await description.operations(group) },
          groups,
          title: `API: ${group.title}`,
          crumbs: [crumb, { label: 'API', href: '/docs/api' }, { label: group.title }],
        });
      },
    },
  ];
}
