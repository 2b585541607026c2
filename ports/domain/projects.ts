/** Projects for other plugins (contract 15). */
import type { ProjectChoices } from '../http.js';
import { extensionPoint, token } from '../token.js';

/** Maps paths of a machine to the repository: `/srv/app/` → `src/`. */
export type PathRoot = { from: string; to: string };

export interface ProjectInfo {
  slug: string;
  name: string;
  description: string | null;
  repo_url: string | null;
  /** The first matching prefix wins. */
  path_roots?: readonly PathRoot[];
  /** Tag name of a version in the repository: `v{version}`; null: no tags. */
  tag_format?: string | null;
  /** For the Sentry DSN. */
  number: number;
  setup_scopes: readonly string[];
  cache_ttl_hours: number;
  require_signed: boolean;
  archived: boolean;
}

export interface ProjectDirectory {
  get(slug: string): Promise<ProjectInfo | null>;
  findByNumber(number: number): Promise<ProjectInfo | null>;
  /** Lists projects by slug, including archived ones. */
  list(): Promise<ProjectInfo[]>;
  /**
   * Returns a project that accepts this input.
   * @throws ServiceError unknown_project (422), worded for the input
   */
  requireAccepting(slug: string, what: ProjectInput): Promise<ProjectInfo>;
}

/** Kinds of new input. */
export type ProjectInput = 'reports' | 'releases' | 'licenses' | 'installations';

/** Prevents deletion of projects in use; they are archived instead. */
export interface ProjectUsage {
  /** Plural for messages: `items`. */
  noun: string;
  isInUse(slug: string): Promise<boolean>;
}

/** For plugins that store documents of a project. */
export const PROJECT_USAGE = extensionPoint<ProjectUsage>('projects.usage');

/**
 * Removes a project's data, so that a new project with its slug starts empty. Idempotent, because
 * calls are retried after a crash.
 */
export interface ProjectCleanup {
  /** Removes the project's data; called at deletion and before its slug is reused. */
  clear(slug: string): Promise<void>;
  /** Removes the project's name from history; called only at deletion, may scan a log. */
  detach?(slug: string): Promise<void>;
}

/** For plugins with data that a project's deletion removes. */
export const PROJECT_CLEANUPS = extensionPoint<ProjectCleanup>('projects.belongings');

/** A card for administrators on a project's page. */
export interface ProjectSection {
  heading: string;
  text: string;
  /** Page of the guides. */
  guide: { label: string; href: string };
  /** Labeled values to copy. */
  lines: readonly { label: string; value: string }[];
  note: { text: string; at: string } | null;
  /** Button that posts to a page of the plugin; `confirm`: text of a confirmation. */
  action: { path: string; label: string; confirm: string | null };
}

export interface ProjectSectionProvider {
  loadSections(project: ProjectInfo): Promise<ProjectSection>;
}

/** Shown in plugin order. */
export const PROJECT_SECTIONS = extensionPoint<ProjectSectionProvider>('projects.sections');

/** A number on a project's page, linked to its list. */
export interface ProjectFigure {
  label: string;
  /** Null: counting took too long. */
  value: number | null;
  href: string | null;
  tone: 'success' | 'warning' | 'danger' | null;
}

/** A row on a project's page: an item, a channel, a monitor. */
export interface ProjectLine {
  title: string;
  href: string;
  detail: string | null;
  badge: { text: string; tone: 'success' | 'warning' | 'danger' | 'info' | 'neutral' } | null;
  /** RFC 3339. */
  at: string | null;
}

/** A plugin's section of a project's page, visible to every signed-in user. */
export interface ProjectPart {
  heading: string;
  /** Link to the complete list. */
  all: { label: string; href: string };
  /** Link to what customers see. */
  customers?: { label: string; href: string };
  /** At most 6. */
  figures: readonly ProjectFigure[];
  /** At most 8. */
  lines: readonly ProjectLine[];
  /** Empty state with the next action. */
  empty: { text: string; label: string; href: string } | null;
}

export interface ProjectPartProvider {
  /** Part of an element id: lower-case letters. */
  id: string;
  /** Ascending display order. */
  order: number;
  /** Loads the section for every page view: read a few index ranges at most. */
  loadPart(project: ProjectInfo): Promise<ProjectPart>;
}

/** Sections of a project's page. */
export const PROJECT_PARTS = extensionPoint<ProjectPartProvider>('projects.parts');

/** The seller's brand on public pages. */
export interface SellerBrand {
  name: string | null;
  /** `#0a6640`; null: default color. */
  colour: string | null;
  /** URL of the style sheet with `--brand` and `--brand-ink`. */
  css: string;
  /** URL of the logo, or null. */
  logo: string | null;
}

export interface SellerBrands {
  /** Finds the brand of a project, or null. */
  find(slug: string): Promise<SellerBrand | null>;
  /** Returns the brand that all branded projects share, or null. */
  findCommon(): Promise<SellerBrand | null>;
  readLogo(slug: string): Promise<{ type: string; bytes: Buffer } | null>;
}

export const SELLER_BRANDS = token<SellerBrands>('projects.brands');

export const PROJECT_CHOICES = token<ProjectChoices>('projects.choices');

export const PROJECTS = token<ProjectDirectory>('projects.directory');
