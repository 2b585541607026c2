/** Saved views of the list as its tabs (services in lists/saved-views.ts). */
import type { HttpRequest } from '../../../kernel/contract.js';
import { viewerOf, type SavedView, type SavedViews } from '../lists/saved-views.js';
import { bugsUrl, canonical } from './shared/query.js';

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
