/** A project's home page with the parts of all plugins (contract 80). */
import type { Logger } from '../../kernel/contract.js';
import type { ProjectInfo, ProjectPart, ProjectParts } from '../../ports/domain/projects.js';
import { dsn } from './project.js';
import { LANGUAGES, stepsOf } from './setup-steps.js';

const FIGURES = 6;
const LINES = 8;

type ShownPart = (ProjectPart & { id: string }) | { id: string; failed: true };

const shown = (id: string, part: ProjectPart): ShownPart => ({
  ...part,
  id,
  figures: part.figures.slice(0, FIGURES),
  lines: part.lines.slice(0, LINES),
});

/** Returns parts in ascending order; a failed part is replaced by a message. */
export function partsOf(
  added: readonly ProjectParts[],
  project: ProjectInfo,
  log: Pick<Logger, 'warn'>,
): Promise<ShownPart[]> {
  return Promise.all(
    added
      .toSorted((a, b) => a.order - b.order)
      .map(async (one) => {
        const { id } = one;
        try {
          return shown(id, await one.of(project));
        } catch (err) {
          log.warn({ err, part: id, project: project.slug }, 'a part of a project page could not be made');
          return { id, failed: true } as const;
        }
      }),
  );
}

/** Placeholder for the DSN's key, which is only shown when it is created. */
const PLACEHOLDER = 'INTAKE_KEY';

/**
 * Builds the setup card of one language.
 * @param key of a new DSN; null for a placeholder
 */
export function setupOf(
  { slug, number }: Pick<ProjectInfo, 'slug' | 'number'>,
  { baseUrl, language, key }: { baseUrl: string; language: unknown; key: string | null },
): object {
  const steps = stepsOf(language);
  const whole = dsn(baseUrl, key ?? PLACEHOLDER, number);
  return {
    language: steps.id,
    label: steps.label,
    install: steps.install,
    code: steps.code(whole, `${slug}@1.0.0`),
    dsn: whole,
    placeholder: key === null ? PLACEHOLDER : null,
    tabs: LANGUAGES.map(({ id, label }) => ({
      label,
      href: `/projects/${slug}?language=${id}#setup`,
      active: id === steps.id,
    })),
    languages: LANGUAGES.map(({ id, label }) => ({ value: id, label })),
  };
}
