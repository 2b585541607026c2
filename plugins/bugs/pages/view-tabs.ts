/** Saved views of the list as its tabs (services in lists/saved-views.ts). */
import type { HttpRequest } from '../../../kernel/contract.js';
import { getViewer, type SavedView, type SavedViews } from '../lists/saved-views.js';
import { bugsUrl, canonical } from './shared/query.js';

export interface ViewTab {
  id: string;
  label: string;
  href: string;
  active: boolean;
  shared: boolean;
  /** Slug of the project that it is shared in, or null. */
  project: string | null;
  /** It belongs to the list as it is shown: to no project, or to one of the list's. */
  here: boolean;
  mine: boolean;
  owner: string;
}

/** The list that is shown. */
export interface ShownList {
  /** Canonical text of its filters and order. */
  search: string;
  /** Slugs that it is filtered by. */
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
