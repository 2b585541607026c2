/** Projects marked with `leaving_by` are hidden (contract 15). */
import { findChangedFields } from '../../lib/changed-fields.js';
import {
  collection,
  inject,
  injectable,
  PORT,
  type AppSettings,
  type Clock,
  type Collection,
  type Doc,
  type Logger,
  type Principal,
} from '../../kernel/contract/index.js';
import { isSystemDirectoryName } from '../../lib/formats/system-names.js';
import {
  conflict,
  denied,
  invalid,
  notFound,
  requireProject,
  ServiceError,
  unknownProject,
} from '../../kernel/errors.js';
import { BoundedMap } from '../../lib/bounded-map.js';
import { collectAll } from '../../lib/paging.js';
import { hasScope } from '../../lib/scopes.js';
import { AUDIT, type Actor, type AuditLog } from '../../ports/domain/audit.js';
import type { ProjectDirectory, ProjectInfo, ProjectInput } from '../../ports/domain/projects.js';
import { CATALOG, type ServiceCatalog } from '../../ports/domain/system.js';
import { StoreConflict, type Filter } from '../../ports/store/index.js';
import { CorruptionReporter } from '../../ports/store/corruption-reporter.js';
import { ProjectDataCleaner } from './project-data-cleaner.js';
import {
  getActorName,
  toProjectInfo,
  SLUG_PATTERN,
  type NewProject,
  type Project,
  type ProjectFields,
} from './project.js';
import { findReadable, type ReadablePage } from '../../ports/store/skipped-documents.js';

export interface ProjectCounter extends Doc {
  n: number;
}

const DEFAULT_SETUP_SCOPES: readonly string[] = ['bugtracker:report'];
const CACHE_MS = 1_000;
const MAX_CACHED_PROJECTS = 10_000;
const EXISTING_FILTER: Filter = { leaving_by: null };

/** @throws ServiceError insufficient_scope when the token is for another project */
export function requireProjectAccess(principal: Principal, slug: string): void {
  if (principal.kind === 'token') requireProject(principal.project, slug);
}

@injectable()
export class ProjectService implements ProjectDirectory {
  /** Local changes invalidate the entry; others' appear within a second. */
  readonly #recent = new BoundedMap<ProjectInfo>({
    most: MAX_CACHED_PROJECTS,
    ttlMs: CACHE_MS,
    now: () => this.clock.monotonic(),
  });

  readonly #damage: CorruptionReporter;

  /** Slugs by number, which never changes; every Sentry envelope needs it. */
  readonly #slugs = new BoundedMap<string>({ most: MAX_CACHED_PROJECTS });

  constructor(
    @inject(collection<Project>('projects')) private readonly rows: Collection<Project>,
    @inject(collection<ProjectCounter>('counters')) private readonly counters: Collection<ProjectCounter>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(AUDIT) private readonly audit: AuditLog,
    @inject(CATALOG) private readonly catalog: Pick<ServiceCatalog, 'listScopes'>,
    @inject(PORT.app) readonly app: Pick<AppSettings, 'base_url'>,
    @inject(ProjectDataCleaner) private readonly belongings: ProjectDataCleaner,
    @inject(PORT.log) log: Logger,
  ) {
    this.#damage = new CorruptionReporter(log, 'a project');
  }

  async get(slug: string): Promise<ProjectInfo | null> {
    const recent = this.#recent.get(slug);
    if (recent !== undefined) return recent;
    const project = await this.#findRow(slug);
    if (project === null) return null;
    const info = toProjectInfo(project);
    this.#recent.set(slug, info);
    return info;
  }

  async findByNumber(number: number): Promise<ProjectInfo | null> {
    const known = this.#slugs.get(String(number));
    const recent = known === undefined ? null : await this.get(known);
    if (recent?.number === number) return recent;
    const page = await this.rows.find({ filter: { number, ...EXISTING_FILTER }, limit: 1 });
    const project = page.items[0];
    if (project === undefined) return null;
    this.#slugs.set(String(number), project.id);
    return toProjectInfo(project);
  }

  /** Skips damaged projects. */
  async list(): Promise<ProjectInfo[]> {
    return (await collectAll(this.rows, { filter: EXISTING_FILTER, limit: 1000, damaged: this.#damage.report })).map(
      toProjectInfo,
    );
  }

  listStored(): Promise<Project[]> {
    return collectAll(this.rows, { filter: EXISTING_FILTER, limit: 1000 });
  }

  async requireAccepting(slug: string, what: ProjectInput): Promise<ProjectInfo> {
    const project = await this.get(slug);
    if (project === null) throw unknownProject(slug, getProjectField(what));
    if (project.archived)
      throw new ServiceError('unknown_project', `The project ${slug} is archived and does not accept ${what}.`, {
        fields: { [getProjectField(what)]: `is archived and does not accept ${what}` },
      });
    return project;
  }

  /** Sorted by slug; a project-bound token only sees its project. */
  async page(
    principal: Principal,
    query: { archived?: boolean; limit: number; cursor?: string },
  ): Promise<ReadablePage<Project> & { count: () => Promise<number> }> {
    const filter: Filter = { ...EXISTING_FILTER };
    if (query.archived !== undefined) filter['archived'] = query.archived;
    if (principal.kind === 'token' && principal.project !== null) filter['id'] = principal.project;
    const page = await findReadable(this.rows, {
      filter,
      sort: [['id', 'asc']],
      limit: query.limit,
      after: query.cursor ?? null,
    });
    return { ...page, count: () => this.rows.count(filter) };
  }

  /** @throws ServiceError insufficient_scope, not_found */
  async getProject(principal: Principal, slug: string): Promise<Project> {
    requireProjectAccess(principal, slug);
    const project = await this.#findRow(slug);
    if (project === null) throw notFound(`project ${slug.slice(0, 64)}`);
    return project;
  }

  async #findRow(slug: string): Promise<Project | null> {
    const project = SLUG_PATTERN.test(slug) ? await this.rows.get(slug) : null;
    return project?.leaving_by === undefined ? project : null;
  }

  /** @throws ServiceError conflict on an existing slug, validation_failed, insufficient_scope */
  async create(actor: Actor, input: NewProject): Promise<Project> {
    const { slug } = input;
    if (typeof actor !== 'string') requireProjectAccess(actor, slug);
    if (!SLUG_PATTERN.test(slug)) throw invalid({ slug: 'must match ^[a-z0-9][a-z0-9._-]{0,63}$' });
    if (isSystemDirectoryName(slug))
      throw invalid({ slug: `${slug} is the name of a system directory, such as /etc/${slug}: choose another slug` });
    this.#checkScopes(actor, input.setup_scopes, DEFAULT_SETUP_SCOPES);
    await this.#requireFreeSlug(slug);
    const now = this.clock.iso();
    const project: Project = {
      id: slug,
      name: input.name || slug,
      description: input.description || null,
      repo_url: input.repo_url || null,
      ...(input.path_roots && { path_roots: input.path_roots }),
      ...(input.tag_format && { tag_format: input.tag_format }),
      number: await this.#allocateNumber(),
      setup_scopes: input.setup_scopes ?? [...DEFAULT_SETUP_SCOPES],
      cache_ttl_hours: input.cache_ttl_hours ?? 72,
      require_signed: input.require_signed ?? false,
      archived: false,
      created_at: now,
      updated_at: now,
      ...(input.managed && { managed: input.managed }),
    };
    try {
      // Hidden until leftovers of the slug are cleared, so that nothing new is bound to it before.
      await this.rows.insert({ ...project, leaving_by: getActorName(actor) });
    } catch (error) {
      if (error instanceof StoreConflict) throw createTakenError(slug);
      throw error;
    }
    await this.belongings.clear(slug);
    const made = await this.rows.change({ id: slug, number: project.number }, { unset: ['leaving_by'] });
    if (made === null) throw conflict(`The project ${slug} was not created in time: try again.`);
    await this.audit.record(actor, 'project.created', slug, { number: project.number });
    return project;
  }

  /** @throws ServiceError not_found, validation_failed, insufficient_scope */
  async change(actor: Principal, slug: string, input: ProjectFields): Promise<Project> {
    const before = await this.getProject(actor, slug);
    this.#checkScopes(actor, input.setup_scopes, before.setup_scopes);
    const { name, setup_scopes, cache_ttl_hours, require_signed } = input;
    const description = input.description === '' ? null : input.description;
    const repo_url = input.repo_url === '' ? null : input.repo_url;
    const tag_format = input.tag_format === '' ? null : input.tag_format;
    const code = { repo_url, path_roots: input.path_roots, tag_format };
    const given = { name, description, ...code, setup_scopes, cache_ttl_hours, require_signed };
    const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    if (Object.keys(set).length === 0) return before;
    const changed = await this.setFields(slug, set);
    await this.audit.record(actor, 'project.changed', slug, {}, findChangedFields(before, changed, Object.keys(set)));
    return changed;
  }

  async setArchived(actor: Principal, slug: string, archived: boolean): Promise<Project> {
    const before = await this.getProject(actor, slug);
    if (before.archived === archived) return before;
    const project = await this.setFields(slug, { archived });
    await this.audit.record(
      actor,
      archived ? 'project.archived' : 'project.unarchived',
      slug,
      {},
      {
        before: { archived: before.archived },
        after: { archived },
      },
    );
    return project;
  }

  /** @throws ServiceError not_found */
  async setFields(slug: string, set: Partial<Omit<Project, 'id'>>): Promise<Project> {
    const there = { id: slug, ...EXISTING_FILTER };
    const changed = await this.rows.change(there, { set: { ...set, updated_at: this.clock.iso() } });
    this.invalidate(slug);
    if (changed === null) throw notFound(`project ${slug}`);
    return changed.doc;
  }

  invalidate(slug: string): void {
    this.#recent.delete(slug);
  }

  /** @throws ServiceError conflict */
  async #requireFreeSlug(slug: string): Promise<void> {
    const there = await this.rows.get(slug);
    if (there === null) return;
    if (there.leaving_by === undefined) throw createTakenError(slug);
    throw conflict(`The project ${slug} is being deleted: try again in a minute.`, {
      fields: { slug: 'is being deleted' },
    });
  }

  /** Numbers are unique across processes; a failed creation leaves a harmless gap. */
  async #allocateNumber(): Promise<number> {
    const changed = await this.counters.change({ id: 'number' }, { inc: { n: 1 } }, { upsert: true });
    return changed?.doc.n ?? 1;
  }

  /**
   * Setup scopes can only be granted by callers that have them: tokens their own, administrators
   * all (contract 10, accounts).
   * @throws ServiceError validation_failed, insufficient_scope
   */
  #checkScopes(actor: Actor, scopes: readonly string[] | undefined, before: readonly string[]): void {
    const known = this.catalog.listScopes();
    const unknownOnes = (scopes ?? []).filter((scope) => !known.includes(scope));
    if (unknownOnes.length > 0) throw invalid({ setup_scopes: `unknown: ${unknownOnes.join(', ')}` });
    if (scopes?.includes('setup:install')) throw invalid({ setup_scopes: 'setup:install is never granted by setup' });
    if (isAdministrator(actor)) return;
    const held = typeof actor !== 'string' && actor.kind === 'token' ? actor.scopes : [];
    const beyond = (scopes ?? []).filter((scope) => !before.includes(scope) && !hasScope(held, scope));
    if (beyond.length > 0)
      throw denied(
        `setup_scopes: ${beyond.join(', ')} can be granted only by a token that has it, or by an administrator.`,
      );
  }
}

/** Or the service itself. */
const isAdministrator = (actor: Actor): boolean =>
  typeof actor === 'string' || (actor.kind === 'session' && actor.role === 'admin');

const createTakenError = (slug: string): ServiceError =>
  conflict(`Project ${slug} already exists.`, { fields: { slug: 'is taken' } });
const getProjectField = (what: ProjectInput): string =>
  what === 'releases' || what === 'licenses' ? 'product' : 'project';
