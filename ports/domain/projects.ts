import type { ProjectChoices } from '../http/index.js';
import type { CountChange } from '../../lib/figures/count-change.js';
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
  /** `v{version}`; null: no tags. */
  tag_format?: string | null;
  number: number;
  setup_scopes: readonly string[];
  cache_ttl_hours: number;
  require_signed: boolean;
  archived: boolean;
}

export interface ProjectDirectory {
  get(slug: string): Promise<ProjectInfo | null>;
  findByNumber(number: number): Promise<ProjectInfo | null>;
  list(): Promise<ProjectInfo[]>;
  /** @throws ServiceError unknown_project (422), worded for the input */
  requireAccepting(slug: string, what: ProjectInput): Promise<ProjectInfo>;
}

/** Kinds of new input. */
export type ProjectInput = 'reports' | 'releases' | 'licenses' | 'installations';

/** Prevents deletion of projects in use. */
export interface ProjectUsage {
  noun: string;
  isInUse(slug: string): Promise<boolean>;
}

export const PROJECT_USAGE = extensionPoint<ProjectUsage>('projects.usage');

/** Removes a project's data. Idempotent, because calls are retried after a crash. */
export interface ProjectCleanup {
  clear(slug: string): Promise<void>;
  /** Called only at deletion; may scan a log. */
  detach?(slug: string): Promise<void>;
}

export const PROJECT_CLEANUPS = extensionPoint<ProjectCleanup>('projects.belongings');

/** A card for administrators on a project's page. */
export interface ProjectSection {
  heading: string;
  text: string;
  guide: { label: string; href: string };
  lines: readonly { label: string; value: string }[];
  note: { text: string; at: string } | null;
  /** Posts to a page of the plugin. */
  action: { path: string; label: string; confirm: string | null };
}

export interface ProjectSectionProvider {
  loadSections(project: ProjectInfo): Promise<ProjectSection>;
}

export const PROJECT_SECTIONS = extensionPoint<ProjectSectionProvider>('projects.sections');

/** A number on a project's page, linked to its list. */
export interface ProjectFigure {
  label: string;
  value: number | null;
  href: string | null;
  tone: 'success' | 'warning' | 'danger' | null;
}

/** A row on a project's page. */
export interface ProjectLine {
  title: string;
  href: string;
  detail: string | null;
  badge: { text: string; tone: 'success' | 'warning' | 'danger' | 'info' | 'neutral' } | null;
  /** RFC 3339. */
  at: string | null;
}

/** Counts over time with releases as marks, across a project's page. */
export interface ProjectChart {
  title: string;
  href: string | null;
  counts: readonly number[];
  /** Start of the first count and its length, in ms. */
  from: number;
  step: number;
  marks: readonly { at: string; label: string; href: string }[];
}

/** Parts of a whole per day, such as machines by version. */
export interface ProjectArea {
  title: string;
  /** `2026-11-29`, ascending. */
  days: readonly string[];
  series: readonly { label: string; counts: readonly number[] }[];
}

/** A share in percent over time. */
export interface ProjectCurve {
  title: string;
  points: readonly { t: string; avg: number }[];
  from: string;
  to: string;
  /** Seconds between points. */
  bucket: number;
}

/** A release and how far it has come. */
export interface ProjectRollout {
  href: string;
  name: string;
  percent: number;
  halted: boolean;
  /** Of the machines on its channel; null: there are none. */
  machines: { updated: number; all: number } | null;
  crash_free: string | null;
  change: CountChange | null;
  /** Version that it is compared with. */
  previous: string | null;
}

/** A plugin's section of a project's page. */
export interface ProjectPart {
  heading: string;
  all: { label: string; href: string };
  customers?: { label: string; href: string };
  /** Above the figures. Default: `heading`. */
  figures_heading?: string;
  /** At most 6. */
  figures: readonly ProjectFigure[];
  /** At most 8. */
  lines: readonly ProjectLine[];
  empty: { text: string; label: string; href: string } | null;
  chart?: ProjectChart;
  area?: ProjectArea;
  curve?: ProjectCurve;
  rollouts?: readonly ProjectRollout[];
  /** Versions or states with their numbers, as one bar. */
  shares?: readonly { label: string; value: number; tone: string }[];
  /** States of the last 24 hours, worst first. */
  strips?: readonly { title: string; href: string; hours: readonly object[]; value: string }[];
}

export interface ProjectPartProvider {
  /** Part of an element id: lower-case letters. */
  id: string;
  order: number;
  /** Runs at every page view: read a few index ranges at most. */
  loadPart(project: ProjectInfo): Promise<ProjectPart>;
}

export const PROJECT_PARTS = extensionPoint<ProjectPartProvider>('projects.parts');

/** The seller's brand on public pages. */
export interface SellerBrand {
  name: string | null;
  colour: string | null;
  /** URL of the style sheet with `--brand` and `--brand-ink`. */
  css: string;
  logo: string | null;
}

export interface SellerBrands {
  find(slug: string): Promise<SellerBrand | null>;
  findCommon(): Promise<SellerBrand | null>;
  readLogo(slug: string): Promise<{ type: string; bytes: Buffer } | null>;
}

export const SELLER_BRANDS = token<SellerBrands>('projects.brands');

export const PROJECT_CHOICES = token<ProjectChoices>('projects.choices');

export const PROJECTS = token<ProjectDirectory>('projects.directory');
