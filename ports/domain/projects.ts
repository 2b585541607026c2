/** What the projects plugin offers the others (contract 15). */
import { extensionPoint, token } from '../token.js';

export interface ProjectInfo {
  slug: string;
  name: string;
  description: string | null;
  repo_url: string | null;
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

export const PROJECTS = token<ProjectDirectory>('projects.directory');
