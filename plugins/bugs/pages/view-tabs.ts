import type { HttpRequest } from '../../../kernel/contract.js';
import { getViewer, type SavedView, type SavedViews } from '../lists/saved-views.js';
import { bugsUrl, canonical } from './shared/query.js';

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

export interface ShownList {
  search: string;
  projects: readonly string[];
}

function tabOf(view: SavedView, { search: now, projects }: ShownList): ViewTab {
  const { id, name, shared, project, mine, owner_name, query } = view;
  const search = canonical(query);
  return {
    id,
    label: name,
    href: bugsUrl(search),
    active: search === now,
    shared,
    project,
    here: project === null || projects.includes(project),
    mine,
    owner: owner_name,
  };
}

export async function viewTabs(views: SavedViews, request: HttpRequest, list: ShownList): Promise<ViewTab[]> {
  return (await views.list(getViewer(request.principal))).map((view) => tabOf(view, list));
}
