/** /bugs/bulk/runs/{id}: how far a change of many items is, and how it ended. */
import joi from 'joi';
import { View, type PageSpec } from '../../../../kernel/contract.js';
import { notFound } from '../../../../kernel/errors.js';
import type { PageDeps } from '../item.js';

const params = joi.object({ id: joi.string().guid().required() });

export function runPages({ services }: PageDeps): PageSpec[] {
  return [
    {
      path: '/bugs/bulk/runs/{id}',
      title: 'Change several',
      access: { session: 'member' },
      input: { params },
      handle: async (request) => {
        const run = await services.bulkRuns.find(request.params['id'] ?? '');
        if (run === null) throw notFound('change of many items with this id');
        const running = run.state === 'running';
        return new View('bulk-run', {
          title: `${run.says.does} ${run.total} ${run.total === 1 ? 'item' : 'items'}`,
          crumbs: [{ label: 'Bugs', href: '/bugs' }, { label: 'Change several' }],
          run,
          running,
          // The items were counted when the run began; some may have come to match since.
          of: Math.max(run.total, run.scanned, 1),
          unnamed: run.failed - run.failures.length,
          ...(running && { refresh_seconds: 2 }),
        });
      },
    },
  ];
}
