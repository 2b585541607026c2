/** They belong to accounts, so the API, which uses tokens, does not offer them. */
import { fromForm, inject, injectable } from '../../../kernel/contract/index.js';
import { denied, invalid, notFound } from '../../../kernel/errors.js';
import type { Principal } from '../../../ports/http/index.js';
import type { Json, Collection } from '../../../ports/store/index.js';
import { toBugCaller } from '../caller.js';
import { cleanJson } from '../text/clean-report.js';
import { DEPS } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import { SecretGuard } from '../store/secret-guard.js';
import type { ItemQuery, SortName } from '../item/filters.js';
import type { SavedViewDoc } from '../item/operation-documents.js';
import { savedViewSchema } from './query-schema.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { Clock } from '../../../ports/clock.js';

export const MAX_VIEWS = 100;

export type ViewQuery = ItemQuery & { sort?: SortName; order?: 'asc' | 'desc' };

export interface SavedView {
  id: string;
  name: string;
  shared: boolean;
  project: string | null;
  query: ViewQuery;
  owner_name: string;
  mine: boolean;
  updated_at: string;
}

export interface Viewer {
  id: string;
  name: string;
  admin: boolean;
}

/** @throws ServiceError unauthorized when the caller is not authenticated */
export function getViewer(principal: Principal): Viewer {
  const { id, name } = toBugCaller(principal);
  return { id, name, admin: principal.kind === 'session' && principal.role === 'admin' };
}

@injectable()
export class SavedViewService {
  constructor(
    @inject(DEPS.views) private readonly views: Collection<SavedViewDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
  ) {}

  async list(viewer: Viewer): Promise<SavedView[]> {
    const filter = { or: [{ owner: viewer.id }, { shared: true }] };
    const page = await this.views.find({ filter, limit: 1000 });
    return page.items
      .map((doc) => toSavedView(doc, viewer))
      .toSorted((a, b) => a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1));
  }

  async find(id: string, viewer: Viewer): Promise<SavedView | null> {
    const doc = await this.views.get(id);
    return doc !== null && (doc.shared || doc.owner === viewer.id) ? toSavedView(doc, viewer) : null;
  }

  /**
   * Replaces the account's view with the same name, ignoring case.
   * @param given `query` holds values or arrays; text such as `"true"` is converted
   * @throws ServiceError validation_failed
   */
  async save(
    viewer: Viewer,
    given: { name: string; shared?: boolean; project?: string; query: object },
  ): Promise<SavedView> {
    const { name, shared: isShared, project, query } = validateView(given);
    if (project !== undefined && !(await this.projects.list()).some(({ slug }) => slug === project))
      throw invalid({ project: 'project not found' });
    await this.secrets.rejectSecrets({ name, query: JSON.stringify(query) });
    const { views, clock } = this;
    const id = hashWithinProject(viewer.id, name.toLowerCase());
    if ((await views.get(id)) === null && (await views.count({ owner: viewer.id })) >= MAX_VIEWS)
      throw invalid({ name: `an account can save at most ${MAX_VIEWS} views` });
    const now = clock.iso();
    const changed = await views.change(
      { id },
      {
        set: { name, owner: viewer.id, owner_name: viewer.name, shared: isShared, project, query, updated_at: now },
        setOnInsert: { created_at: now },
      },
      { upsert: true },
    );
    if (changed === null) throw notFound('saved view with this id');
    return toSavedView(changed.doc, viewer);
  }

  /** @throws ServiceError not_found; insufficient_scope for a view of another account */
  async remove(id: string, viewer: Viewer): Promise<void> {
    const view = await this.find(id, viewer);
    if (view === null) throw notFound('saved view with this id');
    if (!view.mine) throw denied('Only its owner and administrators can remove a shared view.');
    await this.views.remove({ id });
  }
}

const toSavedView = (doc: SavedViewDoc, viewer: Viewer): SavedView => ({
  id: doc.id,
  name: doc.name,
  shared: doc.shared,
  project: doc.project ?? null,
  query: doc.query,
  owner_name: doc.owner_name,
  mine: doc.owner === viewer.id || viewer.admin,
  updated_at: doc.updated_at,
});

type ValidatedView = Pick<SavedViewDoc, 'name' | 'shared' | 'query'> & { project?: string };

function validateView(given: object): ValidatedView {
  return cleanJson(fromForm(savedViewSchema, given) as Json) as unknown as ValidatedView;
}
