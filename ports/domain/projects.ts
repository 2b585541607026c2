/** What the projects plugin offers the others (contract 15). */
import type { ProjectChoices } from '../http.js';
import { extensionPoint, token } from '../token.js';

/** Where files of a machine lie in the repository: `/srv/app/` → `src/`. */
export type PathRoot = { from: string; to: string };

export interface ProjectInfo {
  slug: string;
  name: string;
  description: string | null;
  repo_url: string | null;
  /** The first whose `from` begins a path counts. */
  path_roots?: readonly PathRoot[];
  /** How the repository names the tag of a version: `v{version}`; null: it has none. */
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
  byNumber(number: number): Promise<ProjectInfo | null>;
  /** By slug, archived ones included. */
  list(): Promise<ProjectInfo[]>;
  /** The project, when it takes such a thing. @throws ServiceError unknown_project (422), in words about it */
  accepting(slug: string, what: ProjectInput): Promise<ProjectInfo>;
}

/** What is new in a project. */
export type ProjectInput = 'reports' | 'releases' | 'licenses' | 'installations';

/** Uses of projects: a project in use is archived and not deleted. */
export interface ProjectUsage {
  /** In the plural, for the message: `items`. */
  noun: string;
  inUse(slug: string): Promise<boolean>;
}

/** Added by each plugin that keeps documents of a project. */
export const PROJECT_USAGE = extensionPoint<ProjectUsage>('projects.usage');

/**
 * What goes with a project, so that a later one of the same slug has nothing of it. Each is repeated after a crash, and
 * finds then what is left.
 */
export interface ProjectBelongings {
  /** Removes what names the project. Asked at its deletion, and before a project of this slug is made. */
  clear(slug: string): Promise<void>;
  /** History that is kept names no project any more. Asked at the deletion alone: it may look through a whole log. */
  detach?(slug: string): Promise<void>;
}

/** Added by each plugin that keeps what goes with a project. */
export const PROJECT_BELONGINGS = extensionPoint<ProjectBelongings>('projects.belongings');

/** A card on a project's page, which an administrator sees: what another plugin offers for the project. */
export interface ProjectSection {
  heading: string;
  text: string;
  /** A page of the manual. */
  guide: { label: string; href: string };
  /** To be copied, each under its name. */
  lines: readonly { label: string; value: string }[];
  note: { text: string; at: string } | null;
  /** A button that posts to a page of the plugin; `confirm`: it is asked first. */
  action: { path: string; label: string; confirm: string | null };
}

export interface ProjectSections {
  of(project: ProjectInfo): Promise<ProjectSection>;
}

/** Shown in the order of the plugins. */
export const PROJECT_SECTIONS = extensionPoint<ProjectSections>('projects.sections');

/** A number on a project's page, with the page that lists what it counts. */
export interface ProjectFigure {
  label: string;
  /** Null: it could not be counted in time. */
  value: number | null;
  href: string | null;
  tone: 'success' | 'warning' | 'danger' | null;
}

/** A line of a project's page: an item, a channel, a monitor. */
export interface ProjectLine {
  title: string;
  href: string;
  detail: string | null;
  badge: { text: string; tone: 'success' | 'warning' | 'danger' | 'info' | 'neutral' } | null;
  /** RFC 3339. */
  at: string | null;
}

/** What a plugin has of a project, for everybody who reads pages. */
export interface ProjectPart {
  heading: string;
  /** The page that shows all of it. */
  all: { label: string; href: string };
  /** What customers see of it. */
  customers?: { label: string; href: string };
  /** At most 6. */
  figures: readonly ProjectFigure[];
  /** At most 8. */
  lines: readonly ProjectLine[];
  /** Said where there is nothing yet, with what to do next. */
  empty: { text: string; label: string; href: string } | null;
}

export interface ProjectParts {
  /** Part of an element's id: small letters. */
  id: string;
  /** Parts are shown by rising order. */
  order: number;
  /** Asked with every look at the page: a few index ranges at most. */
  of(project: ProjectInfo): Promise<ProjectPart>;
}

/** A project's page is made of these. */
export const PROJECT_PARTS = extensionPoint<ProjectParts>('projects.parts');

/** Whose product it is, as customers see it on public pages. */
export interface SellerBrand {
  name: string | null;
  /** `#0a6640`; null: the service's own. */
  colour: string | null;
  /** Address of the style sheet with `--brand` and `--brand-ink`. */
  css: string;
  /** Address of the picture; null: there is none. */
  logo: string | null;
}

export interface SellerBrands {
  /** Null: the project has none. */
  of(slug: string): Promise<SellerBrand | null>;
  /** The brand of every project that has one, where all of them are of one seller. */
  common(): Promise<SellerBrand | null>;
  logo(slug: string): Promise<{ type: string; bytes: Buffer } | null>;
}

export const SELLER_BRANDS = token<SellerBrands>('projects.brands');

export const PROJECT_CHOICES = token<ProjectChoices>('projects.choices');

export const PROJECTS = token<ProjectDirectory>('projects.directory');
