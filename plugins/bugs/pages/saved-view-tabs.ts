import type { HttpRequest } from '../../../kernel/contract/index.js';
import { getViewer, type SavedView, type SavedViewService } from '../lists/saved-views.js';
import { buildBugsUrl, toCanonicalQuery } from './shared/list-query.js';

export interface ViewTab {
  id: string;
  label: string;
  href: string;
  active: boolean;
  shared: boolean;
  project: string | null;
  here: boolean;
  mine: boolean;
  owner: string;
}

export interface ListState {
  search: string;
  projects: readonly string[];
}

function toViewTab(view: SavedView, { search: now, projects }: ListState): ViewTab {
  const { id, name, shared, project, mine, owner_name, query } = view;
  const search = toCanonicalQuery(query);
  return {
    id,
    label: name,
    href: buildBugsUrl(search),
    active: search === now,
    shared,
    project,
    here: project === null || projects.includes(project),
    mine,
    owner: owner_name,
  };
}

export async function buildViewTabs(
  views: SavedViewService,
  request: HttpRequest,
  list: ListState,
): Promise<ViewTab[]> {
  return (await views.list(getViewer(request.principal))).map((view) => toViewTab(view, list));
}
