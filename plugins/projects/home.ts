/** A project's home page with the parts of all plugins (contract 80). */
import type { Logger } from '../../kernel/contract/index.js';
import type { ProjectInfo, ProjectPart, ProjectPartProvider } from '../../ports/domain/projects.js';
import { buildDsn } from './project.js';
import { SETUP_LANGUAGES, findSetupSteps } from './setup-steps.js';

const MAX_FIGURES = 6;
const MAX_LINES = 8;

type RenderedPart = (ProjectPart & { id: string }) | { id: string; failed: true };

const renderPart = (id: string, part: ProjectPart): RenderedPart => ({
  ...part,
  id,
  figures: part.figures.slice(0, MAX_FIGURES),
  lines: part.lines.slice(0, MAX_LINES),
});

/** Returns parts in ascending order; a failed part is replaced by a message. */
export function loadParts(
  added: readonly ProjectPartProvider[],
  project: ProjectInfo,
  log: Pick<Logger, 'warn'>,
): Promise<RenderedPart[]> {
  return Promise.all(
    added
      .toSorted((a, b) => a.order - b.order)
      .map(async (one) => {
        const { id } = one;
        try {
          return renderPart(id, await one.loadPart(project));
        } catch (err) {
          log.warn({ err, part: id, project: project.slug }, 'a part of a project page could not be rendered');
          return { id, failed: true } as const;
        }
      }),
  );
}

/** Placeholder for the DSN's key, which is only shown when it is created. */
const KEY_PLACEHOLDER = 'INTAKE_KEY';

/** @param key of a new DSN; null for a placeholder */
export function buildSetupCard(
  { slug, number }: Pick<ProjectInfo, 'slug' | 'number'>,
  { baseUrl, language, key }: { baseUrl: string; language: unknown; key: string | null },
): object {
  const steps = findSetupSteps(language);
  const whole = buildDsn(baseUrl, key ?? KEY_PLACEHOLDER, number);
  return {
    language: steps.id,
    label: steps.label,
    install: steps.install,
    code: steps.code(whole, `${slug}@1.0.0`),
    dsn: whole,
    placeholder: key === null ? KEY_PLACEHOLDER : null,
    tabs: SETUP_LANGUAGES.map(({ id, label }) => ({
      label,
      href: `/projects/${slug}/settings?language=${id}#setup`,
      active: id === steps.id,
    })),
    languages: SETUP_LANGUAGES.map(({ id, label }) => ({ value: id, label })),
  };
}

interface ProjectTab {
  label: string;
  href: string;
  active: boolean;
}

/** The lists are those of the sidebar, filtered to the project. */
export function buildProjectTabs(slug: string, current: 'overview' | 'settings'): ProjectTab[] {
  const value = encodeURIComponent(slug);
  return [
    { label: 'Overview', href: `/projects/${value}`, active: current === 'overview' },
    { label: 'Issues', href: `/bugs?project=${value}`, active: false },
    { label: 'Releases', href: `/releases?product=${value}`, active: false },
    { label: 'Machines', href: `/machines?project=${value}`, active: false },
    { label: 'Monitors', href: `/monitors?project=${value}`, active: false },
    { label: 'Licenses', href: `/licenses?product=${value}`, active: false },
    { label: 'Settings', href: `/projects/${value}/settings`, active: current === 'settings' },
  ];
}

/** Entries of the menu "New", each for the project. */
export const listProjectActions = (slug: string): { label: string; icon: string; href: string }[] => {
  const value = encodeURIComponent(slug);
  return [
    { label: 'New issue', icon: 'bug', href: `/bugs/new?project=${value}` },
    { label: 'New monitor', icon: 'monitor', href: `/monitors/new?project=${value}` },
    { label: 'Publish release', icon: 'release', href: `/releases/new?product=${value}` },
    { label: 'New license', icon: 'license', href: `/licenses/new?product=${value}` },
    { label: 'Create token', icon: 'key', href: `/tokens/new?project=${value}` },
  ];
};
