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
          log.warn({ err, part: id, project: project.slug }, 'a part of a project page could not be made');
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
      href: `/projects/${slug}?language=${id}#setup`,
      active: id === steps.id,
    })),
    languages: SETUP_LANGUAGES.map(({ id, label }) => ({ value: id, label })),
  };
}
