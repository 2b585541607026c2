import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageSpec } from '../../../../kernel/contract/index.js';
import { notFound } from '../../../../kernel/errors.js';
import { toBugCaller } from '../../caller.js';
import type { BulkRunDoc } from '../../item/operation-documents.js';
import { canUndoRun } from '../../editing/undo.js';
import { runOrShowAgain, type FormProblem } from '../shared/form.js';
import type { PageDeps } from '../shared/page-deps.js';

const paramsSchema = joi.object({ id: joi.string().guid().required() });

export const buildUndoPath = (id: string): string => `/bugs/bulk/runs/${id}/undo`;

export function buildBulkRunPages({ services, deps }: PageDeps): PageSpec[] {
  const need = async (request: HttpRequest): Promise<BulkRunDoc> => {
    const run = await services.bulkRuns.find(request.params['id'] ?? '');
    if (run === null) throw notFound('bulk action with this id');
    return run;
  };
  const shown = async (request: HttpRequest, problem: Partial<FormProblem> = {}): Promise<View> => {
    const run = await need(request);
    const running = run.state === 'running';
    return new View('bulk-run', {
      title: `${run.says.does} ${run.total} ${run.total === 1 ? 'issue' : 'issues'}`,
      crumbs: [{ label: 'Issues', href: '/bugs' }, { label: 'Bulk actions' }],
      run,
      running,
      of: Math.max(run.total, run.scanned, 1),
      unnamed: run.failed - run.failures.length,
      undo: canUndoRun(run, toBugCaller(request.principal), deps.clock.now()) ? buildUndoPath(run.id) : null,
      ...(running && { refresh_seconds: 2 }),
      ...problem,
    });
  };
  const shared = { title: 'Bulk actions', access: { session: 'member' }, input: { params: paramsSchema } } as const;
  return [
    { ...shared, path: '/bugs/bulk/runs/{id}', handle: (request) => shown(request) },
    {
      ...shared,
      method: 'POST',
      path: '/bugs/bulk/runs/{id}/undo',
      handle: (request) =>
        runOrShowAgain(
          'undo',
          request,
          async () => {
            const { id } = await services.bulkRuns.undo(await need(request), toBugCaller(request.principal));
            return new Redirect(`/bugs/bulk/runs/${id}`);
          },
          (problem) => shown(request, problem),
        ),
    },
  ];
}
