/** What the projects plugin offers the others (contract 15). */
import { token } from '../token.js';

export interface ProjectInfo {
  slug: string;
  name: string;
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
  /** The project, when it takes reports and publishes. @throws ServiceError unknown_project (422) */
  accepting(slug: string): Promise<ProjectInfo>;
  /** Another plugin says what hangs on a project, so that one in use is archived and not deleted. */
  registerUsage(noun: string, inUse: (slug: string) => Promise<boolean>): void;
}

export const PROJECTS = token<ProjectDirectory>('projects.directory');
