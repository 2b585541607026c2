import joi from 'joi';
import { Redirect, type HttpRequest, type PageResult, type PageSpec } from '../../../kernel/contract/index.js';
import { getViewer } from '../lists/saved-views.js';
import { runOrShowAgain, getFormFields } from './shared/form.js';
import type { PageDeps } from './shared/page-deps.js';
import { buildListView } from './item-list.js';
import { buildBugsUrl, toCanonicalQuery, parseFilters } from './shared/list-query.js';

function parseAudience(text: string): { shared: boolean; project: string } {
  const [kind = '', project = ''] = text.split(/:(.*)/s);
  return { shared: kind === 'everybody' || kind === 'project', project };
}

async function saveView(page: PageDeps, request: HttpRequest): Promise<PageResult> {
  const typed = getFormFields(request);
  const query = parseFilters(typed['match'] ?? '') ?? {};
  return runOrShowAgain(
    'view',
    request,
    async () => {
      const { shared, project } = parseAudience(typed['audience'] ?? '');
      const given = { name: typed['name'] ?? '', shared, ...(project !== '' && { project }), query };
      const { name } = await page.services.views.save(getViewer(request.principal), given);
      return new Redirect(buildBugsUrl(toCanonicalQuery(query)), {
        tone: 'success',
        message: `View “${name}” saved${!shared ? '' : project === '' ? ' for everyone' : ` for everyone in ${project}`}`,
      });
    },
    (problem) => buildListView(page, request, { ...query, view: 'all' }, problem),
  );
}

export function buildSavedViewPages(page: PageDeps): PageSpec[] {
  const shared = { method: 'POST', title: 'Issues', access: { session: 'member' } } as const;
  return [
    { ...shared, path: '/bugs/views', handle: (request) => saveView(page, request) },
    {
      ...shared,
      path: '/bugs/views/{id}/delete',
      input: { params: joi.object({ id: joi.string().max(100).required() }) },
      handle: async (request) => {
        await page.services.views.remove(request.params['id'] ?? '', getViewer(request.principal));
        const back = toCanonicalQuery(parseFilters(getFormFields(request)['match'] ?? '') ?? {});
        return new Redirect(buildBugsUrl(back), { tone: 'success', message: 'View removed' });
      },
    },
  ];
}
