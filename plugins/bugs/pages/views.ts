/** Saved views of the list: what the tabs show, and the forms that save and remove one (services in saved-views.ts). */
import joi from 'joi';
import { Redirect, type HttpRequest, type PageSpec } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { viewerOf, type SavedView, type SavedViews } from '../lists/saved-views.js';
import { typedFields } from './form.js';
import type { PageDeps } from './item.js';
import { bugsUrl, canonical, filtersOf } from './query.js';

export interface ViewTab {
  id: string;
  label: string;
  href: string;
  active: boolean;
  shared: boolean;
  mine: boolean;
  owner: string;
}

const tabOf = ({ id, name, shared, mine, owner_name, query }: SavedView, now: string): ViewTab => {
  const search = canonical(query);
  return { id, label: name, href: bugsUrl(search), active: search === now, shared, mine, owner: owner_name };
};

/** @param now canonical text of the filters and order that the list shows */
export async function viewTabs(views: SavedViews, request: HttpRequest, now: string): Promise<ViewTab[]> {
  return (await views.list(viewerOf(request.principal))).map((view) => tabOf(view, now));
}

async function save({ services: { views } }: PageDeps, request: HttpRequest): Promise<Redirect> {
  const typed = typedFields(request);
  const query = filtersOf(typed['match'] ?? '') ?? {};
  const back = bugsUrl(canonical(query));
  try {
    const shared = typed['shared'] === 'true';
    const { name } = await views.save(viewerOf(request.principal), { name: typed['name'] ?? '', shared, query });
    return new Redirect(back, {
      tone: 'success',
      message: `View “${name}” is saved${shared ? ' for everybody' : ''}.`,
    });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 422) throw error;
    const what = Object.entries(error.fields ?? {}).map(([field, says]) => `${field} ${says}`);
    return new Redirect(back, { tone: 'danger', message: `The view was not saved: ${what.join('; ')}.` });
  }
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
        await page.services.views.remove(request.params['id'] ?? '', viewerOf(request.principal));
        const back = canonical(filtersOf(typedFields(request)['match'] ?? '') ?? {});
        return new Redirect(bugsUrl(back), { tone: 'success', message: 'The view is removed.' });
      },
    },
  ];
}
