/** What a person may choose from: projects by their names, monitors as parents. */
import type { WatchdogServices } from '../services.js';

export interface FormChoice {
  value: string;
  label: string;
}

/** Parents in the filter of a list; of more than these a person types the name. */
const MAX_PARENT_CHOICES = 200;
/** Monitors that a field proposes; it takes any other too. */
const MAX_PROPOSED_MONITORS = 500;

/** By name; archived ones too, because their monitors are still there. */
export async function listProjectChoices({ projects }: WatchdogServices): Promise<FormChoice[]> {
  const all = await projects.list();
  return all
    .map(({ slug, name }) => ({ value: slug, label: name }))
    .toSorted((a, b) => a.label.localeCompare(b.label, 'en') || (a.value < b.value ? -1 : 1));
}

/**
 * Monitors that have others below them; null when they are too many for a select.
 * @param chosen is always among them
 */
export async function listParentChoices(
  { status }: WatchdogServices,
  chosen: string | undefined,
): Promise<string[] | null> {
  const parents = await status.listParents();
  if (parents.length > MAX_PARENT_CHOICES) return null;
  return chosen === undefined || parents.includes(chosen) ? parents : [chosen, ...parents];
}

/** Monitors to propose as a parent, by source. */
export async function listProposedParents({ monitors }: WatchdogServices): Promise<FormChoice[]> {
  return toParentChoices((await monitors.listPage({ limit: MAX_PROPOSED_MONITORS })).items);
}

/** The same from monitors that are here already. @param monitors by source */
export const toParentChoices = (monitors: readonly { source: string; name: string }[]): FormChoice[] =>
  monitors
    .slice(0, MAX_PROPOSED_MONITORS)
    .map(({ source, name }) => ({ value: source, label: name === source ? '' : name }));
