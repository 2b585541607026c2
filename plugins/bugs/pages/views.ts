import joi from 'joi';
import { Redirect, type HttpRequest, type PageResult, type PageSpec } from '../../../kernel/contract.js';
import { getViewer } from '../lists/saved-views.js';
import { orAgain, typedFields } from './shared/form.js';
import type { PageDeps } from './shared/page-deps.js';
import { listView } from './list.js';
import { bugsUrl, canonical, filtersOf } from './shared/query.js';

function audienceOf(text: string): { shared: boolean; project: string } {
  const [kind = '', project = ''] = text.split(/:(.*)/s);
  return { shared: kind === 'everybody' || kind === 'project', project };
}

async function save(page: PageDeps, request: HttpRequest): Promise<PageResult> {
  const typed = typedFields(request);
  const query = filtersOf(typed['match'] ?? '') ?? {};
  return orAgain(
    'view',
    request,
    async () => {
      const { shared, project } = audienceOf(typed['audience'] ?? '');
      const given = { name: typed['name'] ?? '', shared, ...(project !== '' && { project }), query };
      const { name } = await page.services.views.save(getViewer(request.principal), given);
      return new Redirect(bugsUrl(canonical(query)), {
        tone: 'success',
        message: `View “${name}” is saved${!shared ? '' : project === '' ? ' for everybody' : ` for everybody in ${project}`}.`,
      });
    },
    (problem) => listView(page, request, { ...query, view: 'all' }, problem),
  );
}

export function viewPages(page: PageDeps): PageSpec[] {
  const shared = { method: 'POST', title: 'Bugs', access: { session: 'member' } } as const;
  return [
    { ...shared, path: '/bugs/views', handle: (request) => save(page, request) },
    {
      ...shared,
      path: '/bugs/views/{id}/delete',
      input: { params: joi.object({ id: joi.string().max(100).required() }) },
      handle: async (request) => {
        await page.services.views.remove(request.params['id'] ?? '', getViewer(request.principal));
        const back = canonical(filtersOf(typedFields(request)['match'] ?? '') ?? {});
        return new Redirect(bugsUrl(back), { tone: 'success', message: 'The view is removed.' });
      },
    },
  ];
}
