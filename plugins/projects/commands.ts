import { fromForm, type CommandSpec } from '../../kernel/contract/index.js';
import { formatTable } from '../../lib/format-table.js';
import type { IntakeKeyService } from './intake-keys.js';
import { createBodySchema, toProjectView, type ProjectFields } from './project.js';
import type { ProjectService } from './service.js';

export function buildProjectCommands(projects: ProjectService, keys: IntakeKeyService): CommandSpec[] {
  return [
    {
      name: 'project create',
      summary: 'Create a project',
      args: ['slug'],
      options: { name: { type: 'string', value: 'name', summary: 'Name of the project (default: the slug)' } },
      run: async ({ args, options }) => {
        const name = typeof options['name'] === 'string' ? options['name'] : undefined;
        const input = fromForm(createBodySchema, { slug: args[0] ?? '', name }) as ProjectFields & { slug: string };
        const project = await projects.create('command line: aos project create', input);
        const { id: slug, number } = project;
        return { json: { slug, number, name: project.name }, text: `created ${slug}, number ${number}` };
      },
    },
    {
      name: 'project list',
      summary: 'List the projects',
      run: async () => {
        const items = (await projects.listStored()).map(toProjectView);
        const rows = items.map(({ slug, number, name, archived }) => [
          String(number),
          slug,
          archived ? 'archived' : 'active',
          name,
        ]);
        return { json: { items }, text: formatTable(['NUMBER', 'SLUG', 'STATE', 'NAME'], rows) };
      },
    },
    {
      name: 'project intake-key',
      summary: 'Create a public intake key for a project; it is shown once, with its DSN',
      args: ['slug'],
      options: { name: { type: 'string', value: 'name', summary: 'Label of the key' } },
      run: async ({ args, options }) => {
        const name = typeof options['name'] === 'string' ? options['name'] : undefined;
        const made = await keys.create('command line: aos project intake-key', args[0] ?? '', name);
        return { json: made, text: `key ${made.key}\ndsn ${made.dsn}\nThe key is not shown again.` };
      },
    },
  ];
}
