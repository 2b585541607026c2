/** What the services of this plugin are built on; bound by the names below, so that a test puts its own in their place. */
import { hash } from 'node:crypto';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { ReleaseDirectory } from '../../ports/domain/releases.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Collection } from '../../ports/store.js';
import type {
  ActivityDoc,
  CommentDoc,
  CounterDoc,
  FamilyDoc,
  ItemDoc,
  KeyDoc,
  OccurrenceDoc,
  RefDoc,
  TextsDoc,
} from './model.js';

export interface BugsConfig {
  hour_high: number;
  hour_critical: number;
  /** How far behind now a delta query's `server_time` stays (contract 00, lists). */
  delta_margin_seconds: number;
}

export interface Deps {
  items: Collection<ItemDoc>;
  texts: Collection<TextsDoc>;
  keys: Collection<KeyDoc>;
  families: Collection<FamilyDoc>;
  refs: Collection<RefDoc>;
  occurrences: Collection<OccurrenceDoc>;
  comments: Collection<CommentDoc>;
  activity: Collection<ActivityDoc>;
  counters: Collection<CounterDoc>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  config: BugsConfig;
  projects: ProjectDirectory;
  /** Undefined while no plugin provides releases. */
  releases: () => ReleaseDirectory | undefined;
  emit: (
    event: string,
    data: object,
    options: { id: string; timestamp: string; project_slug: string },
  ) => Promise<boolean>;
  /** 0 ≤ x < 1 */
  random: () => number;
}

export const DEPS = 'bugs.deps';
export const MARKS = 'bugs.marks';
export const OUTBOX = 'bugs.outbox';
export const KEYS = 'bugs.keys';
export const REFS = 'bugs.refs';
export const ITEMS = 'bugs.items';
export const LEASES = 'bugs.leases';
export const BUILDS = 'bugs.builds';
export const AFTERMATH = 'bugs.aftermath';
export const INTAKE = 'bugs.intake';
export const DISCUSSION = 'bugs.discussion';

/** The id of what is unique per project: never a concatenation, which two projects could share. */
export const hashOf = (project: string, text: string): string => hash('sha256', `${project}\u001f${text}`).slice(0, 40);

export const isoOf = (ms: number): string => new Date(ms).toISOString();
